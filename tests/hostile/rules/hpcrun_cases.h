/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to break rules of measurements. */
#ifndef LODE_TESTS_HPCRUN_CASES_H
#define LODE_TESTS_HPCRUN_CASES_H

#include "minihpcrun.h"

/* What is changed: a profile and its trace. */
struct hpcrun_files {
    struct lode_blob profile, trace;
    const char *trace_name;
};

struct hpcrun_case {
    const char *rule;
    void (*apply)(struct hpcrun_files *files);
};

extern const struct hpcrun_case hpcrun_cases[];
extern const size_t hpcrun_case_count;

#endif
