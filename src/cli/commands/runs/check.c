/* SPDX-License-Identifier: BSD-3-Clause */
/* One run against its history: which functions cost more than the runs before can explain. */
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

#define HISTORY    100  /* runs, unless told otherwise */
#define LEAST      5    /* runs that a judgement needs */
#define LEVEL      0.05 /* of a false alarm in a check */
#define MIN_CHANGE 0.05
#define NEW_SHARE  0.01 /* of the total: from here on a new function is worth a row */
#define SHOWN_ROWS 20

/* In the order of rows. */
typedef enum verdict {
    VERDICT_MORE,
    VERDICT_NEW,
    VERDICT_LESS,
    VERDICT_SAME,
    VERDICT_CANNOT_TELL
} verdict;
static const char *const verdict_names[] = {"more", "new", "less", "same", "cannot_tell"};
static const char *const verdict_words[] = {"MORE", "new", "less", "same", "~"};

typedef struct judged {
    char *name; /* NULL: everything */
    size_t metric, order;
    double now, inclusive;
    double *values; /* by run of the history; NaN: not known, or before a change */
    size_t count;   /* that are known */
    lode_judgement judgement;
    double p;        /* that there is no change */
    double adjusted; /* that it is not more than allowed, for all tests together */
    verdict verdict;
} judged;

typedef struct checked_metric {
    int64_t id;
    char *name;
    double total;
    metric_unit unit;
    int is_exact;
} checked_metric;

typedef struct check {
    catalogue *c;
    runs_history history;
    run_set runs;
    const runs_options *options;
    double min_change;
    checked_metric *metrics;
    size_t metric_count, metric_capacity;
    judged *rows;
    size_t count, capacity;
    size_t tested;
    size_t by_verdict[VERDICT_CANNOT_TELL + 1];
} check;

/* ---- reading ---- */

/* What is counted is the same in every run, until the program changes. */
static int is_exact(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "calls") == 0 || unit_of_metric(name) == UNIT_BYTES ||
           (length > 6 && strcmp(name + length - 6, ":COUNT") == 0);
}

static int take_metric(void *user, int64_t id, const char *name, double value)
{
    check *k = user;
    if (k->history.metric && id != k->history.metric)
        return 0;
    k->metrics = alloc_grow(k->metrics, &k->metric_capacity, k->metric_count, sizeof *k->metrics);
    checked_metric *metric = &k->metrics[k->metric_count++];
    *metric = (checked_metric){id, runs_copy(name), value, unit_of_metric(name), is_exact(name)};
    return 0;
}

/* The part of a history that is like its end: after its last change. */
static int settle(judged *row, size_t runs)
{
    lode_change_points *changes = NULL;
    lode_change_options options = LODE_CHANGE_OPTIONS_INIT;
    lode_error error = {0};
    size_t begin = 0, known = 0;
    double *values = alloc_array(runs, sizeof *values);
    for (size_t i = 0; i < runs; i++)
        if (!isnan(row->values[i]))
            values[known++] = row->values[i];
    lode_status status = LODE_OK;
    if (known >= (size_t)2 * LEAST)
        status = lode_change_points_find(&changes, values, known, &options, &error);
    free(values);
    if (status != LODE_OK)
        return report_error(NULL, &error);
    size_t count = changes ? lode_change_points_count(changes) : 0;
    if (count)
        begin = lode_change_points_at(changes, count - 1)->index;
    lode_change_points_free(changes);
    row->count = known - begin;
    for (size_t i = 0; i < runs && begin > 0; i++)
        if (!isnan(row->values[i])) {
            row->values[i] = (double)NAN;
            begin--;
        }
    return EXIT_DONE;
}

static int add_row(check *k, size_t metric, const run_function *function)
{
    catalogue_error error;
    int is_inclusive = k->options->is_inclusive;
    judged row = {.metric = metric, .order = k->count};
    row.now = !function ? k->metrics[metric].total : is_inclusive ? function->inclusive : function->exclusive;
    row.values = alloc_array(k->runs.count, sizeof *row.values);
    if (catalogue_values(k->c, &k->runs, k->metrics[metric].id, function ? function->id : 0, is_inclusive,
                         row.values, &error) != 0) {
        free(row.values);
        return runs_failed(&error);
    }
    row.name = function ? runs_copy(function->name) : NULL;
    k->rows = alloc_grow(k->rows, &k->capacity, k->count, sizeof *k->rows);
    k->rows[k->count] = row;
    return settle(&k->rows[k->count++], k->runs.count);
}

