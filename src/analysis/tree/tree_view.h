/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expands the nodes of a view. A node groups equal contexts under the same parent; its children are
 * computed when it is expanded, so that pruned subtrees cost nothing.
 */
#ifndef LODE_ANALYSIS_TREE_VIEW_H
#define LODE_ANALYSIS_TREE_VIEW_H

#include "analysis/cost/cost.h"
#include "analysis/cost/key.h"
#include "analysis/cost/matches.h"
#include "base/memory/array.h"
#include <lode/view.h>

struct lode_tree_view_node {
    lode_view_row row; /* without exclusive cost until expanded or completed */
    double size;       /* for pruning: inclusive cost, or sum of absolute costs */
    struct lode_array members;
    bool call_seen; /* call_file and call_line are set */
    bool passes;    /* its path from a root goes through a function to include */
};

struct lode_expander {
    const lode_cost *cost;
    lode_view_options options; /* the focus need not outlive lode_expander_roots */
    lode_matches *matches;     /* of the focus; NULL without one */
    const struct lode_context_tree *tree;
    const double *sizes;      /* by context: inclusive costs, unless one is negative */
    double *unsigned_costs;   /* by context otherwise: sums of absolute values */
    double least;             /* rows of smaller size are dropped */
    unsigned char *paths;     /* by context: flags of the filter; NULL without one */
    bool passes;              /* of the node that is expanded */
    uint64_t small, deep;     /* rows that were dropped: of smaller size, or below the depth */
    uint32_t omitted;         /* rows that were dropped by the last expansion */
    double omitted_inclusive; /* and their costs */
    double omitted_size;
    struct lode_array children; /* struct lode_tree_view_node: of the last expansion, by cost */
    struct lode_keys keys;      /* of the children, in their order */
    uint32_t *function_of;      /* by context: the context that begins its function */
    double *body;               /* by context that begins a function: own costs of its body */
    lode_error *error;
};

lode_status lode_expander_open(struct lode_expander *self, const lode_cost *cost,
                               const lode_view_options *options, lode_error *error);
void lode_expander_close(struct lode_expander *self);

/*
 * Compute the roots, or the children of a node. Those that get a row are left in `children`; the
 * caller takes them and sets the count to 0. Expanding also computes the node's exclusive cost.
 */
lode_status lode_expander_roots(struct lode_expander *self, lode_error *error);
lode_status lode_expander_expand(struct lode_expander *self, struct lode_tree_view_node *node,
                                 lode_error *error);

/* What contexts of one row below a node have in common. */
struct lode_key lode_expander_key(const struct lode_expander *self, const lode_context *context);
/* The roots with options.path: the children of its last row. Depths are those in the whole tree. */
lode_status lode_expander_below(struct lode_expander *self, lode_error *error);

/* Computes the exclusive cost of an unexpanded node. Returns whether it has contexts below. */
bool lode_tree_view_node_complete(const struct lode_expander *self, struct lode_tree_view_node *node);
void lode_tree_view_node_free(struct lode_tree_view_node *node);
/* A node of the same contexts, without its exclusive cost. */
lode_status lode_tree_view_node_copy(struct lode_tree_view_node *to, const struct lode_tree_view_node *from,
                                     lode_error *error);

/* Makes the outline call `release` when it closes. */
void lode_outline_own(lode_outline *outline, void (*release)(void *owner, const lode_cost *cost),
                      void *owner);

#endif
