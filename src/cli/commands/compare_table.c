/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a comparison: their numbers, how sure they are, and their order. */
#include "commands/compare.h"

#include "alloc.h"
#include "output/report.h"
#include "text/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_SIDED_95 1.959963984540054 /* standard errors of a 95 % interval */

static size_t run_count(const compare_job *job)
{
    return job->base_runs + job->new_runs;
}

/* ---- amounts ---- */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(const double *values, size_t count)
{
    double *sorted = alloc_array(count + 1, sizeof *sorted), result;
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    result = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    free(sorted);
    return result;
}

/* A recording has whole nanoseconds: differences from a database below that are rounding errors. */
static double smallest_difference(const compare_job *job, size_t metric)
{
    int is_mixed =
        !side_has_only(&job->sides, LODE_STORE_DATABASE) && !side_has_only(&job->sides, LODE_STORE_RECORDING);
    return is_mixed && job->sides.metrics[metric].unit == UNIT_SECONDS ? 0.5e-9 : 0;
}

/* Sampling: the variance of a cost is the cost times that of one sample. */
static void judge_samples(const compare_job *job, size_t metric, compare_amounts *amounts)
{
    const side_run *base = &job->sides.runs[0], *new_run = &job->sides.runs[job->base_runs];
    double variance = fabs(amounts->base) * base->costs[metric].sample_cost +
                      fabs(amounts->new_value) * new_run->costs[metric].sample_cost;
    amounts->error = job->sides.metrics[metric].is_exact ? 0 : sqrt(variance);
    amounts->is_beyond =
        isnan(amounts->error) ? -1 : fabs(amounts->difference) > TWO_SIDED_95 * amounts->error;
}

static int judge_runs(const compare_job *job, size_t metric, const double *values, compare_amounts *amounts)
{
    lode_judge_options options = LODE_JUDGE_OPTIONS_INIT;
    lode_error error = {0};
    options.level = 1 - job->options->confidence;
    options.is_exact = job->sides.metrics[metric].is_exact;
    if (lode_judge(values, job->base_runs, values + job->base_runs, job->new_runs, &options,
                   &amounts->judgement, &error) != LODE_OK)
        return report_error(job->sides.runs[0].path, &error);
    amounts->has_verdict = 1;
    amounts->verdict = amounts->judgement.verdict;
    amounts->adjusted_p = amounts->judgement.p;
    return EXIT_DONE;
}

int compare_judge(const compare_job *job, size_t metric, const double *values, compare_amounts *amounts)
{
    *amounts = (compare_amounts){.base = median(values, job->base_runs),
                                 .new_value = median(values + job->base_runs, job->new_runs),
                                 .error = (double)NAN,
                                 .is_beyond = -1};
    amounts->difference = amounts->new_value - amounts->base;
    if (fabs(amounts->difference) < smallest_difference(job, metric))
        amounts->difference = 0;
    amounts->ratio =
        amounts->base != 0 || amounts->new_value != 0 ? amounts->new_value / amounts->base : (double)NAN;
    if (run_count(job) == 2) {
        judge_samples(job, metric, amounts);
        return EXIT_DONE;
    }
    return judge_runs(job, metric, values, amounts);
}

/* Bounds the share of rows that changed only by chance among those that are left. */
static int adjust(const compare_job *job, compare_table *table)
{
    lode_error error = {0};
    double *p = alloc_array(table->count + 1, sizeof *p);
    for (size_t i = 0; i < table->count; i++)
        p[i] = table->rows[i].amounts.adjusted_p;
    lode_status status = lode_adjust_benjamini_hochberg(p, table->count, &error);
    for (size_t i = 0; i < table->count && status == LODE_OK; i++) {
        compare_amounts *amounts = &table->rows[i].amounts;
        amounts->adjusted_p = p[i];
        int is_change = amounts->verdict == LODE_VERDICT_LESS || amounts->verdict == LODE_VERDICT_MORE;
        if (is_change && p[i] > 1 - job->options->confidence)
            amounts->verdict = LODE_VERDICT_CANNOT_TELL;
    }
    free(p);
    return status == LODE_OK ? EXIT_DONE : report_error(job->sides.runs[0].path, &error);
}

/* ---- values of runs ---- */

/* What the costs of a run are multiplied with, so that all runs have the same total. */
static double normal_factor(const compare_job *job, size_t run, size_t metric)
{
    double first = lode_comparison_total(job->comparison, LODE_BASE, 0, metric), own;
    if (!job->options->normalize)
        return 1;
    own = run < job->base_runs
              ? lode_comparison_total(job->comparison, LODE_BASE, run, metric)
              : lode_comparison_total(job->comparison, LODE_NEW, run - job->base_runs, metric);
    return own != 0 ? first / own : 1;
}

static double value_of(const compare_job *job, size_t row, size_t run, size_t metric, int is_inclusive)
{
    lode_compare_side side = run < job->base_runs ? LODE_BASE : LODE_NEW;
    size_t number = side == LODE_BASE ? run : run - job->base_runs;
    double value = is_inclusive ? lode_comparison_inclusive(job->comparison, row, side, number, metric)
                                : lode_comparison_exclusive(job->comparison, row, side, number, metric);
    return value * normal_factor(job, run, metric);
}

