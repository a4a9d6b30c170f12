/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/compare/compare.h"
#include "commands/gate/gate.h"
#include "commands/report/report.h"
#include "options/filter.h"
#include "output/report.h"
#include "stores/stores.h"
#include "text/label.h"
#include "view/document.h"

#include <errno.h>
#include <lode/private/statistics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCHED_LEAST 0.01 /* start-up code is in every program */

static int has_sides(const invocation *call)
{
    const gate_options *options = call->options;
    return options->base.count > 0 || options->new_stores.count > 0;
}

static int gate_usage(const invocation *call)
{
    const gate_options *options = call->options;
    if (has_sides(call) && (options->base.count == 0 || options->new_stores.count == 0))
        return report("--base and --new belong together (see 'lode help gate')");
    if (options->confidence >= 1)
        return report("--confidence takes a percentage below 100 (see 'lode help gate')");
    if (has_sides(call) && call->operand_count > 0)
        return report("unexpected argument '%s': stores are given with --base and --new", call->operands[0]);
    if (!options->report)
        return call->shared->kinds ? report("--kinds is for --report (see 'lode help gate')") : EXIT_DONE;
    return document_is_possible();
}

/* ---- limits ---- */

static int read_limits(gate_limits *limits, const char *path)
{
    char *text = alloc_array(GATE_FILE_MAX + 2, 1);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, GATE_FILE_MAX + 1, file) : 0;
    int status = EXIT_DONE;
    if (!file || ferror(file))
        status = report("%s: %s", path, strerror(errno));
    else if (gate_limits_read(limits, text, size) != 0)
        status = report("%s: %s", path, limits->problem);
    if (file)
        (void)fclose(file);
    free(text);
    return status;
}

static int set_all(gate_limits *limits, const char *key, const text_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (gate_limits_set(limits, key, values->items[i]) != 0)
            return report("--%s", limits->problem);
    return EXIT_DONE;
}

static int set_one(gate_limits *limits, const char *key, const char *value)
{
    return value && gate_limits_set(limits, key, value) != 0 ? report("--%s", limits->problem) : EXIT_DONE;
}

/* Those of the file, then those of the options, which count where both say something. */
static int take_limits(gate_limits *limits, const gate_options *options)
{
    int status = options->limits ? read_limits(limits, options->limits) : EXIT_DONE;
    const struct {
        const char *key, *value;
    } single[] = {
        {"max-slower", options->max_slower},
        {"max-function", options->max_function},
        {"max-imbalance", options->max_imbalance},
        {"require-runs", options->require_runs},
        {"fail-unsure", options->fail_unsure ? "" : NULL},
    };
    const struct {
        const char *key;
        const text_list *values;
    } lists[] = {
        {"max", &options->max},
        {"max-exclusive", &options->exclusive},
        {"max-inclusive", &options->inclusive},
        {"absent", &options->absent},
        {"floor", &options->floor},
    };
    for (size_t i = 0; i < sizeof single / sizeof *single && status == EXIT_DONE; i++)
        status = set_one(limits, single[i].key, single[i].value);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == EXIT_DONE; i++)
        status = set_all(limits, lists[i].key, lists[i].values);
    if (options->min_share >= 0)
        limits->min_share = options->min_share;
    if (options->statistic >= 0)
        limits->statistic = options->statistic;
    if (options->confidence > 0)
        limits->level = 1 - options->confidence;
    gate_limits_complete(limits);
    return status;
}

/* ---- metrics ---- */

static void add_metric(text_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return;
    if (list->count == TEXT_LIST_MAX)
        report("a gate judges at most %d metrics; '%s' is left out (--metric selects)", TEXT_LIST_MAX, name);
    else
        list->items[list->count++] = name;
}

/* What is judged by default: a metric, and what is exact in the first database or in recordings. */
typedef struct exact_metrics {
    lode_database *db; /* NULL: not all stores are databases */
    const char *time;  /* NULL: let the stores decide */
    int has_calls;
} exact_metrics;

