/* SPDX-License-Identifier: BSD-3-Clause */
/* What a complete request adds to sums: its calls, endpoints, and failures. */
#include "analysis/diagnose/requests/services/services.h"

#include "base/compare.h"
#include <stdlib.h>
#include <string.h>

bool lode_diagnose_service_note(struct service_scan *scan, const struct service_key *key,
                                const struct service_part *part)
{
    struct service_sum *sum;
    uint32_t number;
    if (!lode_diagnose_service_sum(&scan->tables, key, &sum, &number))
        return false;
    if (sum == NULL)
        return true;
    if (!sum->is_touched) {
        uint32_t *touched = lode_array_push(&scan->touched);
        if (touched == NULL)
            return false;
        *touched = number;
        sum->is_touched = true;
    }
    sum->groups++;
    sum->calls += part->calls;
    sum->failed += part->failed;
    sum->time += part->time;
    sum->extent += part->extent;
    sum->most = part->most > sum->most ? part->most : sum->most;
    sum->pending_saved += part->saved;
    return true;
}

/* ---- calls ---- */

static bool add_calls(struct service_scan *scan)
{
    for (uint32_t i = 0; i < scan->calls.count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        uint64_t time = call->end - call->begin;
        struct service_key key = {SUM_CALLS, call->function, 0, 0};
        struct service_part part = {.calls = 1, .failed = call->has_failed, .time = time, .most = time};
        if (!lode_diagnose_service_note(scan, &key, &part))
            return false;
    }
    return true;
}

/* Runs of calls with the same caller. */
static bool add_callees(struct service_scan *scan)
{
    const uint32_t *order = scan->order.items;
    for (size_t i = 0, end; i < scan->order.count; i = end) {
        uint32_t caller = service_call_at(scan, order[i])->parent;
        for (end = i + 1; end < scan->order.count && service_call_at(scan, order[end])->parent == caller;)
            end++;
        if (caller != NO_CALL && !lode_diagnose_service_look_at_callees(scan, caller, order + i, end - i))
            return false;
    }
    return true;
}

/* ---- endpoints ---- */

/* Something that a call of an endpoint has: a function that is called below it, or a value. */
struct trait {
    uint64_t what; /* a function, or the address of a key */
    uint32_t entry, index;
};

static int compare_traits(const void *left, const void *right)
{
    const struct trait *a = left, *b = right;
    if (a->entry != b->entry)
        return LODE_COMPARE(a->entry, b->entry);
    return a->what != b->what ? LODE_COMPARE(a->what, b->what) : LODE_COMPARE(a->index, b->index);
}

static struct feature feature_of(const struct service_call *call)
{
    struct feature feature = {.calls = 1, .failed = call->has_failed, .time = call->end - call->begin};
    feature.buckets[lode_diagnose_service_bucket(call->end - call->begin)] = 1;
    return feature;
}

static bool is_repeated(const struct trait *traits, size_t i)
{
    return i > 0 && traits[i].entry == traits[i - 1].entry && traits[i].what == traits[i - 1].what;
}

static bool add_functions(struct service_scan *scan, struct trait *traits)
{
    size_t count = 0;
    for (uint32_t i = 0; i < scan->calls.count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        if (call->entry != i)
            traits[count++] = (struct trait){call->function, call->entry, i};
    }
    if (count > 1)
        qsort(traits, count, sizeof *traits, compare_traits);
    for (size_t i = 0; i < count; i++) {
        const struct service_call *entry = service_call_at(scan, traits[i].entry);
        struct feature_key key = {FEATURE_CALLS, entry->function, 0, (uint32_t)traits[i].what};
        struct feature feature = feature_of(entry);
        if (!is_repeated(traits, i) && !lode_diagnose_service_feature(&scan->tables, &key, &feature))
            return false;
    }
    return true;
}

