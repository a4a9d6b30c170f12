/* SPDX-License-Identifier: BSD-3-Clause */
#include "tui/paint.h"

#include "alloc.h"
#include "output/escape.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES  4096 /* of a longer name, only this much is looked at */
#define KEYS        " q quit  ? help  "
#define INDENT_MOST 40 /* columns: deeper rows are not indented further */

/* ---- text ---- */

static char *safe_copy(const tui_app *app, const char *text)
{
    char *part = strndup(text, NAME_BYTES);
    char *safe = part ? escape_text(part, app->is_utf8) : NULL;
    free(part);
    return safe;
}

void paint_text(const tui_app *app, const tui_screen *screen, int row, int column, int width, tui_style style,
                const char *text)
{
    if (width <= 0 || row < 0 || row >= app->rows || column >= app->columns)
        return;
    if (width > app->columns - column)
        width = app->columns - column;
    char *safe = safe_copy(app, text ? text : "");
    if (!safe)
        return;
    size_t length = strlen(safe), capacity = length + (size_t)width + 8;
    char *line = alloc_array(capacity, 1);
    memcpy(line, safe, length + 1);
    utf8_elide(line, capacity - (size_t)width, (size_t)width, app->is_utf8 ? "…" : "...");
    size_t used = strlen(line);
    for (size_t at = utf8_width(line); at < (size_t)width && used + 1 < capacity; at++)
        line[used++] = ' ';
    line[used] = '\0';
    screen->put(row, column, style, line);
    free(line);
    free(safe);
}

/* ---- rows ---- */

static void put_cell(const tui_app *app, const tui_screen *screen, int row, int column, int width,
                     tui_style style, const char *text)
{
    int blank = width - (int)utf8_width(text);
    char line[TUI_CELL_SIZE + 64];
    snprintf(line, sizeof line, "%*s%s", blank > 0 ? blank : 0, "", text);
    paint_text(app, screen, row, column, width, style, line);
}

static void paint_row(tui_app *app, const tui_screen *screen, int at, size_t index)
{
    const tui_page_ops *ops = tui_ops(app);
    const tui_column *columns = ops->columns(app);
    tui_row row = {.mark = ""};
    ops->row(app, index, &row);
    int is_cursor = index == tui_list_of(app)->cursor, column = 0;
    tui_style style = is_cursor ? TUI_CURSOR : tui_matches(app, row.text) ? TUI_MATCH : row.style;
    for (size_t i = 0; i < TUI_CELLS && columns[i].width; i++) {
        put_cell(app, screen, at, column, columns[i].width, is_cursor ? TUI_CURSOR : TUI_PLAIN, row.cells[i]);
        column += columns[i].width;
        paint_text(app, screen, at, column++, 1, is_cursor ? TUI_CURSOR : TUI_PLAIN, " ");
    }
    unsigned most = app->columns > 2 * INDENT_MOST ? INDENT_MOST : INDENT_MOST / 2;
    int indent = (int)(row.indent < most ? row.indent : most);
    paint_text(app, screen, at, column, indent, style, "");
    column += indent;
    paint_text(app, screen, at, column, (int)utf8_width(row.mark), style, row.mark);
    column += (int)utf8_width(row.mark);
    paint_text(app, screen, at, column, app->columns - column, style, row.text);
}

static void paint_titles(tui_app *app, const tui_screen *screen, int at)
{
    const tui_column *columns = tui_ops(app)->columns(app);
    int column = 0;
    size_t i = 0;
    for (; columns[i].width; i++) {
        put_cell(app, screen, at, column, columns[i].width, TUI_TITLE, columns[i].title);
        column += columns[i].width + 1;
    }
    paint_text(app, screen, at, column, app->columns - column, TUI_TITLE, columns[i].title);
}

/* ---- around the rows ---- */

/* Tabs, and the store if there is room for its name. */
static void paint_bar(tui_app *app, const tui_screen *screen)
{
    char text[64];
    int column = 0;
    paint_text(app, screen, 0, 0, app->columns, TUI_BAR, "");
    for (int page = 0; page < TUI_PAGE_COUNT; page++) {
        const tui_page_ops *ops = tui_ops_of((tui_page)page);
        if (!ops->is_there(app))
            continue;
        int length = snprintf(text, sizeof text, " %c %s ", ops->digit, ops->title);
        paint_text(app, screen, 0, column, length, page == (int)app->page ? TUI_TAB : TUI_BAR, text);
        column += length;
    }
    if (column + 8 < app->columns)
        paint_text(app, screen, 0, column + 1, app->columns - column - 2, TUI_BAR, app->path);
}

static void paint_last_lines(tui_app *app, const tui_screen *screen)
{
    char text[2 * TUI_TEXT_SIZE];
    if (app->is_typing)
        snprintf(text, sizeof text, "/%s_", app->typed);
    else if (app->message[0])
        snprintf(text, sizeof text, "%s", app->message);
    else if (app->search[0])
        snprintf(text, sizeof text, "searching '%s'; n next, N previous, Esc ends", app->search);
    else
        snprintf(text, sizeof text, "%s", app->chosen[0] ? app->chosen : "");
    paint_text(app, screen, app->rows - 2, 0, app->columns, TUI_PLAIN, text);
    char *command = tui_command(app);
    paint_text(app, screen, app->rows - 1, 0, app->columns, TUI_BAR, "");
    if (utf8_width(command) + strlen(KEYS) + 1 < (size_t)app->columns) {
        paint_text(app, screen, app->rows - 1, 0, app->columns, TUI_BAR, KEYS);
        paint_text(app, screen, app->rows - 1, (int)strlen(KEYS), app->columns, TUI_BAR, command);
    } else {
        paint_text(app, screen, app->rows - 1, 1, app->columns - 2, TUI_BAR, command);
    }
    free(command);
}