static void find_exact(exact_metrics *exact, const char *const *paths, size_t count)
{
    size_t databases = 0;
    for (size_t i = 0; i < count; i++)
        databases += (size_t)side_is_database(paths[i]);
    if (databases == 0) {
        exact->time = SIDE_RUNNING_OR_TIME;
        exact->has_calls = 1;
    }
    const lode_metric *metric;
    if (databases == count && lode_database_open(&exact->db, paths[0], NULL) == LODE_OK &&
        lode_database_default_metric(exact->db, &metric, NULL) == LODE_OK)
        exact->time = lode_metric_name(metric);
}

static void add_exact(text_list *list, const exact_metrics *exact)
{
    if (exact->has_calls)
        add_metric(list, "calls");
    for (uint32_t i = 0; exact->db && i < lode_database_metric_count(exact->db); i++) {
        const char *name = lode_metric_name(lode_database_metric(exact->db, i));
        if (side_is_counted(name))
            add_metric(list, name);
    }
}

static int has_window(const shared_options *shared)
{
    return shared->from.is_given || shared->to.is_given;
}

/* Metrics that were asked for, with those of limits; else time and what is exact. */
static void choose_metrics(gate_job *job, shared_options *shared, const exact_metrics *exact)
{
    const gate_limits *limits = &job->limits;
    for (size_t i = 0; i < limits->metric_count && job->call->shared->metrics.count == 0; i++)
        add_metric(&shared->metrics, limits->metrics[i]);
    for (size_t i = 0; i < limits->count; i++)
        if (limits->limits[i].kind == GATE_METRIC)
            add_metric(&shared->metrics, limits->limits[i].name);
    job->has_default_metrics = shared->metrics.count == 0;
    /* A window of a database has its time only. */
    if (!job->has_default_metrics || (exact->db && has_window(shared)))
        return;
    if (exact->time)
        add_metric(&shared->metrics, exact->time);
    add_exact(&shared->metrics, exact);
}

/* ---- the comparison ---- */

static int compare_costs(gate_job *job)
{
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    lode_error error = {0};
    size_t first_new = job->base_runs * job->sides.metric_count;
    options.base_scales = job->scales;
    options.new_scales = job->scales + first_new;
    options.names = name_form(job->names);
    options.rules = job->rules;
    options.filter = job->filter;
    if (lode_compare(&job->comparison, job->costs, job->base_runs, job->costs + first_new, job->new_runs,
                     job->sides.metric_count, &options, &error) != LODE_OK)
        return report("%s", error.text);
    for (size_t i = 0; i < job->sides.metric_count; i++)
        if (lode_comparison_total(job->comparison, LODE_BASE, 0, i) > 0 &&
            lode_comparison_matched(job->comparison, LODE_BASE, i) < MATCHED_LEAST)
            return report(
                "functions with less than %g%% of the base are in the new runs: these are other programs",
                100 * MATCHED_LEAST);
    return side_use_statistic(&job->sides, job->comparison, job->base_runs, job->limits.statistic);
}

/* Whether a metric can be judged: it is exact, or there are runs or samples to know its noise. */
static int knows_noise(const gate_job *job, size_t metric)
{
    const side_run *runs = job->sides.runs;
    return job->sides.metrics[metric].is_exact || job->base_runs + job->new_runs > 2 ||
           (runs[0].costs[metric].sample_cost > 0 && runs[1].costs[metric].sample_cost > 0);
}

/* A metric that nobody asked for is left out where it could not be judged beside others. */
static int check_runs(gate_job *job)
{
    size_t runs = job->base_runs > job->new_runs ? job->base_runs : job->new_runs;
    size_t metrics = job->sides.metric_count;
    job->skipped = alloc_array(metrics, sizeof *job->skipped);
    job->judgements = alloc_array(2 * metrics, sizeof *job->judgements);
    for (size_t i = 0; i < metrics; i++) {
        int is_short = !job->sides.metrics[i].is_exact && runs < job->limits.require_runs;
        if (is_short && !(job->has_default_metrics && metrics > 1))
            return report("%s is not exact and cannot be judged: %s on a side, %s required",
                          job->sides.metrics[i].name, COUNTED(runs, "run", "runs"),
                          COUNTED(job->limits.require_runs, "is", "are"));
        if (is_short)
            job->skipped[i] = "fewer runs than --require-runs";
        else if (job->has_default_metrics && metrics > 1 && !knows_noise(job, i))
            job->skipped[i] =
                "one run a side, so run-to-run noise is not known; give several with --base and --new";
    }
    return EXIT_DONE;
}

