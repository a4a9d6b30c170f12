/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One verdict from the runs of two sides. All methods give the difference of two scaled numbers
 * with an interval: logarithms, because the noise of times is relative, or the values themselves if
 * there is a zero among them.
 */
#include "analysis/statistics.h"
#include "base/error.h"
#include "base/options.h"

#include <math.h>
#include <string.h>

#define DEFAULT_LEVEL  0.05
#define DEFAULT_MARGIN 0.05

struct judge {
    double base[LODE_RUNS_MAX], new_values[LODE_RUNS_MAX]; /* sorted; logarithms if is_log */
    size_t base_count, new_count;
    lode_judge_options options;
    bool is_log;
    double scale; /* of a relative difference: 1 for logarithms, else the median of the base */
    double shift; /* the limit as a difference */
    lode_estimate difference;
    lode_judgement result;
};

static bool is_zero(const double *sorted, size_t count)
{
    return sorted[0] == 0.0 && sorted[count - 1] == 0.0;
}

static bool all_equal(const double *sorted, size_t count)
{
    return sorted[0] == sorted[count - 1];
}

static lode_status take_runs(struct judge *self, const double *base, size_t base_count,
                             const double *new_values, size_t new_count, lode_error *error)
{
    LODE_TRY(lode_check_values(base, base_count, 1, LODE_RUNS_MAX, error));
    LODE_TRY(lode_check_values(new_values, new_count, 1, LODE_RUNS_MAX, error));
    memcpy(self->base, base, base_count * sizeof *base);
    memcpy(self->new_values, new_values, new_count * sizeof *new_values);
    self->base_count = base_count;
    self->new_count = new_count;
    lode_sort_doubles(self->base, base_count);
    lode_sort_doubles(self->new_values, new_count);
    self->result.base = lode_median_of_sorted(self->base, base_count);
    self->result.new_value = lode_median_of_sorted(self->new_values, new_count);
    return LODE_OK;
}

static lode_status take_options(struct judge *self, const lode_judge_options *options, lode_error *error)
{
    self->options = (lode_judge_options)LODE_JUDGE_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&self->options, options, error));
    if (self->options.level == 0.0)
        self->options.level = DEFAULT_LEVEL;
    if (self->options.margin == 0.0)
        self->options.margin = DEFAULT_MARGIN;
    const double amounts[] = {self->options.margin, self->options.limit, self->options.base_sample,
                              self->options.new_sample};
    LODE_TRY(lode_check_values(amounts, 4, 4, 4, error));
    for (size_t i = 0; i < 4; i++)
        if (amounts[i] < 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "margin, limit and samples must not be negative");
    return lode_check_level(self->options.level, error);
}

static void take_scale(struct judge *self)
{
    self->is_log = self->base[0] > 0 && self->new_values[0] > 0;
    self->scale = self->is_log ? 1.0 : fabs(self->result.base);
    self->shift = self->is_log ? log1p(self->options.limit) : self->options.limit * self->scale;
    for (size_t i = 0; i < self->base_count && self->is_log; i++)
        self->base[i] = log(self->base[i]);
    for (size_t i = 0; i < self->new_count && self->is_log; i++)
        self->new_values[i] = log(self->new_values[i]);
}

/* The variance that sampling alone gives a run, which the spread of runs cannot go below. */
static double sampling_variance(const struct judge *self, double cost, double sample)
{
    if (!(cost > 0))
        return 0.0;
    return self->is_log ? sample / cost : sample * cost;
}

static void set_p(struct judge *self, double less, double greater, double beyond)
{
    self->result.p = fmin(1.0, 2 * fmin(less, greater));
    self->result.p_beyond = fmin(1.0, beyond);
}

static void set_interval(struct judge *self, double difference, double half)
{
    self->difference = (lode_estimate){difference, difference - half, difference + half};
}

/* ---- the methods ---- */

static void judge_exact(struct judge *self)
{
    self->result.method = LODE_JUDGE_EXACT;
    set_interval(self, self->new_values[0] - self->base[0], 0.0);
    self->result.p = self->result.p_beyond = (double)NAN;
}

static void judge_one_run(struct judge *self)
{
    double base = sampling_variance(self, self->result.base, self->options.base_sample);
    double new_part = sampling_variance(self, self->result.new_value, self->options.new_sample);
    double difference = self->new_values[0] - self->base[0], deviation = sqrt(base + new_part);
    if (!(deviation > 0)) {
        set_interval(self, difference, HUGE_VAL);
        self->result.p = self->result.p_beyond = (double)NAN;
        return;
    }
    self->result.method = LODE_JUDGE_SAMPLING;
    set_interval(self, difference, -lode_normal_quantile(self->options.level / 2) * deviation);
    set_p(self, lode_normal_cdf(difference / deviation), lode_normal_cdf(-difference / deviation),
          lode_normal_cdf((self->shift - difference) / deviation));
}

