/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a comparison: their numbers, how sure they are, and their order. */
#include "commands/compare/compare.h"

#include "alloc.h"
#include "output/report.h"
#include "text/label.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t run_count(const compare_job *job)
{
    return job->base_runs + job->new_runs;
}

static judged_question question_of(const compare_job *job, size_t metric)
{
    return (judged_question){.sides = &job->sides,
                             .comparison = job->comparison,
                             .base_runs = job->base_runs,
                             .new_runs = job->new_runs,
                             .metric = metric,
                             .is_inclusive = job->options->inclusive,
                             .is_normalized = job->options->normalize,
                             .level = 1 - job->options->confidence};
}

/* ---- amounts ---- */

/* A recording has whole nanoseconds: differences from a database below that are rounding errors. */
static double smallest_difference(const compare_job *job, size_t metric)
{
    int is_mixed =
        !side_has_only(&job->sides, LODE_STORE_DATABASE) && !side_has_only(&job->sides, LODE_STORE_RECORDING);
    return is_mixed && job->sides.metrics[metric].unit == UNIT_SECONDS ? 0.5e-9 : 0;
}

/* Sampling: the variance of a cost is the cost times that of one sample. */
static void take_samples(const compare_job *job, size_t metric, compare_amounts *amounts)
{
    const side_run *base = &job->sides.runs[0], *new_run = &job->sides.runs[job->base_runs];
    double variance = fabs(amounts->base) * base->costs[metric].sample_cost +
                      fabs(amounts->new_value) * new_run->costs[metric].sample_cost;
    amounts->error = job->sides.metrics[metric].is_exact ? 0 : sqrt(variance);
    if (isnan(amounts->error))
        return;
    if (amounts->judgement.method == LODE_JUDGE_SAMPLING)
        amounts->is_beyond = amounts->judgement.verdict == LODE_VERDICT_LESS ||
                             amounts->judgement.verdict == LODE_VERDICT_MORE;
    else
        amounts->is_beyond = amounts->difference != 0;
}

/* The numbers of a judgement; with one run a side, they have no verdict. */
static void take_amounts(const compare_job *job, size_t metric, compare_amounts *amounts)
{
    const lode_judgement *judgement = &amounts->judgement;
    amounts->base = judgement->base;
    amounts->new_value = judgement->new_value;
    amounts->error = (double)NAN;
    amounts->is_beyond = -1;
    amounts->difference = amounts->new_value - amounts->base;
    if (fabs(amounts->difference) < smallest_difference(job, metric))
        amounts->difference = 0;
    amounts->ratio =
        amounts->base != 0 || amounts->new_value != 0 ? amounts->new_value / amounts->base : (double)NAN;
    if (run_count(job) == 2) {
        take_samples(job, metric, amounts);
        return;
    }
    amounts->has_verdict = 1;
    amounts->verdict = judgement->verdict;
    amounts->adjusted_p = judgement->p_adjusted;
}

/* Costs of the runs, not at equal speed. */
static void take_costs(const compare_job *job, compare_row *row, size_t metric)
{
    judged_question question = question_of(job, metric);
    size_t count = run_count(job);
    double *values = alloc_array(count, sizeof *values);
    for (int is_inclusive = 0; is_inclusive < 2; is_inclusive++) {
        for (size_t i = 0; i < count; i++)
            values[i] = judged_value(&question, row->index, i, is_inclusive);
        double base = judged_mean(values, job->base_runs);
        double new_value = judged_mean(values + job->base_runs, job->new_runs);
        *(is_inclusive ? &row->base_inclusive : &row->base_exclusive) = base;
        *(is_inclusive ? &row->new_inclusive : &row->new_exclusive) = new_value;
    }
    free(values);
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
                                       : label_hotspot(&l, hotspot));
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

static int add_row(compare_table *table, compare_job *job, const lode_judgements *judgements, size_t index)
{
    compare_row row = {.index = index, .row = lode_comparison_at(job->comparison, index)};
    /* The sampling error of a small row is known as well. */
    int is_single = run_count(job) == 2;
    if (lode_judgements_at(judgements, index, is_single, &row.amounts.judgement) != LODE_OK)
        return report("row %s is not judged", GROUPED(index));
    take_costs(job, &row, table->metric);
    take_amounts(job, table->metric, &row.amounts);
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

static void take_table(compare_table *table, const compare_job *job, const lode_judgements *judgements)
{
    lode_judgements_total(judgements, &table->total.judgement);
    take_amounts(job, table->metric, &table->total);
    table->tests = lode_judgements_tests(judgements);
    table->pooled_count = lode_judgements_pooled_count(judgements);
    table->has_pooled = lode_judgements_pooled(judgements, &table->pooled.judgement) == LODE_OK;
    if (table->has_pooled)
        take_amounts(job, table->metric, &table->pooled);
    table->has_speed = lode_judgements_speed(judgements, &table->speed, &table->is_equal_speed) == LODE_OK;
}

int compare_table_make(compare_table *table, compare_job *job, size_t metric)
{
    size_t count = lode_comparison_count(job->comparison);
    judged_question question = question_of(job, metric);
    *table = (compare_table){.metric = metric, .rows = alloc_array(count + 1, sizeof *table->rows)};
    lode_judgements *judgements = judged_make(&question);
    int status = judgements ? EXIT_DONE : EXIT_TROUBLE;
    if (judgements)
        take_table(table, job, judgements);
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = add_row(table, job, judgements, i);
    lode_judgements_free(judgements);
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
