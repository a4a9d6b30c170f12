/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates with intervals, and p values of many rows. */
#include "analysis/statistics/statistics.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/io/bytes.h"
#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

lode_status lode_check_values(const double *values, size_t count, size_t least, size_t most,
                              lode_error *error)
{
    if (count < least || (values == NULL && count > 0))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%zu values, where %zu are needed",
                         values ? count : 0, least);
    if (count > most)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "%zu values, more than %zu", count,
                         most);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "value %zu is not finite", i);
    return LODE_OK;
}

lode_status lode_check_level(double level, lode_error *error)
{
    if (level > 0 && level < 1)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "level %g is not between 0 and 1",
                     level);
}

static lode_status check_sides(const double *base, size_t base_count, const double *new_values,
                               size_t new_count, size_t least, double level, lode_error *error)
{
    LODE_TRY(lode_check_values(base, base_count, least, LODE_RUNS_MAX, error));
    LODE_TRY(lode_check_values(new_values, new_count, least, LODE_RUNS_MAX, error));
    return lode_check_level(level, error);
}

/* ---- parts ---- */

struct moments lode_moments_of(const double *values, size_t count)
{
    struct moments moments = {0};
    for (size_t i = 0; i < count; i++)
        moments.mean += values[i] / (double)count;
    for (size_t i = 0; i < count && count > 1; i++) {
        double distance = values[i] - moments.mean;
        moments.variance += distance * distance / (double)(count - 1);
    }
    return moments;
}

static int compare_doubles(const void *left, const void *right)
{
    return LODE_COMPARE(*(const double *)left, *(const double *)right);
}

void lode_sort_doubles(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}

double lode_median_of_sorted(const double *values, size_t count)
{
    double low = values[(count - 1) / 2], high = values[count / 2];
    return low + (high - low) / 2;
}

struct welch lode_welch_of(struct moments base, size_t base_count, struct moments new_moments,
                           size_t new_count)
{
    double base_part = base.variance / (double)base_count;
    double new_part = new_moments.variance / (double)new_count;
    double sum = base_part + new_part;
    /* One run has no spread of its own: that of the other side stands for both. */
    if (base_count == 1 || new_count == 1) {
        double variance = base_count == 1 ? new_moments.variance : base.variance;
        double count = (double)(base_count == 1 ? new_count : base_count);
        return (struct welch){new_moments.mean - base.mean, sqrt(variance * (1 + 1 / count)), count - 1};
    }
    double freedom =
        sum * sum /
        (base_part * base_part / (double)(base_count - 1) + new_part * new_part / (double)(new_count - 1));
    /* Tiny variances whose squares vanish, and no variance at all. */
    if (!isfinite(freedom))
        freedom = (double)(base_count < new_count ? base_count : new_count) - 1;
    return (struct welch){new_moments.mean - base.mean, sqrt(sum), freedom};
}

double lode_tail_beyond(double difference, double scale, double freedom)
{
    if (scale > 0)
        return lode_student_cdf(-difference / scale, freedom);
    return difference > 0 ? 0.0 : 1.0;
}

/* ---- estimates ---- */

lode_status lode_mean_difference(lode_estimate *out, double *p_greater, double shift, const double *base,
                                 size_t base_count, const double *new_values, size_t new_count, double level,
                                 lode_error *error)
{
    LODE_TRY(check_sides(base, base_count, new_values, new_count, 2, level, error));
    struct welch welch = lode_welch_of(lode_moments_of(base, base_count), base_count,
                                       lode_moments_of(new_values, new_count), new_count);
    double half = -lode_student_quantile(level / 2, welch.freedom) * welch.scale;
    *out = (lode_estimate){welch.difference, welch.difference - half, welch.difference + half};
    if (p_greater)
        *p_greater = lode_tail_beyond(welch.difference - shift, welch.scale, welch.freedom);
    return LODE_OK;
}

lode_status lode_prediction(lode_estimate *out, const double *values, size_t count, double level,
                            lode_error *error)
{
    LODE_TRY(lode_check_values(values, count, 2, LODE_RUNS_MAX, error));
    LODE_TRY(lode_check_level(level, error));
    struct moments moments = lode_moments_of(values, count);
    double freedom = (double)(count - 1);
    double half =
        -lode_student_quantile(level / 2, freedom) * sqrt(moments.variance * (1 + 1 / (double)count));
    *out = (lode_estimate){moments.mean, moments.mean - half, moments.mean + half};
    return LODE_OK;
}

lode_status lode_mean_ratio(lode_estimate *out, const double *base, size_t base_count,
                            const double *new_values, size_t new_count, double level, lode_error *error)
{
    LODE_TRY(check_sides(base, base_count, new_values, new_count, 2, level, error));
    struct moments x = lode_moments_of(base, base_count), y = lode_moments_of(new_values, new_count);
    double freedom = lode_welch_of(x, base_count, y, new_count).freedom;
    double t = lode_student_quantile(level / 2, freedom);
    double hx = t * t * x.variance / (double)base_count, hy = t * t * y.variance / (double)new_count;
    double square = x.mean * x.mean - hx, product = x.mean * y.mean;
    *out = (lode_estimate){y.mean / x.mean, -HUGE_VAL, HUGE_VAL};
    if (!(square > 0))
        return LODE_OK;
    double root = sqrt(fmax(0.0, product * product - square * (y.mean * y.mean - hy)));
    out->low = (product - root) / square;
    out->high = (product + root) / square;
    return LODE_OK;
}

