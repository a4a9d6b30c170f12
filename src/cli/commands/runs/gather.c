/* SPDX-License-Identifier: BSD-3-Clause */
/* What a catalogue keeps of a store: labels, totals, and the costs of its functions. */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "output/report.h"
#include "stores/rec_session.h"
#include "stores/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions with this share of the exclusive cost together, or of the inclusive one each. */
#define EXCLUSIVE_KEPT 0.999
#define INCLUSIVE_KEPT 0.01

struct runs_gathered {
    run_record record;
    runs_labels labels;
    char *path;
    char **texts; /* names that the record refers to */
    size_t text_count, text_capacity;
    run_total *totals;
    size_t total_capacity;
    run_cost *costs;
    size_t cost_capacity;
};

const run_record *runs_gathered_record(const runs_gathered *gathered)
{
    return &gathered->record;
}

void runs_gathered_free(runs_gathered *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->text_count; i++)
        free(g->texts[i]);
    runs_labels_free(&g->labels);
    free(g->texts);
    free(g->totals);
    free(g->costs);
    free(g->path);
    free(g);
}

/* ---- building the record ---- */

static const char *keep_text(runs_gathered *g, const char *text)
{
    size_t length = strlen(text);
    char *kept = alloc_array(length + 1, 1);
    memcpy(kept, text, length);
    g->texts = alloc_grow(g->texts, &g->text_capacity, g->text_count, sizeof *g->texts);
    g->texts[g->text_count++] = kept;
    return kept;
}

static size_t add_total(runs_gathered *g, const char *metric, double value)
{
    g->totals = alloc_grow(g->totals, &g->total_capacity, g->record.total_count, sizeof *g->totals);
    g->totals[g->record.total_count] = (run_total){keep_text(g, metric), value};
    return g->record.total_count++;
}

static void add_cost(runs_gathered *g, const run_cost *cost)
{
    g->costs = alloc_grow(g->costs, &g->cost_capacity, g->record.cost_count, sizeof *g->costs);
    g->costs[g->record.cost_count++] = *cost;
}

static int find_files(runs_gathered *g, const char *path)
{
    g->path = realpath(path, NULL);
    if (!g->path)
        return report("%s: %s", path, strerror(errno));
    g->record.path = g->path;
    runs_measure_files(g->path, &g->record.bytes, &g->record.modified);
    return EXIT_DONE;
}

/* ---- functions ---- */

typedef struct row {
    const lode_normal_key *key;
    size_t index;
    double exclusive, inclusive;
    size_t first_cost; /* in the record: one for each metric; SIZE_MAX: not kept */
} row;

static int by_exclusive(const void *left, const void *right)
{
    const row *a = left, *b = right;
    if (a->exclusive != b->exclusive)
        return a->exclusive > b->exclusive ? -1 : 1;
    return strcmp(a->key->name, b->key->name);
}

static void add_row(runs_gathered *g, const lode_comparison *rows, row *r, size_t metric, const double *units,
                    size_t count)
{
    run_cost cost = {.name = keep_text(g, r->key->name),
                     .module = keep_text(g, r->key->module),
                     .file = keep_text(g, r->key->file),
                     .min = (double)NAN,
                     .max = (double)NAN};
    r->first_cost = g->record.cost_count;
    for (size_t i = 0; i < count; i++) {
        cost.metric = metric + i;
        cost.exclusive = lode_comparison_exclusive(rows, r->index, LODE_BASE, 0, i) / units[i];
        cost.inclusive = lode_comparison_inclusive(rows, r->index, LODE_BASE, 0, i) / units[i];
        add_cost(g, &cost);
    }
}

/* The first metric decides which functions are stored. Returns all rows, for the caller to free. */
static row *choose_rows(runs_gathered *g, const lode_comparison *rows, size_t metric, const double *units,
                        size_t metric_count)
{
    size_t count = lode_comparison_count(rows);
    row *sorted = alloc_array(count, sizeof *sorted);
    double whole = 0, before = 0, total = lode_comparison_total(rows, LODE_BASE, 0, 0);
    for (size_t i = 0; i < count; i++) {
        sorted[i] =
            (row){&lode_comparison_at(rows, i)->key, i, lode_comparison_exclusive(rows, i, LODE_BASE, 0, 0),
                  lode_comparison_inclusive(rows, i, LODE_BASE, 0, 0), SIZE_MAX};
        whole += sorted[i].exclusive;
    }
    if (count)
        qsort(sorted, count, sizeof *sorted, by_exclusive);
    for (size_t i = 0; i < count; i++) {
        row *r = &sorted[i];
        int is_large = before < EXCLUSIVE_KEPT * whole && r->exclusive > 0;
        if (is_large || r->inclusive >= INCLUSIVE_KEPT * total)
            add_row(g, rows, r, metric, units, metric_count);
        before += r->exclusive;
    }
    return sorted;
}

