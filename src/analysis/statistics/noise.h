/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The noise of rows that were measured in the same runs. A run is faster or slower as a whole, and
 * each row varies by itself. The first is the median over rows, the second is estimated for each
 * row with the help of all (empirical Bayes): five runs alone say little about their spread.
 */
#ifndef LODE_ANALYSIS_NOISE_H
#define LODE_ANALYSIS_NOISE_H

#include <lode/status.h>
#include <stdbool.h>

/* Rows that a common speed, and a variance to borrow, need. */
#define LODE_NOISE_ROWS 5

/* Logarithms by row and run, those of base first; NaN where a run has no value. */
struct lode_noise_table {
    const double *logs;
    size_t rows, base_count, new_count;
};

struct lode_noise {
    double *speed;  /* by run, logarithm; its mean over runs is 0. NULL: too few rows */
    double shift;   /* mean of the new runs less that of the base */
    double common;  /* variance of the speed of a run */
    double freedom; /* of that variance */
    /* The variance of a row by itself, as all rows suggest it, and what that is worth. */
    double prior, prior_freedom; /* prior_freedom 0: nothing to borrow */
};

/* lode_noise_free is due in any case. */
lode_status lode_noise_find(struct lode_noise *out, const struct lode_noise_table *table, lode_error *error);
void lode_noise_free(struct lode_noise *noise);

/* The variance of one row without the speed of runs, and its degrees of freedom. */
struct lode_row_noise {
    double variance, freedom;
};
struct lode_row_noise lode_noise_of_row(const struct lode_noise *noise, const double *logs, size_t base_count,
                                        size_t new_count);
/* The same after borrowing. */
struct lode_row_noise lode_noise_moderate(const struct lode_noise *noise, struct lode_row_noise row);

#endif
