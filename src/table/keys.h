/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of keys that filters ask for: bounds, a list, and flags. */
#ifndef LODE_TABLE_KEYS_H
#define LODE_TABLE_KEYS_H

#include "table/tables.h"

struct lode_key_set {
    uint64_t first, last; /* bounds, inclusive; empty if first > last */
    const uint64_t *list; /* ascending; NULL: all in the bounds */
    size_t count;         /* of the list */
    const uint8_t *flags; /* by key: wanted; NULL: all */
    uint64_t flag_count;  /* keys beyond are not wanted */
    bool is_range;        /* the flags that are set are those from range_first to range_last */
    uint64_t range_first, range_last;
};

/* What the seeks of a query ask of a column up to `last`; everything without a query. */
struct lode_key_set lode_key_set_of(const struct lode_table_query *query, unsigned column, uint64_t last);
/* Whether filters restrict a column by what a key set can hold, and by how much: 0 to 1. */
double lode_key_set_share(const struct lode_table_query *query, unsigned column, double keys);
/* The filters on a column that a key set can hold: all bounds, and one list. */
uint64_t lode_key_set_filters(const struct lode_table_query *query, unsigned column);

static inline bool lode_key_is_wanted(const struct lode_key_set *set, uint64_t key)
{
    return set->flags == NULL || (key < set->flag_count && set->flags[key]);
}

/*
 * The smallest wanted key from `from` on, if there is one. `at` is a position in the list, 0 at
 * first: keys must be asked for in ascending order.
 */
bool lode_key_set_next(const struct lode_key_set *set, uint64_t from, size_t *at, uint64_t *key);

#endif
