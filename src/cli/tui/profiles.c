/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode profiles` shows: one row for each profile or task. */
#include "alloc.h"
#include "commands/shared/plots.h"
#include "commands/shared/spread.h"
#include "text/utf8.h"
#include "tui/app.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SORT_COUNT = 3
};

static int is_there(const tui_app *app)
{
    return app->db != NULL || !lode_recording_has_requests(app->rec->recording);
}

static void measure(tui_app *app)
{
    double *values = alloc_array(app->profile_count, sizeof *values);
    for (size_t i = 0; i < app->profile_count; i++)
        values[i] = app->profiles[i].value;
    lode_distribution_of(&app->distribution, values, app->profile_count);
    free(values);
}

static int sort_rows(tui_app *app)
{
    lode_profile_value *values = alloc_array(app->profile_count, sizeof *values);
    lode_error error = {0};
    for (size_t i = 0; i < app->profile_count; i++)
        values[i] = (lode_profile_value){app->profiles[i].profile, app->profiles[i].value, 0};
    lode_status status = lode_profile_values_sort(values, app->profile_count, app->db->db,
                                                  (lode_profile_order)app->sorts[TUI_PROFILES], &error);
    for (size_t i = 0; i < app->profile_count; i++)
        app->profiles[i] = (tui_profile){.profile = values[i].profile, .value = values[i].value};
    free(values);
    return status == LODE_OK ? 0 : tui_fail(app, &error);
}

static int load_profiles(tui_app *app)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread = NULL;
    lode_error error = {0};
    options.metric = tui_metric(app);
    options.on_progress = app->on_progress;
    options.user = app->user;
    if (lode_spread_compute(&spread, app->db->db, &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    app->profile_count = lode_spread_count(spread);
    app->profiles = alloc_array(app->profile_count, sizeof *app->profiles);
    for (size_t i = 0; i < app->profile_count; i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        app->profiles[i] = (tui_profile){.profile = row->profile, .value = row->total};
    }
    lode_spread_free(spread);
    return sort_rows(app);
}

static int compare_tracks(const void *left, const void *right)
{
    const tui_profile *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->profile < b->profile ? -1 : a->profile > b->profile;
}

static int load_tracks(tui_app *app)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls = NULL;
    lode_error error = {0};
    options.on_progress = app->on_progress;
    options.user = app->user;
    if (lode_calls_compute(&calls, app->rec->recording, NULL, &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    app->profile_count = lode_calls_track_count(calls);
    app->profiles = alloc_array(app->profile_count, sizeof *app->profiles);
    for (uint32_t i = 0; i < app->profile_count; i++) {
        const lode_track_row *row = lode_calls_track(calls, i);
        app->profiles[i] = (tui_profile){row->track, (double)row->total, row->calls, row->errors};
    }
    lode_calls_free(calls);
    if (app->profile_count)
        qsort(app->profiles, app->profile_count, sizeof *app->profiles, compare_tracks);
    return 0;
}

static int load(tui_app *app)
{
    if (app->profiles)
        return 0;
    if ((app->rec ? load_tracks(app) : load_profiles(app)) < 0)
        return -1;
    measure(app);
    return 0;
}

static size_t count(const tui_app *app)
{
    return app->profile_count;
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column database[] = {{"Total", 14}, {"% of mean", 10}, {"", 12}, {"Profile", 0}};
    static const tui_column recording[] = {{"Total", 14}, {"% of mean", 10}, {"Calls", 11}, {"Task", 0}};
    return app->rec ? recording : database;
}

static const char *name_of(tui_app *app, uint32_t profile)
{
    static char text[TUI_TEXT_SIZE];
    if (!app->rec)
        return label_profile(&app->name, app->db->db, profile);
    const lode_track *track = lode_recording_track(app->rec->recording, profile);
    snprintf(text, sizeof text, "%d %.200s", track->tid, track->name);
    return text;
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    const tui_profile *profile = &app->profiles[index];
    const lode_distribution *d = &app->distribution;
    char bar[BAR_SIZE];
    format_amount(row->cells[0], profile->value, tui_unit(app));
    format_percent(row->cells[1], d->mean != 0 ? profile->value / d->mean : 0);
    if (app->rec) {
        format_count(row->cells[2], profile->calls);
    } else {
        spread_bar(bar, d->max > 0 ? profile->value / d->max : 0, 10, app->is_utf8);
        snprintf(row->cells[2], sizeof row->cells[2], "%.40s%*s", bar, 12 - (int)utf8_width(bar), "");
    }
    row->text = name_of(app, profile->profile);
    double reach = 1.5 * (d->p75 - d->p25);
    if (profile->value < d->p25 - reach || profile->value > d->p75 + reach)
        row->style = TUI_HOT;
}

static void heading(const tui_app *app, char *text, size_t capacity)
{
    char mean[NUMBER_SIZE], imbalance[NUMBER_SIZE], rows[NUMBER_SIZE];
    format_amount(mean, app->distribution.mean, tui_unit(app));
    format_percent(imbalance, app->distribution.imbalance);
    format_count(rows, app->profile_count);
    snprintf(text, capacity, "%s %s by %s; mean %s, imbalance %s%s%.200s", rows,
             app->db ? "profiles" : "tasks",
             app->rec ? "total" : profile_sort_choices[app->sorts[TUI_PROFILES]], mean, imbalance,
             app->db ? "; " : "", app->db ? lode_metric_name(tui_metric(app)) : "");
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    char metric[TUI_TEXT_SIZE];
    tui_metric_option(app, metric, sizeof metric);
    if (app->db)
        snprintf(text, capacity, "profiles -s %s%s -n 0", profile_sort_choices[app->sorts[TUI_PROFILES]],
                 metric);
    else
        snprintf(text, capacity, "profiles -n 0");
}

static int on_key(tui_app *app, int key)
{
    size_t cursor = app->lists[TUI_PROFILES].cursor;
    if (key == 's' && app->db) {
        app->sorts[TUI_PROFILES] = (app->sorts[TUI_PROFILES] + 1) % SORT_COUNT;
        app->lists[TUI_PROFILES] = (tui_list){0};
        (void)sort_rows(app);
        return 1;
    }
    if (key != TUI_KEY_ENTER || cursor >= app->profile_count)
        return 0;
    char name[TUI_TEXT_SIZE];
    uint32_t profile = app->profiles[cursor].profile;
    snprintf(name, sizeof name, "%s", name_of(app, profile));
    tui_choose(app, profile, name);
    return 1;
}

const tui_page_ops tui_profiles_ops = {TUI_PAGE('6', "Profiles")};
