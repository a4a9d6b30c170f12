/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where profiles go: a writable format, an export, a test. A sink gets a sealed description, then
 * values, then samples. It reads nothing twice and need not keep anything.
 *
 * Values and samples come in one of two ways.
 *   In order   `append` for one profile after the other, from one thread at a time; `prepare` does
 *              what can be done before, concurrently for several profiles.
 *   In place   `measure` for all profiles of this rank, on several threads in any order; `place`,
 *              collective, tells each rank where its profiles go; then `write_values` and
 *              `write_samples`, on several threads in any order. A sink for jobs has these.
 *
 * All functions of a sink may be NULL.
 */
#ifndef LODE_MODEL_SINK_H
#define LODE_MODEL_SINK_H

#include "base/comm/comm.h"
#include "base/io/access.h"
#include "base/io/output.h"
#include "model/database/description.h"
#include "model/database/trace.h"
#include <lode/check.h>
#include <lode/pool.h>

/* Opens a file to copy, by its `source`, for reading. An error leaves it out. */
typedef lode_status (*lode_open_source_file_fn)(void *opener, const char *source, int *fd, lode_error *error);

struct lode_sink_options {
    struct lode_comm *comm; /* ranks that write together; NULL: this process alone */
    bool force;             /* replace an existing target */
    bool traces;            /* trace lines are wanted */
    bool joint;             /* write together with other ranks where that is faster */
    unsigned threads;       /* 0: one per CPU */
    lode_pool *pool;        /* NULL: threads are started when needed */
    uint64_t memory;        /* budget; 0: a quarter of the machine's, shared by local ranks */
    const char *origin;     /* store with the source files; NULL: use their own paths */
    /* If the source files are in several stores; then `origin` is the one of the taxonomy. */
    const char *const *origins;
    /* Opens source files instead, if it is not NULL. */
    lode_open_source_file_fn open_source;
    void *opener;
    const struct lode_access *access; /* the output permits no more than that; NULL: the usual */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user; /* for both callbacks */
};

struct lode_sink;

struct lode_sink_ops {
    size_t size; /* of the struct that begins with a struct lode_sink */
    /* What `force` may replace. NULL: the sink has no output directory. */
    const struct lode_replace *replaces;
    struct lode_description_limits limits; /* all 0: only those of the types */
    /* Ids of contexts and metrics, and the order of all, stay those of the source. */
    bool keeps_ids;
    /* `seal` writes or copies what is needed of contexts: they may be freed after it. */
    bool takes_contexts;

    /* The output directory exists. Collective. */
    lode_status (*create)(struct lode_sink *self, lode_error *error);
    /* `about` is complete. Collective. */
    lode_status (*seal)(struct lode_sink *self, lode_error *error);
    /* The statistics of the source, before all profiles. */
    lode_status (*summary)(struct lode_sink *self, const lode_block *block, lode_error *error);

    /* In order. `scratch` is NULL at first; the sink allocates and frees it. Any thread. */
    lode_status (*prepare)(struct lode_sink *self, void **scratch, const lode_block *block,
                           lode_error *error);
    void (*release)(void *scratch);
    lode_status (*append)(struct lode_sink *self, void *scratch, const struct lode_id_tuple *ids,
                          const lode_block *block, lode_error *error);
    /* The values of one context after the other, after all profiles. */
    lode_status (*append_context)(struct lode_sink *self, uint32_t id, const lode_block *block,
                                  lode_error *error);
    /* Samples of a line, one or more times for each, one line after the other. */
    lode_status (*append_samples)(struct lode_sink *self, uint32_t line, const lode_trace_line *samples,
                                  lode_error *error);

    /* In place. `item` counts the profiles of this rank, from 0; each has one trace line. */
    lode_status (*measure)(struct lode_sink *self, uint32_t item, const lode_block *block, uint64_t samples,
                           lode_error *error);
    lode_status (*place)(struct lode_sink *self, lode_error *error);
    lode_status (*write_values)(struct lode_sink *self, uint32_t item, const lode_block *block,
                                lode_error *error);
    /* Samples `first`, `first` + 1... of a line. */
    lode_status (*write_samples)(struct lode_sink *self, uint32_t item, uint64_t first,
                                 const lode_trace_line *samples, lode_error *error);

    /* All data was written. Closes files; the output is not committed yet. Collective. */
    lode_status (*finish)(struct lode_sink *self, lode_error *error);
    /* Always called; frees what the sink has besides itself. */
    void (*close)(struct lode_sink *self);
};

/* What this rank has written. */
struct lode_sink_counts {
    uint64_t values, groups, samples;
    uint64_t written_bytes, rounds; /* of the phase after all profiles */
};

struct lode_sink {
    const struct lode_sink_ops *ops;
    struct lode_sink_options options; /* borrowed strings; `memory` is not 0 */
    struct lode_output output;
    bool created;
    const struct lode_description *about; /* once it is sealed */
    bool placed;                          /* values are written in place: options.comm is set */
    uint32_t first, count;                /* the profiles of this rank */
    struct lode_sink_counts counts;
};

/* Creates the output: a sink writes to a staging directory until it is finished. Collective. */
lode_status lode_sink_open(struct lode_sink **out, const struct lode_sink_ops *ops, const char *path,
                           const struct lode_sink_options *options, lode_error *error);
/* The directory for temporary files of the caller; -1: none. */
int lode_sink_scratch(const struct lode_sink *self);
/* `about` is sealed, or borrowed, and outlives the sink. Collective. */
lode_status lode_sink_seal(struct lode_sink *self, struct lode_description *about, lode_error *error);
/* Finishes and commits the output. Collective. */
lode_status lode_sink_finish(struct lode_sink *self, lode_error *error);
/* Removes an unfinished output. NULL is allowed. */
void lode_sink_close(struct lode_sink *self);

static inline bool sink_is_first(const struct lode_sink *self)
{
    return self->options.comm == NULL || self->options.comm->place.rank == 0;
}

#endif
