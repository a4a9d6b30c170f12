/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates, failures and percentiles of groups, over time. */
#include "analysis/search/rates.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/options.h"
#include <stdlib.h>
#include <string.h>

struct lode_rates {
    struct lode_strings names;
    struct lode_rate_item *items;
    size_t item_count;
    lode_rates_group *groups;
    size_t count;
    lode_rates_row *rows;
    struct lode_arena arena;
};

/* ---- sums ---- */

/* The shortest duration that so many percent do not exceed. */
static uint64_t percentile(const struct lode_rate_item *items, size_t count, unsigned percent)
{
    size_t others = count / 100 * (100 - percent) + count % 100 * (100 - percent) / 100;
    return items[count - 1 - others].duration;
}

lode_rate lode_rate_of(const struct lode_rate_item *items, size_t count)
{
    lode_rate rate = {.count = count};
    if (count == 0)
        return rate;
    for (size_t i = 0; i < count; i++) {
        rate.failures += items[i].has_failed != 0;
        rate.total += items[i].duration;
    }
    rate.p50 = percentile(items, count, 50);
    rate.p95 = percentile(items, count, 95);
    rate.p99 = percentile(items, count, 99);
    rate.max = items[count - 1].duration;
    return rate;
}

LODE_COMPARE_BY_2(compare_in_group, struct lode_rate_item, group, duration);

int lode_compare_rate_items(const void *left, const void *right)
{
    const struct lode_rate_item *a = left, *b = right;
    if (a->group != b->group)
        return LODE_COMPARE(a->group, b->group);
    return a->interval != b->interval ? LODE_COMPARE(a->interval, b->interval)
                                      : LODE_COMPARE(a->duration, b->duration);
}

/* ---- groups ---- */

/* Puts the items of all workers together; groups of the same name become one. */
static lode_status gather(lode_rates *rates, const struct lode_rates_run *run, lode_error *error)
{
    size_t count = 0;
    for (unsigned i = 0; i < run->count; i++)
        count += run->workers[i].items.count;
    rates->items = malloc((count + 1) * sizeof *rates->items);
    LODE_TRY_ALLOC(rates->items, error);
    for (unsigned i = 0; i < run->count; i++) {
        const struct lode_rates_worker *worker = &run->workers[i];
        for (size_t j = 0; j < worker->items.count; j++) {
            struct lode_rate_item item = *LODE_ARRAY_AT(&worker->items, struct lode_rate_item, j);
            const char *name = lode_strings_at(&worker->groups, item.group);
            LODE_TRY_ALLOC(lode_strings_put(&rates->names, name, &item.group), error);
            rates->items[rates->item_count++] = item;
        }
    }
    return LODE_OK;
}

struct order {
    uint64_t total;
    const char *name;
    uint32_t group;
};

static int compare_orders(const void *left, const void *right)
{
    const struct order *a = left, *b = right;
    return a->total != b->total ? LODE_COMPARE(b->total, a->total) : strcmp(a->name, b->name);
}

/* Numbers groups by their time. The order does not depend on which worker met them first. */
static lode_status sort_groups(lode_rates *rates, struct order *orders, lode_error *error)
{
    uint32_t *ranks = calloc(rates->count + 1, sizeof *ranks);
    LODE_TRY_ALLOC(ranks, error);
    for (uint32_t i = 0; i < rates->count; i++)
        orders[i] = (struct order){0, lode_strings_at(&rates->names, i), i};
    for (size_t i = 0; i < rates->item_count; i++)
        orders[rates->items[i].group].total += rates->items[i].duration;
    if (rates->count > 1)
        qsort(orders, rates->count, sizeof *orders, compare_orders);
    for (uint32_t i = 0; i < rates->count; i++)
        ranks[orders[i].group] = i;
    for (size_t i = 0; i < rates->item_count; i++)
        rates->items[i].group = ranks[rates->items[i].group];
    free(ranks);
    return LODE_OK;
}

/* The values of a group, from its name. */
static bool split_name(lode_rates *rates, const char *name, const char **values, size_t count)
{
    size_t size = strlen(name) + 1;
    char *rest = lode_arena_alloc(&rates->arena, size, 1);
    if (rest == NULL)
        return false;
    memcpy(rest, name, size);
    for (size_t i = 0; i < count; i++) {
        char *end = rest + strcspn(rest, (const char[]){LODE_RATES_SEPARATOR, '\0'});
        bool is_last = *end == '\0';
        *end = '\0';
        values[i] = rest[0] == '+' ? rest + 1 : NULL;
        rest = is_last ? end : end + 1;
    }
    return true;
}