static int open_sides(gate_job *job)
{
    const gate_options *options = job->options;
    const invocation *call = job->call;
    const char *paths[2 * TEXT_LIST_MAX] = {NULL};
    exact_metrics exact = {0};
    invocation with_metrics = *call;
    shared_options shared = *call->shared;
    int is_listed = has_sides(call);
    job->base_runs = is_listed ? options->base.count : 1;
    job->new_runs = is_listed ? options->new_stores.count : 1;
    for (size_t i = 0; i < job->base_runs; i++)
        paths[i] = is_listed ? options->base.items[i] : call->operands[0];
    for (size_t i = 0; i < job->new_runs; i++)
        paths[job->base_runs + i] = is_listed ? options->new_stores.items[i] : call->operands[1];
    find_exact(&exact, paths, job->base_runs + job->new_runs);
    choose_metrics(job, &shared, &exact);
    with_metrics.shared = &shared;
    int status = side_open(&job->sides, &with_metrics, paths, job->base_runs + job->new_runs);
    lode_database_close(exact.db);
    if (status != EXIT_DONE)
        return status;
    side_costs(&job->sides, &job->costs, &job->scales);
    job->names = side_names(&job->sides, shared.names);
    return check_runs(job);
}

/* Functions of options and of the file of limits are not judged. */
static int open_filter(gate_job *job)
{
    shared_options shared = *job->call->shared;
    for (size_t i = 0; i < job->limits.exclude_count; i++)
        if (shared.exclude.count < TEXT_LIST_MAX)
            shared.exclude.items[shared.exclude.count++] = job->limits.excludes[i];
    return filter_open(&job->filter, &shared);
}

/*
 * The first run of each side: what changed, and why. An artifact of a job replaces that of the
 * last.
 */
static int write_report(const gate_job *job)
{
    const char *paths[] = {job->sides.runs[0].path, job->sides.runs[job->base_runs].path};
    char notes[256];
    snprintf(notes, sizeof notes, "lode gate: %zu passed, %zu failed, %zu could not be decided",
             job->outcomes[GATE_PASS], job->outcomes[GATE_FAIL], job->outcomes[GATE_CANNOT_TELL]);
    out *o =
        out_open(&(out_settings){.format = OUT_TEXT, .color = COLOR_NEVER, .file = job->options->report});
    if (!o)
        return EXIT_TROUBLE;
    report_settings settings = {.notes = notes,
                                .max_size = REPORT_MAX_SIZE,
                                .paths = paths,
                                .path_count = 2,
                                .kinds = job->call->kinds,
                                .kinds_path = job->call->kinds_path};
    return out_close(o, report_write(o, &settings));
}

static int run_and_print(gate_job *job)
{
    int status = take_limits(&job->limits, job->options);
    if (status == EXIT_DONE)
        status = compare_open_rules(&job->rules, job->options->rules);
    if (status == EXIT_DONE)
        status = open_filter(job);
    if (status == EXIT_DONE)
        status = open_sides(job);
    if (status == EXIT_DONE)
        status = compare_costs(job);
    if (status == EXIT_DONE)
        status = gate_judge(job);
    if (status == EXIT_DONE && job->options->junit)
        status = gate_write_junit(job, job->options->junit);
    if (status == EXIT_DONE && job->options->report)
        status = write_report(job);
    if (status != EXIT_DONE)
        return status;
    gate_print(job);
    int has_failed =
        job->outcomes[GATE_FAIL] > 0 || (job->limits.fails_unsure && job->outcomes[GATE_CANNOT_TELL]);
    return has_failed ? EXIT_FINDINGS : EXIT_DONE;
}

