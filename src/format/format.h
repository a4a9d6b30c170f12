/* SPDX-License-Identifier: BSD-3-Clause */
/* A format of stores. Above this layer, only the registry knows which formats there are. */
#ifndef LODE_FORMAT_FORMAT_H
#define LODE_FORMAT_FORMAT_H

#include "base/io/input.h"
#include "base/io/output.h"
#include "model/import/store.h"
#include "model/recording/recording_sink.h"
#include "model/sink.h"
#include "model/source.h"
#include <lode/build.h>
#include <lode/check.h>
#include <lode/convert.h>
#include <lode/private/raw.h>
#include <lode/recording.h>
#include <lode/unstable/synth.h>
#include <stdbool.h>

/* How certain it is that a store is of a format: the most certain format opens it. */
enum {
    LODE_PROBE_NO,
    LODE_PROBE_NAMES,  /* by file names that other formats may use, too */
    LODE_PROBE_MARK,   /* by a file name that no other format has */
    LODE_PROBE_CONTENT /* by the content of a file */
};

/* A small store with a story, for people who learn (transform/example/example.c). */
struct lode_target_example {
    const char *name; /* of the store */
    lode_status (*write)(const char *path, lode_error *error);
    const struct lode_replace *replace;
};

/* The formats that stores can be written in. */
struct lode_target {
    const char *name; /* selects it */
    /* Targets of a family differ in their layout, which is NULL if there is only one. */
    const char *family, *layout;
    const char *description; /* one line of help */
    /* One of these is NULL; both are if it can only be synthesized. */
    const struct lode_sink_ops *sink;                /* of databases */
    const struct lode_recording_sink_ops *recording; /* of recordings */
    /* Generates a synthetic recording. May be NULL. */
    lode_status (*synth)(const char *path, const lode_synth_recording_options *options, lode_error *error);
    const struct lode_target_example *example; /* may be NULL */
};

/* Measurements to analyse: what all ranks are given. */
struct lode_measured_input {
    const char *const *paths; /* directories, and single profiles */
    size_t count;
    const lode_build_options *options;
    struct lode_comm *comm;
    unsigned threads;
    void (*on_read)(void *user); /* all files were read */
    void *user;
};

/* The first four are the same on all ranks; the others are of this one. */
struct lode_measured_counts {
    uint64_t profiles, metrics, nodes, ranks;
    uint64_t bytes, records; /* of files; of traces */
    uint64_t spooled_rows, spooled_samples;
    uint64_t worker_contexts, contexts, functions;
    lode_build_sources sources;
};

/* Analysed profiles. What is `has_traces` is known before they are described. */
struct lode_measured_source {
    struct lode_profile_source base;
    bool has_traces;
    struct lode_measured_counts counts;
    struct lode_access access; /* what all measurements permit; known on rank 0 */
    /* Opens a source file that the description says is copied. */
    lode_open_source_file_fn open_file;
};

struct lode_format {
    const char *name;
    const char *mark; /* for people: the files that identify a store, and its kind */
    bool is_file;     /* stores are single files; else directories */
    /* LODE_PROBE_...: whether the folder has any file of this format, valid or damaged. */
    int (*probe)(const struct lode_folder *folder);
    /*
     * The same by the content of files of any name: asked if no format knows the folder, so that
     * nobody opens files of others. May be NULL.
     */
    int (*probe_late)(const struct lode_folder *folder);
    /* What a store of no format is, if this one knows, and what to do with it; may be NULL. */
    const char *(*explain)(const struct lode_folder *folder);
    /*
     * All but one of these are NULL: a format holds databases, recordings or measurements. With
     * `import`, the model opens and checks.
     */
    const struct lode_import_form *import;
    lode_status (*open)(lode_database **out, const struct lode_folder *folder, lode_error *error);
    lode_status (*open_recording)(lode_recording **out, const struct lode_folder *folder,
                                  const lode_recording_options *options, lode_error *error);
    /* `visitor` is told what is in each file; may be NULL. */
    lode_status (*open_measurements)(lode_measurements **out, const struct lode_folder *folder,
                                     const lode_raw_visitor *visitor, lode_error *error);
    lode_status (*check)(const struct lode_folder *folder, const lode_check_options *options,
                         lode_check_result *result, lode_error *error);
    bool checks_on_ranks; /* the check is collective if the options have a communicator */
    /* Of measurements. Collective; close it in every case, unless it is NULL. */
    lode_status (*open_source)(struct lode_measured_source **out, const struct lode_measured_input *input,
                               lode_error *error);
    void (*close_source)(struct lode_measured_source *source);
    const lode_rule *rules;
    size_t rule_count;
    const struct lode_target *targets;
    size_t target_count;
};

extern const struct lode_format *const lode_formats[];
extern const size_t lode_formats_count;

/* Opens the directory or the file that a store is. */
lode_status lode_store_folder(struct lode_folder *folder, const char *path, lode_error *error);
/* The format of the store at a path. */
lode_status lode_store_format(const char *path, const struct lode_format **out, lode_error *error);
/* The format of a folder's content, or NULL. */
const struct lode_format *lode_format_of(const struct lode_folder *folder);
/* Opens a database, of a format that has some. */
bool lode_format_has_databases(const struct lode_format *format);
lode_status lode_format_open(const struct lode_format *format, lode_database **out,
                             const struct lode_folder *folder, lode_error *error);
/* The target of this name, or NULL. */
const struct lode_target *lode_target_named(const char *name);
/* The target for databases of this name, or NULL if there is none. NULL as a name: the first. */
const struct lode_target *lode_target_of_databases(const char *name);
/* The target of a recording's own format, or NULL. Without a recording, the first one. */
const struct lode_target *lode_target_of_recording(const lode_recording *recording);

#endif
