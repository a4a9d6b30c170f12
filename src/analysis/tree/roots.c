/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rows of a view. */
#include "analysis/tree/expand.h"

#include "analysis/tree/tree_view_filter.h"

#include "base/error.h"
#include "model/database/database.h"
#include <math.h>
#include <stdlib.h>

static bool matches_focus(const struct lode_expander *self, const lode_context *context)
{
    return begins_function(context) && (self->matches == NULL || self->matches->has[context->index]);
}

/* The outermost contexts of functions that match the focus. */
static lode_status add_focused_roots(struct lode_expander *self)
{
    for (uint32_t i = 1; i < self->tree->count;) {
        const lode_context *context = &self->tree->nodes[i];
        bool matches = matches_focus(self, context);
        if (matches)
            LODE_TRY(lode_expander_add_shown(self, context));
        i += matches ? context->subtree_size : 1;
    }
    return LODE_OK;
}

/* Functions with own costs. */
static lode_status add_caller_roots(struct lode_expander *self)
{
    for (uint32_t i = 0; i < self->tree->count; i++) {
        const lode_context *context = &self->tree->nodes[i];
        if (self->body[i] != 0.0 && matches_focus(self, context))
            LODE_TRY(lode_expander_add(self, lode_expander_child(self, context), context, self->body[i],
                                       lode_expander_size(self, self->body[i])));
    }
    return LODE_OK;
}

/* Functions of the focus with their inclusive costs. */
static lode_status add_callers_of_roots(struct lode_expander *self)
{
    for (uint32_t i = 1; i < self->tree->count; i++) {
        const lode_context *context = &self->tree->nodes[i];
        if (!matches_focus(self, context))
            continue;
        struct lode_tree_view_node *node = lode_expander_child(self, context);
        LODE_TRY(lode_expander_add(self, node, context, self->cost->inclusive[i], self->sizes[i]));
        node->row.exclusive += self->body[i];
    }
    for (size_t i = 0; i < self->children.count; i++)
        lode_expander_keep_outermost(self, LODE_ARRAY_AT(&self->children, struct lode_tree_view_node, i));
    return LODE_OK;
}

/* All functions, each with all its contexts. */
static lode_status add_flat_roots(struct lode_expander *self)
{
    for (uint32_t i = 0; i < self->tree->count; i++) {
        const lode_context *context = &self->tree->nodes[i];
        bool stands_in = context->lexical == LODE_LEXICAL_ENTRY || context->index == 0;
        if (matches_focus(self, context) && (!stands_in || self->body[i] != 0.0))
            LODE_TRY(lode_expander_add_shown(self, context));
    }
    return LODE_OK;
}

static lode_status find_functions(struct lode_expander *self)
{
    self->function_of = calloc(self->tree->count, sizeof *self->function_of);
    self->body = calloc(self->tree->count, sizeof *self->body);
    if (self->function_of == NULL || self->body == NULL)
        return lode_fail_memory(self->error);
    for (uint32_t i = 0; i < self->tree->count; i++) {
        const lode_context *context = &self->tree->nodes[i];
        self->function_of[i] = begins_function(context) ? i : self->function_of[context->parent];
        self->body[self->function_of[i]] += self->cost->own[i];
    }
    return LODE_OK;
}

/* Everything below the global context, and a row for its own costs. */
static lode_status add_top_roots(struct lode_expander *self)
{
    const lode_context *global = &self->tree->nodes[0];
    lode_view_row everything = {0};
    LODE_TRY(lode_expander_add_body(self, global, &everything));
    if (lode_expander_size(self, everything.exclusive) <= 0.0)
        return LODE_OK;
    struct lode_tree_view_node *node = lode_expander_child(self, global);
    LODE_TRY_ALLOC(node, self->error);
    node->row.contexts = 1;
    node->row.inclusive = node->row.exclusive = everything.exclusive;
    node->size = lode_expander_size(self, everything.exclusive);
    return LODE_OK;
}

/* The context above, or this one, that has a row; the global context if none has. */
static const lode_context *shown_above(const struct lode_expander *self, const lode_context *context)
{
    while (context->index > 0 && !lode_expander_shows(self, context))
        context = &self->tree->nodes[context->parent];
    return context;
}

