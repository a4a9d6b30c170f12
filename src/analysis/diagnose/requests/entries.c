/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points: requests with the same outermost method. A request is slow if it takes longer than
 * others of its entry point: more than max(Q3 + 3 (Q3 - Q1), 2 medians).
 */
#include "analysis/diagnose/requests/facts.h"

#include "base/compare.h"
#include <math.h>
#include <stdlib.h>

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return LODE_COMPARE(*a, *b);
}

/* Entry points in the order of names, so that nothing depends on which thread met one first. */
static int compare_by_rank(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return LODE_COMPARE(*a, *b);
}

static lode_status number_entries(struct request_facts *facts, lode_error *error)
{
    uint32_t functions = recording_functions(facts->recording)->count, count = 0;
    uint64_t *found = malloc(((size_t)functions + 1) * sizeof *found);
    LODE_TRY_ALLOC(found, error);
    for (uint32_t i = 0; i < facts->count; i++) {
        uint32_t function = facts->requests[i].entry;
        if (facts->entry_of[function]++ == 0)
            found[count++] = (uint64_t)facts->ranks[function] << 32 | function;
    }
    if (count)
        qsort(found, count, sizeof *found, compare_by_rank);
    facts->entries = calloc((size_t)count + 1, sizeof *facts->entries);
    facts->entry_count = facts->entries ? count : 0;
    for (uint32_t i = 0; i < facts->entry_count; i++) {
        uint32_t function = (uint32_t)found[i];
        facts->entries[i] = (struct entry){
            .function = lode_function_table_at(recording_functions(facts->recording), function),
            .count = facts->entry_of[function]};
        facts->entry_of[function] = i + 1;
    }
    free(found);
    return facts->entries ? LODE_OK : lode_fail_memory(error);
}

static void describe(struct entry *entry, uint64_t *durations)
{
    qsort(durations, entry->count, sizeof *durations, compare_numbers);
    entry->q1 = lode_diagnose_quantile_of_sorted(durations, entry->count, 0.25);
    entry->median = lode_diagnose_quantile_of_sorted(durations, entry->count, 0.5);
    entry->q3 = lode_diagnose_quantile_of_sorted(durations, entry->count, 0.75);
    entry->limit = fmax(entry->q3 + 3 * (entry->q3 - entry->q1), 2 * entry->median);
    double sum = 0;
    uint32_t usual = 0;
    for (; usual < entry->count && (double)durations[usual] <= entry->limit; usual++)
        sum += (double)durations[usual];
    entry->slow = entry->count < REQUESTS_MIN ? 0 : entry->count - usual;
    entry->usual = usual ? sum / usual : 0;
}

lode_status lode_diagnose_request_facts_entries(struct request_facts *facts, lode_error *error)
{
    LODE_TRY(number_entries(facts, error));
    uint64_t *durations = malloc(((size_t)facts->count + 1) * sizeof *durations);
    uint32_t *first = calloc((size_t)facts->entry_count + 1, sizeof *first);
    if (durations == NULL || first == NULL) {
        free(durations);
        free(first);
        return lode_fail_memory(error);
    }
    for (uint32_t i = 1; i < facts->entry_count; i++)
        first[i] = first[i - 1] + facts->entries[i - 1].count;
    for (uint32_t i = 0; i < facts->count; i++) {
        facts->requests[i].entry = facts->entry_of[facts->requests[i].entry] - 1;
        durations[first[facts->requests[i].entry]++] = facts->requests[i].duration;
    }
    for (uint32_t i = 0; i < facts->entry_count; i++)
        describe(&facts->entries[i], durations + first[i] - facts->entries[i].count);
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct entry *entry = &facts->entries[facts->requests[i].entry];
        if (entry->slow && (double)facts->requests[i].duration > entry->limit)
            facts->requests[i].flags |= REQUEST_SLOW;
    }
    free(durations);
    free(first);
    return LODE_OK;
}
