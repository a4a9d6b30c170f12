/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees: contexts in canonical order, with their counts. */
#ifndef LODE_ANALYSIS_CALLTREE_H
#define LODE_ANALYSIS_CALLTREE_H

#include "analysis/cost/cost.h"
#include "model/database/tree.h"
#include "model/recording/recording.h"
#include <lode/calltree.h>

struct lode_calltree {
    struct lode_cost cost;
    struct lode_context_tree contexts;
    /* By context, exact. The global context has the sums of the outermost calls. */
    uint64_t *calls, *total, *self;
    uint64_t *elapsed; /* NULL: no calls run at the same time */
    bool *is_off_cpu;  /* by context: what is counted is no call */
};

/*
 * Makes the contexts of a call tree from nodes of struct lode_calltree_counts, whose frames are
 * function indices: depth first, siblings in the canonical order of functions. `elapsed` is by
 * node; it may be NULL.
 */
lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_content_tree *nodes,
                                  const uint64_t *elapsed, const lode_recording *recording,
                                  lode_error *error);

#endif