/* ---- rows ---- */

static void sum_groups(lode_rates *rates)
{
    if (rates->item_count > 1)
        qsort(rates->items, rates->item_count, sizeof *rates->items, compare_in_group);
    for (size_t i = 0, end; i < rates->item_count; i = end) {
        for (end = i; end < rates->item_count && rates->items[end].group == rates->items[i].group;)
            end++;
        rates->groups[rates->items[i].group].rate = lode_rate_of(&rates->items[i], end - i);
    }
}

static bool is_same_row(const struct lode_rate_item *a, const struct lode_rate_item *b)
{
    return a->group == b->group && a->interval == b->interval;
}

static void sum_rows(lode_rates *rates, uint64_t interval)
{
    size_t count = 0;
    if (rates->item_count > 1)
        qsort(rates->items, rates->item_count, sizeof *rates->items, lode_compare_rate_items);
    for (size_t i = 0, end; i < rates->item_count; i = end) {
        lode_rates_group *group = &rates->groups[rates->items[i].group];
        for (end = i; end < rates->item_count && is_same_row(&rates->items[end], &rates->items[i]);)
            end++;
        if (group->row_count++ == 0)
            group->rows = &rates->rows[count];
        rates->rows[count++] = (lode_rates_row){.begin = rates->items[i].interval * interval,
                                                .rate = lode_rate_of(&rates->items[i], end - i)};
    }
}

static lode_status make_groups(lode_rates *rates, const lode_rates_options *options, lode_error *error)
{
    size_t keys = options->key_count;
    rates->count = rates->names.items.count;
    rates->groups = calloc(rates->count + 1, sizeof *rates->groups);
    rates->rows = malloc((rates->item_count + 1) * sizeof *rates->rows);
    const char **values =
        lode_arena_alloc(&rates->arena, (rates->count * keys + 1) * sizeof *values, _Alignof(const char *));
    struct order *orders = calloc(rates->count + 1, sizeof *orders);
    bool done = rates->groups && rates->rows && values && orders;
    lode_status status = done ? sort_groups(rates, orders, error) : lode_fail_memory(error);
    for (size_t i = 0; i < rates->count && status == LODE_OK; i++) {
        rates->groups[i].values = &values[i * keys];
        if (!split_name(rates, orders[i].name, &values[i * keys], keys))
            status = lode_fail_memory(error);
    }
    free(orders);
    LODE_TRY(status);
    sum_groups(rates);
    sum_rows(rates, options->interval);
    return LODE_OK;
}

/* ---- the result ---- */

static lode_status compute(lode_rates *rates, struct lode_rates_run *run, lode_error *error)
{
    if (run->rates->key_count > LODE_SEARCH_VALUES)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "%zu keys to group by; there can be %d", run->rates->key_count, LODE_SEARCH_VALUES);
    for (size_t i = 0; i < run->rates->key_count; i++)
        run->keys[i] = lode_attribute_key_of(run->rates->keys[i]);
    LODE_TRY(lode_rates_read(run, error));
    LODE_TRY(gather(rates, run, error));
    return make_groups(rates, run->rates, error);
}

lode_status lode_rates_compute(lode_rates **out, const lode_recording *recording,
                               const lode_search_options *options, const lode_rates_options *asked,
                               lode_error *error)
{
    lode_search_options settings = LODE_SEARCH_OPTIONS_INIT;
    lode_rates_options rates_settings = LODE_RATES_OPTIONS_INIT;
    struct lode_rates_run run = {.recording = recording, .options = &settings, .rates = &rates_settings};
    *out = NULL;
    LODE_TRY(lode_options_take(&settings, options, error));
    LODE_TRY(lode_options_take(&rates_settings, asked, error));
    lode_rates *rates = calloc(1, sizeof *rates);
    LODE_TRY_ALLOC(rates, error);
    lode_strings_init(&rates->names);
    lode_arena_init(&rates->arena, SIZE_MAX);
    lode_status status = compute(rates, &run, error);
    lode_rates_run_free(&run);
    if (status == LODE_OK)
        *out = rates;
    else
        lode_rates_free(rates);
    return status;
}

void lode_rates_free(lode_rates *rates)
{
    if (rates == NULL)
        return;
    lode_strings_free(&rates->names);
    lode_arena_free(&rates->arena);
    free(rates->items);
    free(rates->groups);
    free(rates->rows);
    free(rates);
}

size_t lode_rates_count(const lode_rates *rates)
{
    return rates->count;
}

const lode_rates_group *lode_rates_at(const lode_rates *rates, size_t index)
{
    return index < rates->count ? &rates->groups[index] : NULL;
}
