/* SPDX-License-Identifier: BSD-3-Clause */
/* A view whose nodes are expanded on demand. */
#include "analysis/tree/tree_view.h"

#include "base/error.h"
#include "base/options.h"
#include <pthread.h>
#include <stdlib.h>

struct outline_node {
    struct lode_tree_view_node node;
    uint32_t first, count; /* its children, if it is expanded */
    bool expanded;
    bool has_more; /* there are contexts below it */
};

struct lode_outline {
    pthread_mutex_t lock; /* protects the fields below */
    struct lode_expander expander;
    struct lode_array nodes; /* the first one is the root */
    void (*release)(void *owner, const lode_cost *cost);
    void *owner;
};

/* The index must be below the count. */
static struct outline_node *node_at(const lode_outline *outline, size_t index)
{
    return LODE_ARRAY_AT(&outline->nodes, struct outline_node, index);
}

/* Makes the result of the expander the children of a node. */
static lode_status take_children(lode_outline *outline, uint32_t parent, lode_error *error)
{
    struct lode_array *children = &outline->expander.children;
    size_t first = outline->nodes.count;
    for (size_t i = 0; i < children->count; i++) {
        struct outline_node *node = lode_array_push(&outline->nodes);
        if (node == NULL) {
            /* Return what was taken so far to the expander. */
            outline->nodes.count = first;
            return lode_fail_memory(error);
        }
        node->node = *LODE_ARRAY_AT(children, struct lode_tree_view_node, i);
    }
    for (size_t i = first; i < outline->nodes.count; i++) {
        struct outline_node *node = node_at(outline, i);
        node->has_more = lode_tree_view_node_complete(&outline->expander, &node->node);
    }
    struct outline_node *above = node_at(outline, parent);
    above->first = (uint32_t)first;
    above->count = (uint32_t)children->count;
    above->expanded = true;
    children->count = 0;
    return LODE_OK;
}

static lode_status begin(lode_outline *outline, const lode_cost *cost, const lode_view_options *options,
                         lode_error *error)
{
    LODE_TRY(lode_expander_open(&outline->expander, cost, options, error));
    if (lode_array_push(&outline->nodes) == NULL)
        return lode_fail_memory(error);
    LODE_TRY(lode_expander_roots(&outline->expander, error));
    outline->expander.options.focus = NULL;
    return take_children(outline, LODE_OUTLINE_ROOT, error);
}

lode_status lode_outline_open(lode_outline **out, const lode_cost *cost, const lode_view_options *options,
                              lode_error *error)
{
    lode_outline *outline = calloc(1, sizeof *outline);
    *out = NULL;
    LODE_TRY_ALLOC(outline, error);
    pthread_mutex_init(&outline->lock, NULL);
    lode_array_init(&outline->nodes, sizeof(struct outline_node), UINT32_MAX);
    lode_status status = begin(outline, cost, options, error);
    if (status == LODE_OK)
        *out = outline;
    else
        lode_outline_close(outline);
    return status;
}

void lode_outline_own(lode_outline *outline, void (*release)(void *owner, const lode_cost *cost), void *owner)
{
    outline->release = release;
    outline->owner = owner;
}

void lode_outline_close(lode_outline *outline)
{
    if (outline == NULL)
        return;
    if (outline->release)
        outline->release(outline->owner, outline->expander.cost);
    for (size_t i = 0; i < outline->nodes.count; i++)
        lode_tree_view_node_free(&node_at(outline, i)->node);
    lode_array_free(&outline->nodes);
    lode_expander_close(&outline->expander);
    pthread_mutex_destroy(&outline->lock);
    free(outline);
}

/* Called with the lock held. */
static lode_status expand(lode_outline *outline, uint32_t index, lode_error *error)
{
    struct outline_node *node = node_at(outline, index);
    /* The exclusive cost is known already. */
    double exclusive = node->node.row.exclusive;
    lode_status status = lode_expander_expand(&outline->expander, &node->node, error);
    node->node.row.exclusive = exclusive;
    if (status == LODE_OK)
        status = take_children(outline, index, error);
    if (status == LODE_OK)
        lode_tree_view_node_free(&node_at(outline, index)->node);
    return status;
}

lode_status lode_outline_expand(lode_outline *outline, uint32_t index, uint32_t *first, uint32_t *count,
                                lode_error *error)
{
    lode_status status = LODE_OK;
    pthread_mutex_lock(&outline->lock);
    if (index >= outline->nodes.count)
        status = lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "there is no node %u", index);
    else if (!node_at(outline, index)->expanded)
        status = expand(outline, index, error);
    if (status == LODE_OK) {
        *first = node_at(outline, index)->first;
        *count = node_at(outline, index)->count;
    }
    pthread_mutex_unlock(&outline->lock);
    return status;
}

lode_status lode_outline_row(lode_outline *outline, uint32_t index, lode_view_row *row, size_t row_size,
                             int *has_more)
{
    pthread_mutex_lock(&outline->lock);
    bool found = index > 0 && index < outline->nodes.count;
    if (found) {
        const struct outline_node *node = node_at(outline, index);
        lode_view_row known = node->node.row;
        known.depth -= (unsigned)outline->expander.options.path_count;
        lode_result_give(row, row_size, &known, sizeof known);
        if (has_more)
            *has_more = node->expanded ? node->count > 0 : node->has_more;
    }
    pthread_mutex_unlock(&outline->lock);
    return found ? LODE_OK : LODE_NOT_FOUND;
}
