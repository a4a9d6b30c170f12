/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expanding the nodes of a view. A node stands for contexts with the same meaning under the same parent; its children are found
 * when it is expanded, so that what is pruned costs nothing.
 */
#ifndef LODE_ANALYSIS_VIEW_H
#define LODE_ANALYSIS_VIEW_H

#include "analysis/cost.h"
#include "analysis/key.h"
#include "base/array.h"
#include <lode/view.h>

struct lode_view_node {
    lode_view_row row; /* without the exclusive cost, until it is expanded or lode_view_node_complete */
    double size; /* what it is left out by: its inclusive cost, or what that adds up from without signs */
    struct lode_array members;
    bool call_seen; /* call_file and call_line are set */
};

struct lode_expander {
    const lode_cost *cost;
    lode_view_options options; /* the focus need not outlive lode_expander_roots */
    const struct lode_context_tree *tree;
    const double *sizes;        /* by context: the inclusive costs, unless one is negative */
    double *unsigned_costs;     /* else these: of a quantity that can go down, costs can cancel out */
    double least;               /* size below which rows are left out */
    struct lode_array children; /* struct lode_view_node: what was found last, the most expensive first */
    struct lode_keys keys;      /* of the children, in their order */
    uint32_t *function_of;      /* by context: the context that begins the function it is in */
    double *body;               /* by context that begins a function: the own costs of its body */
    lode_error *error;
};

lode_status lode_expander_open(struct lode_expander *self, const lode_cost *cost,
                               const lode_view_options *options, lode_error *error);
void lode_expander_close(struct lode_expander *self);

/*
 * Find the first rows, or the children of a node, and leave those that are worth a row in `children`, which the caller takes: sets
 * the count to 0. Expanding also adds up the node's exclusive cost.
 */
lode_status lode_expander_roots(struct lode_expander *self, lode_error *error);
lode_status lode_expander_expand(struct lode_expander *self, struct lode_view_node *node, lode_error *error);

/* Adds up the exclusive cost of a node that is not going to be expanded now. Returns whether there are contexts below it. */
bool lode_view_node_complete(const struct lode_expander *self, struct lode_view_node *node);
void lode_view_node_free(struct lode_view_node *node);

/* Has the outline call `release` when it closes. */
void lode_outline_own(lode_outline *outline, void (*release)(void *owner, const lode_cost *cost),
                      void *owner);

#endif