/* From the children of a row to those of one of them: the row of `context`. */
static lode_status step_down(struct lode_expander *self, struct lode_tree_view_node *node,
                             const lode_context *context)
{
    size_t count = self->children.count;
    struct lode_tree_view_node *found = lode_expander_child(self, context);
    LODE_TRY_ALLOC(found, self->error);
    if (self->children.count > count)
        return lode_fail(self->error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "context %u has no row",
                         context->id);
    lode_tree_view_node_free(node);
    *node = *found;
    lode_array_init(&found->members, sizeof(struct lode_member), SIZE_MAX);
    lode_expander_begin(self);
    lode_view_row below = node->row;
    for (size_t i = 0; i < node->members.count; i++) {
        uint32_t member = LODE_ARRAY_AT(&node->members, struct lode_member, i)->context;
        LODE_TRY(lode_expander_add_body(self, &self->tree->nodes[member], &below));
    }
    return LODE_OK;
}

/* The rows from the root down to that of a context; leaves this one in `node`. */
static lode_status walk_down(struct lode_expander *self, struct lode_tree_view_node *node)
{
    uint32_t depth = 0;
    const lode_context *last = shown_above(self, self->options.at);
    for (const lode_context *c = last; c->index > 0; c = shown_above(self, lode_context_parent(c)))
        depth++;
    const lode_context **path = calloc((size_t)depth + 1, sizeof *path);
    LODE_TRY_ALLOC(path, self->error);
    for (const lode_context *c = last; c->index > 0; c = shown_above(self, lode_context_parent(c)))
        path[--depth] = c;
    lode_status status = LODE_OK;
    for (uint32_t i = 0; status == LODE_OK && path[i]; i++)
        if (!lode_expander_merges(self, path[i], node->row.context))
            status = step_down(self, node, path[i]);
    free(path);
    return status;
}

/* The row of one context. */
static lode_status add_row_at(struct lode_expander *self)
{
    struct lode_tree_view_node node = {0};
    lode_array_init(&node.members, sizeof(struct lode_member), SIZE_MAX);
    LODE_TRY(add_top_roots(self));
    lode_status status = walk_down(self, &node);
    bool is_root = node.row.context == NULL;
    if (status == LODE_OK && !is_root) {
        lode_expander_begin(self);
        struct lode_tree_view_node *only = lode_expander_child(self, node.row.context);
        status = only ? LODE_OK : lode_fail_memory(self->error);
        if (only) {
            *only = node;
            return LODE_OK;
        }
    }
    lode_tree_view_node_free(&node);
    return status;
}

/* Sizes by context; absolute values if any cost is negative. */
static lode_status find_sizes(struct lode_expander *self)
{
    uint32_t count = self->tree->count, i = 0;
    while (i < count && !(self->cost->own[i] < 0.0))
        i++;
    self->sizes = self->cost->inclusive;
    if (i == count)
        return LODE_OK;
    self->sizes = self->unsigned_costs = calloc(count, sizeof *self->unsigned_costs);
    LODE_TRY_ALLOC(self->unsigned_costs, self->error);
    /* Children follow parents. */
    for (i = count; i-- > 0;) {
        self->unsigned_costs[i] += fabs(self->cost->own[i]);
        if (i > 0)
            self->unsigned_costs[self->tree->nodes[i].parent] += self->unsigned_costs[i];
    }
    return LODE_OK;
}

static lode_status add_roots(struct lode_expander *self)
{
    lode_expander_begin(self);
    if (self->options.focus)
        LODE_TRY(lode_matches_of(&self->matches, self->tree, self->options.focus, self->options.names,
                                 self->error));
    LODE_TRY(find_sizes(self));
    if (self->options.filter)
        LODE_TRY(lode_path_flags(&self->paths, self->tree, self->options.filter, self->sizes,
                                 self->cost->calls, self->error));
    self->least = self->options.min_fraction * self->sizes[0];
    if (self->options.mode != LODE_VIEW_TOP_DOWN)
        LODE_TRY(find_functions(self));
    if (self->options.mode == LODE_VIEW_CALLERS)
        return add_caller_roots(self);
    if (self->options.mode == LODE_VIEW_CALLERS_OF)
        return add_callers_of_roots(self);
    if (self->options.mode == LODE_VIEW_FLAT)
        return add_flat_roots(self);
    if (self->options.at)
        return add_row_at(self);
    return self->options.focus ? add_focused_roots(self) : add_top_roots(self);
}

lode_status lode_expander_roots(struct lode_expander *self, lode_error *error)
{
    self->error = error;
    if (self->options.path_count > 0)
        return lode_expander_below(self, error);
    lode_status status = add_roots(self);
    if (status != LODE_OK) {
        lode_expander_drop(self);
        return status;
    }
    if (self->options.mode == LODE_VIEW_FLAT)
        lode_expander_merge(self);
    lode_expander_choose(self, NULL, 1);
    return LODE_OK;
}
