/* SPDX-License-Identifier: BSD-3-Clause */
/* What the first rows of a view and the rows below a row have in common: collecting children. */
#ifndef LODE_ANALYSIS_TREE_EXPAND_H
#define LODE_ANALYSIS_TREE_EXPAND_H

#include "analysis/tree/tree_view.h"

/* A context of a node. In a view by callers: a caller, and the cost through it. */
struct lode_member {
    uint32_t context;
    double weight;
};

/* Begin without children; drop those that there are. */
void lode_expander_begin(struct lode_expander *self);
void lode_expander_drop(struct lode_expander *self);

/* Whether a context has its own row; other costs go to the row above. Flat views omit calls. */
bool lode_expander_shows(const struct lode_expander *self, const lode_context *context);
/* Whether a call is one of the function of the row, and to be merged with it. */
bool lode_expander_merges(const struct lode_expander *self, const lode_context *context,
                          const lode_context *row);
/* The size of a part of a function's costs. */
double lode_expander_size(const struct lode_expander *self, double cost);

/* The child that a context belongs to; NULL if out of memory. */
struct lode_tree_view_node *lode_expander_child(struct lode_expander *self, const lode_context *context);
/* Adds a context to a child, which is NULL if out of memory. */
lode_status lode_expander_add(struct lode_expander *self, struct lode_tree_view_node *node,
                              const lode_context *context, double weight, double size);
/* Adds a context to its child, with all its costs. */
lode_status lode_expander_add_shown(struct lode_expander *self, const lode_context *context);
/* The body of a context: adds own costs to `row`, and calls and inner scopes to the children. */
lode_status lode_expander_add_body(struct lode_expander *self, const lode_context *member,
                                   lode_view_row *row);

/* Drops contexts inside others of the node, so that a recursive function counts once. */
void lode_expander_keep_outermost(const struct lode_expander *self, struct lode_tree_view_node *node);
/* The costs of children, where they are not simply sums over their contexts. */
void lode_expander_merge(struct lode_expander *self);
/* Keeps the children that get a row, the most expensive first. `parent` is NULL for roots. */
void lode_expander_choose(struct lode_expander *self, lode_view_row *parent, unsigned depth);

#endif
