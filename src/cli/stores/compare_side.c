/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/compare_side.h"

#include "alloc.h"
#include "output/report.h"
#include "stores/stores.h"
#include "text/label.h"

#include <lode/private/sampling.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PERIOD_ROUNDING 1e-9
#define PERIOD_COSTS    5    /* contexts that must be multiples of one cost */
#define PERIOD_FEW      1000 /* samples: most contexts have fewer */

/* ---- stores ---- */

int side_is_database(const char *path)
{
    lode_store_kind kind;
    return lode_store_probe(path, &kind, NULL) == LODE_OK && kind == LODE_STORE_DATABASE;
}

static int run_open(side_set *set, const invocation *call, side_run *run, const char *path)
{
    lode_error error = {0};
    run->path = path;
    if (lode_store_probe(path, &run->kind, &error) != LODE_OK) {
        run->found = store_meant(path, FOR_ALL);
        if (!run->found || lode_store_probe(run->found, &run->kind, &error) != LODE_OK)
            return store_unopened(path, &error);
        run->path = run->found;
    }
    if (run->kind == LODE_STORE_MEASUREMENTS)
        return store_unanalysed(run->path);
    int is_recording = run->kind == LODE_STORE_RECORDING;
    const option_spec *misplaced =
        option_misplaced(&call->command->options, call->given, is_recording ? FOR_RECORDINGS : FOR_DATABASES);
    if (misplaced)
        return report("%s is a %s; --%s is for %s (see 'lode help %s')", run->path,
                      is_recording ? "recording" : "database", misplaced->name,
                      is_recording ? "databases" : "recordings", call->command->name);
    set->opened++;
    return is_recording ? rec_open_slice(&run->recording, run->path, &run->shared)
                        : session_open(&run->database, run->path, &run->shared);
}

static void choose_part(side_run *run, const shared_options *shared, const side_part *part)
{
    run->shared = *shared;
    if (part->from.is_given)
        run->shared.from = part->from;
    if (part->to.is_given)
        run->shared.to = part->to;
    if (part->ids)
        run->shared.ids = part->ids;
}

static int has_window(const side_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->runs[i].shared.from.is_given || set->runs[i].shared.to.is_given)
            return 1;
    return 0;
}

static void run_close(side_run *run, size_t metric_count)
{
    for (size_t i = 0; run->costs && i < metric_count; i++)
        session_free_cost(run->costs[i].owned);
    free(run->costs);
    if (run->kind == LODE_STORE_RECORDING)
        rec_close(&run->recording);
    else
        session_close(&run->database);
}

int side_has_only(const side_set *set, lode_store_kind kind)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->runs[i].kind != kind)
            return 0;
    return 1;
}

int side_names(const side_set *set, int names)
{
    for (size_t i = 0; i < set->count && names == NAMES_BY_STORE; i++)
        if (set->runs[i].kind == LODE_STORE_DATABASE &&
            names_of_database(set->runs[i].database.db, names) == NAMES_FULL)
            return NAMES_FULL;
    return names_of_recordings(names);
}

int side_have_sched(const side_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->runs[i].kind != LODE_STORE_RECORDING ||
            !lode_recording_has_sched(set->runs[i].recording.recording))
            return 0;
    return 1;
}

/* ---- metrics ---- */

/* The first database; NULL if there are recordings only. */
static side_run *first_database(const side_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->runs[i].kind == LODE_STORE_DATABASE)
            return &set->runs[i];
    return NULL;
}

static int has_recording(const side_set *set)
{
    return !side_has_only(set, LODE_STORE_DATABASE);
}

int side_is_counted(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "calls") == 0 || strcmp(name, "errors") == 0 || unit_of_metric(name) == UNIT_BYTES ||
           (length > 6 && strcmp(name + length - 6, ":COUNT") == 0);
}

static void add_name(side_set *set, const char *text, size_t length)
{
    for (size_t i = 0; i < set->metric_count; i++)
        if (strlen(set->names[i]) == length && strncmp(set->names[i], text, length) == 0)
            return;
    char *name = alloc_array(length + 1, 1);
    memcpy(name, text, length);
    set->names = alloc_grow(set->names, &set->name_capacity, set->metric_count, sizeof *set->names);
    set->names[set->metric_count++] = name;
}

static int has_metric(const lode_database *db, const char *name)
{
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        if (strcmp(lode_metric_name(lode_database_metric(db, i)), name) == 0)
            return 1;
    return 0;
}

/* The first database that does not have a metric; NULL: all have it. */
static const side_run *run_without(const side_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (!has_metric(set->runs[i].database.db, name))
            return &set->runs[i];
    return NULL;
}

