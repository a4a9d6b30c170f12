/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees: the calls of a recording by calling context. */
#ifndef LODE_CALLTREE_H
#define LODE_CALLTREE_H

#include <lode/calls.h>
#include <lode/cost.h>

LODE_BEGIN_DECLS

typedef struct lode_calltree lode_calltree;

/*
 * Reads the slice once, into one tree for all its tracks. Memory grows with contexts. The result
 * does not depend on the number of threads. Slice and options may be NULL; `sort` is not used. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_calltree_compute(lode_calltree **out, const lode_recording *recording,
                                                        const lode_slice *slice,
                                                        const lode_calls_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_calltree_free(lode_calltree *tree);
/* Time in nanoseconds by context, for views. Its metric and database are NULL. MT: any thread. */
LODE_API const lode_cost *lode_calltree_cost(const lode_calltree *tree);
/*
 * The number of calls by context as a cost, which lode_cost_free frees before the tree. Inclusive
 * counts all calls below too. Off-CPU time is not a call, as in databases that lode_build writes.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_calltree_calls(lode_cost **out, const lode_calltree *tree,
                                                      lode_error *error);
/* MT: any thread. */
LODE_API uint32_t lode_calltree_context_count(const lode_calltree *tree);

typedef enum lode_neighbour {
    LODE_CALLERS,
    LODE_CALLEES
} lode_neighbour;

/* A function that calls the one in question, or is called by it, and what those calls took. */
typedef struct lode_neighbour_row {
    const lode_function *function; /* the caller or callee; NULL: outermost calls */
    uint64_t calls, total, self;
} lode_neighbour_row;

typedef struct lode_neighbours lode_neighbours;

/*
 * The callers or callees of all functions that a name means (lode/unstable/match.h), longest total
 * first. Of callers, the row is what the function in question took when called by them. Total
 * counts calls inside others of the same row once. LODE_NOT_FOUND if there is no such function.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_neighbours_compute(lode_neighbours **out, const lode_calltree *tree,
                                                          const char *name, lode_neighbour which,
                                                          lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_neighbours_free(lode_neighbours *neighbours);
/* MT: any thread. */
LODE_API size_t lode_neighbours_count(const lode_neighbours *neighbours);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_neighbour_row *lode_neighbours_at(const lode_neighbours *neighbours, size_t index);

LODE_END_DECLS
#endif
