/* SPDX-License-Identifier: BSD-3-Clause */
/* Judgements of a comparison, and their words: the same for `compare`, `gate` and `runs check`. */
#ifndef CLI_JUDGED_H
#define CLI_JUDGED_H

#include "stores/compare_side.h"

#include <lode/private/statistics.h>
#include <lode/unstable.h>

/* Which numbers of which runs. */
typedef struct judged_question {
    const side_set *sides;
    const lode_comparison *comparison;
    size_t base_runs, new_runs, metric;
    int is_inclusive, is_normalized;
    double level; /* of any false alarm, in all metrics */
} judged_question;

/* One number of one run, those of base first. A row that is SIZE_MAX is the total. */
double judged_value(const judged_question *question, size_t row, size_t run, int is_inclusive);
/* What stands for the runs of a side: the geometric mean; the mean if one is not positive. */
double judged_mean(const double *values, size_t count);

/* Judges all rows of one metric; NULL after a message. */
lode_judgements *judged_make(const judged_question *question);

/* "+1.7%", "no bound" */
void judged_change(char buffer[NUMBER_SIZE], double ratio);
/* "10.0 ms -> 12.1 ms (+21.0%, +15.2% to +27.1%)" */
void judged_numbers(char *buffer, size_t capacity, const lode_judgement *judgement, metric_unit unit);
/* "visible from 4.2%", "exact" */
void judged_visible(char *buffer, size_t capacity, const lode_judgement *judgement);
/* "9 runs a side would be needed"; empty if nothing is known of that. */
void judged_runs(char *buffer, size_t capacity, uint32_t runs);
/* "none", "exact", ... */
const char *judged_method(const lode_judgement *judgement);

#endif
