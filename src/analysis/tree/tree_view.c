/* SPDX-License-Identifier: BSD-3-Clause */
/* A view as a list of rows: expands nodes depth-first, as long as they get a row. */
#include "analysis/tree/tree_view.h"

#include "base/error.h"
#include "base/getter.h"
#include <stdlib.h>

struct lode_view {
    struct lode_array rows;
    uint64_t total; /* rows with those that max_rows leaves out */
    uint64_t small, deep;
    bool is_cut, has_more;
};

/* How many rows beyond max_rows are counted. */
#define COUNTED_MAX 100000

struct builder {
    struct lode_expander expander;
    struct lode_array pending; /* nodes to be shown, the next one last */
    lode_view *view;
};

/* Moves the children to the pending nodes, the most expensive one last. */
static lode_status keep_children(struct builder *self, lode_error *error)
{
    struct lode_array *children = &self->expander.children;
    while (children->count > 0) {
        struct lode_tree_view_node *pending = lode_array_push(&self->pending);
        if (pending == NULL)
            return lode_fail_memory(error);
        *pending = *LODE_ARRAY_AT(children, struct lode_tree_view_node, children->count - 1);
        lode_array_pop(children);
    }
    return LODE_OK;
}

/* If a part is asked for, rows of the last level that nobody sees need not be expanded. */
static bool is_needed(const struct builder *self, const struct lode_tree_view_node *node, bool is_shown)
{
    const lode_view_options *options = &self->expander.options;
    bool is_part = options->path_count > 0 || options->skip > 0;
    return is_shown || !is_part || options->depth == 0 || node->row.depth + 1 < options->depth;
}

static lode_status show(struct builder *self, const struct lode_tree_view_node *node, lode_error *error)
{
    lode_view_row *row = lode_array_push(&self->view->rows);
    LODE_TRY_ALLOC(row, error);
    *row = node->row;
    row->depth -= (unsigned)self->expander.options.path_count;
    return LODE_OK;
}

static lode_status show_next(struct builder *self, lode_error *error)
{
    const lode_view_options *options = &self->expander.options;
    struct lode_tree_view_node node =
        *LODE_ARRAY_AT(&self->pending, struct lode_tree_view_node, self->pending.count - 1);
    lode_array_pop(&self->pending);
    bool is_shown = options->max_rows == 0 || self->view->rows.count < options->max_rows;
    lode_status status = LODE_OK;
    if (is_needed(self, &node, is_shown))
        status = lode_expander_expand(&self->expander, &node, error);
    if (status == LODE_OK)
        status = keep_children(self, error);
    if (status == LODE_OK && is_shown)
        status = show(self, &node, error);
    self->view->total++;
    lode_tree_view_node_free(&node);
    return status;
}

/* Drops the first of the pending nodes; returns how many. */
static size_t skip_some(struct builder *self, size_t most)
{
    size_t count = 0;
    for (; count < most && self->pending.count > 0; count++) {
        lode_tree_view_node_free(
            LODE_ARRAY_AT(&self->pending, struct lode_tree_view_node, self->pending.count - 1));
        lode_array_pop(&self->pending);
    }
    return count;
}

static lode_status show_all(struct builder *self, lode_error *error)
{
    size_t most = self->expander.options.max_rows;
    LODE_TRY(lode_expander_roots(&self->expander, error));
    LODE_TRY(keep_children(self, error));
    size_t skip = skip_some(self, self->expander.options.skip);
    self->view->total = skip;
    while (self->pending.count > 0 && (most == 0 || self->view->total < skip + most + COUNTED_MAX))
        LODE_TRY(show_next(self, error));
    self->view->has_more = self->pending.count > 0;
    self->view->is_cut = self->view->total > skip + self->view->rows.count;
    self->view->small = self->expander.small;
    self->view->deep = self->expander.deep;
    return LODE_OK;
}

lode_status lode_view_build(lode_view **out, const lode_cost *cost, const lode_view_options *options,
                            lode_error *error)
{
    struct builder self = {.view = calloc(1, sizeof *self.view)};
    *out = NULL;
    LODE_TRY_ALLOC(self.view, error);
    lode_array_init(&self.view->rows, sizeof(lode_view_row), SIZE_MAX);
    lode_array_init(&self.pending, sizeof(struct lode_tree_view_node), SIZE_MAX);
    lode_status status = lode_expander_open(&self.expander, cost, options, error);
    if (status == LODE_OK)
        status = show_all(&self, error);
    for (size_t i = 0; i < self.pending.count; i++)
        lode_tree_view_node_free(LODE_ARRAY_AT(&self.pending, struct lode_tree_view_node, i));
    lode_array_free(&self.pending);
    lode_expander_close(&self.expander);
    if (status == LODE_OK)
        *out = self.view;
    else
        lode_view_free(self.view);
    return status;
}

void lode_view_free(lode_view *view)
{
    if (view == NULL)
        return;
    lode_array_free(&view->rows);
    free(view);
}

LODE_GETTER(size_t, lode_view_count, lode_view, rows.count);

const lode_view_row *lode_view_at(const lode_view *view, size_t index)
{
    return index < view->rows.count ? LODE_ARRAY_AT(&view->rows, lode_view_row, index) : NULL;
}

LODE_GETTER(int, lode_view_is_cut, lode_view, is_cut);
LODE_GETTER(uint64_t, lode_view_total, lode_view, total);
LODE_GETTER(int, lode_view_has_more, lode_view, has_more);
LODE_GETTER(uint64_t, lode_view_omitted_by_share, lode_view, small);
LODE_GETTER(uint64_t, lode_view_omitted_by_depth, lode_view, deep);
