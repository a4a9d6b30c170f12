/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/statistics/noise.h"

#include "analysis/statistics/statistics.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>

/* What is borrowed never counts for more than this many times what the runs of a row say. */
#define BORROWED_MOST 2.0
/* A smaller variance of logarithms is made of rounding errors. */
#define ROUNDING 1e-20

enum {
    NEWTON_STEPS = 50
};

/* ---- derivatives of the logarithm of the gamma function ---- */

/* Their asymptotic series, after moving x to where they converge. */
static double digamma(double x)
{
    double sum = 0.0;
    while (x < 12.0) {
        sum -= 1.0 / x;
        x += 1.0;
    }
    double square = 1.0 / (x * x);
    return sum + log(x) - 0.5 / x -
           square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240))));
}

static double trigamma(double x)
{
    double sum = 0.0;
    while (x < 12.0) {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    double inverse = 1.0 / x, square = inverse * inverse;
    return sum + inverse + square / 2 +
           square * inverse * (1.0 / 6 - square * (1.0 / 30 - square * (1.0 / 42 - square / 30)));
}

static double tetragamma(double x)
{
    double sum = 0.0;
    while (x < 12.0) {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    double inverse = 1.0 / x, square = inverse * inverse;
    return sum - square - square * inverse -
           square * square * (0.5 - square * (1.0 / 6 - square * (1.0 / 6 - square * 0.3)));
}

/* Newton's method on 1 / trigamma, which is nearly linear (Smyth 2004). */
static double trigamma_inverse(double value)
{
    double x = 0.5 + 1.0 / value;
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double at = trigamma(x), step = at * (1.0 - at / value) / tetragamma(x);
        x += step;
        if (fabs(step) < 1e-12 * x)
            break;
    }
    return x;
}

/* ---- the speed of runs ---- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0.0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            known++;
        }
    return known ? sum / (double)known : 0.0;
}

/* The median over rows of how far each is from its own mean; NaN if few rows have this run. */
static double speed_of(const struct lode_noise_table *table, const double *means, size_t run, double *scratch)
{
    size_t runs = table->base_count + table->new_count, count = 0;
    for (size_t row = 0; row < table->rows; row++) {
        double value = table->logs[row * runs + run];
        if (!isnan(value))
            scratch[count++] = value - means[row];
    }
    if (count < LODE_NOISE_ROWS || 2 * count < table->rows)
        return (double)NAN;
    lode_sort_doubles(scratch, count);
    return lode_median_of_sorted(scratch, count);
}

/* Whether every run has a speed. */
static bool fill_speed(const struct lode_noise_table *table, double *speed, double *means, double *scratch)
{
    size_t runs = table->base_count + table->new_count;
    for (size_t row = 0; row < table->rows; row++)
        means[row] = mean_of(table->logs + row * runs, runs);
    for (size_t run = 0; run < runs; run++) {
        speed[run] = speed_of(table, means, run, scratch);
        if (isnan(speed[run]))
            return false;
    }
    double middle = mean_of(speed, runs);
    for (size_t run = 0; run < runs; run++)
        speed[run] -= middle;
    return true;
}

static lode_status find_speed(struct lode_noise *self, const struct lode_noise_table *table,
                              lode_error *error)
{
    size_t runs = table->base_count + table->new_count;
    double *speed = malloc(runs * sizeof *speed);
    double *means = malloc((table->rows + 1) * sizeof *means);
    double *scratch = malloc((table->rows + 1) * sizeof *scratch);
    bool has_memory = speed && means && scratch;
    if (has_memory && fill_speed(table, speed, means, scratch)) {
        self->speed = speed;
        speed = NULL;
    }
    free(speed);
    free(means);
    free(scratch);
    if (!has_memory)
        return lode_fail_memory(error);
    if (self->speed == NULL)
        return LODE_OK;
    struct moments base = lode_moments_of(self->speed, table->base_count);
    struct moments new_moments = lode_moments_of(self->speed + table->base_count, table->new_count);
    self->shift = new_moments.mean - base.mean;
    self->freedom = (double)runs - 2;
    if (self->freedom > 0)
        self->common = (base.variance * (double)(table->base_count - 1) +
                        new_moments.variance * (double)(table->new_count - 1)) /
                       self->freedom;
    return LODE_OK;
}

/* ---- the variance of rows ---- */

/* Squares of what is left of one side; adds the number of its values. */
static double squares_of(const double *logs, const double *speed, size_t count, size_t *known)
{
    double left = mean_of(logs, count), common = 0.0, sum = 0.0;
    size_t own = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(logs[i])) {
            common += speed ? speed[i] : 0.0;
            own++;
        }
    if (own > 0)
        common /= (double)own;
    for (size_t i = 0; i < count; i++)
        if (!isnan(logs[i])) {
            double distance = logs[i] - left - (speed ? speed[i] - common : 0.0);
            sum += distance * distance;
        }
    *known += own;
    return sum;
}

