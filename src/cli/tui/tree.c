/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode tree` shows, one opened row at a time. */
#include "tui/tree.h"
#include "alloc.h"
#include "tui/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOT_SHARE   0.5  /* of the row above: what is on the hot path, as in `lode tree` */
#define LEAST_SHARE 0.01 /* of everything: smaller rows are put together in one */
#define OPENED_MOST 5000 /* rows that one key opens */

static int is_there(const tui_app *app)
{
    (void)app;
    return 1;
}

static const lode_cost *cost_of(const tui_app *app)
{
    return app->rec ? lode_calltree_cost(app->calltree) : app->cost;
}

int tree_node(const tui_app *app, uint32_t node, lode_view_row *row, int *has_more)
{
    return lode_outline_row(app->tree.outline, node, row, sizeof *row, has_more) == LODE_OK;
}

/* ---- rows ---- */

static void insert(tui_tree *tree, size_t at, size_t count)
{
    size_t wanted = tree->count + count;
    if (count == 0)
        return;
    while (tree->capacity < wanted)
        tree->rows = alloc_grow(tree->rows, &tree->capacity, tree->capacity, sizeof *tree->rows);
    memmove(&tree->rows[at + count], &tree->rows[at], (tree->count - at) * sizeof *tree->rows);
    memset(&tree->rows[at], 0, count * sizeof *tree->rows);
    tree->count = wanted;
}

static void fill(const tui_app *app, tui_tree_row *row, uint32_t node, uint32_t depth)
{
    lode_view_row about = {0};
    int has_more = 0;
    tree_node(app, node, &about, &has_more);
    *row = (tui_tree_row){.node = node, .depth = depth, .can_open = has_more != 0};
}

/* How many of the children have at least the least share. They are in falling order. */
static uint32_t count_large(const tui_app *app, uint32_t first, uint32_t count)
{
    uint32_t large = 0;
    for (; large < count; large++) {
        lode_view_row row = {0};
        if (!tree_node(app, first + large, &row, NULL) || row.inclusive < LEAST_SHARE * app->tree.total)
            break;
    }
    /* A row in the place of a single one says less. */
    return count - large == 1 ? count : large;
}

/* Puts rows for nodes at a place, and one for the small ones. Returns how many. */
static size_t put_nodes(tui_app *app, size_t at, uint32_t first, uint32_t count, uint32_t depth, int is_all)
{
    uint32_t large = is_all ? count : count_large(app, first, count);
    size_t added = (size_t)large + (large < count);
    insert(&app->tree, at, added);
    for (uint32_t i = 0; i < large; i++)
        fill(app, &app->tree.rows[at + i], first + i, depth);
    if (large < count)
        app->tree.rows[at + large] =
            (tui_tree_row){.node = first + large, .depth = depth, .can_open = 1, .rest = count - large};
    return added;
}

int tree_open(tui_app *app, size_t index)
{
    tui_tree *tree = &app->tree;
    tui_tree_row row = tree->rows[index];
    lode_error error = {0};
    uint32_t first, count;
    if (!row.can_open || row.is_open)
        return 0;
    if (row.rest) {
        tree->count--;
        memmove(&tree->rows[index], &tree->rows[index + 1], (tree->count - index) * sizeof *tree->rows);
        put_nodes(app, index, row.node, row.rest, row.depth, 1);
        return 0;
    }
    if (lode_outline_expand(tree->outline, row.node, &first, &count, &error) != LODE_OK)
        return tui_fail(app, &error);
    /* What is below may have no cost: then there was nothing to open. */
    tree->rows[index].can_open = tree->rows[index].is_open = count > 0;
    put_nodes(app, index + 1, first, count, row.depth + 1, 0);
    return 0;
}

static void close_row(tui_app *app, size_t index)
{
    tui_tree *tree = &app->tree;
    size_t end = index + 1;
    while (end < tree->count && tree->rows[end].depth > tree->rows[index].depth)
        end++;
    memmove(&tree->rows[index + 1], &tree->rows[end], (tree->count - end) * sizeof *tree->rows);
    tree->count -= end - index - 1;
    tree->rows[index].is_open = 0;
}

static size_t parent_of(const tui_app *app, size_t index)
{
    uint32_t depth = app->tree.rows[index].depth;
    while (index > 0 && depth > 0 && app->tree.rows[index].depth >= depth)
        index--;
    return index;
}

/* ---- loading ---- */

static int load(tui_app *app)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_error error = {0};
    uint32_t first, count;
    if (app->tree.outline)
        return 0;
    if (tui_load_cost(app) < 0)
        return -1;
    options.mode = app->tree.is_inverted ? LODE_VIEW_CALLERS : LODE_VIEW_TOP_DOWN;
    options.min_fraction = 0;
    if (lode_outline_open(&app->tree.outline, cost_of(app), &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    app->tree.total = lode_cost_total(cost_of(app));
    if (lode_outline_expand(app->tree.outline, LODE_OUTLINE_ROOT, &first, &count, &error) != LODE_OK)
        return tui_fail(app, &error);
    put_nodes(app, 0, first, count, 0, 0);
    return 0;
}

static size_t count(const tui_app *app)
{
    return app->tree.count;
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column database[] = {{"Incl %", 7}, {"Inclusive", 14}, {"Excl %", 7}, {"Call tree", 0}};
    static const tui_column recording[] = {
        {"Incl %", 7}, {"Inclusive", 14}, {"Excl %", 7}, {"Calls", 10}, {"Call tree", 0}};
    return app->rec ? recording : database;
}

static void share(char cell[TUI_CELL_SIZE], double part, double whole)
{
    if (whole > 0)
        format_percent(cell, part / whole);
}

const char *tree_name(tui_app *app, const lode_view_row *row)
{
    int names =
        app->rec ? names_of_recordings(NAMES_BY_STORE) : names_of_database(app->db->db, NAMES_BY_STORE);
    return label_context_as(&app->name, row->context, names);
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    static char rest[64];
    const tui_tree_row *at = &app->tree.rows[index];
    lode_view_row about = {0};
    row->indent = 2 * (at->depth < 1000 ? at->depth : 1000);
    row->mark = !at->can_open ? "  "
                : at->is_open ? (app->is_utf8 ? "▾ " : "- ")
                              : (app->is_utf8 ? "▸ " : "+ ");
    if (at->rest) {
        snprintf(rest, sizeof rest, "(%u more below 1 %%)", at->rest);
        row->text = rest;
        row->style = TUI_DIM;
        return;
    }
    if (!tree_node(app, at->node, &about, NULL))
        return;
    share(row->cells[0], about.inclusive, app->tree.total);
    format_amount(row->cells[1], about.inclusive, tui_unit(app));
    share(row->cells[2], about.exclusive, app->tree.total);
    if (app->rec && !app->tree.is_inverted)
        format_count(row->cells[3], about.calls);
    row->style = about.hot ? TUI_HOT : TUI_PLAIN;
    row->text = tree_name(app, &about);
}

static void heading(const tui_app *app, char *text, size_t capacity)
{
    char total[NUMBER_SIZE];
    format_amount(total, app->tree.total, tui_unit(app));
    snprintf(text, capacity, "%s; total %s%s%.200s",
             app->tree.is_inverted ? "callers of functions" : "call tree", total, app->db ? " of " : "",
             app->db ? lode_metric_name(tui_metric(app)) : "");
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    char options[TUI_TEXT_SIZE];
    tui_options(app, options, sizeof options);
    snprintf(text, capacity, "tree%s%s", app->tree.is_inverted ? " --bottom-up" : "", options);
}

/* ---- keys ---- */

/* Opens the most expensive row below, while it has most of the cost of the one above it. */
static void open_hot_path(tui_app *app)
{
    tui_list *list = &app->lists[TUI_TREE];
    for (int i = 0; i < OPENED_MOST && list->cursor < app->tree.count; i++) {
        lode_view_row above = {0}, below = {0};
        size_t at = list->cursor;
        if (app->tree.rows[at].rest || tree_open(app, at) < 0 || !app->tree.rows[at].is_open ||
            at + 1 >= app->tree.count)
            return;
        if (!tree_node(app, app->tree.rows[at].node, &above, NULL) || app->tree.rows[at + 1].rest ||
            !tree_node(app, app->tree.rows[at + 1].node, &below, NULL) ||
            below.inclusive < HOT_SHARE * above.inclusive)
            return;
        list->cursor = at + 1;
    }
}

/* Opens rows while they have a single row below them. */
static void open_to_branching(tui_app *app)
{
    size_t at = app->lists[TUI_TREE].cursor;
    for (int i = 0; i < OPENED_MOST && tree_open(app, at) == 0 && at + 1 < app->tree.count; i++) {
        uint32_t depth = app->tree.rows[at].depth;
        int is_single = app->tree.rows[at + 1].depth == depth + 1 && !app->tree.rows[at + 1].rest &&
                        (at + 2 >= app->tree.count || app->tree.rows[at + 2].depth <= depth);
        if (!is_single)
            return;
        at++;
    }
}

/* Opens all rows of a subtree; `is_deep`: those below them too, but not what is below 1 %. */
static void open_all(tui_app *app, int is_deep)
{
    size_t first = app->lists[TUI_TREE].cursor, opened = 0;
    uint32_t depth = app->tree.rows[first].depth;
    for (size_t at = first; at < app->tree.count && opened < OPENED_MOST; at++) {
        const tui_tree_row *row = &app->tree.rows[at];
        if (at > first && row->depth <= depth)
            return;
        if (row->rest || row->is_open || (!is_deep && row->depth > depth + 1))
            continue;
        if (tree_open(app, at) < 0)
            return;
        opened++;
    }
}

static void invert(tui_app *app)
{
    int is_inverted = !app->tree.is_inverted;
    lode_outline_close(app->tree.outline);
    free(app->tree.rows);
    app->tree = (tui_tree){.is_inverted = is_inverted};
    app->lists[TUI_TREE] = (tui_list){0};
}

/* Right opens a row, or goes into it; left closes it, or goes to the one above. */
static void go_sideways(tui_app *app, int key)
{
    tui_list *list = &app->lists[TUI_TREE];
    const tui_tree_row *row = &app->tree.rows[list->cursor];
    int can_enter = row->is_open && list->cursor + 1 < app->tree.count &&
                    app->tree.rows[list->cursor + 1].depth > row->depth;
    if (key == TUI_KEY_RIGHT && can_enter)
        list->cursor++;
    else if (key == TUI_KEY_RIGHT)
        (void)tree_open(app, list->cursor);
    else if (row->is_open)
        close_row(app, list->cursor);
    else
        list->cursor = parent_of(app, list->cursor);
}

/* Keys that open or close what is at the cursor. */
static int opens(int key)
{
    return key == 'h' || key == 'e' || key == 'E' || key == '*' || key == TUI_KEY_LEFT ||
           key == TUI_KEY_RIGHT || key == TUI_KEY_ENTER;
}

static int on_key(tui_app *app, int key)
{
    size_t at = app->lists[TUI_TREE].cursor;
    if (key == 'i') {
        invert(app);
        return 1;
    }
    if (!opens(key))
        return 0;
    if (at >= app->tree.count)
        return 1;
    if (key == TUI_KEY_LEFT || key == TUI_KEY_RIGHT)
        go_sideways(app, key);
    else if (key == TUI_KEY_ENTER && app->tree.rows[at].is_open)
        close_row(app, at);
    else if (key == TUI_KEY_ENTER)
        (void)tree_open(app, at);
    else if (key == 'h')
        open_hot_path(app);
    else if (key == '*')
        open_to_branching(app);
    else
        open_all(app, key == 'E');
    return 1;
}

const tui_page_ops tui_tree_ops = {TUI_PAGE('3', "Tree"), .find = tree_find};
