/* SPDX-License-Identifier: BSD-3-Clause */
#include "tui/app.h"
#include "alloc.h"
#include "options/shell_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_ROWS 5 /* bar, heading, titles; message and keys */

const tui_page_ops *tui_ops_of(tui_page page)
{
    static const tui_page_ops *const all[TUI_PAGE_COUNT] = {
        &tui_diagnosis_ops, &tui_functions_ops, &tui_tree_ops,     &tui_flame_ops,
        &tui_time_ops,      &tui_profiles_ops,  &tui_requests_ops, &tui_findings_ops};
    return all[page];
}

const tui_page_ops *tui_ops(const tui_app *app)
{
    return tui_ops_of(app->page);
}

tui_list *tui_list_of(tui_app *app)
{
    return &app->lists[app->page];
}

int tui_height(const tui_app *app)
{
    return app->rows > FRAME_ROWS ? app->rows - FRAME_ROWS : 1;
}

void tui_say(tui_app *app, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(app->message, sizeof app->message, format, arguments);
    va_end(arguments);
}

int tui_fail(tui_app *app, const lode_error *error)
{
    if (error->status == LODE_ERR_CANCELLED)
        tui_say(app, "stopped");
    else
        tui_say(app, "%s%s%s", error->file, error->file[0] ? ": " : "", error->text);
    return -1;
}

/* ---- what is shown ---- */

const lode_metric *tui_metric(const tui_app *app)
{
    return app->db ? lode_database_metric(app->db->db, app->metric) : NULL;
}

metric_unit tui_unit(const tui_app *app)
{
    return app->db ? unit_of_metric(lode_metric_name(tui_metric(app))) : UNIT_NANOSECONDS;
}

static int has_value(const tui_app *app, uint32_t metric)
{
    return session_metric_total(app->db, lode_database_metric(app->db->db, metric)) != 0;
}

/* The next metric that has any cost. */
static void next_metric(tui_app *app, int direction)
{
    uint32_t count = app->db ? lode_database_metric_count(app->db->db) : 0;
    for (uint32_t step = 1; step < count; step++) {
        uint32_t metric = (app->metric + (direction > 0 ? step : count - step)) % count;
        if (!has_value(app, metric))
            continue;
        app->metric = metric;
        app->db->metric = tui_metric(app);
        tui_app_forget(app);
        return;
    }
    tui_say(app, "there is no other metric with costs");
}

/* Adds an option whose value is any text. One that does not fit is not there at all. */
static void add_option(char *text, size_t capacity, const char *option, const char *value)
{
    size_t used = strlen(text);
    char *spelled = shell_spell(value);
    if (used + strlen(option) + strlen(spelled) + 3 < capacity)
        snprintf(text + used, capacity - used, " %s %s", option, spelled);
    free(spelled);
}

void tui_metric_option(const tui_app *app, char *text, size_t capacity)
{
    char number[16];
    const char *name = app->db ? lode_metric_name(tui_metric(app)) : "";
    text[0] = '\0';
    snprintf(number, sizeof number, "$%u", app->metric);
    /* Commands show an accumulator as its mean, unless it is asked for by number. */
    if (app->db)
        add_option(text, capacity, "-m", strstr(name, "_ACUMU") || strlen(name) > 200 ? number : name);
}

void tui_options(const tui_app *app, char *text, size_t capacity)
{
    tui_metric_option(app, text, capacity);
    size_t used = strlen(text);
    if (app->chosen[0])
        snprintf(text + used, capacity - used, " %s", app->chosen);
    else if (app->db && app->db->shared->profiles)
        add_option(text, capacity, "-p", app->db->shared->profiles);
}

/* After the name of the command. */
char *tui_command(const tui_app *app)
{
    char words[TUI_TEXT_SIZE], *line = NULL;
    tui_ops(app)->command(app, words, sizeof words);
    char *spelled = shell_spell(app->path);
    size_t name = strcspn(words, " ");
    if (asprintf(&line, "lode %.*s %s%s%s", (int)name, words, app->path[0] == '-' ? "./" : "", spelled,
                 words + name) < 0)
        line = alloc_text("");
    free(spelled);
    return line;
}

const char *tui_idle_mark(const tui_app *app)
{
    return app->is_utf8 ? "\u2571" : "/";
}

int tui_load_cost(tui_app *app)
{
    lode_error error = {0};
    if (app->cost || app->calltree)
        return 0;
    if (app->rec) {
        lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
        options.on_progress = app->on_progress;
        options.user = app->user;
        if (lode_calltree_compute(&app->calltree, app->rec->recording, &app->rec->slice, &options, &error) !=
            LODE_OK)
            return tui_fail(app, &error);
        app->total = lode_cost_total(lode_calltree_cost(app->calltree));
        return 0;
    }
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    options.metric = tui_metric(app);
    options.selection = app->db->selection;
    options.on_progress = app->on_progress;
    options.user = app->user;
    if (lode_cost_compute(&app->cost, app->db->db, &options, &error) != LODE_OK)
        return tui_fail(app, &error);
    app->total = lode_cost_total(app->cost);
    return 0;
}