struct lode_row_noise lode_noise_of_row(const struct lode_noise *noise, const double *logs, size_t base_count,
                                        size_t new_count)
{
    size_t known = 0;
    const double *speed = noise->speed;
    double squares = squares_of(logs, speed, base_count, &known);
    squares += squares_of(logs + base_count, speed ? speed + base_count : NULL, new_count, &known);
    double freedom = (double)known - 2;
    return (struct lode_row_noise){freedom > 0 ? squares / freedom : 0.0, fmax(freedom, 0.0)};
}

struct lode_row_noise lode_noise_moderate(const struct lode_noise *noise, struct lode_row_noise row)
{
    double borrowed = fmin(noise->prior_freedom, BORROWED_MOST * row.freedom);
    if (!(borrowed > 0))
        return row;
    double freedom = borrowed + row.freedom;
    return (struct lode_row_noise){(borrowed * noise->prior + row.freedom * row.variance) / freedom, freedom};
}

/*
 * Variances of rows are taken for those of a scaled F distribution; its parameters follow from mean
 * and variance of their logarithms (Smyth 2004). Rows without any variance take no part: of few
 * rows, one may be the median in every run.
 */
static lode_status find_prior(struct lode_noise *self, const struct lode_noise_table *table,
                              lode_error *error)
{
    size_t runs = table->base_count + table->new_count, count = 0;
    double *logs = malloc((table->rows + 1) * sizeof *logs), expected = 0.0, most = 0.0;
    LODE_TRY_ALLOC(logs, error);
    for (size_t row = 0; row < table->rows; row++) {
        struct lode_row_noise noise =
            lode_noise_of_row(self, table->logs + row * runs, table->base_count, table->new_count);
        if (!(noise.freedom > 0 && noise.variance > ROUNDING))
            continue;
        double half = noise.freedom / 2;
        logs[count++] = log(noise.variance) - digamma(half) + log(half);
        expected += trigamma(half);
        most = fmax(most, noise.freedom);
    }
    struct moments moments = lode_moments_of(logs, count);
    free(logs);
    if (count < LODE_NOISE_ROWS)
        return LODE_OK;
    double excess = moments.variance - expected / (double)count;
    double half = excess > 0 ? trigamma_inverse(excess) : HUGE_VAL;
    /* Without any excess, all rows have one variance. */
    self->prior = exp(moments.mean + (isfinite(half) ? digamma(half) - log(half) : 0.0));
    self->prior_freedom = fmin(2 * half, BORROWED_MOST * most);
    return LODE_OK;
}

lode_status lode_noise_find(struct lode_noise *out, const struct lode_noise_table *table, lode_error *error)
{
    *out = (struct lode_noise){0};
    if (table->rows < LODE_NOISE_ROWS)
        return LODE_OK;
    LODE_TRY(find_speed(out, table, error));
    /* Without a speed, rows vary together, and what one could borrow is not known. */
    return out->speed ? find_prior(out, table, error) : LODE_OK;
}

void lode_noise_free(struct lode_noise *noise)
{
    free(noise->speed);
    noise->speed = NULL;
}