static int read_metric(check *k, size_t metric)
{
    catalogue_error error;
    run_function *functions = NULL;
    size_t count = 0;
    int status = EXIT_DONE;
    if (catalogue_run_functions(k->c, k->history.run, k->metrics[metric].id, &functions, &count, &error) != 0)
        status = runs_failed(&error);
    if (status == EXIT_DONE)
        status = add_row(k, metric, NULL);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = add_row(k, metric, &functions[i]);
    catalogue_free_functions(functions, count);
    return status;
}

static int read_history(check *k)
{
    catalogue_error error;
    runs_history *h = &k->history;
    int status = runs_history_open(h, k->c, k->options);
    if (status == EXIT_DONE && k->options->shared.metrics.count && !runs_wants_all(k->options))
        status = runs_history_metric(h, k->c, k->options);
    if (status != EXIT_DONE)
        return status;
    h->filter.only = 0;
    h->filter.before = h->run;
    h->filter.limit = k->options->history ? k->options->history : HISTORY;
    if (catalogue_runs(k->c, &h->filter, &k->runs, &error) != 0 ||
        catalogue_metrics(k->c, h->run, take_metric, k, &error) != 0)
        return runs_failed(&error);
    if (k->runs.count < LEAST)
        return report("run %" PRId64 " has %s with the same labels (%s); at least %d are needed", h->run,
                      COUNTED(k->runs.count, "earlier run", "earlier runs"),
                      k->options->same ? k->options->same : "title", LEAST);
    for (size_t i = 0; i < k->metric_count && status == EXIT_DONE; i++)
        status = read_metric(k, i);
    return status;
}

/* ---- judging ---- */

/* The runs of a row, then the new one; NaN if there are too few to judge it. */
static void take_runs(const check *k, const judged *row, double *values)
{
    size_t runs = k->runs.count;
    int is_known = row->count >= LEAST || k->metrics[row->metric].is_exact;
    for (size_t i = 0; i < runs; i++)
        values[i] = is_known ? row->values[i] : (double)NAN;
    values[runs] = row->now;
}

static void take_judgement(check *k, judged *row, const lode_judgements *judgements, size_t index)
{
    /* The total comes first. */
    if (index == 0)
        lode_judgements_total(judgements, &row->judgement);
    else if (lode_judgements_at(judgements, index - 1, 0, &row->judgement) != LODE_OK)
        row->judgement = (lode_judgement){.method = LODE_JUDGE_NONE};
    row->p = row->judgement.p;
    row->adjusted = lode_judgement_p_beyond(&row->judgement, k->min_change);
}

/* Rows `begin` to `end` are those of one metric. */
static int judge_metric(check *k, size_t begin, size_t end, double level)
{
    lode_judge_rows_options options = LODE_JUDGE_ROWS_OPTIONS_INIT;
    lode_judgements *judgements = NULL;
    lode_error error = {0};
    size_t runs = k->runs.count + 1;
    double *values = alloc_array((end - begin) * runs, sizeof *values);
    for (size_t i = begin; i < end; i++)
        take_runs(k, &k->rows[i], values + (i - begin) * runs);
    options.level = level;
    options.is_exact = k->metrics[k->rows[begin].metric].is_exact;
    options.is_nested = k->options->is_inclusive;
    lode_status status =
        lode_judge_rows(&judgements, values + runs, values, end - begin - 1, runs - 1, 1, &options, &error);
    free(values);
    if (status != LODE_OK)
        return report_error(NULL, &error);
    for (size_t i = begin; i < end; i++)
        take_judgement(k, &k->rows[i], judgements, i - begin);
    k->tested += lode_judgements_tests(judgements);
    lode_judgements_free(judgements);
    return EXIT_DONE;
}