/* Smallest and largest inclusive costs over the profiles of a database. */
static lode_status gather_ranges(runs_gathered *g, lode_comparison *rows, const row *chosen,
                                 const shared_options *shared, lode_error *error)
{
    lode_compare_profiles_options options = LODE_COMPARE_PROFILES_OPTIONS_INIT;
    options.threads = (unsigned)(shared->threads < 4096 ? shared->threads : 4096);
    for (int is_max = 0; is_max < 2; is_max++) {
        options.statistic = is_max ? LODE_PROFILES_MAX : LODE_PROFILES_MIN;
        lode_status status = lode_comparison_over_profiles(rows, &options, error);
        if (status == LODE_ERR_UNSUPPORTED) /* no values by profile */
            return LODE_OK;
        if (status != LODE_OK)
            return status;
        for (size_t i = 0; i < lode_comparison_count(rows); i++) {
            if (chosen[i].first_cost == SIZE_MAX)
                continue;
            run_cost *cost = &g->costs[chosen[i].first_cost];
            double value = lode_comparison_inclusive(rows, chosen[i].index, LODE_BASE, 0, 0);
            *(is_max ? &cost->max : &cost->min) = value;
        }
    }
    return LODE_OK;
}

/*
 * Functions have the names that a comparison gives them, so that builds have one trend: it is a
 * comparison of the run with itself. Costs are divided by the units. The costs of a database, one
 * metric at a time, have ranges over profiles, which are computed as the shared options say.
 */
static lode_status gather_rows(runs_gathered *g, const lode_cost *const *costs, const double *units,
                               size_t metric, size_t count, const shared_options *shared, lode_error *error)
{
    row *chosen = NULL;
    lode_comparison *rows = NULL;
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    lode_status status = lode_compare(&rows, costs, 1, costs, 1, count, &options, error);
    if (status == LODE_OK)
        chosen = choose_rows(g, rows, metric, units, count);
    if (status == LODE_OK && shared)
        status = gather_ranges(g, rows, chosen, shared, error);
    free(chosen);
    lode_comparison_free(rows);
    return status;
}

/* ---- databases ---- */

/* Metrics without a total say nothing, and neither do those that do not add up. */
static int gather_metric(runs_gathered *g, session *s, const lode_metric *metric)
{
    lode_cost *cost = NULL;
    lode_error error = {0};
    int status = EXIT_DONE;
    if (lode_metric_counted_by(s->db, metric) || !(session_metric_total(s, metric) > 0))
        return EXIT_DONE;
    s->metric = metric;
    status = session_cost(s, &cost);
    if (status == EXIT_DONE && isfinite(lode_cost_total(cost)) && lode_cost_total(cost) > 0) {
        size_t index = add_total(g, lode_metric_name(metric), lode_cost_total(cost));
        const lode_cost *const costs[] = {cost};
        const double unit = 1;
        if (gather_rows(g, costs, &unit, index, 1, s->shared, &error) != LODE_OK)
            status = session_error(s, &error);
    }
    session_free_cost(cost);
    return status;
}

static void describe_database(runs_gathered *g, const session *s)
{
    uint64_t begin = 0, end = 0;
    if (lode_database_title(s->db)[0])
        runs_label_set(&g->labels, "title", lode_database_title(s->db));
    g->record.format = keep_text(g, lode_database_format(s->db));
    g->record.profiles = lode_database_profile_count(s->db);
    g->record.profiles -= g->record.profiles > 0; /* the summary */
    if (lode_database_trace_bounds(s->db, &begin, &end) == LODE_OK && time_is_utc(begin))
        g->record.begun = begin;
}

static int has_metric(const metric_list *list, const lode_metric *metric)
{
    for (size_t i = 0; i < list->input_count; i++)
        if (list->inputs[i] == metric)
            return 1;
    return list->count == 0;
}

