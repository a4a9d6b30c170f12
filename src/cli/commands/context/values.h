/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of one context and one metric id over profiles, and which of them stand out. */
#ifndef CLI_CONTEXT_VALUES_H
#define CLI_CONTEXT_VALUES_H

#include <lode/unstable.h>

typedef struct context_values {
    lode_profile_value *items; /* one for each selected profile that has any values, in order */
    size_t count;
    size_t zeros;         /* profiles without a value here, which count as zero */
    size_t empty;         /* profiles without a value anywhere, which do not count */
    int is_by_profile;    /* values by context are absent or wrong: searched all profiles */
    int is_cct_wrong;     /* values by context do not add up to the summary */
    int is_profile_wrong; /* nor do those of the profiles */
    double *values;       /* the same values, sorted */
    lode_distribution distribution;
} context_values;

/* What is asked for. */
typedef struct context_question {
    uint32_t context_id;
    uint16_t metric_id;
    int has_sum; /* the summary has the sum over profiles, under this id */
    uint16_t sum_id;
} context_question;

/*
 * Values by context are used if they sum up to the summary; else those of the profiles. Always call
 * context_values_free.
 */
lode_status context_values_read(context_values *v, const lode_database *db, const lode_selection *selection,
                                const context_question *question, lode_error *error);
void context_values_free(context_values *v);

#endif
