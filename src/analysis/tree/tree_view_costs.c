/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a view by another metric: expands the same call paths, and nothing else. */
#include "analysis/tree/tree_view.h"

#include "base/error.h"

/* The children of a row by the other metric; none if it has no cost. */
struct level {
    struct lode_array nodes; /* struct lode_tree_view_node */
    struct lode_keys keys;   /* of the nodes, in their order; others follow */
};

struct walk {
    struct lode_expander expander;
    struct lode_array levels; /* struct level: by depth, down to the row at hand */
    lode_error *error;
};

static struct level *level_at(const struct walk *self, size_t depth)
{
    return LODE_ARRAY_AT(&self->levels, struct level, depth);
}

static void pop_level(struct walk *self)
{
    struct level *level = level_at(self, self->levels.count - 1);
    for (size_t i = 0; i < level->nodes.count; i++)
        lode_tree_view_node_free(LODE_ARRAY_AT(&level->nodes, struct lode_tree_view_node, i));
    lode_array_free(&level->nodes);
    lode_keys_free(&level->keys);
    lode_array_pop(&self->levels);
}

/* Takes the children from the expander. */
static lode_status push_level(struct walk *self)
{
    struct lode_array *children = &self->expander.children;
    struct level *level = lode_array_push(&self->levels);
    bool added;
    LODE_TRY_ALLOC(level, self->error);
    lode_array_init(&level->nodes, sizeof(struct lode_tree_view_node), SIZE_MAX);
    lode_keys_init(&level->keys);
    for (size_t i = 0; i < children->count; i++) {
        const struct lode_tree_view_node *child = LODE_ARRAY_AT(children, struct lode_tree_view_node, i);
        struct lode_key key = lode_expander_key(&self->expander, child->row.context);
        if (lode_keys_add(&level->keys, &key, &added) == LODE_NO_INDEX)
            return lode_fail_memory(self->error);
    }
    struct lode_array empty = level->nodes;
    level->nodes = *children;
    *children = empty;
    return LODE_OK;
}

/* The node of a row; NULL with LODE_OK if it has no cost. */
static lode_status find(struct walk *self, const lode_view_row *row, struct lode_tree_view_node **node)
{
    bool added;
    struct level *level = level_at(self, row->depth);
    struct lode_key key = lode_expander_key(&self->expander, row->context);
    uint32_t number = lode_keys_add(&level->keys, &key, &added);
    *node = NULL;
    if (number == LODE_NO_INDEX)
        return lode_fail_memory(self->error);
    if (number < level->nodes.count)
        *node = LODE_ARRAY_AT(&level->nodes, struct lode_tree_view_node, number);
    return LODE_OK;
}

/* The costs of a row, and its children if rows below it follow. */
static lode_status visit(struct walk *self, const lode_view_row *row, bool has_rows, double *inclusive,
                         double *exclusive)
{
    struct lode_tree_view_node *node;
    while (self->levels.count > (size_t)row->depth + 1)
        pop_level(self);
    LODE_TRY(find(self, row, &node));
    if (node && has_rows)
        LODE_TRY(lode_expander_expand(&self->expander, node, self->error));
    else if (node)
        lode_tree_view_node_complete(&self->expander, node);
    *inclusive = node ? node->row.inclusive : 0.0;
    *exclusive = node ? node->row.exclusive : 0.0;
    return has_rows ? push_level(self) : LODE_OK;
}

/* Whether all rows are of the tree of the cost. */
static bool is_of_tree(const lode_view *view, const struct lode_context_tree *tree)
{
    for (size_t i = 0; i < lode_view_count(view); i++) {
        const lode_context *context = lode_view_at(view, i)->context;
        if (context->index >= tree->count || context != &tree->nodes[context->index])
            return false;
    }
    return true;
}

static lode_status visit_all(struct walk *self, const lode_view *view, double *inclusive, double *exclusive)
{
    size_t count = lode_view_count(view);
    LODE_TRY(lode_expander_roots(&self->expander, self->error));
    LODE_TRY(push_level(self));
    for (size_t i = 0; i < count; i++) {
        const lode_view_row *row = lode_view_at(view, i);
        bool has_rows = i + 1 < count && lode_view_at(view, i + 1)->depth > row->depth;
        LODE_TRY(visit(self, row, has_rows, &inclusive[i], &exclusive[i]));
    }
    return LODE_OK;
}

lode_status lode_view_costs(const lode_view *view, const lode_cost *cost, const lode_view_options *options,
                            double *inclusive, double *exclusive, lode_error *error)
{
    struct walk self = {.error = error};
    if (!is_of_tree(view, cost->tree))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the cost is of another database");
    lode_array_init(&self.levels, sizeof(struct level), SIZE_MAX);
    lode_status status = lode_expander_open(&self.expander, cost, options, error);
    /* What is small by this metric, or hidden, is a row of the view all the same. */
    self.expander.options.min_fraction = 0.0;
    self.expander.options.depth = 0;
    self.expander.options.filter = NULL;
    if (status == LODE_OK)
        status = visit_all(&self, view, inclusive, exclusive);
    while (self.levels.count > 0)
        pop_level(&self);
    lode_array_free(&self.levels);
    lode_expander_close(&self.expander);
    return status;
}
