/* SPDX-License-Identifier: BSD-3-Clause */
/* Names without what changes from build to build. */
#ifndef LODE_ANALYSIS_COMPARE_RULES_H
#define LODE_ANALYSIS_COMPARE_RULES_H

#include <lode/unstable/compare.h>
#include <stdbool.h>

enum {
    LODE_NORMAL_MAX = 8192, /* bytes of a name; longer ones stay as they are */
    LODE_SLOT = '\1'        /* stands for what counts; labels have no control characters */
};

/* A name being changed by rules. */
struct lode_normal_name {
    char text[LODE_NORMAL_MAX], other[LODE_NORMAL_MAX];
    char slots[LODE_NORMAL_MAX]; /* what counts, in the order of rules */
    size_t length, slots_length;
    uint32_t *changed; /* rules that changed it; may be NULL */
    size_t changed_capacity, changed_count;
};

/* Applies the rules of a subject to `text`, which has `length` bytes. The module may be NULL. */
lode_status lode_name_rules_run(const lode_name_rules *rules, lode_name_subject subject, const char *module,
                                struct lode_normal_name *name, lode_error *error);

#endif
