/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "output/out.h"
#include "output/report.h"

#include <inttypes.h>
#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MIN   10 /* for change points */
#define MIN_CHANGE 0.01

typedef struct trend {
    catalogue *c;
    runs_history history;
    char *function; /* NULL: everything */
    run_point *points;
    double *values;
    size_t count;
    lode_change_points *changes;
    int is_inclusive;
} trend;

static const out_column columns[] = {
    {"run", "Run", OUT_NUMBER, OUT_DATA_ONLY},  {"begun_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"exclusive", "", OUT_REAL, OUT_DATA_ONLY}, {"inclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"is_change", "", OUT_BOOL, OUT_DATA_ONLY},
};
static const out_column change_columns[] = {
    {"run_before", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"begun_before_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"run", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"begun_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"before", "", OUT_REAL, OUT_DATA_ONLY},
    {"after", "", OUT_REAL, OUT_DATA_ONLY},
    {"change_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"p", "", OUT_REAL, OUT_DATA_ONLY},
};

static const lode_change_point *change_at(const trend *t, size_t index)
{
    for (size_t i = 0; t->changes && i < lode_change_points_count(t->changes); i++)
        if (lode_change_points_at(t->changes, i)->index == index)
            return lode_change_points_at(t->changes, i);
    return NULL;
}

static void write_points(out *o, const trend *t)
{
    out_fact_rows(o, t->count, t->count);
    out_table(o, OUT_MAIN, "rows", columns, sizeof columns / sizeof *columns, UNIT_COUNT);
    for (size_t i = 0; i < t->count; i++) {
        const run_point *point = &t->points[i];
        OUT_ROW(o, STYLE_PLAIN, (uint64_t)point->run, point->begun, point->exclusive, point->inclusive,
                change_at(t, i) != NULL);
    }
    out_table_end(o);
}

static void write_changes(out *o, const trend *t)
{
    size_t count = t->changes ? lode_change_points_count(t->changes) : 0;
    out_table(o, OUT_SIDE, "changes", change_columns, sizeof change_columns / sizeof *change_columns,
              UNIT_COUNT);
    for (size_t i = 0; i < count; i++) {
        const lode_change_point *point = lode_change_points_at(t->changes, i);
        const run_point *before = &t->points[point->index - 1], *after = &t->points[point->index];
        OUT_ROW(o, STYLE_PLAIN, (uint64_t)before->run, before->begun, (uint64_t)after->run, after->begun,
                point->before, point->after,
                point->before != 0 ? out_real(point->after / point->before - 1) : out_none(), point->p);
    }
    out_table_end(o);
}

static void say_change(out *o, const trend *t, const lode_change_point *point, metric_unit unit)
{
    char before[NUMBER_SIZE], after[NUMBER_SIZE], change[NUMBER_SIZE] = "";
    char *first = runs_describe(t->c, t->points[point->index - 1].run),
         *second = runs_describe(t->c, t->points[point->index].run);
    format_amount(before, point->before, unit);
    format_amount(after, point->after, unit);
    if (point->before != 0)
        snprintf(change, sizeof change, ", %+.1f%%", 100 * (point->after / point->before - 1));
    out_say(o, "change from %s to %s%s (p %s %.1g)", before, after, change, point->p < 1e-9 ? "<" : "=",
            point->p < 1e-9 ? 1e-9 : point->p);
    out_line(o, "    last run before: %s", first);
    out_line(o, "    first run after: %s", second);
    free(first);
    free(second);
}

static void say_changes(out *o, const trend *t, metric_unit unit)
{
    size_t count = t->changes ? lode_change_points_count(t->changes) : 0;
    for (size_t i = 0; i < count; i++)
        say_change(o, t, lode_change_points_at(t->changes, i), unit);
    if (t->count < RUNS_MIN)
        out_say(o, "change points need at least %d runs", RUNS_MIN);
    else if (count == 0)
        out_say(o, "no change point in %s", COUNTED(t->count, "run", "runs"));
}

static int find_changes(trend *t, double min_change)
{
    lode_change_options options = LODE_CHANGE_OPTIONS_INIT;
    lode_error error = {0};
    options.min_change = min_change;
    if (t->count < RUNS_MIN)
        return EXIT_DONE;
    if (lode_change_points_find(&t->changes, t->values, t->count, &options, &error) != LODE_OK)
        return report_error(NULL, &error);
    return EXIT_DONE;
}

static int read_trend(trend *t, const runs_options *options, const char *function)
{
    catalogue_error error;
    int64_t id = 0;
    int status = runs_history_open(&t->history, t->c, options);
    if (status == EXIT_DONE)
        status = runs_history_metric(&t->history, t->c, options);
    if (status == EXIT_DONE && function)
        status = runs_find_function(t->c, function, &id, &t->function);
    if (status != EXIT_DONE)
        return status;
    if (catalogue_series(t->c, &t->history.filter, t->history.metric, id, &t->points, &t->count, &error) != 0)
        return runs_failed(&error);
    t->is_inclusive = options->is_inclusive;
    t->values = alloc_array(t->count, sizeof *t->values);
    for (size_t i = 0; i < t->count; i++)
        t->values[i] = options->is_inclusive ? t->points[i].inclusive : t->points[i].exclusive;
    if (t->count == 0)
        return report("no run has a cost of '%s' in %s", function, t->history.metric_name);
    return find_changes(t, options->min_change >= 0 ? options->min_change : MIN_CHANGE);
}

static void print_trend(const invocation *call, const trend *t, const runs_plot *plot)
{
    out *o = call->out;
    const char *kind = !t->function ? "total" : t->is_inclusive ? "inclusive" : "exclusive";
    char *path = runs_catalogue_path(call->options);
    char *same = runs_labels_text(t->history.filter.labels, t->history.filter.label_count);
    out_begin(o, SCHEMA_RUNS_TREND, NULL);
    OUT_FIELDS(o, "catalogue", path, "function", t->function, "metric", t->history.metric_name, "cost", kind);
    runs_labels_write(o, t->history.filter.labels, t->history.filter.label_count);
    if (out_format_of(o) == OUT_TEXT) {
        out_say(o, "%s%s%s cost in %s: %s%s%s", t->function ? t->function : "", t->function ? ": " : "", kind,
                t->history.metric_name, COUNTED(t->count, "run", "runs"), same[0] ? ", " : "", same);
        out_gap(o);
        runs_plot_text(o, plot);
        out_gap(o);
        say_changes(o, t, plot->unit);
    } else {
        write_points(o, t);
        write_changes(o, t);
    }
    out_end(o);
    free(path);
    free(same);
}

int runs_trend(const invocation *call, const char *function)
{
    const runs_options *options = call->options;
    trend t = {0};
    int status = runs_open(&t.c, options, CATALOGUE_READ);
    if (status == EXIT_DONE)
        status = read_trend(&t, options, function);
    if (status == EXIT_DONE) {
        runs_plot plot = {.title = t.function ? t.function : "total",
                          .metric = t.history.metric_name,
                          .points = t.points,
                          .values = t.values,
                          .count = t.count,
                          .changes = t.changes,
                          .unit = unit_of_metric(t.history.metric_name)};
        if (options->svg)
            status = runs_plot_svg(options->svg, &plot);
        if (status == EXIT_DONE)
            print_trend(call, &t, &plot);
    }
    lode_change_points_free(t.changes);
    free(t.values);
    free(t.points);
    free(t.function);
    if (t.c)
        runs_history_close(&t.history);
    catalogue_close(t.c);
    return status;
}