void tui_choose(tui_app *app, uint32_t number, const char *name)
{
    char text[64];
    const char *given = app->db ? app->db->shared->profiles : NULL;
    int is_all = number == UINT32_MAX;
    lode_error error = {0};
    app->chosen[0] = '\0';
    if (app->db) {
        lode_selection_free(app->db->selection);
        app->db->selection = NULL;
        snprintf(text, sizeof text, "profile=%u", number);
        const char *wanted = is_all ? given : text;
        if (wanted && lode_selection_parse(&app->db->selection, app->db->db, wanted, &error) != LODE_OK) {
            tui_fail(app, &error);
            return;
        }
    } else {
        app->chosen_track = number;
        app->rec->slice.tracks = is_all ? NULL : &app->chosen_track;
        app->rec->slice.track_count = is_all ? 0 : 1;
        snprintf(text, sizeof text, "%u", number + 1);
    }
    int has_requests = app->rec && lode_recording_has_requests(app->rec->recording);
    if (!is_all && app->rec && !has_requests)
        snprintf(text, sizeof text, "%d", lode_recording_track(app->rec->recording, number)->tid);
    if (!is_all)
        snprintf(app->chosen, sizeof app->chosen, "%s %s",
                 app->db        ? "-p"
                 : has_requests ? "--id"
                                : "-t",
                 text);
    tui_app_forget(app);
    if (is_all)
        tui_say(app, "%s is selected", given ? given : "everything");
    else
        tui_say(app, "only %.200s; Backspace selects everything", name);
}

/* ---- beginning and end ---- */

static uint32_t find_metric(const session *s)
{
    for (uint32_t i = 0; i < lode_database_metric_count(s->db); i++)
        if (lode_database_metric(s->db, i) == s->metric)
            return i;
    return 0;
}

void tui_app_init(tui_app *app, const char *path, session *db, rec_session *rec)
{
    *app = (tui_app){.path = path, .db = db, .rec = rec, .rows = 24, .columns = 80, .page = TUI_FUNCTIONS};
    if (db)
        app->metric = find_metric(db);
    if (rec && lode_recording_has_requests(rec->recording))
        app->page = TUI_REQUESTS;
}

void tui_app_forget(tui_app *app)
{
    tui_flame_forget(app);
    lode_hotspots_free(app->hotspots);
    lode_outline_close(app->tree.outline);
    lode_cost_free(app->cost);
    lode_calltree_free(app->calltree);
    lode_calls_free(app->calls);
    lode_search_free(app->requests);
    free(app->tree.rows);
    free(app->profiles);
    app->hotspots = NULL;
    app->cost = NULL;
    app->calltree = NULL;
    app->calls = NULL;
    app->requests = NULL;
    app->profiles = NULL;
    app->profile_count = 0;
    app->tree = (tui_tree){.is_inverted = app->tree.is_inverted};
}

void tui_app_free(tui_app *app)
{
    tui_app_forget(app);
    tui_report_forget(app);
    tui_time_forget(&app->time);
    free(app->time.lines);
    label_free(&app->name);
}

/* ---- moving ---- */

void tui_settle(tui_app *app)
{
    tui_list *list = tui_list_of(app);
    size_t count = tui_ops(app)->count(app), height = (size_t)tui_height(app);
    if (list->cursor >= count)
        list->cursor = count ? count - 1 : 0;
    if (list->top > list->cursor)
        list->top = list->cursor;
    if (list->cursor - list->top >= height)
        list->top = list->cursor - height + 1;
    if (list->top + height > count)
        list->top = count > height ? count - height : 0;
}

void tui_go(tui_app *app, tui_page page)
{
    if (!tui_ops_of(page)->is_there(app)) {
        tui_say(app, "this store has no %s", tui_ops_of(page)->title);
        return;
    }
    app->page = page;
}

/* The next page that the store has. */
static void turn(tui_app *app, int direction)
{
    int page = (int)app->page;
    do
        page = (page + direction + TUI_PAGE_COUNT) % TUI_PAGE_COUNT;
    while (!tui_ops_of((tui_page)page)->is_there(app));
    app->page = (tui_page)page;
}

