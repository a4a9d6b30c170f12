/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scope lex_aware at loops: the value of scope function without the loops lexically inside. hpcprof
 * writes this to the summary, but the value of function to profiles, so that summing up profiles
 * does not yield it; computing it from function does.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_LOOPS_H
#define LODE_FORMAT_HPCTOOLKIT_LOOPS_H

#include "base/memory/array.h"
#include <lode/status.h>
#include <stdbool.h>
#include <stdint.h>

#define LOOPS_SCOPE "lex_aware"

/* The maximal rounding error of a difference, relative to the minuend. */
#define LOOPS_ROUNDING 1e-12

/* The value of one loop and metric. */
struct loop_value {
    uint32_t loop;   /* rises from parents to children */
    uint32_t metric; /* any number that identifies it */
    double value;    /* without inner loops */
    double whole;    /* of scope function */
};

/*
 * Adds a value of scope function at a loop. Loops are in ascending order, and the metrics of each.
 * `enclosing` is the innermost loop that lexically encloses it, whose value is reduced, or 0.
 */
lode_status lode_loops_add(struct lode_array *values, uint32_t loop, uint32_t enclosing, uint32_t metric,
                           double value, lode_error *error);
/* Called at the end: replaces rounding errors with 0. */
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