static void take_values(const compare_job *job, compare_row *row, size_t metric, double *values)
{
    size_t count = run_count(job);
    double *other = alloc_array(count, sizeof *other);
    int is_inclusive = job->options->inclusive;
    for (size_t i = 0; i < count; i++) {
        values[i] = value_of(job, row->index, i, metric, is_inclusive);
        other[i] = value_of(job, row->index, i, metric, !is_inclusive);
    }
    const double *exclusive = is_inclusive ? other : values, *inclusive = is_inclusive ? values : other;
    row->base_exclusive = median(exclusive, job->base_runs);
    row->new_exclusive = median(exclusive + job->base_runs, job->new_runs);
    row->base_inclusive = median(inclusive, job->base_runs);
    row->new_inclusive = median(inclusive + job->base_runs, job->new_runs);
    free(other);
}

/* ---- rows ---- */

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(alloc_array(size, 1), text, size);
}

/* Several files, or modules, of one name are one row. */
static int is_several(const compare_job *job, const lode_compare_row *row, const lode_hotspot *hotspot)
{
    int is_unknown = job->by == LODE_BY_FILE ? !hotspot->file : job->by == LODE_BY_MODULE && !hotspot->module;
    return is_unknown && row->key.name[0];
}

char *compare_name(const compare_job *job, const lode_compare_row *row, const lode_hotspot *hotspot)
{
    label l = {0};
    int is_function = job->by == LODE_BY_FUNCTION || job->by == LODE_BY_SYMBOL;
    if (!hotspot)
        return NULL;
    if (is_several(job, row, hotspot))
        return copy_text(row->key.name);
    char *name = copy_text(is_function ? label_context_as(&l, hotspot->sample, job->names)
                                       : label_hotspot(&l, hotspot, job->by));
    label_free(&l);
    return name;
}

/* As it is called on both sides; else what both names have in common. */
static char *name_row(const compare_job *job, const lode_compare_row *row)
{
    char *base = compare_name(job, row, row->base_hotspot), *name = compare_name(job, row, row->new_hotspot);
    if (base && name && strcmp(base, name) != 0 && row->key.name[0]) {
        free(name);
        name = copy_text(row->key.name);
    }
    if (!name)
        return base;
    free(base);
    return name;
}

static int add_row(compare_table *table, compare_job *job, size_t index, double *values)
{
    compare_row row = {.index = index, .row = lode_comparison_at(job->comparison, index)};
    take_values(job, &row, table->metric, values);
    int status = compare_judge(job, table->metric, values, &row.amounts);
    if (status != EXIT_DONE)
        return status;
    table->gross += fabs(row.amounts.difference);
    if (row.amounts.difference == 0 && !job->options->all) {
        table->unchanged++;
        return EXIT_DONE;
    }
    row.name = name_row(job, row.row);
    table->rows[table->count++] = row;
    return EXIT_DONE;
}

static double sort_key(const compare_row *row, int sort)
{
    const compare_amounts *amounts = &row->amounts;
    switch (sort) {
    case COMPARE_BY_RATIO:
        return isnan(amounts->ratio) ? 0 : amounts->ratio > 0 ? fabs(log(amounts->ratio)) : (double)INFINITY;
    case COMPARE_BY_BASE:
        return amounts->base;
    case COMPARE_BY_NEW:
        return amounts->new_value;
    case COMPARE_BY_NAME:
        return 0;
    default:
        return fabs(amounts->difference);
    }
}

/* Ties are in the order of the comparison, which does not depend on the numbers of these runs. */
static int compare_rows(const void *left, const void *right, void *sort)
{
    const compare_row *a = left, *b = right;
    double x = sort_key(a, *(const int *)sort), y = sort_key(b, *(const int *)sort);
    int order = x > y ? -1 : x < y;
    if (order == 0)
        order = strcmp(a->name, b->name);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static int make_total(compare_table *table, const compare_job *job, double *values)
{
    for (size_t i = 0; i < run_count(job); i++) {
        lode_compare_side side = i < job->base_runs ? LODE_BASE : LODE_NEW;
        values[i] = lode_comparison_total(job->comparison, side, side == LODE_BASE ? i : i - job->base_runs,
                                          table->metric);
    }
    return compare_judge(job, table->metric, values, &table->total);
}

int compare_table_make(compare_table *table, compare_job *job, size_t metric)
{
    size_t count = lode_comparison_count(job->comparison);
    double *values = alloc_array(run_count(job), sizeof *values);
    *table = (compare_table){.metric = metric, .rows = alloc_array(count + 1, sizeof *table->rows)};
    int status = make_total(table, job, values);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = add_row(table, job, i, values);
    free(values);
    if (status == EXIT_DONE && run_count(job) > 2)
        status = adjust(job, table);
    int sort = job->call->shared->sort;
    if (status == EXIT_DONE && table->count)
        qsort_r(table->rows, table->count, sizeof *table->rows, compare_rows, &sort);
    return status;
}

void compare_table_free(compare_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->rows[i].name);
    free(table->rows);
}
