/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode diagnose` and `lode check` print: their own lines. */
#include "alloc.h"
#include "command.h"
#include "stores/damage.h"
#include "tui/app.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST ((size_t)16 << 20)

/* A command that runs for its lines. */
typedef struct report_run {
    host host;
    tui_app *app;
    host_store open;
    char *bytes;
    size_t used, capacity;
    char message[TUI_TEXT_SIZE];
    int is_stopped;
} report_run;

static int is_there(const tui_app *app)
{
    (void)app;
    return 1;
}

/* ---- running ---- */

static void on_message(void *user, const char *text)
{
    report_run *run = user;
    if (!run->message[0])
        snprintf(run->message, sizeof run->message, "%s", text);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    report_run *run = user;
    const tui_app *app = run->app;
    if (!run->is_stopped && app->on_progress && phase[0])
        run->is_stopped = app->on_progress(app->user, phase, done, total);
    return run->is_stopped;
}

static int on_output(void *user, const char *bytes, size_t size)
{
    report_run *run = user;
    if (size > BYTES_MOST - run->used)
        return EFBIG;
    while (run->used + size + 1 > run->capacity)
        run->bytes = alloc_grow(run->bytes, &run->capacity, run->capacity, 1);
    memcpy(run->bytes + run->used, bytes, size);
    run->used += size;
    return 0;
}

/* The store is open already, unless the command was given another one. */
static const host_store *find_store(void *user, const char *path)
{
    const report_run *run = user;
    return strcmp(path, run->app->path) == 0 ? &run->open : NULL;
}

static void split(tui_report *report)
{
    size_t capacity = 0;
    for (char *at = report->text, *next; at && *at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        if (report->count == capacity)
            report->lines = alloc_grow(report->lines, &capacity, report->count, sizeof *report->lines);
        report->lines[report->count++] = at;
    }
}

/* Runs a command on the store. 0, or -1 and a message. */
static int run_command(tui_app *app, tui_report *report, char **words, int count)
{
    report_run run = {.app = app};
    run.open = (host_store){.path = app->path,
                            .kind = app->db ? LODE_STORE_DATABASE : LODE_STORE_RECORDING,
                            .db = app->db ? app->db->db : NULL,
                            .recording = app->rec ? app->rec->recording : NULL};
    if (app->rec)
        run.open.opening = app->rec->opening;
    run.host = (host){.user = &run,
                      .on_message = on_message,
                      .on_progress = on_progress,
                      .on_output = on_output,
                      .find_store = find_store};
    damage_list *own = damage_suspend();
    host_set(&run.host);
    (void)command_run(command_find(words[0]), count - 1, words + 1);
    host_set(NULL);
    damage_resume(own);
    if (run.is_stopped || !run.bytes) {
        tui_say(app, "%s", run.is_stopped ? "stopped" : run.message);
        free(run.bytes);
        return -1;
    }
    run.bytes[run.used] = '\0';
    report->text = run.bytes;
    split(report);
    return 0;
}

static tui_report *report_of(tui_app *app)
{
    return &app->reports[app->page == TUI_FINDINGS];
}

static const tui_report *shown(const tui_app *app)
{
    return &app->reports[app->page == TUI_FINDINGS];
}

static int load(tui_app *app)
{
    tui_report *report = report_of(app);
    int is_check = app->page == TUI_FINDINGS;
    /* A path may begin with "-". */
    const char *words[] = {is_check ? "check" : "diagnose", "--color", "never", "--verbose", "--", app->path};
    char *copies[sizeof words / sizeof *words];
    int count = 0, status = 0;
    if (report->text)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_check || strcmp(words[i], "--verbose") != 0)
            copies[count++] = alloc_text(words[i]);
    status = run_command(app, report, copies, count);
    while (count)
        free(copies[--count]);
    return status;
}

void tui_report_forget(tui_app *app)
{
    for (size_t i = 0; i < sizeof app->reports / sizeof *app->reports; i++) {
        free(app->reports[i].text);
        free(app->reports[i].lines);
        app->reports[i] = (tui_report){0};
    }
}

/* ---- rows ---- */

static size_t count(const tui_app *app)
{
    return shown(app)->count;
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column diagnosis[] = {{"Diagnosis", 0}}, findings[] = {{"Findings", 0}};
    return app->page == TUI_FINDINGS ? findings : diagnosis;
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    const char *line = shown(app)->lines[index];
    row->text = line;
    if (app->page == TUI_FINDINGS)
        row->style = strncmp(line, "error", 5) == 0  ? TUI_HOT
                     : strncmp(line, "note", 4) == 0 ? TUI_DIM
                                                     : TUI_PLAIN;
}

static void heading(const tui_app *app, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s",
             app->page == TUI_FINDINGS ? "what is wrong with the store, and known peculiarities of recorders"
                                       : "what limits the run, with the commands that show more");
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s", app->page == TUI_FINDINGS ? "check --verbose" : "diagnose");
}

static int on_key(tui_app *app, int key)
{
    (void)app;
    (void)key;
    return 0;
}

const tui_page_ops tui_diagnosis_ops = {TUI_PAGE('1', "Diagnosis")};
const tui_page_ops tui_findings_ops = {TUI_PAGE('9', "Findings")};