static int gather_database(runs_gathered *g, const invocation *call, const char *path)
{
    session s;
    int status = session_open_metrics(&s, path, call->shared);
    const lode_metric *first = NULL;
    if (status == EXIT_DONE) {
        describe_database(g, &s);
        /* The one that people most likely mean goes first. */
        if (lode_database_default_metric(s.db, &first, NULL) != LODE_OK || !has_metric(&s.metrics, first))
            first = NULL;
    }
    if (first)
        status = gather_metric(g, &s, first);
    for (uint32_t i = 0; status == EXIT_DONE && i < lode_database_metric_count(s.db); i++) {
        const lode_metric *metric = lode_database_metric(s.db, i);
        if (metric != first && has_metric(&s.metrics, metric))
            status = gather_metric(g, &s, metric);
    }
    session_close(&s);
    return status;
}

/* ---- recordings ---- */

static const char *fact_of(const lode_recording *recording, const char *key)
{
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++) {
        const lode_fact *fact = lode_recording_fact(recording, i);
        if (strcmp(fact->key, key) == 0)
            return fact->value;
    }
    return "";
}

static int describe_recording(runs_gathered *g, rec_session *s)
{
    static const struct {
        const char *fact, *label;
    } facts[] = {{"host", "host"}, {"command line", "command"}};
    int status = rec_find_interval(s);
    const char *program = lode_path_tail(fact_of(s->recording, "program"));
    if (program[0])
        runs_label_set(&g->labels, "title", program);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (fact_of(s->recording, facts[i].fact)[0])
            runs_label_set(&g->labels, facts[i].label, fact_of(s->recording, facts[i].fact));
    g->record.format = keep_text(g, lode_recording_format(s->recording));
    g->record.profiles = lode_recording_track_count(s->recording);
    if (status == EXIT_DONE && !rec_utc(s, s->begin, &g->record.begun))
        g->record.begun = 0;
    return status;
}

/* As `lode build` calls them, so that a recording and a database built from it have one trend. */
#define TIME_METRIC  "time (sec)"
#define CALLS_METRIC "calls"
#define NANOSECONDS  1e9

static lode_status gather_calls(runs_gathered *g, const lode_calltree *tree, lode_error *error)
{
    static const double units[] = {NANOSECONDS, 1};
    lode_cost *calls = NULL;
    lode_status status = lode_calltree_calls(&calls, tree, error);
    if (status == LODE_OK) {
        const lode_cost *const costs[] = {lode_calltree_cost(tree), calls};
        size_t first = add_total(g, TIME_METRIC, lode_cost_total(costs[0]) / NANOSECONDS);
        add_total(g, CALLS_METRIC, lode_cost_total(calls));
        status = gather_rows(g, costs, units, first, 2, NULL, error);
    }
    lode_cost_free(calls);
    return status;
}

static int gather_recording(runs_gathered *g, const invocation *call, const char *path)
{
    rec_session s;
    lode_calltree *tree = NULL;
    lode_error error = {0};
    int status = rec_open(&s, path, call->shared);
    if (status == EXIT_DONE)
        status = describe_recording(g, &s);
    if (status == EXIT_DONE) {
        lode_calls_options options = rec_calls_options(&s);
        if (lode_calltree_compute(&tree, s.recording, NULL, &options, &error) != LODE_OK ||
            gather_calls(g, tree, &error) != LODE_OK)
            status = rec_error(&s, &error);
    }
    lode_calltree_free(tree);
    rec_close(&s);
    return status;
}

/* ---- all ---- */

int runs_gather(runs_gathered **gathered, const invocation *call, const char *path)
{
    const runs_options *options = call->options;
    runs_gathered *g = alloc_array(1, sizeof *g);
    int is_recording = call->kind == LODE_STORE_RECORDING;
    *gathered = g;
    int status = find_files(g, path);
    if (status == EXIT_DONE)
        runs_label_set(&g->labels, "title", lode_path_tail(g->path));
    if (status == EXIT_DONE)
        status = is_recording ? gather_recording(g, call, path) : gather_database(g, call, path);
    if (status == EXIT_DONE && g->record.total_count == 0)
        status = report("%s: no metric has a cost", path);
    g->record.added = runs_now();
    if (g->record.begun == 0)
        g->record.begun = g->record.modified ? g->record.modified : g->record.added;
    if (status == EXIT_DONE && options->time)
        status = runs_time("time", options->time, &g->record.begun);
    runs_labels_of_environment(&g->labels);
    if (status == EXIT_DONE)
        status = runs_labels_parse(&g->labels, &options->labels, 0);
    g->record.labels = g->labels.items;
    g->record.label_count = g->labels.count;
    g->record.totals = g->totals;
    g->record.costs = g->costs;
    return status;
}