/* Metrics with a total of the first database, if all have them. A mean has no total. */
static int add_all_of_databases(side_set *set)
{
    const lode_database *db = set->runs[0].database.db;
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++) {
        const lode_metric *metric = lode_database_metric(db, i);
        const char *name = lode_metric_name(metric);
        if (metric_total(db, metric) == 0 || lode_metric_counted_by(db, metric))
            continue;
        const side_run *without = run_without(set, name);
        if (without)
            report("%s has no metric '%s'; it is left out", without->path, name);
        else
            add_name(set, name, strlen(name));
    }
    return set->metric_count ? EXIT_DONE : report("the databases have no metric with a total in common");
}

/* What recordings and databases have in common is time. */
static int add_all(side_set *set)
{
    if (side_has_only(set, LODE_STORE_DATABASE))
        return add_all_of_databases(set);
    add_name(set, "time", strlen("time"));
    if (side_have_sched(set))
        add_name(set, "running", strlen("running"));
    if (side_has_only(set, LODE_STORE_RECORDING))
        add_name(set, "calls", strlen("calls"));
    return EXIT_DONE;
}

static int add_asked(side_set *set, const char *text, size_t length)
{
    if (length == strlen(metric_word_all) && strncmp(text, metric_word_all, length) == 0)
        return add_all(set);
    if (strcmp(text, SIDE_RUNNING_OR_TIME) == 0) {
        text = side_have_sched(set) ? "running" : "time";
        length = strlen(text);
        if (first_database(set))
            return EXIT_DONE; /* it knows what time is called */
    }
    add_name(set, text, length);
    return EXIT_DONE;
}

/* A name with a comma is one metric if a database has it. */
static int is_one_metric(const side_set *set, const char *text)
{
    const side_run *run = first_database(set);
    const lode_metric *metric;
    return !strchr(text, ',') ||
           (run && lode_database_find_metric(run->database.db, text, &metric, NULL) == LODE_OK);
}

static int split_names(side_set *set, const text_list *texts)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < texts->count && status == EXIT_DONE; i++) {
        const char *text = texts->items[i];
        if (is_one_metric(set, text)) {
            status = add_asked(set, text, strlen(text));
            continue;
        }
        for (;;) {
            size_t length = strcspn(text, ",");
            status = add_asked(set, text, length);
            if (status != EXIT_DONE || text[length] == '\0')
                break;
            text += length + 1;
        }
    }
    return status;
}

/* What recordings have: time, running time and calls. */
static int find_of_recordings(const side_set *set, side_metric *metric, const char *asked)
{
    const char *name = metric->name ? metric->name : asked;
    if (!name || strcasecmp(name, "time") == 0 || unit_of_metric(name) == UNIT_SECONDS) {
        if (!metric->name)
            *metric = (side_metric){.name = "time", .unit = UNIT_NANOSECONDS};
        return EXIT_DONE;
    }
    if (strcasecmp(name, "running") == 0 && !first_database(set)) {
        *metric = (side_metric){.name = "running", .unit = UNIT_NANOSECONDS, .is_running = 1};
        return EXIT_DONE;
    }
    if (strcasecmp(name, "calls") == 0) {
        if (!metric->name)
            *metric = (side_metric){.name = "calls", .unit = UNIT_COUNT, .is_exact = 1};
        return EXIT_DONE;
    }
    size_t i = 0;
    while (set->runs[i].kind != LODE_STORE_RECORDING)
        i++;
    return report("%s: a recording has the metrics time, running and calls, not '%s'", set->runs[i].path,
                  name);
}

/* Whoever names no metric means time, if one of the stores has no other. */
static lode_status default_metric(const side_set *set, const lode_database *db, const lode_metric **found,
                                  lode_error *error)
{
    lode_status status = lode_database_default_metric(db, found, error);
    if (status != LODE_OK || !has_recording(set) || unit_of_metric(lode_metric_name(*found)) == UNIT_SECONDS)
        return status;
    return lode_database_find_metric(db, "time", found, error);
}

/* The metric of one database: by its name in the first one, else by what was asked for. */
static int find_in_database(const side_set *set, side_run *run, const side_metric *metric, const char *asked)
{
    lode_error error = {0};
    const lode_database *db = run->database.db;
    const lode_metric **found = &run->database.metric;
    lode_status status = LODE_NOT_FOUND;
    if (metric->name)
        status = lode_database_find_metric(db, metric->name, found, &error);
    if (status != LODE_OK && asked)
        status = lode_database_find_metric(db, asked, found, &error);
    if (status != LODE_OK && !metric->name && !asked)
        status = default_metric(set, db, found, &error);
    return status == LODE_OK ? EXIT_DONE : session_error(&run->database, &error);
}

/* ---- costs ---- */

/*
 * What one sample costs if all are worth the same: the smallest cost, if all are multiples of it.
 * NaN: they are not, or too few to know.
 */
