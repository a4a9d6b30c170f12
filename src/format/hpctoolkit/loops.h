/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scope lex_aware at loops: what the scope function has there, without the loops lexically inside. hpcprof stores this in the summary, and
 * the value of function in profiles, so that it cannot be added up from profiles; it can be computed from function.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_LOOPS_H
#define LODE_FORMAT_HPCTOOLKIT_LOOPS_H

#include "base/array.h"
#include <lode/status.h>
#include <stdbool.h>
#include <stdint.h>

#define LOOPS_SCOPE "lex_aware"

/* What is left of a difference relative to the minuend, if nothing is left but rounding. */
#define LOOPS_ROUNDING 1e-12

/* The value of one loop and metric. */
struct loop_value {
    uint32_t loop;   /* numbers rise from parents to children */
    uint32_t metric; /* any number for it */
    double value;    /* without inner loops */
    double whole;    /* of scope function */
};

/*
 * Adds what scope function has at a loop. Loops come in ascending order, and for each its metrics. `enclosing` is the innermost loop that
 * lexically encloses it, whose value is reduced, or 0.
 */
lode_status lode_loops_add(struct lode_array *values, uint32_t loop, uint32_t enclosing, uint32_t metric,
                           double value, lode_error *error);
/* Called when all are there: what is left by rounding becomes 0. */
void lode_loops_round(struct lode_array *values);
/* NULL if there is none. */
const struct loop_value *lode_loops_find(const struct lode_array *values, uint32_t loop, uint32_t metric);

/* The innermost loop that lexically encloses a context, given its parent's. 0: none. */
static inline uint32_t loops_enclosing(unsigned propagation, uint32_t parent, bool parent_is_loop,
                                       uint32_t of_parent)
{
    if ((propagation & 1u) == 0)
        return 0;
    return parent_is_loop ? parent : of_parent;
}

#endif
