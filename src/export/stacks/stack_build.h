/* SPDX-License-Identifier: BSD-3-Clause */
/* From contexts and costs to positions and sums (stacks.h); private to the stacks. */
#ifndef LODE_EXPORT_STACK_BUILD_H
#define LODE_EXPORT_STACK_BUILD_H

#include "analysis/calls/calltree.h"
#include "analysis/cost/matches.h"
#include "export/stacks/stacks.h"

struct lode_stack_build {
    /* What is counted: metrics of a database, or calls and time. */
    const lode_metric *const *metrics;
    const lode_metric *usual; /* the default metric, if none was asked for */
    const lode_metric **all;  /* or all; NULL: not all */
    size_t cost_count;
    lode_cost **costs; /* of the current group */
    lode_calltree *tree;
    lode_matches *matches; /* of the focus */
    /* Contexts to positions. */
    struct lode_interner keys;
    struct lode_array depths; /* by number of a key */
    uint32_t *position_of;    /* by context: number of its key */
    uint32_t *order;          /* by key: its position in depth-first order */
    /* By position. */
    double *sums;
    bool is_placed; /* positions are those of the database: values of all profiles fit */
};

lode_status lode_stack_build_open(struct lode_stack_build *build, struct lode_stacks *stacks,
                                  lode_error *error);
/* The full name of a metric, such as "CPUTIME (sec)". */
const char *lode_stack_build_metric(const struct lode_stack_build *build, size_t index);
/* Sets group, positions, count and sums. LODE_END after the last group. */
lode_status lode_stack_build_next(struct lode_stack_build *build, struct lode_stacks *stacks,
                                  lode_error *error);
/* See lode_stacks_position. */
uint32_t lode_stack_build_position(const struct lode_stack_build *build, uint32_t context);
void lode_stack_build_close(struct lode_stack_build *build);

#endif