/* Of several values of a key, the first counts. */
static bool add_values(struct service_scan *scan, struct trait *traits)
{
    size_t count = scan->marks.count;
    for (size_t i = 0; i < count; i++) {
        const struct service_mark *mark = LODE_ARRAY_AT(&scan->marks, struct service_mark, i);
        traits[i] =
            (struct trait){(uintptr_t)mark->key, service_call_at(scan, mark->call)->entry, (uint32_t)i};
    }
    if (count > 1)
        qsort(traits, count, sizeof *traits, compare_traits);
    for (size_t i = 0; i < count; i++) {
        const struct service_mark *mark = LODE_ARRAY_AT(&scan->marks, struct service_mark, traits[i].index);
        const struct service_call *entry = service_call_at(scan, traits[i].entry);
        const char *value = (const char *)scan->values.bytes + mark->value;
        struct feature feature = feature_of(entry);
        if (!is_repeated(traits, i) &&
            !lode_diagnose_service_value(&scan->tables, entry->function, mark->key, value, &feature))
            return false;
    }
    return true;
}

static bool add_endpoints(struct service_scan *scan)
{
    size_t most = scan->calls.count > scan->marks.count ? scan->calls.count : scan->marks.count;
    struct trait *traits = malloc((most + 1) * sizeof *traits);
    bool done = traits != NULL;
    for (uint32_t i = 0; done && i < scan->calls.count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        struct feature_key key = {FEATURE_ALL, call->function, 0, 0};
        struct feature feature = feature_of(call);
        done = call->entry != i || lode_diagnose_service_feature(&scan->tables, &key, &feature);
    }
    done = done && add_functions(scan, traits) && add_values(scan, traits);
    free(traits);
    return done;
}

/* ---- failures ---- */

/* Of several failed calls the last counts: those before it were tried again. */
static void find_failed(struct service_scan *scan)
{
    for (uint32_t i = 0; i < scan->calls.count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        if (!call->has_failed || call->failed_above == NO_CALL)
            continue;
        uint32_t *below = &service_call_at(scan, call->failed_above)->failed_below;
        if (*below == NO_CALL || service_call_at(scan, *below)->begin <= call->begin)
            *below = i;
    }
}

/* An endpoint failed whose caller did not fail as well: where did it begin? */
static bool add_failure(struct service_scan *scan, uint32_t index)
{
    const struct service_call *entry = service_call_at(scan, index), *origin = entry;
    uint32_t exception = entry->exception;
    while (origin->failed_below != NO_CALL) {
        origin = service_call_at(scan, origin->failed_below);
        exception = origin->exception ? origin->exception : exception;
    }
    struct service_key key = {SUM_FAILURES, entry->function, origin->function, exception};
    bool is_last = entry->parent == NO_CALL;
    if (entry->parent != NO_CALL) {
        const struct service_call *above = service_call_at(scan, service_call_at(scan, entry->parent)->entry);
        is_last = above->kind != CALL_SERVER;
    }
    /* `failed` counts those that nothing above made good. */
    struct service_part part = {.calls = 1, .failed = is_last, .time = entry->end - entry->begin};
    return lode_diagnose_service_note(scan, &key, &part);
}

static bool add_failures(struct service_scan *scan)
{
    find_failed(scan);
    for (uint32_t i = 0; i < scan->calls.count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        if (call->entry != i || !call->has_failed)
            continue;
        const struct service_call *above =
            call->parent == NO_CALL ? NULL
                                    : service_call_at(scan, service_call_at(scan, call->parent)->entry);
        bool is_passed_on = above && above->kind == CALL_SERVER && above->has_failed;
        if (!is_passed_on && !add_failure(scan, i))
            return false;
    }
    return true;
}

bool lode_diagnose_service_look(struct service_scan *scan)
{
    return add_calls(scan) && add_callees(scan) && lode_diagnose_service_look_at_rounds(scan) &&
           add_endpoints(scan) && add_failures(scan);
}
