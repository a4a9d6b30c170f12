/* SPDX-License-Identifier: BSD-3-Clause */
/* A catalogue as a whole: its tables, who may use it, how long it keeps runs, what it has. */
#include "commands/runs/runs.h"

#include "output/out.h"
#include "output/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND     UINT64_C(1000000000)
#define MONTHS_MAX 1200

/* ---- init, migrate ---- */

int runs_set_up(const invocation *call, int is_new)
{
    catalogue *c = NULL;
    catalogue_error error;
    int64_t schema = 0;
    char *path = runs_catalogue_path(call->options);
    if (!path)
        return EXIT_TROUBLE;
    int status = EXIT_DONE;
    if (!catalogue_is_server(path))
        status =
            report("%s is a file, which 'lode runs add' creates; 'lode runs %s' is for the catalogue of a "
                   "server (see 'lode help runs')",
                   path, is_new ? "init" : "migrate");
    if (status == EXIT_DONE)
        status = runs_open_at(&c, path, call->options, CATALOGUE_WRITE);
    if (status == EXIT_DONE && catalogue_set_up(c, is_new, &schema, &error) != 0)
        status = runs_failed(&error);
    catalogue_close(c);
    if (status == EXIT_DONE) {
        out *o = call->out;
        out_begin(o, SCHEMA_RUNS_SETUP, NULL);
        OUT_FIELDS(o, "catalogue", path, "is_changed", schema == 0, "version_before", (uint64_t)schema);
        out_say(o, schema == 0 ? "%s has the tables of a catalogue now" : "%s has the tables of this version",
                path);
        out_end(o);
    }
    free(path);
    return status;
}

/* ---- grant ---- */

int runs_grant(const invocation *call, const char *role, const char *level)
{
    static const char *const levels[] = {"reader", "writer", "admin", "none"};
    catalogue *c = NULL;
    catalogue_error error;
    size_t known = 0;
    while (known < sizeof levels / sizeof *levels && strcmp(level, levels[known]) != 0)
        known++;
    if (known == sizeof levels / sizeof *levels)
        return report("a role is granted reader, writer, admin or none, not '%.40s' (see 'lode help runs')",
                      level);
    int status = runs_open(&c, call->options, CATALOGUE_WRITE);
    if (status == EXIT_DONE && catalogue_grant(c, role, level, &error) != 0)
        status = runs_failed(&error);
    catalogue_close(c);
    char *path = status == EXIT_DONE ? runs_catalogue_path(call->options) : NULL;
    if (path) {
        out *o = call->out;
        out_begin(o, SCHEMA_RUNS_GRANT, NULL);
        OUT_FIELDS(o, "catalogue", path, "role", role, "level", level);
        out_say(o,
                strcmp(level, "none") == 0 ? "role %s has no part in %s now%.0s"
                                           : "role %s is now, in %s, a %s",
                role, path, level);
        out_end(o);
    }
    free(path);
    return status;
}

/* ---- retain ---- */

/* "24months", "2years". */
static int parse_months(const char *text, unsigned *months)
{
    char *end = NULL;
    errno = 0;
    unsigned long count = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    unsigned long unit = !end                                                      ? 0
                         : strcmp(end, "months") == 0 || strcmp(end, "month") == 0 ? 1
                         : strcmp(end, "years") == 0 || strcmp(end, "year") == 0   ? 12
                                                                                   : 0;
    if (errno != 0 || count == 0 || unit == 0 || count > MONTHS_MAX / unit)
        return 0;
    *months = (unsigned)(count * unit);
    return 1;
}

/* Days from the epoch to the first of a month, in the proleptic Gregorian calendar. */
static int64_t days_to(int64_t year, unsigned month)
{
    struct tm first = {.tm_year = (int)year - 1900, .tm_mon = (int)month, .tm_mday = 1};
    return (int64_t)timegm(&first) / 86400;
}

/* The first of this month, so many months ago; 0 if that is before the epoch. */
static uint64_t months_ago(unsigned months)
{
    time_t now = (time_t)(runs_now() / SECOND);
    struct tm today;
    gmtime_r(&now, &today);
    int64_t all = ((int64_t)today.tm_year + 1900) * 12 + today.tm_mon - (int64_t)months;
    int64_t days = days_to(all / 12, (unsigned)(all % 12));
    return days > 0 ? (uint64_t)days * 86400 * SECOND : 0;
}

int runs_retain(const invocation *call, const char *span)
{
    catalogue *c = NULL;
    catalogue_error error;
    unsigned months;
    uint64_t removed = 0;
    if (!parse_months(span, &months))
        return report("the time is a number of months or years, such as 24months, not '%.40s' (see 'lode "
                      "help runs')",
                      span);
    uint64_t before = months_ago(months);
    int status = runs_open(&c, call->options, CATALOGUE_WRITE);
    if (status == EXIT_DONE && catalogue_retain(c, before, &removed, &error) != 0)
        status = runs_failed(&error);
    catalogue_close(c);
    char *path = status == EXIT_DONE ? runs_catalogue_path(call->options) : NULL;
    if (path) {
        out *o = call->out;
        char begun[NUMBER_SIZE];
        format_utc(begun, before);
        begun[sizeof "2026-03-02" - 1] = '\0';
        out_begin(o, SCHEMA_RUNS_RETAIN, NULL);
        OUT_FIELDS(o, "catalogue", path, "before_ns", out_digits(before), "removed_count", removed);
        out_say(o, "%s that began before %s removed from %s", COUNTED(removed, "run", "runs"), begun, path);
        out_end(o);
    }
    free(path);
    return status;
}

/* ---- status ---- */

static void say_state(const invocation *call, const char *path, const catalogue_state *state)
{
    out *o = call->out;
    char first[NUMBER_SIZE] = "", last[NUMBER_SIZE] = "";
    if (state->first) {
        format_utc(first, state->first);
        format_utc(last, state->last);
        first[sizeof "2026-03-02" - 1] = last[sizeof "2026-03-02" - 1] = '\0';
    }
    out_begin(o, SCHEMA_RUNS_STATUS, NULL);
    OUT_FIELDS(o, "catalogue", path, "library", state->library, "version", (uint64_t)state->schema, "project",
               state->project[0] ? state->project : NULL, "user", state->user[0] ? state->user : NULL,
               "can_write", state->can_write != 0, "run_count", state->runs, "function_count",
               state->functions, "metric_count", state->metrics, "bytes", state->bytes);
    OUT_FIELDS(o, "first_ns", state->first ? out_digits(state->first) : out_none(), "last_ns",
               state->first ? out_digits(state->last) : out_none());
    out_say(o, "%s: %s, tables of version %" PRId64, path, state->library, state->schema);
    if (state->project[0])
        out_say(o, "project %s, as %s, who may %s", state->project, state->user,
                state->can_write ? "add runs" : "only read");
    out_say(o, "%s%s%s%s%s; %s; %s", COUNTED(state->runs, "run", "runs"), first[0] ? ", from " : "", first,
            first[0] ? " to " : "", last, COUNTED(state->functions, "function", "functions"),
            COUNTED(state->metrics, "metric", "metrics"));
    out_end(o);
}

int runs_status(const invocation *call)
{
    catalogue *c = NULL;
    catalogue_error error;
    catalogue_state state;
    int status = runs_open(&c, call->options, CATALOGUE_READ);
    if (status == EXIT_DONE && catalogue_status(c, &state, &error) != 0)
        status = runs_failed(&error);
    catalogue_close(c);
    char *path = status == EXIT_DONE ? runs_catalogue_path(call->options) : NULL;
    if (path)
        say_state(call, path, &state);
    free(path);
    return status;
}
