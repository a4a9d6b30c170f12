/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a database: describe it, seal the description, append profiles, finish. It appears
 * atomically.
 *
 * Output is byte-identical for any number of threads. Contexts are numbered depth-first with
 * siblings in one canonical order, so that a subtree is a range of ids; unlisted ones come after.
 * Profiles are ordered by their id tuples. Summary statistics and values by context are computed.
 */
#ifndef LODE_WRITER_H
#define LODE_WRITER_H

#include <lode/context.h>
#include <lode/metric.h>
#include <lode/profile.h>

LODE_BEGIN_DECLS

typedef struct lode_writer lode_writer;
typedef struct lode_profile_builder lode_profile_builder;

#define LODE_NONE UINT32_MAX

typedef struct lode_writer_options {
    size_t size;
    int force;         /* replace an existing database or an empty directory */
    int traces;        /* write trace.db, with a line for every profile */
    unsigned threads;  /* 0: one per processor */
    uint64_t memory;   /* memory budget in bytes; 0: a quarter of what the job may use */
    const char *title; /* NULL: the name of the directory */
    const char *description;
    lode_progress_fn on_progress;
    void *user;
    /* the name of the format to write (format.h); NULL: the first that databases can have */
    const char *to;
} lode_writer_options;
#define LODE_WRITER_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_writer_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL                                \
    }

/* Begins a database that will be at `path`. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_writer_open(lode_writer **out, const char *path,
                                                   const lode_writer_options *options, lode_error *error);
/* Ends it: what was not finished is removed. NULL is allowed. MT: one thread. */
LODE_API void lode_writer_close(lode_writer *writer);

/*
 * The description. Each call gives a number by which later calls refer to what it described.
 * Strings are copied. All of these: MT: one thread.
 */
/* Kinds of ids, in the order of their numbers. */
LODE_API LODE_CHECKED lode_status lode_writer_add_id_kind(lode_writer *writer, const char *name,
                                                          unsigned *kind, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_scope(lode_writer *writer, const char *name, int type,
                                                        unsigned propagation_index, uint32_t *scope,
                                                        lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_metric(lode_writer *writer, const char *name,
                                                         uint32_t *metric, lode_error *error);
/* The metric under a scope; `id`, which may be NULL, names it in values. */
LODE_API LODE_CHECKED lode_status lode_writer_add_metric_scope(lode_writer *writer, uint32_t metric,
                                                               uint32_t scope, uint16_t *id,
                                                               lode_error *error);
/* A statistic of a metric under a scope that it has: formula "$$", "1" or "($$^2)". */
LODE_API LODE_CHECKED lode_status lode_writer_add_statistic(lode_writer *writer, uint32_t metric,
                                                            uint32_t scope, const char *formula, int combine,
                                                            lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_module(lode_writer *writer, const char *path,
                                                         uint32_t *module, lode_error *error);
/*
 * A source file. With `copied`, its path is relative to the database; `source` is a file to copy
 * there, or NULL if it is not to be had. Only what is to be below src/ is copied.
 */
LODE_API LODE_CHECKED lode_status lode_writer_add_file(lode_writer *writer, const char *path, int copied,
                                                       const char *source, uint32_t *file, lode_error *error);

typedef struct lode_writer_function {
    const char *name;      /* NULL: anonymous */
    uint32_t module, file; /* or LODE_NONE */
    uint32_t line;
    uint64_t offset;
} lode_writer_function;
LODE_API LODE_CHECKED lode_status lode_writer_add_function(lode_writer *writer,
                                                           const lode_writer_function *function,
                                                           uint32_t *out, lode_error *error);

typedef struct lode_writer_context {
    uint32_t parent; /* a context; LODE_NONE: an entry point */
    int entry;       /* of an entry point: lode_entry */
    const char *entry_name;
    int lexical, relation; /* of others */
    unsigned propagation;
    uint32_t function, file, module; /* or LODE_NONE */
    uint32_t line;                   /* with a file */
    uint64_t offset;                 /* with a module */
} lode_writer_context;
#define LODE_WRITER_CONTEXT_INIT                                                                             \
    {                                                                                                        \
        LODE_NONE, 0, NULL, 0, 0, 0, LODE_NONE, LODE_NONE, LODE_NONE, 0, 0                                   \
    }
LODE_API LODE_CHECKED lode_status lode_writer_add_context(lode_writer *writer,
                                                          const lode_writer_context *context, uint32_t *out,
                                                          lode_error *error);
/* A context that has values and that the metadata does not list. */
LODE_API LODE_CHECKED lode_status lode_writer_add_unlisted(lode_writer *writer, uint32_t *out,
                                                           lode_error *error);
/* Ends the description. Sizes that the format cannot hold are an error here. */
LODE_API LODE_CHECKED lode_status lode_writer_seal(lode_writer *writer, lode_error *error);

/*
 * Profiles. A profile builder is filled by one thread, several builders by several threads at once.
 * Contexts are named by the numbers of the description, or LODE_NONE for the global context. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_profile_builder_create(lode_profile_builder **out, lode_writer *writer,
                                                              lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_profile_builder_free(lode_profile_builder *builder);
/* Empties a profile builder and names the profile that it is for. MT: one thread. */
LODE_API LODE_CHECKED lode_status lode_profile_builder_begin(lode_profile_builder *builder,
                                                             const lode_id *ids, uint32_t id_count,
                                                             lode_error *error);
/* One value, in any order; zeros are omitted. MT: one thread. */
LODE_API LODE_CHECKED lode_status lode_profile_builder_value(lode_profile_builder *builder, uint32_t context,
                                                             uint16_t id, double value, lode_error *error);
/*
 * One point value of a metric, from which the values of all its scopes are computed: point,
 * execution, transitive, and the custom scope "lex_aware" (as transitive along bit 0, but loops
 * without inner loops). Refused at unlisted contexts, and LODE_ERR_UNSUPPORTED for metrics with
 * other custom scopes. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_profile_builder_point(lode_profile_builder *builder, uint32_t context,
                                                             uint32_t metric, double value,
                                                             lode_error *error);
/* One sample, at a listed context; times rise. MT: one thread. */
LODE_API LODE_CHECKED lode_status lode_profile_builder_sample(lode_profile_builder *builder, uint64_t time,
                                                              uint32_t context, lode_error *error);
/*
 * Puts a profile builder into the form it has in the file. MT: one thread, while other builders are
 * filled.
 */
LODE_API LODE_CHECKED lode_status lode_profile_builder_end(lode_profile_builder *builder, lode_error *error);
/*
 * Appends an ended builder: the order of these calls decides where things lie in the files. MT: one
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_writer_append(lode_writer *writer, lode_profile_builder *builder,
                                                     lode_error *error);

/* Time bounds for trace.db, besides those of the samples. MT: one thread. */
LODE_API void lode_writer_set_trace_bounds(lode_writer *writer, uint64_t min, uint64_t max);
/* Completes the database and gives it its name. MT: one thread. */
LODE_API LODE_CHECKED lode_status lode_writer_finish(lode_writer *writer, lode_error *error);

LODE_END_DECLS
#endif
