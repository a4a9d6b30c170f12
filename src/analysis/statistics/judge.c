/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One verdict from the runs of two sides: the difference of two means with an interval. Of
 * logarithms, because the noise of times is relative, or of the values themselves if there is a
 * zero among them. Verdicts and limits are read off that interval and nothing else.
 */
#include "analysis/statistics/judge.h"

#include "analysis/statistics/statistics.h"
#include "base/error.h"
#include "base/options.h"
#include <lode/private/statistics.h>
#include <math.h>
#include <string.h>

#define DEFAULT_LEVEL  0.05
#define DEFAULT_MARGIN 0.05

/* ---- values ---- */

struct side {
    double mean; /* of logarithms or of values */
    double squares;
    size_t count;
};

struct judge {
    const struct lode_judge_question *question;
    const double *values;
    size_t base_count, new_count;
    bool is_log;
    struct side base, new_side;
    double difference, deviation, freedom;
    lode_judgement *result;
};

/* What a run would have had at the speed of all. */
static double value_of(const struct judge *self, size_t run)
{
    const struct lode_judge_question *question = self->question;
    double value = self->values[run];
    return question->is_equal_speed ? value * exp(-question->noise->speed[run]) : value;
}

static struct side side_of(const struct judge *self, size_t first, size_t count)
{
    struct side side = {0};
    double start = 0.0, sum = 0.0;
    for (size_t i = first; i < first + count; i++) {
        double value = value_of(self, i);
        if (isnan(value))
            continue;
        value = self->is_log ? log(value) : value;
        if (side.count++ == 0)
            start = value;
        /* Equal values have their own value as the mean. */
        sum += value - start;
    }
    side.mean = side.count ? start + sum / (double)side.count : 0.0;
    for (size_t i = first; i < first + count; i++) {
        double value = value_of(self, i);
        if (isnan(value))
            continue;
        double distance = (self->is_log ? log(value) : value) - side.mean;
        side.squares += distance * distance;
    }
    return side;
}

/* Whether a side has values, all of them positive. */
static bool all_positive(const double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i]) && !(values[i] > 0))
            return false;
        known += isnan(values[i]) ? 0 : 1;
    }
    return known > 0;
}

/* The value that all runs have; NaN: they differ, or there are none. */
static double agreed_value(const double *values, size_t count)
{
    double agreed = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        if (!isnan(agreed) && values[i] != agreed)
            return (double)NAN;
        agreed = values[i];
    }
    return agreed;
}

bool lode_judge_needs_no_test(const double *values, size_t base_count, size_t new_count, bool is_exact)
{
    double base = agreed_value(values, base_count), new_value = agreed_value(values + base_count, new_count);
    return (is_exact && !isnan(base) && !isnan(new_value)) || (base == 0.0 && new_value == 0.0);
}

static void take_means(struct judge *self)
{
    lode_judgement *result = self->result;
    double base = agreed_value(self->values, self->base_count);
    double new_value = agreed_value(self->values + self->base_count, self->new_count);
    bool is_equal = self->question->is_equal_speed;
    self->is_log = all_positive(self->values, self->base_count) &&
                   all_positive(self->values + self->base_count, self->new_count);
    self->base = side_of(self, 0, self->base_count);
    self->new_side = side_of(self, self->base_count, self->new_count);
    self->difference = self->new_side.mean - self->base.mean;
    result->base_runs = (uint32_t)self->base.count;
    result->new_runs = (uint32_t)self->new_side.count;
    result->base = self->is_log ? exp(self->base.mean) : self->base.mean;
    result->new_value = self->is_log ? exp(self->new_side.mean) : self->new_side.mean;
    /* Without rounding errors where all runs agree. */
    if (!isnan(base) && !is_equal)
        result->base = base;
    if (!isnan(new_value) && !is_equal)
        result->new_value = new_value;
    result->flags |= self->is_log ? LODE_JUDGED_LOG : 0;
    result->flags |= is_equal ? LODE_JUDGED_EQUAL_SPEED : 0;
}

/* ---- noise ---- */

/* The variance of the difference that sampling alone gives, which noise cannot go below. */
static double sampling_variance(const struct judge *self)
{
    const struct lode_judge_question *question = self->question;
    const double costs[] = {self->result->base, self->result->new_value};
    const double samples[] = {question->base_sample, question->new_sample};
    const size_t runs[] = {self->base.count, self->new_side.count};
    double sum = 0.0;
    for (size_t i = 0; i < 2; i++)
        if (costs[i] > 0)
            sum += (self->is_log ? samples[i] / costs[i] : samples[i] * costs[i]) / (double)runs[i];
    return sum;
}

