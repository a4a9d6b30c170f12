/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a tree comparison: the trees of its runs as one, with lines folded into functions and
 * loops. Keys are common to both sides.
 */
#ifndef LODE_ANALYSIS_COMPARE_SIDE_H
#define LODE_ANALYSIS_COMPARE_SIDE_H

#include "analysis/compare/normal.h"
#include "base/memory/map.h"
#include "model/database/tree.h"

enum lode_tree_key_kind {
    LODE_TREE_FUNCTION, /* name */
    LODE_TREE_LOOP,     /* file, line; name: the function that lines are relative to, or 0 */
};

/* Without padding. Names and files are strings of the normaliser. */
struct lode_tree_key {
    uint32_t kind, name, file, line;
};

struct lode_side_node {
    struct lode_tree_node node; /* its frame is a key */
    double own, calls;          /* means over runs */
    uint32_t tree, context;     /* the first context */
    /* While contexts are added: the first few children, in the order in which they came. */
    uint32_t first_child, next_sibling;
};

struct lode_side {
    struct lode_content_tree tree; /* struct lode_side_node */
    struct lode_map others;        /* by parent and key: children that are not in a list */
    struct lode_array trees;       /* const struct lode_context_tree * */
    uint32_t *first_child;         /* by node: where its children begin in `children` */
    uint32_t *children;
    double total;
    bool fold_loops;
};

static inline struct lode_side_node *lode_side_node(const struct lode_side *side, uint32_t number)
{
    return (void *)lode_tree_node(&side->tree, number);
}

static inline const lode_context *lode_side_context(const struct lode_side *side, uint32_t number)
{
    const struct lode_side_node *node = lode_side_node(side, number);
    return &(*LODE_ARRAY_AT(&side->trees, const struct lode_context_tree *, node->tree))
                ->nodes[node->context];
}

/* The side takes the costs of its runs, each with a factor, one after the other. */
lode_status lode_side_open(struct lode_side *side, lode_error *error);
lode_status lode_side_add(struct lode_side *side, struct lode_normalizer *names, struct lode_interner *keys,
                          const lode_cost *cost, double factor, double runs, lode_error *error);
lode_status lode_side_finish(struct lode_side *side, lode_error *error);
void lode_side_close(struct lode_side *side);

#endif