static const char *const help_lines[] = {
    "1 2 3 4        Diagnosis, Functions, Tree, Flame",
    "5 6 7 9        Time, Profiles, Requests, Findings",
    "Tab            next view; Shift+Tab the one before",
    "arrows j k     move; PageUp PageDown Home End g G",
    "/  n  N        search, next, previous; Esc ends the search",
    "s              next sort order",
    "m  M           next, previous metric with costs",
    "Enter          Tree: open or close; Profiles, Requests: select it everywhere",
    "Backspace      select everything again",
    "",
    "Tree           Right opens or goes in, Left closes or goes to the parent",
    "h              open the hot path from here",
    "e  E           open one level; the whole subtree above 1 %",
    "*              open to the next branching",
    "i              callers instead of callees, and back",
    "Flame          arrows go to other boxes; Enter zooms in, Backspace out, 0 to all",
    "Time           Left, Right move the crosshair",
    "w s  + -       zoom in, out;  a d  earlier, later;  0  everything",
    "[ ]            less, more call depth",
    "",
    "c              the whole command of the last line: it prints the same numbers.",
};

static void paint_help(tui_app *app, const tui_screen *screen)
{
    int count = (int)(sizeof help_lines / sizeof *help_lines);
    for (int i = 0; i < count && i + 2 < app->rows - 1; i++)
        paint_text(app, screen, i + 2, 2, app->columns - 2, TUI_PLAIN, help_lines[i]);
}

/* Where a shell may read on in another line: the last blank between words that fits. */
static size_t find_cut(const char *text, size_t room)
{
    size_t cut = 0, at = 0;
    for (char quote = 0; text[at]; at++) {
        if (text[at] == ' ' && !quote && (at < room || !cut))
            cut = at;
        else if (text[at] == '\\' && text[at + 1] && quote != '\'')
            at++;
        else if (text[at] == '\'' && quote)
            quote = 0;
        else if (text[at] == '\'' || (text[at] == '$' && text[at + 1] == '\''))
            quote = text[at]; /* in $'...', escapes are read */
        if (quote == '$' && text[at] == '$')
            at++;
    }
    return at < room || !cut ? at : cut;
}

/* The command in full: where it does not fit in a line, a shell reads on after "\\". */
static void paint_command(tui_app *app, const tui_screen *screen)
{
    char *command = tui_command(app), *at = command, line[4 * TUI_SCREEN_COLUMNS];
    size_t room = app->columns > 12 ? (size_t)app->columns - 8 : 4;
    for (int row = 2; *at && row + 1 < app->rows - 1; row++) {
        size_t cut = find_cut(at, room);
        snprintf(line, sizeof line, "%.*s%s", (int)cut, at, at[cut] ? " \\" : "");
        paint_text(app, screen, row, 2, app->columns - 2, TUI_PLAIN, line);
        at += cut + (at[cut] == ' ');
    }
    free(command);
}

void paint_progress(tui_app *app, const tui_screen *screen, const char *phase, uint64_t done, uint64_t total)
{
    char text[TUI_TEXT_SIZE];
    snprintf(text, sizeof text, "%.100s: %d %% (Esc stops)", phase,
             (int)(total ? 100.0 * (double)done / (double)total : 0));
    paint_text(app, screen, app->rows - 2, 0, app->columns, TUI_PLAIN, text);
    screen->show();
}

static void paint_rows(tui_app *app, const tui_screen *screen)
{
    const tui_page_ops *ops = tui_ops(app);
    int height = tui_height(app);
    if (ops->paint) {
        ops->paint(app, screen, 3, height);
        return;
    }
    size_t count = ops->count(app), top = tui_list_of(app)->top;
    for (int i = 0; i < height && top + (size_t)i < count; i++)
        paint_row(app, screen, i + 3, top + (size_t)i);
}

void paint_app(tui_app *app, const tui_screen *screen)
{
    char text[2 * TUI_TEXT_SIZE] = "";
    screen->size(&app->rows, &app->columns);
    app->rows = app->rows < TUI_SCREEN_ROWS ? app->rows : TUI_SCREEN_ROWS;
    app->columns = app->columns < TUI_SCREEN_COLUMNS ? app->columns : TUI_SCREEN_COLUMNS;
    int is_loaded = tui_ops(app)->load(app) == 0;
    screen->clear();
    paint_bar(app, screen);
    if (is_loaded) {
        tui_settle(app);
        tui_ops(app)->heading(app, text, sizeof text);
    }
    paint_text(app, screen, 1, 0, app->columns, TUI_PLAIN, text);
    if (app->is_help) {
        paint_help(app, screen);
    } else if (app->is_command) {
        paint_command(app, screen);
    } else if (is_loaded) {
        paint_titles(app, screen, 2);
        paint_rows(app, screen);
    }
    paint_last_lines(app, screen);
    screen->show();
}
