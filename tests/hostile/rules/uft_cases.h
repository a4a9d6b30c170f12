/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to break a valid recording, one rule each. */
#ifndef LODE_TESTS_UFT_CASES_H
#define LODE_TESTS_UFT_CASES_H

#include "minirec.h"

struct uft_case {
    const char *rule;
    void (*apply)(struct minirec *rec);
    const char *also; /* rules that this cannot but break as well */
    struct minirec_options options;
};

extern const struct uft_case uft_cases[];
extern const size_t uft_case_count;

#endif
