/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where profiles go: a format that can be written, an export, a test. A sink is told what there is (a
 * sealed description), then values, then samples. It reads none of it twice and need not keep it.
 *
 * Values and samples come in one of two ways.
 *   In order   `append` for one profile after the other, from one thread at a time. What can be done
 *              before that, and at the same time for several profiles, is done by `prepare`.
 *   In place   `measure` for all profiles of this rank, on several threads and in any order; `place`,
 *              which is collective: now each rank knows where its profiles go; then `write_values` and
 *              `write_samples`, on several threads and in any order. A sink for jobs has these.
 *
 * All functions of a sink may be NULL: then it does not care.
 */
#ifndef LODE_MODEL_SINK_H
#define LODE_MODEL_SINK_H

#include "base/comm.h"
#include "base/output.h"
#include "model/description.h"
#include "model/trace.h"
#include <lode/check.h>
#include <lode/pool.h>

struct lode_sink_options {
    struct lode_comm *comm; /* that writes together; NULL: this process alone */
    bool force;             /* replace what is there */
    bool traces;            /* trace lines are wanted */
    bool joint;             /* write together with other ranks where that pays */
    unsigned threads;       /* 0: one per processor */
    lode_pool *pool;        /* NULL: threads are started when needed */
    uint64_t memory;    /* bytes for work on values; 0: a quarter of the machine's, shared by local ranks */
    const char *origin; /* the store that source files are taken from; NULL: they have paths of their own */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user; /* of both */
};

struct lode_sink;

struct lode_sink_ops {
    size_t size; /* of the struct that begins with a struct lode_sink */
    /* What `force` may replace. NULL: the sink has no output directory. */
    const struct lode_replace *replaces;
    struct lode_description_limits limits; /* all 0: none but those of the types */
    /* Ids of contexts and metrics, and the order of all, stay those of the source. */
    bool keeps_ids;

    /* The output directory is there. Collective. */
    lode_status (*create)(struct lode_sink *self, lode_error *error);
    /* `about` is complete. Collective. */
    lode_status (*seal)(struct lode_sink *self, lode_error *error);
    /* Statistics that the source has, before all profiles. */
    lode_status (*summary)(struct lode_sink *self, const lode_block *block, lode_error *error);

    /* In order. `scratch` is NULL at first; it is the sink's to make and to release. Any thread. */
    lode_status (*prepare)(struct lode_sink *self, void **scratch, const lode_block *block,
                           lode_error *error);
    void (*release)(void *scratch);
    lode_status (*append)(struct lode_sink *self, void *scratch, const struct lode_id_tuple *ids,
                          const lode_block *block, lode_error *error);
    /* The values of one context after the other, when all profiles were appended. */
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
    /* Samples `first`, `first` + 1 and so on of a line. */
    lode_status (*write_samples)(struct lode_sink *self, uint32_t item, uint64_t first,
                                 const lode_trace_line *samples, lode_error *error);

    /* Everything is there. Files are closed; what they are in is not in place yet. Collective. */
    lode_status (*finish)(struct lode_sink *self, lode_error *error);
    /* Frees what the sink has besides itself, in every case. */
    void (*close)(struct lode_sink *self);
};

/* What this rank has written. */
struct lode_sink_counts {
    uint64_t values, groups, samples;
    uint64_t written_bytes, rounds; /* of what a sink does when all profiles are there */
};

struct lode_sink {
    const struct lode_sink_ops *ops;
    struct lode_sink_options options; /* borrowed strings; `memory` is not 0 */
    struct lode_output output;
    bool created;
    const struct lode_description *about; /* when it is sealed */
    bool placed;                          /* values are written in place: options.comm is there */
    uint32_t first, count;                /* the profiles of this rank */
    struct lode_sink_counts counts;
};

/* Takes the target: a sink that was opened writes below a staging directory until it is finished. Collective. */
lode_status lode_sink_open(struct lode_sink **out, const struct lode_sink_ops *ops, const char *path,
                           const struct lode_sink_options *options, lode_error *error);
/* The directory for temporary files of whoever fills it; -1: there is none. */
int lode_sink_scratch(const struct lode_sink *self);
/* `about` is sealed, or borrowed, and outlives the sink. Collective. */
lode_status lode_sink_seal(struct lode_sink *self, struct lode_description *about, lode_error *error);
/* Finishes, and puts the output in place. Collective. */
lode_status lode_sink_finish(struct lode_sink *self, lode_error *error);
/* What was not finished is removed. NULL is allowed. */
void lode_sink_close(struct lode_sink *self);

static inline bool sink_is_first(const struct lode_sink *self)
{
    return self->options.comm == NULL || self->options.comm->place.rank == 0;
}

#endif
