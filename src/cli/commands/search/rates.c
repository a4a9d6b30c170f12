/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates, failures and percentiles of requests or calls, over time and by attributes. */
#include "commands/search/search.h"

#include "alloc.h"
#include "output/out.h"
#include "stores/damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATE_SIZE (sizeof "2026-11-17 09:53:19.590" - 1)

enum {
    COLUMN_BEGIN,
    COLUMN_TIME,
    COLUMN_DATE,
    COLUMN_WHEN,
    COLUMN_COUNT,
    COLUMN_RATE,
    NUMBER_COLUMNS = 12
};

static const out_column number_columns[NUMBER_COLUMNS] = {
    {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},       {"time", "", OUT_STRING, OUT_DATA_ONLY},
    {"date", "", OUT_STRING, OUT_DATA_ONLY},           {"when", "When (UTC)", OUT_STRING, OUT_TEXT_ONLY},
    {"count", "Requests", OUT_INTEGER, OUT_ALWAYS},    {"per_second", "1/s", OUT_REAL, OUT_ALWAYS},
    {"failures", "Failures", OUT_INTEGER, OUT_ALWAYS}, {"failed_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"p50_ns", "p50", OUT_TIME, OUT_ALWAYS},           {"p95_ns", "p95", OUT_TIME, OUT_ALWAYS},
    {"p99_ns", "p99", OUT_TIME, OUT_ALWAYS},           {"max_ns", "Max", OUT_TIME, OUT_ALWAYS},
};

typedef struct rates_printer {
    out *out;
    const rec_session *session;
    const rates_question *question;
    out_column columns[NUMBER_COLUMNS + LODE_SEARCH_VALUES];
    char *names[LODE_SEARCH_VALUES];
} rates_printer;

/* ---- columns ---- */

static void open_columns(rates_printer *p)
{
    const search_keys *keys = p->question->keys;
    int is_json = out_format_of(p->out) == OUT_JSON;
    memcpy(p->columns, number_columns, sizeof number_columns);
    if (p->question->is_calls)
        p->columns[COLUMN_COUNT].title = "Calls";
    if (p->question->interval == 0) {
        for (size_t i = COLUMN_BEGIN; i <= COLUMN_WHEN; i++)
            p->columns[i].visibility = OUT_NEVER;
        p->columns[COLUMN_RATE].visibility = OUT_NEVER;
    }
    for (size_t i = 0; i < keys->count; i++) {
        size_t size = sizeof "value." + strlen(keys->names[i]);
        p->names[i] = alloc_array(size, 1);
        (void)snprintf(p->names[i], size, "value.%s", keys->names[i]);
        p->columns[NUMBER_COLUMNS + i] =
            (out_column){p->names[i], keys->names[i], OUT_STRING, is_json ? OUT_NEVER : OUT_ALWAYS};
    }
}

static void close_columns(rates_printer *p)
{
    for (size_t i = 0; i < p->question->keys->count; i++)
        free(p->names[i]);
}

/* ---- rows ---- */

/* Times are known if the recording knows when it began. */
static void time_cells(const rates_printer *p, uint64_t begin)
{
    char time[NUMBER_SIZE] = "", date[NUMBER_SIZE] = "";
    int has_utc = lode_recording_utc_offset(p->session->recording) > 0;
    if (has_utc) {
        format_rfc3339(time, begin);
        (void)snprintf(date, sizeof date, "%.*s", (int)DATE_SIZE, time);
        date[sizeof "2026-11-17" - 1] = ' ';
    } else {
        format_duration(date, begin);
    }
    OUT_CELLS(p->out, begin, has_utc ? time : NULL, has_utc ? date : NULL, date);
}

static void rate_cells(const rates_printer *p, const lode_rate *rate)
{
    double seconds = (double)p->question->interval / 1e9;
    OUT_CELLS(p->out, rate->count, p->question->interval ? (double)rate->count / seconds : 0.0,
              rate->failures, out_share((double)rate->failures, (double)rate->count), rate->p50, rate->p95,
              rate->p99, rate->max);
}

static void value_cells(const rates_printer *p, const lode_rates_group *group)
{
    const search_keys *keys = p->question->keys;
    const char *none = out_format_of(p->out) == OUT_TEXT ? "(none)" : NULL;
    for (size_t i = 0; i < keys->count; i++)
        OUT_CELLS(p->out, group->values[i] ? group->values[i] : none);
    if (out_format_of(p->out) != OUT_JSON)
        return;
    out_object(p->out, "values");
    for (size_t i = 0; i < keys->count; i++)
        OUT_FIELDS(p->out, keys->names[i], group->values[i]);
    out_object_end(p->out);
}

static void write_group(const rates_printer *p, const lode_rates_group *group)
{
    for (size_t i = 0; i < group->row_count; i++) {
        out_row(p->out, STYLE_PLAIN);
        time_cells(p, group->rows[i].begin);
        out_unit(p->out, UNIT_COUNT);
        rate_cells(p, &group->rows[i].rate);
        value_cells(p, group);
        out_row_end(p->out);
    }
}

char *search_group_name(const lode_rates_group *group, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += (group->values[i] ? strlen(group->values[i]) : sizeof "(none)") + 2;
    char *text = alloc_array(size, 1), *at = text;
    for (size_t i = 0; i < count; i++)
        at = stpcpy(stpcpy(at, i ? ", " : ""), group->values[i] ? group->values[i] : "(none)");
    return text;
}

/* ---- all ---- */

static uint64_t count_all(const lode_rates *rates)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lode_rates_count(rates); i++)
        count += lode_rates_at(rates, i)->rate.count;
    return count;
}

static void write_heading(const rates_printer *p, uint64_t count)
{
    const rates_question *question = p->question;
    char interval[NUMBER_SIZE];
    const char *counted =
        question->is_calls ? COUNTED(count, "call", "calls") : COUNTED(count, "request", "requests");
    format_duration(interval, question->interval);
    if (question->interval)
        out_say(p->out, "%s, in intervals of %s\n", counted, interval);
    else
        out_say(p->out, "%s\n", counted);
}

void search_rates(out *o, rec_session *s, const lode_rates *rates, const rates_question *question)
{
    size_t count = lode_rates_count(rates), rows = 0;
    size_t shown = question->limit && question->limit < count ? (size_t)question->limit : count;
    rates_printer p = {.out = o, .session = s, .question = question};
    for (size_t i = 0; i < shown; i++)
        rows += lode_rates_at(rates, i)->row_count;
    out_begin(o, SCHEMA_SEARCH_RATES, s->path);
    OUT_FIELDS(o, "counts", question->is_calls ? "calls" : "requests", "count", count_all(rates),
               "interval_ns", question->interval, "group_count", count, "row_count", rows, "is_truncated",
               shown < count);
    write_heading(&p, count_all(rates));
    open_columns(&p);
    out_table(o, OUT_MAIN, "rows", p.columns, NUMBER_COLUMNS + question->keys->count, UNIT_COUNT);
    for (size_t i = 0; i < shown; i++)
        write_group(&p, lode_rates_at(rates, i));
    out_table_end(o);
    out_shown(o, shown, count, "groups");
    damage_write(o);
    out_end(o);
    close_columns(&p);
}