lode_status lode_sampled_ratio(lode_estimate *out, double base, double base_sample, double new_value,
                               double new_sample, double level, lode_error *error)
{
    const double values[] = {base, base_sample, new_value, new_sample};
    LODE_TRY(lode_check_values(values, 4, 4, 4, error));
    LODE_TRY(lode_check_level(level, error));
    for (size_t i = 0; i < 4; i++)
        if (values[i] <= 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "costs and samples must be positive");
    double half = -lode_normal_quantile(level / 2) * sqrt(base_sample / base + new_sample / new_value);
    double ratio = new_value / base;
    *out = (lode_estimate){ratio, ratio * exp(-half), ratio * exp(half)};
    return LODE_OK;
}

/* ---- Hodges-Lehmann ---- */

/* Bits that sort like the numbers, and back. */
static uint64_t ordered_bits(double value)
{
    uint64_t bits = bits_of_f64(value);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double ordered_double(uint64_t bits)
{
    return f64_of_bits(bits >> 63 ? bits & ~(UINT64_C(1) << 63) : ~bits);
}

struct pair_differences {
    const double *base, *new_values; /* sorted */
    size_t base_count, new_count;
};

/* How many differences are at most `limit`. Rounding is monotonic, so one pass finds it. */
static size_t count_up_to(const struct pair_differences *pairs, double limit)
{
    size_t count = 0, taken = 0;
    for (size_t i = 0; i < pairs->base_count; i++) {
        while (taken < pairs->new_count && pairs->new_values[taken] - pairs->base[i] <= limit)
            taken++;
        count += taken;
    }
    return count;
}

/* The difference of a rank, from 1 on: bisection over all doubles, without memory for the pairs. */
static double difference_at(const struct pair_differences *pairs, size_t rank)
{
    uint64_t low = ordered_bits(-HUGE_VAL), high = ordered_bits(HUGE_VAL);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_up_to(pairs, ordered_double(middle)) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return ordered_double(low);
}

lode_status lode_median_shift(lode_estimate *out, const double *base, size_t base_count,
                              const double *new_values, size_t new_count, double level, lode_error *error)
{
    LODE_TRY(check_sides(base, base_count, new_values, new_count, 1, level, error));
    double sorted_base[LODE_RUNS_MAX], sorted_new[LODE_RUNS_MAX];
    memcpy(sorted_base, base, base_count * sizeof *base);
    memcpy(sorted_new, new_values, new_count * sizeof *new_values);
    lode_sort_doubles(sorted_base, base_count);
    lode_sort_doubles(sorted_new, new_count);
    struct pair_differences pairs = {sorted_base, sorted_new, base_count, new_count};
    size_t count = base_count * new_count;
    double low = difference_at(&pairs, (count + 1) / 2), high = low;
    if (count % 2 == 0)
        high = difference_at(&pairs, count / 2 + 1);
    *out = (lode_estimate){low + (high - low) / 2, -HUGE_VAL, HUGE_VAL};
    double critical = lode_u_critical(base_count, new_count, level / 2);
    if (critical >= 0) {
        out->low = difference_at(&pairs, (size_t)critical + 1);
        out->high = difference_at(&pairs, count - (size_t)critical);
    }
    return LODE_OK;
}

/* ---- many rows ---- */

struct ranked_p {
    double p;
    size_t index;
};

LODE_COMPARE_BY_2(compare_ranked_p, struct ranked_p, p, index);

static lode_status rank_p(struct ranked_p **out, size_t *ranked_count, const double *p, size_t count,
                          lode_error *error)
{
    if (count > LODE_ROWS_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "%zu p values, more than %d", count,
                         LODE_ROWS_MAX);
    struct ranked_p *ranked = malloc((count + 1) * sizeof *ranked);
    LODE_TRY_ALLOC(ranked, error);
    *ranked_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (p[i] < 0 || p[i] > 1) {
            free(ranked);
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "p value %zu is %g", i, p[i]);
        }
        if (!isnan(p[i]))
            ranked[(*ranked_count)++] = (struct ranked_p){p[i], i};
    }
    qsort(ranked, *ranked_count, sizeof *ranked, compare_ranked_p);
    *out = ranked;
    return LODE_OK;
}

lode_status lode_adjust_holm(double *p, size_t count, lode_error *error)
{
    struct ranked_p *ranked;
    size_t rows;
    LODE_TRY(rank_p(&ranked, &rows, p, count, error));
    double largest = 0.0;
    for (size_t i = 0; i < rows; i++) {
        largest = fmax(largest, fmin(1.0, (double)(rows - i) * ranked[i].p));
        p[ranked[i].index] = largest;
    }
    free(ranked);
    return LODE_OK;
}

lode_status lode_adjust_benjamini_hochberg(double *p, size_t count, lode_error *error)
{
    struct ranked_p *ranked;
    size_t rows;
    LODE_TRY(rank_p(&ranked, &rows, p, count, error));
    double smallest = 1.0;
    for (size_t i = rows; i-- > 0;) {
        smallest = fmin(smallest, (double)rows / (double)(i + 1) * ranked[i].p);
        p[ranked[i].index] = smallest;
    }
    free(ranked);
    return LODE_OK;
}
