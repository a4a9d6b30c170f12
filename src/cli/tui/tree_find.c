/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches the whole tree in the order of its rows, whether they are open or not. */
#include "alloc.h"
#include "tui/tree.h"

#include <stdlib.h>

#define VISITED_MOST 200000 /* nodes: a second at most */

/* Siblings that are being visited. */
typedef struct level {
    uint32_t first, count, at;
} level;

typedef struct walk {
    level *levels;
    size_t depth, capacity;
    uint32_t current; /* node of the cursor */
    int is_past;      /* the current node was visited */
    int is_self;      /* it matches */
    /* Paths from the root, by node. */
    uint32_t *before, *after, *wrapped;
    size_t before_depth, after_depth, wrapped_depth;
} walk;

static void keep(const walk *w, uint32_t **path, size_t *depth)
{
    free(*path);
    *path = alloc_array(w->depth, sizeof **path);
    *depth = w->depth;
    for (size_t i = 0; i < w->depth; i++)
        (*path)[i] = w->levels[i].first + w->levels[i].at;
}

static void push(walk *w, uint32_t first, uint32_t count)
{
    w->levels = alloc_grow(w->levels, &w->capacity, w->depth, sizeof *w->levels);
    w->levels[w->depth++] = (level){first, count, 0};
}

/* To the next sibling, of the nearest level that has one. */
static void advance(walk *w)
{
    while (w->depth && ++w->levels[w->depth - 1].at >= w->levels[w->depth - 1].count)
        w->depth--;
}

/* Notes a match: the last one before the current node, the first after it, the first of all. */
static void note(walk *w)
{
    if (w->is_past && !w->after)
        keep(w, &w->after, &w->after_depth);
    if (!w->is_past)
        keep(w, &w->before, &w->before_depth);
    if (!w->wrapped)
        keep(w, &w->wrapped, &w->wrapped_depth);
}

static void visit_all(tui_app *app, walk *w, int direction)
{
    uint32_t first, count;
    if (lode_outline_expand(app->tree.outline, LODE_OUTLINE_ROOT, &first, &count, NULL) == LODE_OK && count)
        push(w, first, count);
    for (uint32_t visited = 0; w->depth && visited < VISITED_MOST; visited++) {
        level *here = &w->levels[w->depth - 1];
        uint32_t node = here->first + here->at;
        lode_view_row row = {0};
        int has_more = 0;
        if (node == w->current) {
            w->is_past = 1;
            w->is_self = tree_node(app, node, &row, NULL) && tui_matches(app, tree_name(app, &row));
            if (direction < 0 && w->before)
                return;
        } else if (tree_node(app, node, &row, NULL) && tui_matches(app, tree_name(app, &row))) {
            note(w);
            if (direction > 0 && w->after)
                return;
        }
        (void)tree_node(app, node, &row, &has_more);
        if (has_more && lode_outline_expand(app->tree.outline, node, &first, &count, NULL) == LODE_OK &&
            count)
            push(w, first, count);
        else
            advance(w);
    }
}

/* The row of a node among the rows from `at` on that have its depth; opens what is put together. */
static size_t find_visible(tui_app *app, size_t at, uint32_t node, uint32_t depth)
{
    while (at < app->tree.count && app->tree.rows[at].depth >= depth) {
        const tui_tree_row *row = &app->tree.rows[at];
        if (row->depth == depth && row->rest && node >= row->node && node - row->node < row->rest)
            (void)tree_open(app, at);
        else if (row->depth == depth && row->node == node && !row->rest)
            return at;
        else
            at++;
    }
    return app->tree.count;
}

static int reveal(tui_app *app, const uint32_t *path, size_t depth)
{
    size_t at = 0;
    for (size_t i = 0; i < depth; i++) {
        at = find_visible(app, at, path[i], (uint32_t)i);
        if (at >= app->tree.count)
            return 0;
        app->lists[TUI_TREE].cursor = at;
        if (i + 1 < depth && tree_open(app, at++) < 0)
            return 0;
    }
    return 1;
}

int tree_find(tui_app *app, int direction)
{
    size_t at = app->lists[TUI_TREE].cursor;
    if (!app->tree.outline || at >= app->tree.count)
        return 0;
    walk w = {.current = app->tree.rows[at].node};
    visit_all(app, &w, direction);
    int is_found = 0;
    if (direction > 0 && w.after)
        is_found = reveal(app, w.after, w.after_depth);
    else if (direction < 0 && w.before)
        is_found = reveal(app, w.before, w.before_depth);
    else if (direction > 0 && w.wrapped)
        is_found = reveal(app, w.wrapped, w.wrapped_depth);
    free(w.levels);
    free(w.before);
    free(w.after);
    free(w.wrapped);
    return is_found || w.is_self;
}