static double sampling_period(const lode_cost *cost)
{
    const lode_database *db = lode_cost_database(cost);
    uint32_t contexts = lode_database_context_count(db);
    double least = HUGE_VAL;
    size_t count = 0, few = 0;
    for (uint32_t i = 0; i < contexts; i++) {
        double own = lode_cost_own(cost, lode_database_context_at(db, i));
        if (own > 0 && own < least)
            least = own;
        count += own > 0;
    }
    for (uint32_t i = 0; i < contexts; i++) {
        double times = lode_cost_own(cost, lode_database_context_at(db, i)) / least;
        if (fabs(times - round(times)) > PERIOD_ROUNDING * fmax(1, fabs(times)))
            return (double)NAN;
        few += times > 0 && times < PERIOD_FEW;
    }
    return count >= PERIOD_COSTS && 2 * few >= count ? least : (double)NAN;
}

/* Samples of the trace lines. */
static uint64_t trace_samples(const lode_database *db)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < lode_database_trace_count(db); i++) {
        lode_trace_line line;
        if (lode_database_trace_line(db, i, &line, NULL) == LODE_OK)
            samples += line.sample_count;
    }
    return samples;
}

/* Events of processors and of the kernel, whose samples stand for different numbers. */
static int is_event(const char *name)
{
    return strncmp(name, "perf::", 6) == 0 || strncmp(name, "PAPI_", 5) == 0 || strcmp(name, "cycles") == 0 ||
           strcmp(name, "instructions") == 0;
}

