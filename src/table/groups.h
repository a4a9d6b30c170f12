/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows added up by the values of some columns: counts, sums, least and greatest values, in a hash
 * table. Memory grows with groups, not with rows.
 */
#ifndef LODE_TABLE_GROUPS_H
#define LODE_TABLE_GROUPS_H

#include "base/memory/intern.h"
#include "model/wide.h"
#include <lode/table.h>

enum {
    LODE_GROUP_KEYS = 3,         /* at most */
    LODE_GROUPS_MOST = 16 << 20, /* of one question */
    LODE_GROUPS_RECENT = 4096,   /* a power of two */
    LODE_GROUPS_TEXTS = 4096,    /* likewise */
    LODE_GROUPS_AT_ONCE = 1024   /* rows */
};

struct lode_group_row {
    uint64_t keys[LODE_GROUP_KEYS]; /* numbers, or that of a text; 0 if it is NULL */
    uint64_t rows, count;           /* of the group; those with a value */
    union {
        struct {
            lode_wide sum;
            int64_t least, greatest;
        } integer;
        struct {
            double sum, least, greatest;
        } real;
    } of;
    uint8_t nulls; /* a bit for each key */
};

struct lode_groups {
    const lode_table_info *table;
    unsigned keys[LODE_GROUP_KEYS], key_count; /* columns */
    int value;                                 /* column; -1: rows are counted */
    bool is_real;                              /* the value */
    struct lode_array rows;                    /* struct lode_group_row */
    struct lode_index index;
    struct lode_strings texts;
    uint32_t recent[LODE_GROUPS_RECENT]; /* numbers of groups plus 1, by a mix of their keys */
    /* Of this batch: texts by their addresses. */
    struct lode_groups_text {
        const char *text;
        uint64_t number;
    } known[LODE_GROUPS_TEXTS];
    uint64_t overflows;
};

/* lode_groups_free is due. At most one of the keys is a text. */
void lode_groups_init(struct lode_groups *groups, const lode_table_info *table);
void lode_groups_free(struct lode_groups *groups);
/* In the order of rows, so that sums are the same for any number of threads. */
lode_status lode_groups_add(struct lode_groups *groups, const lode_batch *batch, lode_error *error);
/* Sorts by keys as SQL does: NULL first, text by its bytes. Nothing can be added after that. */
void lode_groups_sort(struct lode_groups *groups);

#endif
