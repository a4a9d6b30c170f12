/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where profiles come from: a database, recordings, measurements, or anything that can describe its
 * contents and return them by profile. The pump (transform/pump.h) calls in this order:
 *
 *   describe    what there is
 *   number      assigns ids to contexts and metrics
 *   values      of each profile; summary, contexts: if the sink asks for them
 *   samples     of each trace line
 *
 * Blocks and samples use the ids of the sealed description for contexts and metrics, ascending, in
 * the layout LODE_LAYOUT_LITTLE. A sink that keeps ids gets the data of the source unchanged.
 *
 * `slot` is below the number passed to open_slots. Several threads ask at once, each for its own
 * slot; results are valid until the slot is used again.
 */
#ifndef LODE_MODEL_SOURCE_H
#define LODE_MODEL_SOURCE_H

#include "model/database/description.h"
#include "model/database/trace.h"

struct lode_profile_source;

/* Functions may be NULL if marked so. In a job they are collective. */
struct lode_profile_source_ops {
    /*
     * Fills an empty description; with `keeps_ids`, a borrowed one. Every profile has a trace line,
     * in the same order, unless ids are kept. `scratch` is a directory for temporary files, or -1.
     * In a job, all ranks describe kinds of ids, metrics and profiles, and rank 0 alone the rest.
     */
    lode_status (*describe)(struct lode_profile_source *self, struct lode_description *out, bool keeps_ids,
                            int scratch, lode_error *error);
    /* The description is sealed. Collective. May be NULL. */
    lode_status (*number)(struct lode_profile_source *self, const struct lode_description *sealed,
                          lode_error *error);
    lode_status (*open_slots)(struct lode_profile_source *self, unsigned count, lode_error *error);
    /* Profiles are counted from 1, as in files: 0 is the summary. */
    lode_status (*values)(struct lode_profile_source *self, unsigned slot, uint32_t profile, lode_block *out,
                          lode_error *error);
    /* All values were read: their memory can be freed. May be NULL. */
    lode_status (*begin_samples)(struct lode_profile_source *self, lode_error *error);
    /*
     * The next samples of a line, counted from 0; LODE_END when there are no more, which ends the
     * line. `profile` of the view is that of the line. NULL: there are no samples.
     */
    lode_status (*samples)(struct lode_profile_source *self, unsigned slot, uint32_t line,
                           lode_trace_line *out, lode_error *error);
    /* The number of samples of a line. Needed by `placed` sources only. */
    uint64_t (*sample_count)(struct lode_profile_source *self, uint32_t line);
    /*
     * The statistics of the source: only those of loops unless ids are kept, as the others follow
     * from the values. LODE_ABSENT if there are none. May be NULL.
     */
    lode_status (*summary)(struct lode_profile_source *self, lode_block *out, lode_error *error);
    /* The values of one context in all profiles, if ids are kept. May be NULL. */
    lode_status (*context)(struct lode_profile_source *self, uint32_t id, lode_block *out, lode_error *error);
    /* Everything was read: closes the slots, and reports what was left out. May be NULL. */
    lode_status (*end)(struct lode_profile_source *self, lode_error *error);
};

struct lode_profile_source {
    const struct lode_profile_source_ops *ops;
    /*
     * Blocks can be made twice, in bounded memory: they are measured first, then written in place.
     * Such a source describes its profiles in the order of their ids.
     */
    bool placed;
    /* `values` does not need the contexts of the description, which may be freed before. */
    bool leaves_contexts;
    /* In a job: the profiles of this rank, once described; contiguous per rank. */
    uint32_t first, count;
};

#endif
