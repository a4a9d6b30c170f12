/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees: contexts in canonical order, with their counts. */
#ifndef LODE_ANALYSIS_CALLTREE_H
#define LODE_ANALYSIS_CALLTREE_H

#include "analysis/cost/cost.h"
#include "model/database/tree.h"
#include "model/recording/recording.h"
#include <lode/unstable/estimate.h>

struct lode_calltree {
    struct lode_cost cost;
    struct lode_context_tree contexts;
    /* By context, exact. The global context has the sums of the outermost calls. */
    uint64_t *calls, *total, *self;
    uint64_t *elapsed;          /* NULL: no calls run at the same time */
    bool *is_off_cpu;           /* by context: what is counted is no call */
    lode_calls_sample estimate; /* no parts: exact */
};

/*
 * Makes the contexts of a call tree from nodes of struct lode_calltree_counts, whose frames are
 * function indices: depth first, siblings in the canonical order of functions. `elapsed` is by
 * node; it may be NULL.
 */
lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_content_tree *nodes,
                                  const uint64_t *elapsed, const lode_recording *recording,
                                  lode_error *error);

/* Call trees in three steps, as lode_calls_prepare and its kin (analysis/calls/calls.h). */
struct lode_calltree_job;
struct lode_pass;
lode_status lode_calltree_prepare(struct lode_calltree_job **job, const lode_recording *recording,
                                  const lode_slice *slice, const lode_calls_options *options,
                                  lode_error *error);
struct lode_pass *lode_calltree_pass(struct lode_calltree_job *job);
lode_status lode_calltree_conclude(lode_calltree **out, struct lode_calltree_job *job, lode_error *error);
void lode_calltree_end(struct lode_calltree_job *job);

#endif