/* Time that is sampled: a sample of a trace line is one of the metric. */
static int is_sampled_time(const char *name)
{
    static const char *const beginnings[] = {"CPUTIME", "REALTIME", "cpu-clock", "task-clock"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncasecmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return 1;
    return 0;
}

/* What one sample stands for: by the traces, the period, or a guess at it; NaN: not known. */
static double sample_cost(const side_run *run, const lode_cost *cost)
{
    const char *name = lode_metric_name(lode_cost_metric(cost));
    uint64_t samples = lode_cost_samples(cost);
    if (strcmp(name, "time (sec)") == 0 || side_is_counted(name))
        return 0;
    int is_traced = is_sampled_time(name);
    if (!samples && is_traced && !run->database.selection && !session_has_window(&run->database))
        samples = trace_samples(run->database.db);
    if (samples)
        return lode_cost_total(cost) / (double)samples;
    double period = sampling_period(cost);
    if (isnan(period) && (is_traced || is_event(name)) &&
        (lode_cost_period(cost, &period, NULL) != LODE_OK || period == 0))
        period = (double)NAN;
    return period;
}

static int cost_of_database(side_set *set, side_run *run, size_t index, const char *asked)
{
    side_metric *metric = &set->metrics[index];
    side_cost *to = &run->costs[index];
    int status = session_has_window(&run->database) ? EXIT_DONE : find_in_database(set, run, metric, asked);
    if (status == EXIT_DONE)
        status = session_cost(&run->database, &to->owned);
    if (status != EXIT_DONE)
        return status;
    const char *name = lode_metric_name(lode_cost_metric(to->owned));
    if (!metric->name)
        *metric =
            (side_metric){.name = name, .unit = unit_of_metric(name), .is_exact = side_is_counted(name)};
    if (unit_of_metric(name) != metric->unit)
        return report("%s: '%s' and '%s' have different units", run->path, metric->name, name);
    to->cost = to->owned;
    to->scale = 1;
    to->sample_cost = sample_cost(run, to->cost);
    return EXIT_DONE;
}

static int build_tree(side_run *run, int is_running)
{
    const lode_calltree **tree = is_running ? &run->running : &run->tree;
    if (is_running && rec_needs_sched(&run->recording) != EXIT_DONE)
        return EXIT_TROUBLE;
    run->recording.is_running = is_running;
    if (!*tree)
        *tree = rec_calltree(&run->recording);
    run->recording.is_running = 0;
    return *tree ? EXIT_DONE : EXIT_TROUBLE;
}

static int cost_of_recording(side_set *set, side_run *run, size_t index)
{
    const side_metric *metric = &set->metrics[index];
    side_cost *to = &run->costs[index];
    lode_error error = {0};
    int status = build_tree(run, metric->is_running);
    if (status != EXIT_DONE)
        return status;
    int is_calls = metric->unit == UNIT_COUNT;
    if (is_calls && lode_calltree_calls(&to->owned, run->tree, &error) != LODE_OK)
        return rec_error(&run->recording, &error);
    to->cost = is_calls ? to->owned : lode_calltree_cost(metric->is_running ? run->running : run->tree);
    to->scale = metric->unit == UNIT_SECONDS ? 1e-9 : 1;
    return EXIT_DONE;
}

/* Databases come first: they know what their metrics are called. */
static int compute_metric(side_set *set, size_t index)
{
    const char *asked = set->names ? set->names[index] : NULL;
    int status = EXIT_DONE;
    for (size_t i = 0; i < set->count && status == EXIT_DONE; i++)
        if (set->runs[i].kind == LODE_STORE_DATABASE)
            status = cost_of_database(set, &set->runs[i], index, asked);
    if (status == EXIT_DONE && has_recording(set))
        status = find_of_recordings(set, &set->metrics[index], asked);
    for (size_t i = 0; i < set->count && status == EXIT_DONE; i++)
        if (set->runs[i].kind == LODE_STORE_RECORDING)
            status = cost_of_recording(set, &set->runs[i], index);
    return status;
}

int side_open(side_set *set, const invocation *call, const char *const *paths, size_t count)
{
    side_part *parts = alloc_array(count, sizeof *parts);
    int status = side_open_parts(set, call, paths, parts, count);
    free(parts);
    return status;
}

int side_open_parts(side_set *set, const invocation *call, const char *const *paths, const side_part *parts,
                    size_t count)
{
    int status = EXIT_DONE;
    *set = (side_set){.shared = *call->shared, .count = count};
    set->shared.metrics.count = 0;
    /* Off-CPU time is a call in databases that are built from recordings. */
    for (size_t i = 0; i < count; i++)
        set->shared.sched |= side_is_database(paths[i]);
    set->runs = alloc_array(count, sizeof *set->runs);
    for (size_t i = 0; i < count; i++)
        choose_part(&set->runs[i], &set->shared, &parts[i]);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = run_open(set, call, &set->runs[i], paths[i]);
    if (status == EXIT_DONE)
        status = split_names(set, &call->shared->metrics);
    if (status == EXIT_DONE && has_window(set) && set->metric_count && first_database(set))
        status = report("--metric cannot be used with --from and --to: trace lines have times only");
    if (status == EXIT_DONE && set->metric_count == 0)
        set->metric_count = 1;
    set->metrics = alloc_array(set->metric_count, sizeof *set->metrics);
    for (size_t i = 0; i < count; i++)
        set->runs[i].costs = alloc_array(set->metric_count, sizeof *set->runs[i].costs);
    for (size_t i = 0; i < set->metric_count && status == EXIT_DONE; i++)
        status = compute_metric(set, i);
    return status;
}

void side_close(side_set *set)
{
    for (size_t i = 0; i < set->opened; i++)
        run_close(&set->runs[i], set->metric_count);
    for (size_t i = set->opened; i < set->count; i++)
        free(set->runs[i].costs);
    for (size_t i = 0; i < set->count; i++)
        free(set->runs[i].found);
    for (size_t i = 0; set->names && i < set->metric_count; i++)
        free(set->names[i]);
    free(set->names);
    free(set->metrics);
    free(set->runs);
}

void side_costs(const side_set *set, const lode_cost ***costs, double **scales)
{
    size_t count = set->count * set->metric_count;
    *costs = alloc_array(count, sizeof **costs);
    *scales = alloc_array(count, sizeof **scales);
    for (size_t i = 0; i < count; i++) {
        const side_cost *cost = &set->runs[i / set->metric_count].costs[i % set->metric_count];
        (*costs)[i] = cost->cost;
        (*scales)[i] = cost->scale;
    }
}

/* ---- other statistics than sums ---- */

int side_use_statistic(side_set *set, lode_comparison *comparison, size_t base_runs, int statistic)
{
    static const lode_profile_statistic statistics[] = {
        [STATISTIC_MEDIAN] = LODE_PROFILES_MEDIAN,
        [STATISTIC_MIN] = LODE_PROFILES_MIN,
        [STATISTIC_MAX] = LODE_PROFILES_MAX,
    };
    lode_compare_profiles_options options = LODE_COMPARE_PROFILES_OPTIONS_INIT;
    lode_error error = {0};
    if (statistic == STATISTIC_SUM)
        return EXIT_DONE;
    if (!side_has_only(set, LODE_STORE_DATABASE) || session_has_window(&set->runs[0].database))
        return report("--statistic is for databases, without a time window");
    const lode_selection **selections = alloc_array(set->count, sizeof *selections);
    for (size_t i = 0; i < set->count; i++) {
        selections[i] = set->runs[i].database.selection;
        for (size_t m = 0; m < set->metric_count; m++)
            set->runs[i].costs[m].sample_cost = (double)NAN;
    }
    session *first = &set->runs[0].database;
    options.statistic = statistics[statistic];
    options.base_selections = selections;
    options.new_selections = selections + base_runs;
    options.threads = (unsigned)(set->shared.threads < 4096 ? set->shared.threads : 4096);
    options.on_progress = progress_report;
    options.user = &first->progress;
    lode_status status = lode_comparison_over_profiles(comparison, &options, &error);
    progress_clear(&first->progress);
    free(selections);
    return status == LODE_OK ? EXIT_DONE : session_error(first, &error);
}
