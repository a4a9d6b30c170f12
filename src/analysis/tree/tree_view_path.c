/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down to one row of a view, whatever is left out beside it. */
#include "analysis/tree/tree_view.h"

#include "base/error.h"
#include <limits.h>

/* Takes the child that a context belongs to. */
static bool take_child(struct lode_expander *self, const lode_context *context,
                       struct lode_tree_view_node *node)
{
    struct lode_key wanted = lode_expander_key(self, context);
    for (size_t i = 0; i < self->children.count; i++) {
        struct lode_tree_view_node *child = LODE_ARRAY_AT(&self->children, struct lode_tree_view_node, i);
        struct lode_key key = lode_expander_key(self, child->row.context);
        if (!lode_key_is_same(&key, &wanted))
            continue;
        lode_tree_view_node_free(node);
        *node = *child;
        /* The expander frees what is left. */
        lode_array_init(&child->members, child->members.item_size, SIZE_MAX);
        return true;
    }
    return false;
}

/* A limit of depth counts from the row of the path. */
static lode_view_options from_path(lode_view_options options)
{
    if (options.depth > UINT_MAX - options.path_count)
        options.depth = 0;
    options.depth += options.depth ? (unsigned)options.path_count : 0;
    return options;
}

static lode_status walk(struct lode_expander *self, const lode_view_options *wanted,
                        struct lode_tree_view_node *node, lode_error *error)
{
    for (size_t i = 0; i < wanted->path_count; i++) {
        const lode_context *context = wanted->path[i];
        if (!take_child(self, context, node))
            return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET,
                             "context %u has no row on this path", lode_context_id(context));
        if (i + 1 == wanted->path_count) {
            self->least = wanted->min_fraction * self->sizes[0];
            self->options = from_path(*wanted);
        }
        LODE_TRY(lode_expander_expand(self, node, error));
    }
    return LODE_OK;
}

lode_status lode_expander_below(struct lode_expander *self, lode_error *error)
{
    lode_view_options wanted = self->options;
    struct lode_tree_view_node node = {0};
    self->options.path_count = 0;
    self->options.depth = 0;
    self->options.min_fraction = 0.0;
    LODE_TRY(lode_expander_roots(self, error));
    lode_status status = walk(self, &wanted, &node, error);
    self->options = from_path(wanted);
    lode_tree_view_node_free(&node);
    return status;
}
