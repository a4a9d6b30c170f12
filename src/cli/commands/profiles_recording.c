/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/recording.h"

#include "alloc.h"
#include "commands/shared/plots.h"
#include "commands/shared/spread.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "text/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct task_row {
    const lode_track_row *row;
    const lode_track *track;
} task_row;

enum {
    COLUMN_ERRORS = 6, /* text: only if there are some */
    COLUMN_TID = 13,
    COLUMN_ID = 14, /* text: only of traces */
    COLUMN_COUNT = 17
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"track", "#", OUT_NUMBER, OUT_DATA_ONLY},
    {"total_ns", "Total", OUT_TIME, OUT_ALWAYS},
    {"percent_of_mean", "% of mean", OUT_PERCENT, OUT_ALWAYS},
    {"running_ns", "Running", OUT_TIME, OUT_ALWAYS},
    {"out_ns", "", OUT_TIME, OUT_DATA_ONLY},
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},
    {"errors", "Errors", OUT_INTEGER, OUT_ALWAYS},
    {"events", "Events", OUT_INTEGER, OUT_IF_WIDE},
    {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"end_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"duration_ns", "Duration", OUT_TIME, OUT_IF_WIDE},
    {"repairs", "Repairs", OUT_INTEGER, OUT_ALWAYS},
    {"pid", "Process", OUT_NUMBER, OUT_IF_WIDE},
    {"tid", "Task", OUT_NUMBER, OUT_ALWAYS},
    {"id", "Request", OUT_STRING, OUT_ALWAYS},
    {"name", "Name", OUT_STRING, OUT_ALWAYS},
    {"program", "", OUT_STRING, OUT_DATA_ONLY},
};

static int compare_index(const void *left, const void *right)
{
    const task_row *a = left, *b = right;
    return a->row->track < b->row->track ? -1 : a->row->track > b->row->track;
}

static int compare_value(const void *left, const void *right)
{
    const task_row *a = left, *b = right;
    if (a->row->total != b->row->total)
        return a->row->total > b->row->total ? -1 : 1;
    return compare_index(left, right);
}

static int compare_name(const void *left, const void *right)
{
    const task_row *a = left, *b = right;
    int order = strverscmp(a->track->name, b->track->name);
    return order ? order : compare_index(left, right);
}

/* Side tracks are parts of requests, not rows. */
static task_row *sorted_rows(const rec_session *s, const lode_calls *calls, uint32_t *count)
{
    static int (*const orders[])(const void *, const void *) = {[LODE_PROFILES_BY_VALUE] = compare_value,
                                                                [LODE_PROFILES_BY_IDS] = compare_name,
                                                                [LODE_PROFILES_BY_INDEX] = compare_index};
    uint32_t all = lode_calls_track_count(calls);
    task_row *rows = alloc_array(all, sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; i < all; i++) {
        const lode_track_row *row = lode_calls_track(calls, i);
        if (lode_track_main(s->recording, row->track) == row->track)
            rows[(*count)++] = (task_row){row, lode_recording_track(s->recording, row->track)};
    }
    if (*count)
        qsort(rows, *count, sizeof *rows, orders[s->shared->sort]);
    return rows;
}

static void distribution(lode_distribution *d, const task_row *rows, uint32_t count)
{
    double *values = alloc_array(count, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (double)rows[i].row->total;
    lode_distribution_of(d, values, count);
    free(values);
}

static void write_row(out *o, const task_row *task, double mean)
{
    const lode_track_row *row = task->row;
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, row->track, row->total, mean > 0 ? (double)row->total / mean : 0, row->total - row->out,
              row->out, row->calls, row->errors, row->events, row->begin);
    OUT_CELLS(o, row->end, row->end - row->begin, row->repairs, (uint64_t)task->track->pid,
              (uint64_t)task->track->tid, task->track->id[0] ? task->track->id : NULL, task->track->name,
              task->track->program[0] ? task->track->program : NULL);
    out_row_end(o);
}

static void set_columns(out_column columns[COLUMN_COUNT], const rec_session *s, const task_row *rows,
                        uint32_t count)
{
    uint64_t errors = 0;
    for (uint32_t i = 0; i < count; i++)
        errors += rows[i].row->errors;
    memcpy(columns, all_columns, sizeof all_columns);
    columns[COLUMN_ERRORS].visibility = errors ? OUT_ALWAYS : OUT_DATA_ONLY;
    if (lode_recording_has_requests(s->recording))
        columns[COLUMN_TID].title = "Thread";
    else
        columns[COLUMN_ID].visibility = OUT_DATA_ONLY;
}

static void print_plots(out *o, const rec_session *s, const plot_options *options, const task_row *rows,
                        uint32_t count)
{
    lode_profile_value *values = alloc_array(count, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (lode_profile_value){rows[i].row->track, (double)rows[i].row->total, 0};
    plots_print_tracks(o, s->recording, options, values, count);
    free(values);
}

static void print_tasks(out *o, rec_session *s, const plot_options *plot, const lode_calls *calls)
{
    uint32_t count;
    uint64_t limit = s->shared->limit;
    task_row *rows = sorted_rows(s, calls, &count);
    uint32_t shown = limit && limit < count ? (uint32_t)limit : count;
    char words[NUMBER_SIZE];
    out_column columns[COLUMN_COUNT];
    lode_distribution d;
    snprintf(words, sizeof words, "%ss", rec_track_word(s));
    set_columns(columns, s, rows, count);
    distribution(&d, rows, count);
    out_begin(o, SCHEMA_PROFILES_RECORDING, s->path);
    rec_write_slice(o, s);
    out_fact_rows(o, shown, count);
    out_say(o, "Time of the outermost calls by %s\n", rec_track_word(s));
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_NANOSECONDS);
    for (uint32_t i = 0; i < shown; i++)
        write_row(o, &rows[i], d.mean);
    out_table_end(o);
    out_shown(o, shown, count, words);
    if (count == 0)
        out_say(o, "No %s.", words);
    out_gap(o);
    spread_print(o, "distribution", &d, UNIT_NANOSECONDS);
    print_plots(o, s, plot, rows, count);
    damage_write(o);
    out_end(o);
    free(rows);
}

int profiles_recording(const invocation *call, const plot_options *plot)
{
    rec_session s;
    rec_rows rows = {0};
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE) {
        /* As 'lode top' does, so that a host has them once. */
        lode_calls_options options = rec_calls_options(&s);
        options.merge = 1;
        options.names = name_form(names_of_recordings(NAMES_BY_STORE));
        status = rec_compute_calls(&s, &options, &rows);
    }
    if (status == EXIT_DONE)
        print_tasks(call->out, &s, plot, rows.calls);
    rec_free_rows(&rows);
    rec_close(&s);
    return status;
}
