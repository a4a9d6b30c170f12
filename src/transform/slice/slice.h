/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a slice leaves of a database (source_merge.h). A context that is left out goes into the
 * nearest one that stays: inclusive costs do not change, own costs grow.
 */
#ifndef LODE_TRANSFORM_SLICE_H
#define LODE_TRANSFORM_SLICE_H

#include "model/database/block_builder.h"
#include "transform/merge/merge_source.h"
#include <lode/unstable/slice.h>

struct lode_merge_filter {
    const lode_database_slice *slice;
    /* By index of context: the one it goes into, or itself; LODE_NONE: it is outside the focus. */
    uint32_t *target;
    /* By index: topmost contexts of the focus. NULL: there is no focus. */
    bool *is_top;
    uint32_t focus_entry; /* number, then id, of the entry point that they are below */
    bool moves;           /* contexts with values are left out */
};

static inline bool lode_slice_has_window(const struct lode_merge_part *part)
{
    return part->filter && part->filter->slice->to > 0;
}

/* Chooses contexts: profiles are described, and not yet the tree. Collective. */
lode_status lode_slice_choose(struct lode_merge_source *self, struct lode_merge_part *part,
                              lode_error *error);
void lode_slice_free(struct lode_merge_filter *filter);

/* ---- values ---- */

/* What a profile is made in, by one thread. */
struct lode_slice_scratch;
void lode_slice_scratch_free(struct lode_slice_scratch *scratch);
/* Adds the values of a profile to a builder; `*scratch` is NULL at first. */
lode_status lode_slice_values(const struct lode_merge_source *self, const struct lode_merge_part *part,
                              const lode_block *block, struct lode_slice_scratch **scratch,
                              struct lode_block_builder *builder, lode_error *error);
/* Likewise the times of a trace line in the time window. */
lode_status lode_slice_times(const struct lode_merge_source *self, const struct lode_merge_part *part,
                             const lode_trace_line *line, struct lode_slice_scratch **scratch,
                             struct lode_block_builder *builder, lode_error *error);
/* The metric of a time window, in place of others. */
lode_status lode_slice_describe_times(struct lode_description *out, lode_error *error);

#endif
