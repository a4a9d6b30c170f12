/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to break a valid trace store, one rule each. */
#ifndef LODE_TESTS_ZOR_CASES_H
#define LODE_TESTS_ZOR_CASES_H

#include "minizor.h"

struct zor_case {
    const char *rule;
    void (*apply)(struct minizor *store);
    const char *also; /* rules that this cannot but break as well */
};

extern const struct zor_case zor_cases[];
extern const size_t zor_case_count;

#endif
