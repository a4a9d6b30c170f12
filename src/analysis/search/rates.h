/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations in groups, and their percentiles. */
#ifndef LODE_ANALYSIS_RATES_H
#define LODE_ANALYSIS_RATES_H

#include "analysis/search/where.h"
#include "base/memory/intern.h"
#include <lode/unstable/search.h>

/* Something that took time, in a group. */
struct lode_rate_item {
    uint64_t duration;
    uint64_t interval; /* number since the epoch */
    uint32_t group;
    uint32_t has_failed;
};

/* Sums up items that are sorted by duration. */
lode_rate lode_rate_of(const struct lode_rate_item *items, size_t count);
/* By group, interval and duration. */
int lode_compare_rate_items(const void *left, const void *right);

/*
 * What a worker of lode_rates collects. A group is a string: for each key '+' and its value, or
 * '-', and a separator, which values do not have.
 */
struct lode_rates_worker {
    _Alignas(LODE_WORKER_ALIGN) struct lode_array items; /* struct lode_rate_item */
    struct lode_strings groups;
    bool is_open;
    struct lode_where_state where;
    struct lode_value_reader reader;
    struct lode_strings values; /* of this request */
    struct lode_array numbers;  /* uint32_t: of values, by call and key; of a request, by key */
    struct lode_blob name;      /* of a group */
};

struct lode_rates_run {
    const lode_recording *recording;
    const lode_search_options *options;
    const lode_rates_options *rates;
    struct lode_attribute_key keys[LODE_SEARCH_VALUES];
    struct lode_where where;
    struct lode_rates_worker *workers;
    unsigned count;
};

#define LODE_RATES_SEPARATOR '\x1f'

/* Reads all requests into the items of workers (rates_items.c). */
lode_status lode_rates_read(struct lode_rates_run *run, lode_error *error);
void lode_rates_run_free(struct lode_rates_run *run);

#endif
