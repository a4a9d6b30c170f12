/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where profiles come from: a database, recordings, measurements, whatever can say what it has and then
 * give it profile by profile. The pump (transform/pump.h) asks in this order:
 *
 *   describe    what there is
 *   number      what the contexts and metrics are called from now on
 *   values      of each profile; summary, contexts: where a sink asks for them
 *   samples     of each trace line
 *
 * Blocks and samples name contexts by their ids in the sealed description and metrics by theirs, in
 * ascending order, in the layout LODE_LAYOUT_LITTLE. A sink that keeps ids is given what the source has
 * instead, as it is.
 *
 * `slot` is a number below the one that open_slots was told. Several threads ask at once, each for a
 * slot of its own; what they get is valid until the slot is used again.
 */
#ifndef LODE_MODEL_SOURCE_H
#define LODE_MODEL_SOURCE_H

#include "model/description.h"
#include "model/trace.h"

struct lode_profile_source;

/* Those that are marked so may be NULL. Those of a job are collective. */
struct lode_profile_source_ops {
    /*
     * Fills an empty description. With `keeps_ids` it is one that is borrowed, as the source has it.
     * Every profile has a trace line, in the same order, unless ids are kept. `scratch` is a directory
     * for temporary files, or -1. Of the ranks of a job, all describe kinds of ids, metrics and
     * profiles, and rank 0 alone the rest.
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
    /* All values were taken: memory for them can go. May be NULL. */
    lode_status (*begin_samples)(struct lode_profile_source *self, lode_error *error);
    /*
     * The next samples of a line, which is counted from 0; LODE_END when there are no more, which ends
     * the line. `profile` of the view is that of the line. NULL: there are none.
     */
    lode_status (*samples)(struct lode_profile_source *self, unsigned slot, uint32_t line,
                           lode_trace_line *out, lode_error *error);
    /* How many samples a line has. Needed by `placed` sources only. */
    uint64_t (*sample_count)(struct lode_profile_source *self, uint32_t line);
    /*
     * The statistics that the source has; of loops alone, unless ids are kept: the others follow from
     * the values. LODE_ABSENT if it has none. May be NULL.
     */
    lode_status (*summary)(struct lode_profile_source *self, lode_block *out, lode_error *error);
    /* The values of one context of all profiles, if ids are kept. May be NULL. */
    lode_status (*context)(struct lode_profile_source *self, uint32_t id, lode_block *out, lode_error *error);
    /* All was read: the last chance to say what was left out. May be NULL. */
    lode_status (*end)(struct lode_profile_source *self, lode_error *error);
};

struct lode_profile_source {
    const struct lode_profile_source_ops *ops;
    /*
     * Blocks can be made twice, in bounded memory: they are measured first and then written in place.
     * Such a source describes its profiles in the order of their ids.
     */
    bool placed;
    /* Of a job: the profiles of this rank, once described. Ranks have theirs one after the other. */
    uint32_t first, count;
};

#endif
