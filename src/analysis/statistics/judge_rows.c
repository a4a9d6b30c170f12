/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The total and the rows of one comparison, judged together: small rows are pooled, noise is
 * estimated from all rows, and the level is divided among tests (Bonferroni), so that each interval
 * holds beside all others and a verdict never contradicts it.
 */
#include "analysis/statistics/judge.h"
#include "analysis/statistics/statistics.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LEVEL       0.05
#define DEFAULT_MARGIN      0.05
#define DEFAULT_LEAST_SHARE 0.005
/* The part of the level that is for the total. */
#define TOTAL_PART 0.5
/* Runs at equal speed: differences of more than this are none of the machine. */
#define SPEED_MOST 0.2
/* If more of the rows differ at equal speed, it is not known which of them have the common one. */
#define ODD_MOST (1.0 / 3)
/* With fewer degrees of freedom, a difference of speed could not be noticed. */
#define SPEED_FREEDOM 3.0

enum row_kind {
    ROW_UNTESTED, /* an exact metric that agrees, or nothing to compare */
    ROW_POOLED,
    ROW_TESTED
};

struct lode_judgements {
    lode_judge_rows_options options;
    size_t rows, base_count, new_count;
    double *values; /* by row and run; then the sum of pooled rows, then the totals */
    unsigned char *kinds;
    size_t pooled_count, tested;
    struct lode_noise noise;
    bool is_equal_speed;
    double known_freedom, known_quantile; /* of rows, at equal speed or without any run to spare */
};

static size_t run_count(const lode_judgements *self)
{
    return self->base_count + self->new_count;
}

static double *row_values(const lode_judgements *self, size_t row)
{
    return self->values + row * run_count(self);
}

static double *pooled_values(const lode_judgements *self)
{
    return row_values(self, self->rows);
}

static double *total_values(const lode_judgements *self)
{
    return row_values(self, self->rows + 1);
}

static bool has_pool(const lode_judgements *self)
{
    return self->pooled_count > 0 && !self->options.is_nested;
}

/* ---- what is tested ---- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0.0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) {
            sum += fabs(values[i]);
            known++;
        }
    return known ? sum / (double)known : 0.0;
}

/* The larger share of a row in the totals of base and new. */
static double larger_share(const lode_judgements *self, size_t row)
{
    const double *values = row_values(self, row), *totals = total_values(self);
    double base = mean_of(totals, self->base_count);
    double new_total = mean_of(totals + self->base_count, self->new_count);
    double base_share = base > 0 ? mean_of(values, self->base_count) / base : 0.0;
    double new_share = new_total > 0 ? mean_of(values + self->base_count, self->new_count) / new_total : 0.0;
    return fmax(base_share, new_share);
}

static bool has_value(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            return true;
    return false;
}

/* Whether there is something to test. */
static bool is_testable(const lode_judgements *self, const double *values)
{
    return has_value(values, self->base_count) && has_value(values + self->base_count, self->new_count) &&
           !lode_judge_needs_no_test(values, self->base_count, self->new_count, self->options.is_exact);
}

static void sort_out(lode_judgements *self)
{
    double *pooled = pooled_values(self);
    for (size_t row = 0; row < self->rows; row++) {
        const double *values = row_values(self, row);
        if (!is_testable(self, values))
            continue;
        if (larger_share(self, row) >= self->options.least_share) {
            self->kinds[row] = ROW_TESTED;
            self->tested++;
            continue;
        }
        self->kinds[row] = ROW_POOLED;
        self->pooled_count++;
        for (size_t run = 0; run < run_count(self); run++)
            pooled[run] += isnan(values[run]) ? 0.0 : values[run];
    }
}

size_t lode_judgements_tests(const lode_judgements *self)
{
    return self->tested + (has_pool(self) ? 1 : 0) + (is_testable(self, total_values(self)) ? 1 : 0);
}

/* ---- noise ---- */

/* Appends the logarithms of a row, if all of its values have one. */
static bool take_logs(const lode_judgements *self, const double *values, double *logs)
{
    size_t known = 0;
    for (size_t run = 0; run < run_count(self); run++) {
        if (!isnan(values[run]) && !(values[run] > 0))
            return false;
        known += isnan(values[run]) ? 0 : 1;
        logs[run] = isnan(values[run]) ? values[run] : log(values[run]);
    }
    return known > 2;
}