static verdict verdict_of(const check *k, const judged *row)
{
    const lode_judgement *judgement = &row->judgement;
    if (row->count == 0 && row->name && row->now >= NEW_SHARE * k->metrics[row->metric].total)
        return VERDICT_NEW;
    lode_limit_outcome outcome = lode_judgement_outcome(judgement, k->min_change);
    if (outcome == LODE_LIMIT_BEYOND)
        return VERDICT_MORE;
    if (judgement->verdict == LODE_VERDICT_LESS && judgement->ratio.value < 1 - k->min_change)
        return VERDICT_LESS;
    int is_within = outcome == LODE_LIMIT_WITHIN && judgement->ratio.low >= 1 - k->min_change;
    return is_within || judgement->verdict == LODE_VERDICT_SAME ? VERDICT_SAME : VERDICT_CANNOT_TELL;
}

static int by_verdict(const void *left, const void *right)
{
    const judged *a = left, *b = right;
    /* Rows without a change are in the order of costs. */
    verdict first = a->verdict == VERDICT_CANNOT_TELL ? VERDICT_SAME : a->verdict;
    verdict second = b->verdict == VERDICT_CANNOT_TELL ? VERDICT_SAME : b->verdict;
    if (first != second)
        return first < second ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Over all functions of all metrics, there is a false alarm in at most 5 % of checks. */
static int judge_all(check *k)
{
    size_t tested = 0;
    int status = EXIT_DONE;
    for (size_t i = 0; i < k->metric_count; i++)
        tested += !k->metrics[i].is_exact;
    double level = LEVEL / (double)(tested ? tested : 1);
    for (size_t begin = 0, end; begin < k->count && status == EXIT_DONE; begin = end) {
        for (end = begin; end < k->count && k->rows[end].metric == k->rows[begin].metric;)
            end++;
        status = judge_metric(k, begin, end, level);
    }
    for (size_t i = 0; i < k->count && status == EXIT_DONE; i++) {
        k->rows[i].verdict = verdict_of(k, &k->rows[i]);
        k->by_verdict[k->rows[i].verdict]++;
    }
    if (status == EXIT_DONE && k->count)
        qsort(k->rows, k->count, sizeof *k->rows, by_verdict);
    return status;
}

/* ---- output ---- */

static const out_column columns[] = {
    {"verdict", "", OUT_STRING, OUT_TEXT_ONLY},
    {"verdict", "", OUT_STRING, OUT_DATA_ONLY},
    {"value", "Now", OUT_REAL, OUT_ALWAYS},
    {"expected", "Before", OUT_REAL, OUT_ALWAYS},
    {"change", "Change", OUT_STRING, OUT_TEXT_ONLY},
    {"change_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"visible", "Visible", OUT_STRING, OUT_TEXT_ONLY},
    {"smallest_visible_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"p", "", OUT_REAL, OUT_DATA_ONLY},
    {"adjusted_p", "", OUT_REAL, OUT_DATA_ONLY},
    {"runs", "Runs", OUT_INTEGER, OUT_ALWAYS},
    {"metric", "Metric", OUT_STRING, OUT_ALWAYS},
    {"function", "", OUT_STRING, OUT_DATA_ONLY},
    {"name", "Function", OUT_STRING, OUT_TEXT_ONLY},
};

static void write_row(out *o, const check *k, const judged *row)
{
    static const out_style styles[] = {STYLE_ERROR, STYLE_WARNING, STYLE_PLAIN, STYLE_PLAIN, STYLE_DIM};
    const lode_judgement *j = &row->judgement;
    int is_judged = j->method != LODE_JUDGE_NONE;
    double change = is_judged ? j->ratio.value - 1 : (double)NAN;
    char change_text[NUMBER_SIZE] = "", visible[NUMBER_SIZE] = "";
    if (isfinite(change))
        snprintf(change_text, sizeof change_text, "%+.1f%%", 100 * change);
    if (is_judged && isfinite(j->smallest_visible))
        snprintf(visible, sizeof visible, "%.1f%%", 100 * j->smallest_visible);
    out_unit(o, k->metrics[row->metric].unit);
    OUT_ROW(o, styles[row->verdict], verdict_words[row->verdict], verdict_names[row->verdict], row->now,
            is_judged ? out_finite(j->base) : out_none(), change_text, out_finite(change), visible,
            is_judged ? out_finite(j->smallest_visible) : out_none(), out_finite(row->p),
            out_finite(row->adjusted), row->count, k->metrics[row->metric].name, row->name,
            row->name ? row->name : "(total)");
}

static void say_summary(out *o, const check *k)
{
    out_gap(o);
    if (k->by_verdict[VERDICT_MORE])
        out_say(o, "%s of %s more than %.3g%% above what the runs before explain",
                GROUPED(k->by_verdict[VERDICT_MORE]), COUNTED(k->count, "cost is", "costs are"),
                100 * k->min_change);
    else
        out_say(o, "none of %s is more than %.3g%% above what the runs before explain",
                COUNTED(k->count, "cost", "costs"), 100 * k->min_change);
    for (size_t i = 0; i < k->count; i++)
        if (!k->rows[i].name && isfinite(k->rows[i].judgement.smallest_visible) &&
            k->rows[i].judgement.method != LODE_JUDGE_NONE)
            out_say(o, "%s: a change of the total by %.1f%% would have been seen",
                    k->metrics[k->rows[i].metric].name, 100 * k->rows[i].judgement.smallest_visible);
}

static void print_check(const invocation *call, const check *k)
{
    out *o = call->out;
    uint64_t limit = call->shared->limit == RUNS_NO_LIMIT ? SHOWN_ROWS : call->shared->limit;
    size_t shown = limit && limit < k->count ? (size_t)limit : k->count;
    char *path = runs_catalogue_path(call->options), *run = runs_describe(k->c, k->history.run);
    char *same = runs_labels_text(k->history.labels.items, k->history.labels.count);
    out_begin(o, SCHEMA_RUNS_CHECK, NULL);
    OUT_FIELDS(o, "catalogue", path, "run", (uint64_t)k->history.run, "begun_ns",
               out_digits(k->history.begun));
    runs_labels_write(o, k->history.labels.items, k->history.labels.count);
    OUT_FIELDS(o, "history_count", k->runs.count, "tested_count", k->tested, "level", LEVEL,
               "min_change_percent", 100 * k->min_change, "more_count", k->by_verdict[VERDICT_MORE],
               "less_count", k->by_verdict[VERDICT_LESS]);
    out_fact_rows(o, shown, k->count);
    out_say(o, "%s, against %s%s%s", run, COUNTED(k->runs.count, "earlier run", "earlier runs"),
            same[0] ? " with " : "", same);
    out_gap(o);
    out_table(o, OUT_MAIN, "rows", columns, sizeof columns / sizeof *columns, UNIT_COUNT);
    for (size_t i = 0; i < shown; i++)
        write_row(o, k, &k->rows[i]);
    out_table_end(o);
    out_shown(o, shown, k->count, "rows");
    say_summary(o, k);
    out_end(o);
    free(path);
    free(run);
    free(same);
}

static void check_free(check *k)
{
    for (size_t i = 0; i < k->count; i++) {
        free(k->rows[i].name);
        free(k->rows[i].values);
    }
    for (size_t i = 0; i < k->metric_count; i++)
        free(k->metrics[i].name);
    free(k->rows);
    free(k->metrics);
    run_set_free(&k->runs);
    runs_history_close(&k->history);
    catalogue_close(k->c);
}

int runs_check(const invocation *call)
{
    const runs_options *options = call->options;
    check k = {.options = options, .min_change = options->min_change >= 0 ? options->min_change : MIN_CHANGE};
    int status = runs_open(&k.c, options, CATALOGUE_READ);
    if (status == EXIT_DONE)
        status = read_history(&k);
    if (status == EXIT_DONE)
        status = judge_all(&k);
    if (status == EXIT_DONE) {
        print_check(call, &k);
        status = k.by_verdict[VERDICT_MORE] ? EXIT_FINDINGS : EXIT_DONE;
    }
    check_free(&k);
    return status;
}
