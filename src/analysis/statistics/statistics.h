/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of statistics share. */
#ifndef LODE_ANALYSIS_STATISTICS_H
#define LODE_ANALYSIS_STATISTICS_H

#include <lode/private/statistics.h>
#include <stdbool.h>

struct moments {
    double mean, variance; /* variance of the sample: divided by count - 1; 0 for one value */
};

struct moments lode_moments_of(const double *values, size_t count);

/* The median of values that are sorted. */
double lode_median_of_sorted(const double *values, size_t count);
void lode_sort_doubles(double *values, size_t count);

/* Argument checks of all functions: finite values, their number, the level. */
lode_status lode_check_values(const double *values, size_t count, size_t least, size_t most,
                              lode_error *error);
lode_status lode_check_level(double level, lode_error *error);

/* Welch's t test from moments. `scale` is the standard error, `freedom` its degrees of freedom. */
struct welch {
    double difference, scale, freedom;
};
struct welch lode_welch_of(struct moments base, size_t base_count, struct moments new_moments,
                           size_t new_count);

/* The probability of a value beyond `difference` in units of `scale`, which may be 0. */
double lode_tail_beyond(double difference, double scale, double freedom);

/*
 * The largest c with P(U <= c) <= tail for untied runs; negative if there is none. Then the
 * differences of rank c + 1 and of rank count - c are the ends of the interval.
 */
double lode_u_critical(size_t base_count, size_t new_count, double tail);

#endif
