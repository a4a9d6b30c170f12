/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recordings as a source of profiles, in steps that pass plain data to the next one. Every rank of
 * a communicator takes them, with its share of the tracks:
 *   inputs    lists the tracks and their ids, and assigns them to ranks
 *   read      assigns tracks to workers; each has a tree, and spools with the data of each track
 *   merge     makes one tree per rank, then one of all on rank 0
 *   describe  turns the tree into a description; once that is sealed, the maps lead to its ids
 *   values    turns rows into blocks of values, in the order of ids
 *   lines     turns spooled samples into trace lines
 */
#ifndef LODE_TRANSFORM_BUILD_H
#define LODE_TRANSFORM_BUILD_H

#include "base/comm/tree.h"
#include "format/format.h"
#include "model/database/rank_trees.h"
#include "model/sink.h"
#include "model/source.h"
#include "transform/build/inputs.h"
#include "transform/pump.h"
#include <time.h>

/* Metrics that all databases have; after them come those of changes. */
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

/* Where a phase began: when, and what had been sent. */
struct lode_build_lap {
    struct timespec time;
    struct lode_comm_traffic traffic;
};

struct lode_build {
    struct lode_profile_source source;
    struct lode_description *about; /* that is being described */
    const lode_build_options *options;
    struct lode_comm *comm;
    lode_build_result result;
    struct lode_build_lap lap;
    struct lode_build_inputs inputs;
    unsigned threads; /* workers */
    struct lode_build_worker *workers;
    struct lode_sink_counts counts; /* of what was written */

    /* By worker: maps its nodes to those of the rank, then to ids; and its change metrics. */
    uint32_t **nodes, **metrics;
    uint32_t *node_counts; /* by worker */
    uint32_t **parents;    /* by worker: of its nodes */

    struct lode_content_tree tree; /* of the rank */
    struct lode_frames frames;     /* of the tree; rank 0 has those of all */
    /* With other ranks; rank 0 has the tree of all, and its nodes by number. */
    struct lode_rank_trees ranks;
    struct lode_content_tree all;
    uint32_t *node_of;
    uint32_t *final; /* by node: its id; LODE_NONE if there is none. Until ids spread, of all */

    /* Places: the rank's own nodes in the order of their ids. */
    uint32_t place_count;
    uint32_t *ids, *above; /* by place: its id; the place of its parent */

    struct lode_strings changes; /* names of the metrics of changes, in their order */
    uint32_t metric_count;
    uint16_t (*value_ids)[LODE_BUILD_SCOPES]; /* by metric */
    struct lode_build_scratch *scratches;     /* by slot: in values.c */
    struct lode_build_line *lines;            /* by slot: in lines.c */
    unsigned slot_count;
};

static inline struct lode_build *build_of(struct lode_profile_source *source)
{
    return (struct lode_build *)source;
}

/* The tree of all ranks, on rank 0. */
static inline const struct lode_content_tree *build_all(const struct lode_build *build)
{
    return build->comm->place.size > 1 ? &build->all : &build->tree;
}

/* Each: collective, when what stands above it is done. */
lode_status lode_build_read(struct lode_build *build, int directory, lode_error *error);
lode_status lode_build_merge(struct lode_build *build, lode_error *error);
lode_status lode_build_describe(struct lode_build *build, lode_error *error);
/* From nodes of the merged tree to ids, from rank 0 to all; then places. Rank 0 has `final`. */
lode_status lode_build_spread(struct lode_build *build, uint32_t id_count, lode_error *error);

/* The functions of the source: model/source.h. */
lode_status lode_build_number(struct lode_profile_source *base, const struct lode_description *sealed,
                              lode_error *error);
lode_status lode_build_open_slots(struct lode_profile_source *base, unsigned count, lode_error *error);
lode_status lode_build_values(struct lode_profile_source *base, unsigned slot, uint32_t profile,
                              lode_block *out, lode_error *error);
lode_status lode_build_begin_samples(struct lode_profile_source *base, lode_error *error);
lode_status lode_build_samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                               lode_trace_line *out, lode_error *error);
uint64_t lode_build_sample_count(struct lode_profile_source *base, uint32_t line);
void lode_build_close_scratches(struct lode_build *build);
void lode_build_close_lines(struct lode_build *build);

/* Notes what the phase took that ends now. */
void lode_build_end_phase(struct lode_build *build, unsigned number);
/* What this rank has done with recordings. */
void lode_build_count(struct lode_build *build);
/* For the pump: `context` is the build. */
void lode_build_end_step(void *context, enum lode_pump_step step, const struct lode_sink *sink);
/* All of it, for measurements of a format. Collective. */
lode_status lode_build_measured(struct lode_build *build, const struct lode_format *format,
                                const char *const *paths, size_t path_count, const char *path,
                                lode_error *error);
/* The result of all. Collective. */
lode_status lode_build_add_up(struct lode_build *build, lode_error *error);

#endif
