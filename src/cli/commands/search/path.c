/* SPDX-License-Identifier: BSD-3-Clause */
/* Critical paths: of one request its steps, and of all what each operation takes and would save. */
#include "commands/search/search.h"

#include "output/out.h"
#include "stores/damage.h"
#include "text/label.h"

#define NO_CALL "(no call)"

static const out_column row_columns[] = {
    {"time_ns", "On path", OUT_TIME, OUT_ALWAYS},      {"percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"saves_ns", "Saves", OUT_TIME, OUT_ALWAYS},       {"saves_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"requests", "Requests", OUT_INTEGER, OUT_ALWAYS}, {"steps", "Steps", OUT_INTEGER, OUT_ALWAYS},
    {"max_ns", "Max", OUT_TIME, OUT_ALWAYS},           {"module", "", OUT_STRING, OUT_DATA_ONLY},
    {"name", "Function", OUT_STRING, OUT_ALWAYS},
};

static const out_column step_columns[] = {
    {"begin_ns", "Begins", OUT_TIME, OUT_ALWAYS}, {"duration_ns", "Duration", OUT_TIME, OUT_ALWAYS},
    {"percent", "%", OUT_PERCENT, OUT_ALWAYS},    {"depth", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"track", "", OUT_NUMBER, OUT_DATA_ONLY},     {"failed", "", OUT_BOOL, OUT_DATA_ONLY},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},    {"name", "Function", OUT_STRING, OUT_ALWAYS},
};

#define COUNT_OF(columns) (sizeof(columns) / sizeof(columns)[0])

static const char *name_of(label *l, const rec_session *s, const lode_function *function)
{
    return function ? label_name(l, function, s->shared->names) : NO_CALL;
}

static const char *module_of(const lode_function *function)
{
    return function ? path_of_module(lode_function_module(function)) : NULL;
}

static void write_rows(out *o, const rec_session *s, const lode_critical_path *path, uint64_t limit)
{
    size_t count = lode_critical_path_count(path);
    size_t shown = limit && limit < count ? (size_t)limit : count;
    double whole = (double)lode_critical_path_time(path);
    label l = {0};
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "rows", row_columns, COUNT_OF(row_columns), UNIT_NANOSECONDS);
    for (size_t i = 0; i < shown; i++) {
        const lode_path_row *row = lode_critical_path_at(path, i);
        OUT_ROW(o, STYLE_PLAIN, row->time, out_share((double)row->time, whole), row->saves,
                out_share((double)row->saves, whole), row->requests, row->steps, row->max,
                module_of(row->function), name_of(&l, s, row->function));
    }
    out_table_end(o);
    out_shown(o, shown, count, "functions");
    label_free(&l);
}

/* Times count from the begin of the path. */
static void write_steps(out *o, const rec_session *s, const lode_critical_path *path)
{
    size_t count = lode_critical_path_step_count(path);
    double whole = (double)lode_critical_path_time(path);
    label l = {0};
    if (count == 0)
        return;
    if (out_is_prose(o))
        out_gap(o);
    uint64_t first = lode_critical_path_step(path, 0)->begin;
    out_table(o, OUT_SIDE, "steps", step_columns, COUNT_OF(step_columns), UNIT_NANOSECONDS);
    for (size_t i = 0; i < count; i++) {
        const lode_path_step *step = lode_critical_path_step(path, i);
        uint64_t duration = step->end - step->begin;
        OUT_ROW(o, step->has_failed ? STYLE_ERROR : STYLE_PLAIN, step->begin - first, duration,
                out_share((double)duration, whole), step->depth,
                out_u64_if(step->track != UINT32_MAX, lode_track_number(s->recording, step->track)),
                step->has_failed != 0, module_of(step->function), name_of(&l, s, step->function));
    }
    out_table_end(o);
    label_free(&l);
}

void search_path(out *o, rec_session *s, const lode_critical_path *path, const lode_search_options *asked)
{
    uint64_t requests = lode_critical_path_requests(path);
    char time[NUMBER_SIZE];
    format_duration(time, lode_critical_path_time(path));
    out_begin(o, SCHEMA_SEARCH_PATH, s->path);
    OUT_FIELDS(o, "requests", requests, "time_ns", lode_critical_path_time(path));
    search_heading(o, s, requests, asked);
    if (requests)
        out_say(o,
                "%s %s; 'Saves': if a function took no time itself, and calls beside it as long as they "
                "did\n",
                requests == 1 ? "Its critical path takes" : "Their critical paths take", time);
    write_rows(o, s, path, asked->limit);
    write_steps(o, s, path);
    damage_write(o);
    out_end(o);
}
