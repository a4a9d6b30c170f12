/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/keys.h"

static bool is_list(const lode_scan_filter *filter)
{
    return filter->kind == LODE_FILTER_IN;
}

uint64_t lode_key_set_filters(const struct lode_table_query *query, unsigned column)
{
    const lode_scan_options *options = &query->options;
    uint64_t filters = 0;
    bool has_list = false;
    for (size_t i = 0; i < options->filter_count; i++) {
        const lode_scan_filter *filter = &options->filters[i];
        if (filter->column != column || (is_list(filter) && has_list))
            continue;
        has_list |= is_list(filter);
        filters |= UINT64_C(1) << i;
    }
    return filters;
}

static void take(struct lode_key_set *set, const lode_scan_filter *filter)
{
    uint64_t number = is_list(filter) ? 0 : filter->numbers[0];
    if (is_list(filter)) {
        set->list = filter->numbers;
        set->count = filter->count;
    } else {
        if (filter->kind != LODE_FILTER_AT_MOST && number > set->first)
            set->first = number;
        if (filter->kind != LODE_FILTER_AT_LEAST && number < set->last)
            set->last = number;
    }
}

struct lode_key_set lode_key_set_of(const struct lode_table_query *query, unsigned column, uint64_t last)
{
    struct lode_key_set set = {.first = 0, .last = last};
    uint64_t filters = query ? lode_key_set_filters(query, column) & query->plan.seeks : 0;
    for (size_t i = 0; query && i < query->options.filter_count; i++)
        if (filters >> i & 1)
            take(&set, &query->options.filters[i]);
    /* An empty list is no list to the search. */
    if (set.list == NULL || set.count > 0)
        return set;
    return (struct lode_key_set){.first = 1, .last = 0};
}

/* Of a range whose numbers are not known. */
static double share_of(const lode_scan_filter *filter, double keys)
{
    if (filter->kind == LODE_FILTER_EQUAL)
        return 1 / keys;
    if (is_list(filter))
        return (double)filter->count / keys;
    if (filter->numbers == NULL)
        return 0.25;
    double number = (double)filter->numbers[0];
    double part = filter->kind == LODE_FILTER_AT_MOST ? (number + 1) / keys : 1 - number / keys;
    return part > 0 ? part : 0;
}

double lode_key_set_share(const struct lode_table_query *query, unsigned column, double keys)
{
    uint64_t filters = lode_key_set_filters(query, column);
    double share = 1;
    for (size_t i = 0; i < query->options.filter_count; i++) {
        double part = filters >> i & 1 ? share_of(&query->options.filters[i], keys < 1 ? 1 : keys) : 1;
        share = part < share ? part : share;
    }
    return share;
}

bool lode_key_set_next(const struct lode_key_set *set, uint64_t from, size_t *at, uint64_t *key)
{
    uint64_t next = from > set->first ? from : set->first;
    if (set->list == NULL) {
        while (next <= set->last && !lode_key_is_wanted(set, next))
            next++;
        *key = next;
        return next <= set->last;
    }
    for (; *at < set->count; ++*at) {
        *key = set->list[*at];
        if (*key >= next && *key <= set->last && lode_key_is_wanted(set, *key))
            return true;
    }
    return false;
}