/* The variance of one run, and its degrees of freedom. */
static struct lode_row_noise run_noise(const struct judge *self)
{
    const struct lode_judge_question *question = self->question;
    const struct lode_noise *noise = question->noise;
    double freedom = (double)(self->base.count + self->new_side.count) - 2;
    struct lode_row_noise alone = {
        freedom > 0 ? (self->base.squares + self->new_side.squares) / freedom : 0.0, freedom};
    if (noise == NULL || noise->speed == NULL || !self->is_log || !(freedom > 0))
        return alone;
    double logs[2 * LODE_RUNS_MAX];
    for (size_t i = 0; i < self->base_count + self->new_count; i++)
        logs[i] = isnan(self->values[i]) ? self->values[i] : log(self->values[i]);
    struct lode_row_noise own =
        lode_noise_moderate(noise, lode_noise_of_row(noise, logs, self->base_count, self->new_count));
    if (question->is_equal_speed)
        return own;
    /* Two independent parts (Satterthwaite). */
    double sum = noise->common + own.variance;
    double parts = noise->common * noise->common / noise->freedom + own.variance * own.variance / own.freedom;
    return (struct lode_row_noise){sum, parts > 0 ? sum * sum / parts : own.freedom};
}

static void take_noise(struct judge *self)
{
    double sampling = sampling_variance(self);
    struct lode_row_noise noise = run_noise(self);
    size_t base = self->base.count, new_count = self->new_side.count;
    double spread = 1 / (double)base + 1 / (double)new_count;
    self->freedom = noise.freedom > 0 ? noise.freedom : HUGE_VAL;
    self->deviation = sqrt(fmax(noise.variance * spread, sampling));
    if (noise.freedom > 0)
        self->result->method = base == 1 || new_count == 1 ? LODE_JUDGE_PREDICTION : LODE_JUDGE_MEANS;
    else
        self->result->method = sampling > 0 ? LODE_JUDGE_SAMPLING : LODE_JUDGE_NONE;
}

/* ---- the verdict ---- */

static double ratio_at(const struct judge *self, double distance)
{
    const lode_judgement *result = self->result;
    if (self->is_log)
        return result->new_value / result->base * exp(distance);
    if (result->base != 0)
        return (result->new_value + distance) / result->base;
    double difference = result->new_value + distance;
    return difference == 0.0 ? 1.0 : difference > 0 ? HUGE_VAL : -HUGE_VAL;
}

static double half_width(const lode_judgement *result, const struct lode_judge_question *question)
{
    if (result->method == LODE_JUDGE_NONE)
        return HUGE_VAL;
    if (result->method == LODE_JUDGE_EXACT || result->deviation == 0.0)
        return 0.0;
    bool is_known = question->known_quantile != 0.0 && result->freedom == question->known_freedom;
    double quantile =
        is_known ? question->known_quantile : lode_student_quantile(result->level / 2, result->freedom);
    return -quantile * result->deviation;
}

static void set_ratio(struct judge *self, double half)
{
    lode_judgement *result = self->result;
    result->ratio = (lode_estimate){ratio_at(self, 0), ratio_at(self, -half), ratio_at(self, half)};
    /* No cost is negative, unless one was given. */
    if (result->base >= 0 && result->new_value >= 0)
        result->ratio.low = fmax(0.0, result->ratio.low);
    if (self->is_log)
        result->smallest_visible = expm1(half);
    else
        result->smallest_visible = half > 0 ? half / fabs(result->base) : 0.0;
}

/* A distance on the scale of the difference. */
static double distance_of(const lode_judgement *result, double relative)
{
    return result->flags & LODE_JUDGED_LOG ? log1p(relative) : relative * fabs(result->base);
}

static double difference_of(const lode_judgement *result)
{
    return result->flags & LODE_JUDGED_LOG ? log(result->new_value / result->base)
                                           : result->new_value - result->base;
}

/* P of a difference that is this far beyond, or farther. */
static double tail_of(const lode_judgement *result, double beyond)
{
    if (!(result->deviation > 0))
        return beyond > 0 ? 0.0 : 1.0;
    if (!isfinite(result->freedom))
        return lode_normal_cdf(-beyond / result->deviation);
    return lode_tail_beyond(beyond, result->deviation, result->freedom);
}

static bool is_tested(const lode_judgement *result)
{
    return result->method != LODE_JUDGE_NONE && result->method != LODE_JUDGE_EXACT;
}

static void set_p(struct judge *self)
{
    lode_judgement *result = self->result;
    result->p = result->p_beyond = result->p_adjusted = (double)NAN;
    if (!is_tested(result))
        return;
    result->p = fmin(1.0, 2 * tail_of(result, fabs(self->difference)));
    result->p_adjusted = fmin(1.0, result->p * (result->whole_level / result->level));
}

/* The least runs a side whose interval has at most this half width, from what it has now. */
static uint32_t runs_for(const lode_judgement *result, double half, double width)
{
    double spread = 1 / (double)result->base_runs + 1 / (double)result->new_runs;
    double freedom = result->freedom / ((double)result->base_runs + result->new_runs - 2);
    uint32_t low = 2, high = LODE_RUNS_MAX + 1;
    /* More runs than these have more degrees of freedom, so that their quantile is smaller. */
    double enough = ceil(2 / spread * pow(width / half, 2));
    if (2 * enough >= (double)result->base_runs + result->new_runs && enough < high)
        high = (uint32_t)enough;
    while (low < high) {
        uint32_t runs = low + (high - low) / 2;
        double deviation = result->deviation * sqrt(2 / (double)runs / spread);
        double quantile = -lode_student_quantile(result->level / 2, freedom * (2 * (double)runs - 2));
        if (quantile * deviation <= half)
            high = runs;
        else
            low = runs + 1;
    }
    return low;
}

