/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of how costs grow with the size of a job, from runs of five sizes and more. */
#include "alloc.h"
#include "command.h"
#include "commands/compare/compare.h"
#include "output/report.h"
#include "stores/compare_side.h"
#include "text/label.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX TEXT_LIST_MAX

typedef struct scaling_options {
    shared_options shared;
    text_list sizes;
    const char *rules;
    int inclusive, is_mean;
} scaling_options;

typedef struct scaling_row {
    size_t index; /* in the comparison; SIZE_MAX: everything */
    lode_model model;
    double smallest, largest; /* values at these sizes */
    char *name;
} scaling_row;

typedef struct scaling_job {
    const invocation *call;
    const scaling_options *options;
    side_set sides;
    double sizes[RUNS_MAX];
    const lode_cost *costs[RUNS_MAX];
    double scales[RUNS_MAX];
    lode_name_rules *rules;
    lode_comparison *comparison;
    scaling_row *rows;
    size_t count;
    int names;
} scaling_job;

/* ---- sizes ---- */

/* One size for each store, as lists or repeated. */
static int read_sizes(scaling_job *job)
{
    const text_list *texts = &job->options->sizes;
    size_t count = 0;
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = texts->items[i];
        for (;;) {
            char *end = NULL;
            double size = strtod(text, &end);
            if (end == text || (*end && *end != ',') || !(size >= 1 && size <= 1e15))
                return report("--sizes takes numbers from 1 on, not '%.60s'", texts->items[i]);
            if (count < RUNS_MAX)
                job->sizes[count] = size;
            count++;
            if (!*end)
                break;
            text = end + 1;
        }
    }
    if (count != job->sides.count)
        return report("--sizes has %s for %s", COUNTED(count, "size", "sizes"),
                      COUNTED(job->sides.count, "store", "stores"));
    return EXIT_DONE;
}

/* Without --sizes: the number of profiles that have the metric, or of tracks. */
static int take_sizes(scaling_job *job)
{
    if (job->options->sizes.count > 0)
        return read_sizes(job);
    for (size_t i = 0; i < job->sides.count; i++) {
        const side_run *run = &job->sides.runs[i];
        job->sizes[i] = run->kind == LODE_STORE_RECORDING
                            ? (double)lode_recording_track_count(run->recording.recording)
                            : (double)lode_cost_profiles(run->costs[0].cost);
        if (job->sizes[i] < 1)
            return report("%s: no profile has the metric", run->path);
    }
    return EXIT_DONE;
}

/* ---- models ---- */

static double value_of(const scaling_job *job, size_t row, size_t run)
{
    lode_compare_side side = run == 0 ? LODE_BASE : LODE_NEW;
    size_t number = run == 0 ? 0 : run - 1;
    double value;
    if (row == SIZE_MAX)
        value = lode_comparison_total(job->comparison, side, number, 0);
    else if (job->options->inclusive)
        value = lode_comparison_inclusive(job->comparison, row, side, number, 0);
    else
        value = lode_comparison_exclusive(job->comparison, row, side, number, 0);
    return job->options->is_mean ? value / job->sizes[run] : value;
}

static int fit_row(scaling_job *job, size_t index)
{
    scaling_row *row = &job->rows[job->count];
    double values[RUNS_MAX] = {0};
    size_t count = job->sides.count, smallest = 0, largest = 0;
    lode_error error = {0};
    *row = (scaling_row){.index = index};
    for (size_t i = 0; i < count; i++) {
        values[i] = value_of(job, index, i);
        smallest = job->sizes[i] < job->sizes[smallest] ? i : smallest;
        largest = job->sizes[i] > job->sizes[largest] ? i : largest;
    }
    if (lode_model_fit(&row->model, job->sizes, values, count, &error) != LODE_OK)
        return report("%s", error.text);
    row->smallest = values[smallest];
    row->largest = values[largest];
    job->count++;
    return EXIT_DONE;
}

static char *name_of(const scaling_job *job, size_t index)
{
    label l = {0};
    const lode_compare_row *row = lode_comparison_at(job->comparison, index);
    const lode_hotspot *hotspot = row->new_hotspot ? row->new_hotspot : row->base_hotspot;
    const char *name = hotspot ? label_context_as(&l, hotspot->sample, job->names) : row->key.name;
    size_t size = strlen(name) + 1;
    char *copy = memcpy(alloc_array(size, 1), name, size);
    label_free(&l);
    return copy;
}

static int compare_rows(const void *left, const void *right)
{
    const scaling_row *a = left, *b = right;
    double ga = a->largest - a->smallest, gb = b->largest - b->smallest;
    return ga > gb ? -1 : ga < gb ? 1 : (a->index > b->index) - (a->index < b->index);
}

/* Everything first, then functions, by what they grow from the smallest size to the largest. */
static int fit_all(scaling_job *job)
{
    size_t count = lode_comparison_count(job->comparison);
    job->rows = alloc_array(count + 1, sizeof *job->rows);
    int status = fit_row(job, SIZE_MAX);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = fit_row(job, i);
    if (status == EXIT_DONE)
        qsort(job->rows + 1, job->count - 1, sizeof *job->rows, compare_rows);
    return status;
}

/* ---- output ---- */

static const out_column columns[] = {
    {"smallest", "Smallest", OUT_REAL, OUT_ALWAYS},
    {"largest", "Largest", OUT_REAL, OUT_ALWAYS},
    {"error_percent", "Error", OUT_PERCENT, OUT_ALWAYS},
    {"constant_error_percent", "Constant", OUT_PERCENT, OUT_DATA_ONLY},
    {"r2", "R2", OUT_REAL, OUT_DATA_ONLY},
    {"c0", "c0", OUT_REAL, OUT_DATA_ONLY},
    {"c1", "c1", OUT_REAL, OUT_DATA_ONLY},
    {"exponent", "Exponent", OUT_STRING, OUT_DATA_ONLY},
    {"logarithms", "Logarithms", OUT_INTEGER, OUT_DATA_ONLY},
    {"model", "Model", OUT_STRING, OUT_ALWAYS},
    {"name", "Function", OUT_STRING, OUT_ALWAYS},
};

