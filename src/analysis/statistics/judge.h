/* SPDX-License-Identifier: BSD-3-Clause */
/* One row of numbers, judged: alone, or with what all rows say about noise. */
#ifndef LODE_ANALYSIS_JUDGE_H
#define LODE_ANALYSIS_JUDGE_H

#include "analysis/statistics/noise.h"
#include <lode/private/statistics.h>

struct lode_judge_question {
    double level; /* of this test */
    double whole; /* of all tests that share it */
    /* The quantile of `level` / 2 for these degrees of freedom, which many rows have; 0: none. */
    double known_freedom, known_quantile;
    double margin, base_sample, new_sample;
    bool is_exact;
    bool is_estimate;               /* base, new value and ratio only */
    const struct lode_noise *noise; /* of all rows; NULL: this row alone */
    bool is_equal_speed;            /* the speed of runs is taken out */
};

/* Whether nothing is to be tested: an exact metric whose runs agree, or zeros everywhere. */
bool lode_judge_needs_no_test(const double *values, size_t base_count, size_t new_count, bool is_exact);

/* Values by run, those of base first; NaN where a run has none. */
void lode_judge_values(lode_judgement *out, const double *values, size_t base_count, size_t new_count,
                       const struct lode_judge_question *question);

#endif
