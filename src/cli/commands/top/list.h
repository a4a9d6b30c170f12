/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode top --by kind --list NAME` */
#ifndef CLI_TOP_LIST_H
#define CLI_TOP_LIST_H

#include "output/out.h"

#include <lode/unstable.h>

typedef struct top_list {
    const char *path; /* of the store */
    const char *name; /* or pattern, as of --include; NULL: not asked for */
    const lode_kind_rules *kinds;
    uint64_t limit;
    int names; /* form of names */
} top_list;

int top_list_print(out *o, const top_list *list, const lode_cost *cost);

#endif