static int move(tui_app *app, int key)
{
    tui_list *list = tui_list_of(app);
    size_t count = tui_ops(app)->count(app), page = (size_t)tui_height(app);
    size_t last = count ? count - 1 : 0, at = list->cursor;
    switch (key) {
    case TUI_KEY_UP:
    case 'k':
        list->cursor = at ? at - 1 : 0;
        return 1;
    case TUI_KEY_DOWN:
    case 'j':
        list->cursor = at < last ? at + 1 : last;
        return 1;
    case TUI_KEY_PAGE_UP:
        list->cursor = at > page ? at - page : 0;
        return 1;
    case TUI_KEY_PAGE_DOWN:
    case ' ':
        list->cursor = at + page < last ? at + page : last;
        return 1;
    case TUI_KEY_HOME:
    case 'g':
        list->cursor = 0;
        return 1;
    case TUI_KEY_END:
    case 'G':
        list->cursor = last;
        return 1;
    default:
        return 0;
    }
}

/* ---- searching ---- */

int tui_matches(const tui_app *app, const char *text)
{
    return app->search[0] && text && strcasestr(text, app->search) != NULL;
}

static int find_row(tui_app *app, int direction)
{
    const tui_page_ops *ops = tui_ops(app);
    tui_list *list = tui_list_of(app);
    size_t count = ops->count(app);
    for (size_t step = 1; step <= count; step++) {
        size_t at = (list->cursor + (direction > 0 ? step : count - step)) % count;
        tui_row row = {0};
        ops->row(app, at, &row);
        if (!tui_matches(app, row.text))
            continue;
        list->cursor = at;
        return 1;
    }
    return 0;
}

static void find(tui_app *app, int direction)
{
    const tui_page_ops *ops = tui_ops(app);
    if (!app->search[0]) {
        tui_say(app, "/ searches");
        return;
    }
    if (!(ops->find ? ops->find(app, direction) : find_row(app, direction)))
        tui_say(app, "nothing here matches '%.200s'", app->search);
}

/* The line in which a text is typed. */
static void type(tui_app *app, int key)
{
    size_t length = strlen(app->typed);
    if (key == TUI_KEY_ESCAPE) {
        app->is_typing = 0;
    } else if (key == TUI_KEY_ENTER) {
        app->is_typing = 0;
        memcpy(app->search, app->typed, sizeof app->search);
        if (app->search[0])
            find(app, 1);
    } else if (key == TUI_KEY_BACKSPACE) {
        /* All bytes of a character. */
        while (length && ((unsigned char)app->typed[length - 1] & 0xc0) == 0x80)
            length--;
        app->typed[length ? length - 1 : 0] = '\0';
    } else if (key >= 32 && key < 0x110000 && length + 5 < sizeof app->typed) {
        char bytes[5] = "";
        int size = key < 0x80 ? 1 : key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;
        static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
        for (int i = size - 1; i > 0; i--, key >>= 6)
            bytes[i] = (char)(0x80 | (key & 0x3f));
        bytes[0] = (char)(heads[size] | key);
        memcpy(app->typed + length, bytes, sizeof bytes);
    }
}

/* ---- keys ---- */

static int is_common(tui_app *app, int key)
{
    switch (key) {
    case 'q':
        app->is_done = 1;
        return 1;
    case '?':
        app->is_help = 1;
        return 1;
    case 'c':
        app->is_command = 1;
        return 1;
    case '/':
        app->is_typing = 1;
        app->typed[0] = '\0';
        return 1;
    case 'n':
    case 'N':
        find(app, key == 'n' ? 1 : -1);
        return 1;
    case 'm':
    case 'M':
        next_metric(app, key == 'm' ? 1 : -1);
        return 1;
    case TUI_KEY_TAB:
    case TUI_KEY_BACK_TAB:
        turn(app, key == TUI_KEY_TAB ? 1 : -1);
        return 1;
    case TUI_KEY_ESCAPE:
        app->search[0] = '\0';
        return 1;
    case TUI_KEY_BACKSPACE:
        if (app->chosen[0])
            tui_choose(app, UINT32_MAX, "");
        return 1;
    default:
        return 0;
    }
}

void tui_key(tui_app *app, int key)
{
    if (key == TUI_KEY_NONE || key == TUI_KEY_RESIZE)
        return;
    app->message[0] = '\0';
    if (app->is_help || app->is_command) {
        app->is_help = app->is_command = 0;
        return;
    }
    if (app->is_typing) {
        type(app, key);
        tui_settle(app);
        return;
    }
    int is_used = tui_ops(app)->key(app, key) || move(app, key) || is_common(app, key);
    for (int page = 0; !is_used && page < TUI_PAGE_COUNT; page++)
        if (tui_ops_of((tui_page)page)->digit == key)
            tui_go(app, (tui_page)page);
    tui_settle(app);
}
