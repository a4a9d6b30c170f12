/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode flame` draws: a row of the terminal for each level of calls. */
#include "text/utf8.h"
#include "tui/app.h"
#include "tui/paint.h"

#include <lode/unstable.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* `lode flame` takes 100 pixels and more: a column of the terminal is ten of them. */
#define PIXELS    10
#define MORE_SIZE (COUNTED_SIZE + 8)

static int is_there(const tui_app *app)
{
    (void)app;
    return 1;
}

static const lode_cost *cost_of(const tui_app *app)
{
    return app->rec ? lode_calltree_cost(app->calltree) : app->cost;
}

static int names_of(const tui_app *app)
{
    return app->rec ? names_of_recordings(NAMES_BY_STORE) : names_of_database(app->db->db, NAMES_BY_STORE);
}

void tui_flame_forget(tui_app *app)
{
    lode_flame_free(app->flame.flame);
    app->flame = (tui_flame){.is_inverted = app->flame.is_inverted};
}

static int load(tui_app *app)
{
    tui_flame *f = &app->flame;
    lode_flame_options options = LODE_FLAME_OPTIONS_INIT;
    lode_error error = {0};
    if (f->flame && f->columns == app->columns)
        return 0;
    if (tui_load_cost(app) < 0)
        return -1;
    lode_flame_free(f->flame);
    f->flame = NULL;
    f->columns = app->columns;
    options.mode = f->is_inverted ? LODE_FLAME_BOTTOM_UP : LODE_FLAME_TOP_DOWN;
    options.names = name_form(names_of(app));
    options.width = app->columns * (double)PIXELS;
    options.min_width = PIXELS;
    options.at = f->is_zoomed ? lode_cost_context(cost_of(app), f->root) : NULL;
    if (lode_flame_build(&f->flame, cost_of(app), &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    if (f->box >= lode_flame_count(f->flame))
        f->box = 0;
    return 0;
}

/* The cursor is a box, not a row. */
static size_t count(const tui_app *app)
{
    (void)app;
    return 0;
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column none[] = {{"", 0}};
    (void)app;
    return none;
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    (void)app;
    (void)index;
    (void)row;
}

static const lode_flame_box *box_at(const tui_app *app, size_t index)
{
    return app->flame.flame ? lode_flame_at(app->flame.flame, index) : NULL;
}

static const char *name_of(tui_app *app, const lode_flame_box *box, char more[MORE_SIZE])
{
    char rows[COUNTED_SIZE];
    if (box->context)
        return label_context_as(&app->name, box->context, names_of(app));
    format_counted(rows, box->more, "narrow box", "narrow boxes");
    snprintf(more, MORE_SIZE, "(%s)", rows);
    return more;
}

/* ---- the picture ---- */

/* From the first column of a box to that after its last one. */
static void extent(const tui_app *app, const lode_flame_box *box, int *first, int *last)
{
    *first = (int)lrint(box->x * app->columns);
    *last = (int)lrint((box->x + box->width) * app->columns);
}

static tui_style style_of(const lode_flame_box *box)
{
    if (!box->context || box->kind == LODE_KIND_IDLE)
        return TUI_DIM;
    return (tui_style)(TUI_SERIES + (int)box->kind % TUI_SERIES_COUNT);
}

/* An edge, the name, and blanks; strokes where the thread idles. */
static void paint_box(tui_app *app, const tui_screen *screen, int row, size_t index)
{
    const lode_flame_box *box = box_at(app, index);
    tui_style style = index == app->flame.box ? TUI_CURSOR : style_of(box);
    char more[MORE_SIZE];
    int first, last;
    extent(app, box, &first, &last);
    paint_text(app, screen, row, first, 1, style, app->is_utf8 ? "▏" : "|");
    const char *name = name_of(app, box, more);
    int width = last - first - 1, used = (int)utf8_width(name);
    paint_text(app, screen, row, first + 1, width, style, name);
    if (box->kind != LODE_KIND_IDLE || !box->context)
        return;
    for (int at = used + 1; at < width; at++)
        paint_text(app, screen, row, first + 1 + at, 1, style, tui_idle_mark(app));
}

/* What the cursor is on. */
static void say_box(tui_app *app)
{
    const lode_flame_box *box = box_at(app, app->flame.box);
    char inclusive[NUMBER_SIZE], exclusive[NUMBER_SIZE], percent[NUMBER_SIZE], more[MORE_SIZE];
    if (!box || app->message[0] || app->search[0])
        return;
    format_amount(inclusive, box->inclusive, tui_unit(app));
    format_amount(exclusive, box->exclusive, tui_unit(app));
    double total = lode_cost_total(cost_of(app));
    format_percent(percent, total != 0 ? box->inclusive / total : 0);
    const char *name = name_of(app, box, more);
    if (box->context)
        tui_say(app, "%s, %s inclusive, %s exclusive: %.300s", percent, inclusive, exclusive, name);
    else
        tui_say(app, "%s, %s inclusive: %.300s", percent, inclusive, name);
}

static void paint(tui_app *app, const tui_screen *screen, int first, int height)
{
    tui_flame *f = &app->flame;
    const lode_flame_box *chosen = box_at(app, f->box);
    int level = chosen ? chosen->level : 0;
    if (level < f->top)
        f->top = level;
    if (level >= f->top + height)
        f->top = level - height + 1;
    for (size_t i = 0; i < lode_flame_count(f->flame); i++) {
        const lode_flame_box *box = box_at(app, i);
        int row = box ? box->level - f->top : -1;
        if (row >= 0 && row < height)
            paint_box(app, screen, first + row, i);
    }
    say_box(app);
}

/* ---- words ---- */

static void heading(const tui_app *app, char *text, size_t capacity)
{
    char total[NUMBER_SIZE], percent[NUMBER_SIZE] = "";
    double all = lode_cost_total(cost_of(app));
    format_amount(total, all, tui_unit(app));
    if (app->flame.is_zoomed && all != 0)
        format_percent(percent, lode_flame_whole(app->flame.flame) / all);
    snprintf(text, capacity, "flame graph%s; total %s%s%.200s%s%s",
             app->flame.is_inverted ? ", callers below functions" : "", total, app->db ? " of " : "",
             app->db ? lode_metric_name(tui_metric(app)) : "", percent[0] ? "; the width is " : "", percent);
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    char options[TUI_TEXT_SIZE];
    char root[32] = "";
    tui_options(app, options, sizeof options);
    if (app->flame.is_zoomed)
        snprintf(root, sizeof root, " --root %u", app->flame.root);
    snprintf(text, capacity, "flame%s%s%s --width %d --min-width %d --json",
             app->flame.is_inverted ? " --bottom-up" : "", root, options, PIXELS * app->columns, PIXELS);
}

/* ---- keys ---- */

static int find_box(tui_app *app, int direction)
{
    size_t boxes = app->flame.flame ? lode_flame_count(app->flame.flame) : 0;
    char more[MORE_SIZE];
    for (size_t step = 1; step <= boxes; step++) {
        size_t at = (app->flame.box + (direction > 0 ? step : boxes - step)) % boxes;
        if (!tui_matches(app, name_of(app, box_at(app, at), more)))
            continue;
        app->flame.box = at;
        return 1;
    }
    return 0;
}

/* The widest box below: the first, since they are in falling order. */
static void go_down(tui_flame *f)
{
    for (size_t i = f->box + 1; i < lode_flame_count(f->flame); i++) {
        if (lode_flame_at(f->flame, i)->parent == f->box) {
            f->box = i;
            return;
        }
    }
}

/* The next box of the level, whatever it is part of. */
static void go_sideways(tui_flame *f, int is_right)
{
    size_t boxes = lode_flame_count(f->flame), next = is_right ? f->box + 1 : f->box - 1;
    if ((f->box == 0 && !is_right) || next >= boxes)
        return;
    if (lode_flame_at(f->flame, next)->level == lode_flame_at(f->flame, f->box)->level)
        f->box = next;
}

/* Draws again: everything, or what a context called. */
static void zoom(tui_app *app, int is_zoomed, uint32_t root)
{
    tui_flame *f = &app->flame;
    lode_flame_free(f->flame);
    *f = (tui_flame){.is_inverted = f->is_inverted, .is_zoomed = is_zoomed, .root = root};
}

static void zoom_in(tui_app *app)
{
    const lode_flame_box *box = box_at(app, app->flame.box);
    if (app->flame.is_inverted)
        tui_say(app, "callers cannot be zoomed; i shows callees");
    else if (!box || !box->context)
        tui_say(app, "these boxes are too narrow to be one; zoom into the box above");
    else
        zoom(app, 1, lode_context_id(box->context));
}

/* To the caller of what is shown, or to everything. */
static void zoom_out(tui_app *app)
{
    const lode_context *root = lode_cost_context(cost_of(app), app->flame.root);
    const lode_context *above = root ? lode_context_parent(root) : NULL;
    zoom(app, above && lode_context_id(above) != 0, above ? lode_context_id(above) : 0);
}

static void invert(tui_app *app)
{
    int is_inverted = !app->flame.is_inverted;
    zoom(app, 0, 0);
    app->flame.is_inverted = is_inverted;
}

static int on_key(tui_app *app, int key)
{
    tui_flame *f = &app->flame;
    if (!f->flame || (key == TUI_KEY_BACKSPACE && !f->is_zoomed))
        return 0;
    const lode_flame_box *box = box_at(app, f->box);
    if (key == TUI_KEY_UP || key == 'k')
        f->box = box && box->parent != LODE_FLAME_NO_PARENT ? box->parent : f->box;
    else if (key == TUI_KEY_DOWN || key == 'j')
        go_down(f);
    else if (key == TUI_KEY_LEFT || key == TUI_KEY_RIGHT)
        go_sideways(f, key == TUI_KEY_RIGHT);
    else if (key == TUI_KEY_HOME || key == 'g')
        f->box = 0;
    else if (key == TUI_KEY_ENTER)
        zoom_in(app);
    else if (key == TUI_KEY_BACKSPACE || (key == 'u' && f->is_zoomed))
        zoom_out(app);
    else if (key == '0')
        zoom(app, 0, 0);
    else if (key == 'i')
        invert(app);
    else
        return 0;
    return 1;
}

const tui_page_ops tui_flame_ops = {TUI_PAGE('4', "Flame"), .paint = paint, .find = find_box};