static int run_gate(const invocation *call)
{
    gate_job job = {.call = call, .options = call->options};
    gate_limits_init(&job.limits);
    int status = run_and_print(&job);
    for (size_t i = 0; i < job.count; i++) {
        free(job.verdicts[i].name);
        free(job.verdicts[i].within);
    }
    free(job.verdicts);
    for (size_t i = 0; job.judgements && i < 2 * job.sides.metric_count; i++)
        lode_judgements_free(job.judgements[i]);
    free(job.judgements);
    free(job.skipped);
    lode_comparison_free(job.comparison);
    lode_filter_close(job.filter);
    lode_name_rules_close(job.rules);
    free(job.costs);
    free(job.scales);
    side_close(&job.sides);
    gate_limits_free(&job.limits);
    return status;
}

static const option_spec gate_own[] = {
    {"base", 0, OPTION_STORES, "STORE...", NULL, offsetof(gate_options, base)},
    {"new", 0, OPTION_STORES, "STORE...", NULL, offsetof(gate_options, new_stores)},
    {"limits", 0, OPTION_TEXT, "FILE", NULL, offsetof(gate_options, limits)},
    {"metric", 'm', OPTION_TEXTS, "METRIC[,METRIC]...", NULL, offsetof(shared_options, metrics)},
    {"max-slower", 0, OPTION_TEXT, "PERCENT", NULL, offsetof(gate_options, max_slower)},
    {"max", 0, OPTION_TEXTS, "METRIC=PERCENT", NULL, offsetof(gate_options, max)},
    {"max-function", 0, OPTION_TEXT, "PERCENT", NULL, offsetof(gate_options, max_function)},
    {"min-share", 0, OPTION_PERCENT, "PERCENT", NULL, offsetof(gate_options, min_share)},
    {"max-exclusive", 0, OPTION_TEXTS, "NAME=PERCENT", NULL, offsetof(gate_options, exclusive)},
    {"max-inclusive", 0, OPTION_TEXTS, "NAME=PERCENT", NULL, offsetof(gate_options, inclusive)},
    {"absent", 0, OPTION_TEXTS, "NAME", NULL, offsetof(gate_options, absent)},
    {"max-imbalance", 0, OPTION_TEXT, "PERCENT", NULL, offsetof(gate_options, max_imbalance)},
    {"floor", 0, OPTION_TEXTS, "AMOUNT", NULL, offsetof(gate_options, floor)},
    {"confidence", 0, OPTION_PERCENT, "PERCENT", NULL, offsetof(gate_options, confidence)},
    {"require-runs", 0, OPTION_TEXT, "N", NULL, offsetof(gate_options, require_runs)},
    {"statistic", 0, OPTION_CHOICE, NULL, statistic_choices, offsetof(gate_options, statistic)},
    {"fail-unsure", 0, OPTION_FLAG, NULL, NULL, offsetof(gate_options, fail_unsure)},
    {"name-rules", 0, OPTION_TEXT, "FILE", NULL, offsetof(gate_options, rules)},
    {"junit", 0, OPTION_TEXT, "FILE", NULL, offsetof(gate_options, junit)},
    {"report", 0, OPTION_TEXT, "FILE", NULL, offsetof(gate_options, report)},
    {0},
};

static const gate_options gate_defaults = {
    .shared = {.names = NAMES_BY_STORE, .no_sched = 1}, .min_share = -1, .statistic = -1};

const command_spec command_gate = {
    .name = "gate",
    .operands = "BASE NEW",
    .min_operands = 2,
    .max_operands = 2,
    .stores = FOR_ALL,
    .has_sides = 1,
    .needs_no_store = has_sides,
    .options = {.own = gate_own,
                .shared = SHARED_PROFILES | SHARED_PART | SHARED_NAMES | SHARED_FILTER | SHARED_SCHED |
                          SHARED_STRICT | SHARED_THREADS | SHARED_JSON | SHARED_CSV | SHARED_MARKDOWN |
                          SHARED_COLOR | SHARED_VERBOSE | SHARED_KINDS},
    .options_size = sizeof(gate_options),
    .defaults = &gate_defaults,
    .usage = gate_usage,
    .run = run_gate,
};
