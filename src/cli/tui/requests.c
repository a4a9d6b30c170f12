/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode search` shows: requests, and what each called. */
#include "tui/app.h"

#include <stdio.h>

#define REQUESTS_MOST 1000

enum {
    SORT_COUNT = 4
};

static const lode_search_sort sorts[SORT_COUNT] = {LODE_SEARCH_BY_DURATION, LODE_SEARCH_BY_TIME,
                                                   LODE_SEARCH_BY_CALLS, LODE_SEARCH_BY_ERRORS};
static const char *const words[SORT_COUNT] = {"duration", "time", "calls", "errors"};

static int is_there(const tui_app *app)
{
    return app->rec && lode_recording_has_requests(app->rec->recording);
}

static int load(tui_app *app)
{
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_error error = {0};
    if (app->requests)
        return 0;
    options.sort = sorts[app->sorts[TUI_REQUESTS]];
    options.limit = REQUESTS_MOST;
    options.names = name_form(names_of_recordings(NAMES_BY_STORE));
    options.on_progress = app->on_progress;
    options.user = app->user;
    if (rec_find_interval(app->rec) != 0)
        return -1;
    if (lode_search_run(&app->requests, app->rec->recording, &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    return 0;
}

static size_t count(const tui_app *app)
{
    return app->requests ? lode_search_count(app->requests) : 0;
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column all[] = {{"#", 9},     {"Start", 12}, {"Duration", 12},
                                     {"Calls", 9}, {"Errors", 7}, {"Request", 0}};
    (void)app;
    return all;
}

static const char *name_of(tui_app *app, const lode_search_row *request)
{
    if (!request->function)
        return "(no calls)";
    return label_name(&app->name, request->function, names_of_recordings(NAMES_BY_STORE));
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    const lode_search_row *request = lode_search_at(app->requests, index);
    if (!request)
        return;
    snprintf(row->cells[0], sizeof row->cells[0], "%u", request->track + 1);
    format_duration(row->cells[1], request->begin - app->rec->begin);
    format_duration(row->cells[2], request->duration);
    format_count(row->cells[3], request->calls);
    format_count(row->cells[4], request->errors);
    row->style = request->errors ? TUI_HOT : TUI_PLAIN;
    row->text = name_of(app, request);
}

static void heading(const tui_app *app, char *text, size_t capacity)
{
    char shown[NUMBER_SIZE], found[NUMBER_SIZE];
    format_count(shown, count(app));
    format_count(found, app->requests ? lode_search_found(app->requests) : 0);
    snprintf(text, capacity, "%s of %s requests by %s; Enter selects one", shown, found,
             words[app->sorts[TUI_REQUESTS]]);
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    snprintf(text, capacity, "search -s %s -n %d", words[app->sorts[TUI_REQUESTS]], REQUESTS_MOST);
}

static int on_key(tui_app *app, int key)
{
    const lode_search_row *request =
        app->requests ? lode_search_at(app->requests, app->lists[TUI_REQUESTS].cursor) : NULL;
    if (key == 's') {
        app->sorts[TUI_REQUESTS] = (app->sorts[TUI_REQUESTS] + 1) % SORT_COUNT;
        lode_search_free(app->requests);
        app->requests = NULL;
        app->lists[TUI_REQUESTS] = (tui_list){0};
        return 1;
    }
    if (key != TUI_KEY_ENTER || !request)
        return 0;
    char name[64];
    snprintf(name, sizeof name, "request %u", request->track + 1);
    tui_choose(app, request->track, name);
    app->lists[TUI_TREE] = (tui_list){0};
    tui_go(app, TUI_TREE);
    return 1;
}

const tui_page_ops tui_requests_ops = {TUI_PAGE('7', "Requests")};
