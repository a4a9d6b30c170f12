/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/judged.h"

#include "alloc.h"
#include "output/report.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- values ---- */

static double total_of(const judged_question *question, size_t run)
{
    lode_compare_side side = run < question->base_runs ? LODE_BASE : LODE_NEW;
    return lode_comparison_total(question->comparison, side,
                                 side == LODE_BASE ? run : run - question->base_runs, question->metric);
}

/* What the costs of a run are multiplied with, so that all runs have the same total. */
static double normal_factor(const judged_question *question, size_t run)
{
    double own = total_of(question, run);
    return question->is_normalized && own != 0 ? total_of(question, 0) / own : 1;
}

double judged_value(const judged_question *question, size_t row, size_t run, int is_inclusive)
{
    lode_compare_side side = run < question->base_runs ? LODE_BASE : LODE_NEW;
    size_t number = side == LODE_BASE ? run : run - question->base_runs;
    const lode_comparison *comparison = question->comparison;
    if (row == SIZE_MAX)
        return total_of(question, run);
    double value = is_inclusive ? lode_comparison_inclusive(comparison, row, side, number, question->metric)
                                : lode_comparison_exclusive(comparison, row, side, number, question->metric);
    return value * normal_factor(question, run);
}

double judged_mean(const double *values, size_t count)
{
    double logs = 0, sum = 0;
    int is_positive = 1, is_same = 1;
    for (size_t i = 0; i < count; i++) {
        is_positive &= values[i] > 0;
        is_same &= values[i] == values[0];
        logs += values[i] > 0 ? log(values[i]) / (double)count : 0;
        sum += values[i] / (double)count;
    }
    return is_same ? values[0] : is_positive ? exp(logs) : sum;
}

/* ---- judging ---- */

/* The sampling error that all runs have at least: of the first run of each side. */
static double sample_cost(const side_set *sides, size_t run, size_t metric)
{
    double cost = sides->runs[run].costs[metric].sample_cost;
    return isfinite(cost) && cost > 0 ? cost : 0.0;
}

/* Metrics that are not exact share the level. */
static double level_of(const judged_question *question)
{
    size_t tested = 0;
    for (size_t i = 0; i < question->sides->metric_count; i++)
        tested += !question->sides->metrics[i].is_exact;
    return question->level / (double)(tested ? tested : 1);
}

lode_judgements *judged_make(const judged_question *question)
{
    lode_judge_rows_options options = LODE_JUDGE_ROWS_OPTIONS_INIT;
    lode_judgements *judgements = NULL;
    lode_error error = {0};
    size_t runs = question->base_runs + question->new_runs;
    size_t rows = lode_comparison_count(question->comparison);
    double *values = alloc_array((rows + 1) * runs, sizeof *values);
    double *totals = values + rows * runs;
    for (size_t row = 0; row < rows; row++)
        for (size_t run = 0; run < runs; run++)
            values[row * runs + run] = judged_value(question, row, run, question->is_inclusive);
    for (size_t run = 0; run < runs; run++)
        totals[run] = total_of(question, run);
    options.level = level_of(question);
    options.is_exact = question->sides->metrics[question->metric].is_exact;
    options.is_nested = question->is_inclusive;
    options.base_sample = sample_cost(question->sides, 0, question->metric);
    options.new_sample = sample_cost(question->sides, question->base_runs, question->metric);
    lode_status status = lode_judge_rows(&judgements, values, totals, rows, question->base_runs,
                                         question->new_runs, &options, &error);
    free(values);
    if (status != LODE_OK)
        report("%s", error.text);
    return judgements;
}

/* ---- words ---- */

void judged_change(char buffer[NUMBER_SIZE], double ratio)
{
    if (!isfinite(ratio))
        (void)snprintf(buffer, NUMBER_SIZE, ratio > 0 ? "no bound" : "?");
    else
        (void)snprintf(buffer, NUMBER_SIZE, "%+.1f%%", 100 * (ratio - 1));
}

void judged_numbers(char *buffer, size_t capacity, const lode_judgement *judgement, metric_unit unit)
{
    char base[NUMBER_SIZE], now[NUMBER_SIZE], change[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];
    char interval[2 * NUMBER_SIZE + 8] = "";
    format_amount(base, judgement->base, unit);
    format_amount(now, judgement->new_value, unit);
    judged_change(change, judgement->ratio.value);
    if (isinf(judgement->ratio.value))
        (void)snprintf(change, sizeof change, "only in new");
    if (judgement->method != LODE_JUDGE_EXACT && isfinite(judgement->ratio.high)) {
        judged_change(low, judgement->ratio.low);
        judged_change(high, judgement->ratio.high);
        (void)snprintf(interval, sizeof interval, ", %s to %s", low, high);
    }
    (void)snprintf(buffer, capacity, "%s -> %s (%s%s)", base, now, change, interval);
}

void judged_visible(char *buffer, size_t capacity, const lode_judgement *judgement)
{
    if (judgement->method == LODE_JUDGE_EXACT)
        (void)snprintf(buffer, capacity, "exact");
    else if (!isfinite(judgement->smallest_visible))
        (void)snprintf(buffer, capacity, "no change is visible");
    else
        (void)snprintf(buffer, capacity, "visible from %.1f%%", 100 * judgement->smallest_visible);
}

void judged_runs(char *buffer, size_t capacity, uint32_t runs)
{
    buffer[0] = '\0';
    if (runs > LODE_RUNS_MAX)
        (void)snprintf(buffer, capacity, "more than %s a side would be needed",
                       COUNTED(LODE_RUNS_MAX, "run", "runs"));
    else if (runs > 0)
        (void)snprintf(buffer, capacity, "%s a side would be needed", COUNTED(runs, "run", "runs"));
}

const char *judged_method(const lode_judgement *judgement)
{
    static const char *const names[] = {"none", "exact", "sampling", "prediction", "ranks", "means"};
    return names[judgement->method];
}
