/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaling loss: what keeps a program from being as efficient on more ranks, by context. */
#ifndef LODE_UNSTABLE_SCALING_H
#define LODE_UNSTABLE_SCALING_H

#include <lode/unstable/compare.h>

LODE_BEGIN_DECLS

typedef enum lode_scaling {
    LODE_SCALING_STRONG, /* both runs have the same work in all */
    LODE_SCALING_WEAK    /* both runs have the same work per rank */
} lode_scaling;

typedef struct lode_scaling_options {
    size_t size;
    lode_scaling how;
    double base_ranks, new_ranks; /* ranks, or threads, that the costs are of; for weak scaling */
    int by_callers;               /* rows are functions as called by one function */
} lode_scaling_options;
#define LODE_SCALING_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_scaling_options), LODE_SCALING_STRONG, 1.0, 1.0, 0                                       \
    }

/*
 * The loss of a node is the part of the cost of new that would not be there if costs had scaled:
 * strong, (new - base) / total of new; weak, the same with all costs per rank. 0 is ideal, less is
 * superlinear. The inclusive loss is the own loss and that of the children; of the root, it is 1 -
 * efficiency.
 */
typedef struct lode_scaling_loss {
    double own, inclusive;
} lode_scaling_loss;

/* LODE_NOT_FOUND if there is no such node; options may be NULL. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_scaling_loss_of(const lode_compared_tree *tree, uint32_t node,
                                                       const lode_scaling_options *options,
                                                       lode_scaling_loss *loss, lode_error *error);
/*
 * The hot path of the loss: from the root to the child with the largest inclusive loss, as long as
 * that is at least half of its parent's. Writes at most `capacity` nodes; `count` is how many there
 * are. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_scaling_hot_path(const lode_compared_tree *tree,
                                                        const lode_scaling_options *options, uint32_t *nodes,
                                                        size_t capacity, size_t *count, lode_error *error);

/* The loss of a function, with its loops, wherever it is called; a recursive one counts once. */
typedef struct lode_scaling_row {
    uint32_t node;   /* one of its nodes: names it */
    uint32_t caller; /* by callers: a node of the caller; else 0 */
    uint32_t nodes;  /* how many nodes it has */
    double own, inclusive;
} lode_scaling_row;

typedef struct lode_scaling_table lode_scaling_table;

/* Rows with any loss, the largest own loss first. Options may be NULL. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_scaling_compute(lode_scaling_table **out,
                                                       const lode_compared_tree *tree,
                                                       const lode_scaling_options *options,
                                                       lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_scaling_table_free(lode_scaling_table *table);
/* MT: any thread. */
LODE_API size_t lode_scaling_table_count(const lode_scaling_table *table);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_scaling_row *lode_scaling_table_at(const lode_scaling_table *table, size_t index);

LODE_END_DECLS
#endif
