/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building a database, in steps that leave plain data to the next one:
 *   inputs    which tracks there are, and what they are called
 *   read      tracks are shared out; each worker has a tree, and spools of what each track has in it
 *   merge     one tree, and for each worker the way from its numbers to those of the whole
 *   describe  the tree is numbered by the writer, and the ways lead to these numbers
 *   profiles  rows become values, in the order of ids; trace lines have their places
 *   lines     samples go to these places
 */
#ifndef LODE_BUILD_BUILD_H
#define LODE_BUILD_BUILD_H

#include "build/inputs.h"
#include "format/hpctoolkit/write.h"

/* Metrics that all databases have; behind them come those of changes. */
enum {
    LODE_BUILD_TIME,
    LODE_BUILD_CALLS,
    LODE_BUILD_METRICS
};

/* The scopes of each metric. The first two are equal: every context is a function. */
enum {
    LODE_BUILD_FUNCTION,
    LODE_BUILD_LEXICAL,
    LODE_BUILD_EXECUTION,
    LODE_BUILD_SCOPES
};

struct lode_build {
    const lode_build_options *options;
    lode_build_result result;
    struct lode_build_inputs inputs;
    unsigned threads; /* workers */
    struct lode_build_grower *growers;
    lode_writer *writer;

    struct lode_build_tree tree; /* of all */
    /* By worker: from its nodes to those of the tree, later to ids in the database; from its metrics of changes to all metrics. */
    uint32_t **nodes, **metrics;
    uint32_t *node_counts;           /* by worker */
    uint32_t **parents;              /* by worker: of its nodes */
    struct lode_build_texts changes; /* names of the metrics of changes of all workers, in their order */
    uint32_t metric_count;
    uint16_t (*value_ids)[LODE_BUILD_SCOPES]; /* by metric */
};

/* Each: when what stands above it is done. */
lode_status lode_build_read(struct lode_build *build, int directory, lode_error *error);
lode_status lode_build_merge(struct lode_build *build, lode_error *error);
lode_status lode_build_describe(struct lode_build *build, lode_error *error);
lode_status lode_build_profiles(struct lode_build *build, lode_error *error);
lode_status lode_build_lines(struct lode_build *build, lode_error *error);

#endif
