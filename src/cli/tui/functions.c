/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode top` shows. */
#include "tui/app.h"

#include <lode/private/usual_names.h>
#include <stdio.h>

enum {
    SORT_COUNT = 3
};

static const lode_hotspot_sort of_databases[SORT_COUNT] = {LODE_SORT_EXCLUSIVE, LODE_SORT_INCLUSIVE,
                                                           LODE_SORT_NAME};
static const lode_calls_sort of_recordings[SORT_COUNT] = {LODE_CALLS_BY_SELF, LODE_CALLS_BY_TOTAL,
                                                          LODE_CALLS_BY_CALLS};
static const char *const words_of_databases[SORT_COUNT] = {"exclusive", "inclusive", "name"};
static const char *const words_of_recordings[SORT_COUNT] = {"self", "total", "calls"};

static int is_there(const tui_app *app)
{
    (void)app;
    return 1;
}

static int load_calls(tui_app *app)
{
    lode_error error = {0};
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    options.sort = of_recordings[app->sorts[TUI_FUNCTIONS]];
    options.merge = 1;
    options.names = name_form(names_of_recordings(NAMES_BY_STORE));
    options.on_progress = app->on_progress;
    options.user = app->user;
    if (lode_calls_compute(&app->calls, app->rec->recording, &app->rec->slice, &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    app->total = 0;
    for (uint32_t i = 0; i < lode_calls_track_count(app->calls); i++)
        app->total += (double)lode_calls_track(app->calls, i)->total;
    return 0;
}

static int load(tui_app *app)
{
    lode_error error = {0};
    if (app->rec)
        return app->calls ? 0 : load_calls(app);
    if (app->hotspots)
        return 0;
    lode_hotspot_options options = LODE_HOTSPOT_OPTIONS_INIT;
    options.sort = of_databases[app->sorts[TUI_FUNCTIONS]];
    options.names = lode_database_usual_names(app->db->db);
    if (tui_load_cost(app) < 0)
        return -1;
    if (lode_hotspots_select(&app->hotspots, app->cost, &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    return 0;
}

static size_t count(const tui_app *app)
{
    if (app->rec)
        return app->calls ? lode_calls_count(app->calls) : 0;
    return app->hotspots ? lode_hotspots_count(app->hotspots) : 0;
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column database[] = {
        {"Exclusive", 14}, {"%", 7}, {"Inclusive", 14}, {"%", 7}, {"Function", 0}};
    static const tui_column recording[] = {
        {"Self", 14}, {"%", 7}, {"Total", 14}, {"Calls", 11}, {"Function", 0}};
    return app->rec ? recording : database;
}

static void share(char cell[TUI_CELL_SIZE], double part, double whole)
{
    if (whole > 0)
        format_percent(cell, part / whole);
    else
        cell[0] = '\0';
}

static void call_row(tui_app *app, size_t index, tui_row *row)
{
    const lode_call_row *call = lode_calls_at(app->calls, index);
    if (!call)
        return;
    format_duration(row->cells[0], call->self);
    share(row->cells[1], (double)call->self, app->total);
    format_duration(row->cells[2], call->total);
    format_count(row->cells[3], call->calls);
    row->style = call->errors ? TUI_HOT : TUI_PLAIN;
    row->text = label_name(&app->name, call->function, names_of_recordings(NAMES_BY_STORE));
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    const lode_hotspot *hotspot = app->hotspots ? lode_hotspots_at(app->hotspots, index) : NULL;
    if (app->calls)
        call_row(app, index, row);
    if (!hotspot)
        return;
    format_amount(row->cells[0], hotspot->exclusive, tui_unit(app));
    share(row->cells[1], hotspot->exclusive, app->total);
    format_amount(row->cells[2], hotspot->inclusive, tui_unit(app));
    share(row->cells[3], hotspot->inclusive, app->total);
    row->text = label_context_as(&app->name, hotspot->sample, names_of_database(app->db->db, NAMES_BY_STORE));
}

static const char *sort_word(const tui_app *app)
{
    return (app->rec ? words_of_recordings : words_of_databases)[app->sorts[TUI_FUNCTIONS]];
}

static void heading(const tui_app *app, char *text, size_t capacity)
{
    char total[NUMBER_SIZE], rows[NUMBER_SIZE];
    format_amount(total, app->total, tui_unit(app));
    format_count(rows, count(app));
    snprintf(text, capacity, "%s functions by %s; total %s%s%.200s", rows, sort_word(app), total,
             app->db ? " of " : "", app->db ? lode_metric_name(tui_metric(app)) : "");
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    char options[TUI_TEXT_SIZE];
    tui_options(app, options, sizeof options);
    snprintf(text, capacity, "top -s %s%s -n 0", sort_word(app), options);
}

static int on_key(tui_app *app, int key)
{
    if (key != 's')
        return 0;
    app->sorts[TUI_FUNCTIONS] = (app->sorts[TUI_FUNCTIONS] + 1) % SORT_COUNT;
    lode_hotspots_free(app->hotspots);
    lode_calls_free(app->calls);
    app->hotspots = NULL;
    app->calls = NULL;
    app->lists[TUI_FUNCTIONS] = (tui_list){0};
    return 1;
}

const tui_page_ops tui_functions_ops = {TUI_PAGE('2', "Functions")};