static lode_status find_noise(lode_judgements *self, lode_error *error)
{
    size_t runs = run_count(self);
    double *logs = malloc(((self->tested + 1) * runs + 1) * sizeof *logs);
    LODE_TRY_ALLOC(logs, error);
    struct lode_noise_table table = {logs, 0, self->base_count, self->new_count};
    for (size_t row = 0; row < self->rows; row++)
        if (self->kinds[row] == ROW_TESTED)
            table.rows += take_logs(self, row_values(self, row), logs + table.rows * runs) ? 1 : 0;
    if (has_pool(self))
        table.rows += take_logs(self, pooled_values(self), logs + table.rows * runs) ? 1 : 0;
    lode_status status = runs > 2 ? lode_noise_find(&self->noise, &table, error) : LODE_OK;
    free(logs);
    return status;
}

/* ---- judging ---- */

static struct lode_judge_question question_of(const lode_judgements *self, bool is_total)
{
    const lode_judge_rows_options *options = &self->options;
    size_t tests = self->tested + (has_pool(self) ? 1 : 0);
    double level = options->level;
    if (tests > 0)
        level = is_total ? TOTAL_PART * level : (1 - TOTAL_PART) * level / (double)tests;
    return (struct lode_judge_question){.level = level,
                                        .whole = options->level,
                                        .known_freedom = self->known_freedom,
                                        .known_quantile = is_total ? 0.0 : self->known_quantile,
                                        .margin = options->margin,
                                        .base_sample = options->base_sample,
                                        .new_sample = options->new_sample,
                                        .is_exact = options->is_exact != 0,
                                        .noise = is_total ? NULL : &self->noise,
                                        .is_equal_speed = !is_total && self->is_equal_speed};
}

static bool differs(const lode_judgements *self, const double *values,
                    const struct lode_judge_question *question)
{
    lode_judgement judgement;
    lode_judge_values(&judgement, values, self->base_count, self->new_count, question);
    return judgement.verdict == LODE_VERDICT_MORE || judgement.verdict == LODE_VERDICT_LESS;
}

/* The difference of speed, with an interval at the level of the total. */
static lode_estimate speed_shift(const lode_judgements *self)
{
    const struct lode_noise *noise = &self->noise;
    double spread = 1 / (double)self->base_count + 1 / (double)self->new_count;
    double half = -lode_student_quantile(TOTAL_PART * self->options.level / 2, noise->freedom) *
                  sqrt(noise->common * spread);
    return (lode_estimate){noise->shift, noise->shift - half, noise->shift + half};
}

/* Whether what runs have in common is the machine, and not the program. */
static bool is_noise_of_machine(const lode_judgements *self)
{
    const struct lode_noise *noise = &self->noise;
    if (noise->speed == NULL || noise->freedom < SPEED_FREEDOM || !(noise->common > 0))
        return false;
    lode_estimate shift = speed_shift(self);
    return shift.low <= 0 && shift.high >= 0 && fabs(noise->shift) <= SPEED_MOST;
}

/* Whether few rows differ at equal speed. */
static bool most_agree(const lode_judgements *self)
{
    struct lode_judge_question question = question_of(self, false);
    size_t odd = 0;
    for (size_t row = 0; row < self->rows; row++)
        if (self->kinds[row] == ROW_TESTED)
            odd += differs(self, row_values(self, row), &question) ? 1 : 0;
    return (double)odd <= ODD_MOST * (double)self->tested;
}

/* ---- public API ---- */

static lode_status take_options(lode_judgements *self, const lode_judge_rows_options *given,
                                lode_error *error)
{
    lode_judge_rows_options *options = &self->options;
    *options = (lode_judge_rows_options)LODE_JUDGE_ROWS_OPTIONS_INIT;
    LODE_TRY(lode_options_take(options, given, error));
    if (options->level == 0.0)
        options->level = DEFAULT_LEVEL;
    if (options->margin == 0.0)
        options->margin = DEFAULT_MARGIN;
    if (options->least_share == 0.0)
        options->least_share = DEFAULT_LEAST_SHARE;
    const double amounts[] = {options->margin, options->base_sample, options->new_sample};
    LODE_TRY(lode_check_values(amounts, 3, 3, 3, error));
    for (size_t i = 0; i < 3; i++)
        if (amounts[i] < 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "margin and samples must not be negative");
    return lode_check_level(options->level, error);
}

