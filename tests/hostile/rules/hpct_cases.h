/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to break a valid database, one rule each. */
#ifndef LODE_TESTS_HPCT_CASES_H
#define LODE_TESTS_HPCT_CASES_H

#include "minidb.h"

/* Metric ids of metric 0. */
enum {
    POINT,
    FUNCTION,
    LEX_AWARE,
    EXECUTION
};

/* A database that is about to be broken. */
struct victim {
    struct minidb db;
    lode_memory_file files[HPCT_FILES];
    size_t count;
};

struct hpct_case {
    const char *rule;
    void (*apply)(struct victim *victim);
    struct minidb_options options;
};

extern const struct hpct_case hpct_cases[];
extern const size_t hpct_case_count;

#endif