static void write_row(out *o, const scaling_job *job, const scaling_row *row)
{
    char model[96], exponent[32];
    lode_model_text(&row->model, model, sizeof model);
    snprintf(exponent, sizeof exponent, "%d/%d", row->model.numerator, row->model.denominator);
    char *name = row->index == SIZE_MAX ? NULL : name_of(job, row->index);
    int is_text = out_format_of(o) == OUT_TEXT || out_format_of(o) == OUT_MARKDOWN;
    OUT_ROW(o, row->index == SIZE_MAX ? STYLE_HEADING : STYLE_PLAIN, row->smallest, row->largest,
            row->model.error / 100, row->model.constant_error / 100, row->model.r2, row->model.c0,
            row->model.c1, exponent, (uint64_t)row->model.logarithms, model,
            name      ? name
            : is_text ? "(everything)"
                      : NULL);
    free(name);
}

static void print_models(scaling_job *job)
{
    out *o = job->call->out;
    uint64_t limit = job->call->shared->limit;
    size_t shown = limit && limit + 1 < job->count ? (size_t)limit + 1 : job->count;
    const side_metric *metric = &job->sides.metrics[0];
    out_begin(o, SCHEMA_SCALING, NULL);
    OUT_FIELDS(o, "metric", metric->name, "is_mean", job->options->is_mean, "is_inclusive",
               job->options->inclusive, "sizes", job->rows[0].model.sizes);
    out_say(o,
            "%s of %s of %s, %s; models c0 + c1 p^i log2(p)^j, where p is the size and the unit is "
            "that of the metric",
            metric->name, COUNTED(job->sides.count, "run", "runs"),
            COUNTED(job->rows[0].model.sizes, "size", "sizes"),
            job->options->is_mean ? "mean of the profiles" : "sum of the profiles");
    out_fact_rows(o, shown, job->count);
    out_table(o, OUT_MAIN, "rows", columns, sizeof columns / sizeof *columns, metric->unit);
    for (size_t i = 0; i < shown; i++)
        write_row(o, job, &job->rows[i]);
    out_table_end(o);
    out_shown(o, shown, job->count, "rows");
    out_say(
        o,
        "Error: symmetric mean error of sizes that the fit did not see. A model is a guess about other sizes.");
    out_end(o);
}

/* ---- the command ---- */

static int compare_costs(scaling_job *job)
{
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    lode_error error = {0};
    for (size_t i = 0; i < job->sides.count; i++) {
        job->costs[i] = job->sides.runs[i].costs[0].cost;
        job->scales[i] = job->sides.runs[i].costs[0].scale;
    }
    options.base_scales = job->scales;
    options.new_scales = job->scales + 1;
    options.names = name_form(job->names);
    options.rules = job->rules;
    lode_status status = lode_compare(&job->comparison, job->costs, 1, job->costs + 1, job->sides.count - 1,
                                      1, &options, &error);
    return status == LODE_OK ? EXIT_DONE : report("%s", error.text);
}

static int model(scaling_job *job)
{
    const invocation *call = job->call;
    int status = compare_open_rules(&job->rules, job->options->rules);
    if (status == EXIT_DONE)
        status = side_open(&job->sides, call, call->operands, call->operand_count);
    if (status == EXIT_DONE && job->sides.metric_count > 1)
        status = report("--metric takes one metric here");
    if (status == EXIT_DONE)
        status = take_sizes(job);
    if (status != EXIT_DONE)
        return status;
    job->names = side_names(&job->sides, call->shared->names);
    status = compare_costs(job);
    return status == EXIT_DONE ? fit_all(job) : status;
}

static int run_scaling(const invocation *call)
{
    scaling_job job = {.call = call, .options = call->options};
    int status = model(&job);
    if (status == EXIT_DONE)
        print_models(&job);
    free(job.rows);
    lode_comparison_free(job.comparison);
    lode_name_rules_close(job.rules);
    side_close(&job.sides);
    return status;
}

static const option_spec scaling_own[] = {
    {"per-profile", 0, OPTION_FLAG, NULL, NULL, offsetof(scaling_options, is_mean)},
    {"sizes", 0, OPTION_TEXTS, "N[,N]...", NULL, offsetof(scaling_options, sizes)},
    {"metric", 'm', OPTION_TEXTS, "METRIC", NULL, offsetof(shared_options, metrics)},
    {"inclusive", 0, OPTION_FLAG, NULL, NULL, offsetof(scaling_options, inclusive)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"name-rules", 0, OPTION_TEXT, "FILE", NULL, offsetof(scaling_options, rules)},
    {0},
};

static const scaling_options scaling_defaults = {
    .shared = {.limit = 20, .names = NAMES_BY_STORE, .no_sched = 1}};

const command_spec command_scaling = {
    .name = "scaling",
    .operands = "STORE...",
    .min_operands = LODE_SIZES_MIN,
    .max_operands = RUNS_MAX,
    .stores = FOR_ALL,
    .has_sides = 1,
    .options = {.own = scaling_own,
                .shared = SHARED_PROFILES | SHARED_PART | SHARED_NAMES | SHARED_SCHED | SHARED_STRICT |
                          SHARED_THREADS | SHARED_JSON | SHARED_CSV | SHARED_MARKDOWN | SHARED_COLOR},
    .options_size = sizeof(scaling_options),
    .defaults = &scaling_defaults,
    .run = run_scaling,
};