/* Prediction, and Welch. */
static void judge_means(struct judge *self)
{
    struct moments base = lode_moments_of(self->base, self->base_count);
    struct moments new_moments = lode_moments_of(self->new_values, self->new_count);
    base.variance =
        fmax(base.variance, sampling_variance(self, self->result.base, self->options.base_sample));
    new_moments.variance =
        fmax(new_moments.variance, sampling_variance(self, self->result.new_value, self->options.new_sample));
    bool is_prediction = self->base_count == 1 || self->new_count == 1;
    self->result.method = is_prediction ? LODE_JUDGE_PREDICTION : LODE_JUDGE_MEANS;
    struct welch welch = lode_welch_of(base, self->base_count, new_moments, self->new_count);
    double t = -lode_student_quantile(self->options.level / 2, welch.freedom);
    set_interval(self, welch.difference, t * welch.scale);
    set_p(self, lode_tail_beyond(-welch.difference, welch.scale, welch.freedom),
          lode_tail_beyond(welch.difference, welch.scale, welch.freedom),
          lode_tail_beyond(welch.difference - self->shift, welch.scale, welch.freedom));
}

static lode_status judge_ranks(struct judge *self, lode_error *error)
{
    lode_u_test test;
    double shifted[LODE_RUNS_MAX];
    self->result.method = LODE_JUDGE_RANKS;
    LODE_TRY(lode_median_shift(&self->difference, self->base, self->base_count, self->new_values,
                               self->new_count, self->options.level, error));
    for (size_t i = 0; i < self->new_count; i++)
        shifted[i] = self->new_values[i] - self->shift;
    LODE_TRY(lode_u_test_compute(&test, self->base, self->base_count, shifted, self->new_count, error));
    double beyond = test.p_greater;
    LODE_TRY(
        lode_u_test_compute(&test, self->base, self->base_count, self->new_values, self->new_count, error));
    set_p(self, test.p_less, test.p_greater, beyond);
    return LODE_OK;
}

/* ---- the verdict ---- */

static double ratio_of(const struct judge *self, double difference)
{
    if (self->is_log)
        return exp(difference);
    if (self->scale > 0)
        return (self->result.base + difference) / self->result.base;
    if (difference == 0.0)
        return 1.0;
    return difference > 0 ? HUGE_VAL : -HUGE_VAL;
}

static void set_ratio(struct judge *self)
{
    lode_judgement *result = &self->result;
    const lode_estimate *difference = &self->difference;
    result->ratio = (lode_estimate){ratio_of(self, difference->value), ratio_of(self, difference->low),
                                    ratio_of(self, difference->high)};
    /* No cost is negative, unless one was given. */
    if (result->base >= 0 && result->new_value >= 0)
        result->ratio.low = fmax(0.0, result->ratio.low);
    double visible = difference->value - difference->low;
    if (self->is_log)
        result->smallest_visible = expm1(visible);
    else
        result->smallest_visible = visible > 0 ? visible / self->scale : 0.0;
}

static void set_verdict(struct judge *self)
{
    const lode_estimate *difference = &self->difference;
    double margin = self->is_log ? log1p(self->options.margin) : self->options.margin * self->scale;
    lode_judgement *result = &self->result;
    if (difference->low > 0)
        result->verdict = LODE_VERDICT_MORE;
    else if (difference->high < 0)
        result->verdict = LODE_VERDICT_LESS;
    else if (difference->low >= -margin && difference->high <= margin)
        result->verdict = LODE_VERDICT_SAME;
    if (result->method != LODE_JUDGE_EXACT && result->method != LODE_JUDGE_RANKS)
        for (uint32_t runs = 2; runs <= LODE_RUNS_MAX && result->needed_runs == 0; runs++)
            if (lode_u_test_smallest_p(runs, runs) <= self->options.level)
                result->needed_runs = runs;
}

static lode_status judge(struct judge *self, lode_error *error)
{
    take_scale(self);
    size_t fewer = self->base_count < self->new_count ? self->base_count : self->new_count;
    size_t more = self->base_count < self->new_count ? self->new_count : self->base_count;
    bool is_exact = self->options.is_exact && all_equal(self->base, self->base_count) &&
                    all_equal(self->new_values, self->new_count);
    if (is_exact || (is_zero(self->base, self->base_count) && is_zero(self->new_values, self->new_count)))
        judge_exact(self);
    else if (more == 1)
        judge_one_run(self);
    else if (fewer == 1 || lode_u_test_smallest_p(self->base_count, self->new_count) > self->options.level)
        judge_means(self);
    else
        LODE_TRY(judge_ranks(self, error));
    set_ratio(self);
    set_verdict(self);
    return LODE_OK;
}

lode_status lode_judge_sized(const double *base, size_t base_count, const double *new_values,
                             size_t new_count, const lode_judge_options *options, lode_judgement *out,
                             size_t out_size, lode_error *error)
{
    struct judge self;
    memset(&self.result, 0, sizeof self.result);
    LODE_TRY(take_options(&self, options, error));
    LODE_TRY(take_runs(&self, base, base_count, new_values, new_count, error));
    LODE_TRY(judge(&self, error));
    lode_result_give(out, out_size, &self.result, sizeof self.result);
    return LODE_OK;
}