static bool knows_noise(const lode_judgement *result)
{
    return (result->method == LODE_JUDGE_MEANS || result->method == LODE_JUDGE_PREDICTION) &&
           result->deviation > 0;
}

static void set_verdict(struct judge *self, double half)
{
    lode_judgement *result = self->result;
    double margin = distance_of(result, self->question->margin), size = fabs(self->difference);
    if (self->difference - half > 0)
        result->verdict = LODE_VERDICT_MORE;
    else if (self->difference + half < 0)
        result->verdict = LODE_VERDICT_LESS;
    else if (size + half <= margin)
        result->verdict = LODE_VERDICT_SAME;
    else if (knows_noise(result))
        result->needed_runs = runs_for(result, fmax(size, margin - size), half);
}

void lode_judge_values(lode_judgement *out, const double *values, size_t base_count, size_t new_count,
                       const struct lode_judge_question *question)
{
    struct judge self = {question, values, base_count, new_count, .result = out};
    memset(out, 0, sizeof *out);
    out->level = question->level;
    out->whole_level = question->whole;
    take_means(&self);
    if (lode_judge_needs_no_test(values, base_count, new_count, question->is_exact))
        out->method = LODE_JUDGE_EXACT;
    else if (self.base.count > 0 && self.new_side.count > 0 && !question->is_estimate)
        take_noise(&self);
    out->deviation = self.deviation;
    out->freedom = self.freedom;
    double half = half_width(out, question);
    set_ratio(&self, half);
    set_p(&self);
    set_verdict(&self, half);
}

/* ---- limits ---- */

lode_limit_outcome lode_judgement_outcome(const lode_judgement *judgement, double limit)
{
    if (judgement->method == LODE_JUDGE_NONE)
        return LODE_LIMIT_CANNOT_TELL;
    if (judgement->ratio.low > 1 + limit)
        return LODE_LIMIT_BEYOND;
    return judgement->ratio.high <= 1 + limit ? LODE_LIMIT_WITHIN : LODE_LIMIT_CANNOT_TELL;
}

double lode_judgement_p_beyond(const lode_judgement *judgement, double limit)
{
    if (!is_tested(judgement))
        return (double)NAN;
    double beyond = difference_of(judgement) - distance_of(judgement, limit);
    return fmin(1.0, 2 * tail_of(judgement, beyond) * (judgement->whole_level / judgement->level));
}

uint32_t lode_judgement_runs(const lode_judgement *judgement, double limit)
{
    if (!knows_noise(judgement) || lode_judgement_outcome(judgement, limit) != LODE_LIMIT_CANNOT_TELL)
        return 0;
    double width = -lode_student_quantile(judgement->level / 2, judgement->freedom) * judgement->deviation;
    return runs_for(judgement, fabs(difference_of(judgement) - distance_of(judgement, limit)), width);
}

/* ---- one row alone ---- */

static lode_status take_options(lode_judge_options *to, const lode_judge_options *given, lode_error *error)
{
    LODE_TRY(lode_options_take(to, given, error));
    if (to->level == 0.0)
        to->level = DEFAULT_LEVEL;
    if (to->margin == 0.0)
        to->margin = DEFAULT_MARGIN;
    const double amounts[] = {to->margin, to->limit, to->base_sample, to->new_sample};
    LODE_TRY(lode_check_values(amounts, 4, 4, 4, error));
    for (size_t i = 0; i < 4; i++)
        if (amounts[i] < 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "margin, limit and samples must not be negative");
    return lode_check_level(to->level, error);
}

lode_status lode_judge_sized(const double *base, size_t base_count, const double *new_values,
                             size_t new_count, const lode_judge_options *given, lode_judgement *out,
                             size_t out_size, lode_error *error)
{
    lode_judge_options options = LODE_JUDGE_OPTIONS_INIT;
    double values[2 * LODE_RUNS_MAX];
    lode_judgement result;
    LODE_TRY(take_options(&options, given, error));
    LODE_TRY(lode_check_values(base, base_count, 1, LODE_RUNS_MAX, error));
    LODE_TRY(lode_check_values(new_values, new_count, 1, LODE_RUNS_MAX, error));
    memcpy(values, base, base_count * sizeof *base);
    memcpy(values + base_count, new_values, new_count * sizeof *new_values);
    struct lode_judge_question question = {.level = options.level,
                                           .whole = options.level,
                                           .margin = options.margin,
                                           .base_sample = options.base_sample,
                                           .new_sample = options.new_sample,
                                           .is_exact = options.is_exact != 0};
    lode_judge_values(&result, values, base_count, new_count, &question);
    if (is_tested(&result))
        result.p_beyond =
            fmin(1.0, tail_of(&result, difference_of(&result) - distance_of(&result, options.limit)));
    lode_result_give(out, out_size, &result, sizeof result);
    return LODE_OK;
}