static lode_status take_values(lode_judgements *self, const double *values, const double *totals,
                               lode_error *error)
{
    size_t runs = run_count(self), count = self->rows * runs;
    if (self->base_count == 0 || self->new_count == 0 || (values == NULL && count > 0) || totals == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there are no runs to judge");
    if (self->base_count > LODE_RUNS_MAX || self->new_count > LODE_RUNS_MAX || self->rows > LODE_ROWS_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "%zu rows of %zu and %zu runs",
                         self->rows, self->base_count, self->new_count);
    self->values = calloc((self->rows + 2) * runs, sizeof *self->values);
    self->kinds = calloc(self->rows + 1, 1);
    LODE_TRY_ALLOC(self->values && self->kinds, error);
    if (count > 0)
        memcpy(self->values, values, count * sizeof *values);
    memcpy(total_values(self), totals, runs * sizeof *totals);
    for (size_t i = 0; i < (self->rows + 2) * runs; i++)
        if (isinf(self->values[i]))
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "value %zu is not finite", i);
    return LODE_OK;
}

static lode_status compute(lode_judgements *self, lode_error *error)
{
    sort_out(self);
    LODE_TRY(find_noise(self, error));
    struct lode_row_noise complete = lode_noise_moderate(
        &self->noise, (struct lode_row_noise){.freedom = fmax(0.0, (double)run_count(self) - 2)});
    self->known_freedom = complete.freedom > 0 ? complete.freedom : HUGE_VAL;
    self->known_quantile = lode_student_quantile(question_of(self, false).level / 2, self->known_freedom);
    self->is_equal_speed = is_noise_of_machine(self);
    if (self->is_equal_speed)
        self->is_equal_speed = most_agree(self);
    return LODE_OK;
}

lode_status lode_judge_rows(lode_judgements **out, const double *values, const double *totals, size_t rows,
                            size_t base_count, size_t new_count, const lode_judge_rows_options *options,
                            lode_error *error)
{
    lode_judgements *self = calloc(1, sizeof *self);
    *out = NULL;
    LODE_TRY_ALLOC(self, error);
    self->rows = rows;
    self->base_count = base_count;
    self->new_count = new_count;
    lode_status status = take_options(self, options, error);
    if (status == LODE_OK)
        status = take_values(self, values, totals, error);
    if (status == LODE_OK)
        status = compute(self, error);
    if (status == LODE_OK)
        *out = self;
    else
        lode_judgements_free(self);
    return status;
}

void lode_judgements_free(lode_judgements *judgements)
{
    if (judgements == NULL)
        return;
    lode_noise_free(&judgements->noise);
    free(judgements->values);
    free(judgements->kinds);
    free(judgements);
}

void lode_judgements_total_sized(const lode_judgements *judgements, lode_judgement *out, size_t out_size)
{
    struct lode_judge_question question = question_of(judgements, true);
    lode_judgement result;
    lode_judge_values(&result, total_values(judgements), judgements->base_count, judgements->new_count,
                      &question);
    lode_result_give(out, out_size, &result, sizeof result);
}

lode_status lode_judgements_at_sized(const lode_judgements *judgements, size_t row, int is_named,
                                     lode_judgement *out, size_t out_size)
{
    if (row >= judgements->rows)
        return LODE_NOT_FOUND;
    struct lode_judge_question question = question_of(judgements, false);
    bool is_pooled = judgements->kinds[row] == ROW_POOLED;
    lode_judgement result;
    question.is_estimate = is_pooled && !is_named;
    /* Exact values stay as they are. */
    question.is_equal_speed = question.is_equal_speed && judgements->kinds[row] != ROW_UNTESTED;
    lode_judge_values(&result, row_values(judgements, row), judgements->base_count, judgements->new_count,
                      &question);
    result.flags |= is_pooled ? LODE_JUDGED_POOLED : 0;
    lode_result_give(out, out_size, &result, sizeof result);
    return LODE_OK;
}

lode_status lode_judgements_pooled_sized(const lode_judgements *judgements, lode_judgement *out,
                                         size_t out_size)
{
    if (!has_pool(judgements))
        return LODE_ABSENT;
    struct lode_judge_question question = question_of(judgements, false);
    lode_judgement result;
    lode_judge_values(&result, pooled_values(judgements), judgements->base_count, judgements->new_count,
                      &question);
    lode_result_give(out, out_size, &result, sizeof result);
    return LODE_OK;
}

lode_status lode_judgements_speed(const lode_judgements *judgements, lode_estimate *out, int *is_equal)
{
    const struct lode_noise *noise = &judgements->noise;
    *is_equal = judgements->is_equal_speed;
    if (noise->speed == NULL || !(noise->freedom > 0))
        return LODE_ABSENT;
    lode_estimate shift = speed_shift(judgements);
    *out = (lode_estimate){exp(shift.value), exp(shift.low), exp(shift.high)};
    return LODE_OK;
}

LODE_GETTER(size_t, lode_judgements_pooled_count, lode_judgements, pooled_count);
