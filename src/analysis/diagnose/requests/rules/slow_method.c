/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow-method: some requests of an entry point are slow, and one method has most of the difference.
 * Needs: 30 requests of the entry point.
 * Computation: slow = longer than max(Q3 + 3 (Q3 - Q1), 2 medians), at least 5. The difference of
 *     the mean durations of slow and other requests is the sum of differences of own times over all
 *     methods.
 * Guard: one method has more than half of the difference.
 * Gain: what slow requests take beyond the mean of the others, in all entry points with the same
 *     method, more than 5 % of all time.
 * Confidence: likely.
 */
#include "analysis/diagnose/requests/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define EXCESS_MIN 0.05
#define METHOD_MIN 0.50

/* Own time and calls of a method in a slow and in another request, on average. */
struct contrast {
    const lode_function *method;
    double slow_own, other_own, slow_calls, other_calls;
    double part; /* of the difference of durations */
};

/* Entry points whose slow requests have the same method in common. */
struct cause {
    const struct entry *entry; /* with the most excess */
    struct contrast contrast;  /* of that */
    double most;
    uint32_t entries, slow, count;
    double limit; /* the smallest */
    struct part part;
    struct share gain;
};

/* The slow requests of an entry point. */
struct slowness {
    struct part excess;       /* beyond the mean of the others */
    lode_square own;          /* of all methods */
    struct contrast contrast; /* of the method with most of the difference; it may be NULL */
};

static void add_excess(const struct request_facts *facts, struct slowness *slowness)
{
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct request *request = &facts->requests[i];
        if (!(request->flags & REQUEST_SLOW))
            continue;
        struct part *part = &slowness[request->entry].excess;
        double excess = (double)request->duration - facts->entries[request->entry].usual;
        part->sum += excess;
        part->squares += excess * excess;
        part->products += excess * (double)request->duration;
    }
}

/* At most one has more than half, unless others have less than before: then, by name. */
static bool is_better(const struct request_facts *facts, const struct contrast *one,
                      const struct contrast *best)
{
    if (one->part <= METHOD_MIN)
        return false;
    if (best->method == NULL || one->part != best->part)
        return best->method == NULL || one->part > best->part;
    return facts->ranks[one->method->index] < facts->ranks[best->method->index];
}

static void add_method(const struct lode_diagnosis *d, const struct method_sum *sum,
                       const struct entry *entry, struct slowness *slowness)
{
    const struct request_facts *facts = d->requests;
    const struct method_sum *all = lode_diagnose_tables_find_method(facts->all, sum->entry, sum->function);
    double slow = entry->slow, others = entry->count - entry->slow;
    double difference = (double)slowness->own / slow - entry->usual;
    if (all == NULL)
        return;
    struct contrast one = {.method = lode_diagnose_request_function(d, sum->function),
                           .slow_own = (double)sum->own / slow,
                           .other_own = (double)(all->own - sum->own) / others,
                           .slow_calls = (double)sum->calls / slow,
                           .other_calls = (double)(all->calls - sum->calls) / others};
    one.part = difference > 0 ? (one.slow_own - one.other_own) / difference : 0;
    if (is_better(facts, &one, &slowness->contrast))
        slowness->contrast = one;
}

/* By entry point: what its slow requests take, and the method with most of the difference. */
static void find_methods(const struct lode_diagnosis *d, struct slowness *slowness)
{
    const struct request_facts *facts = d->requests;
    const struct lode_array *methods = &facts->slow->methods;
    add_excess(facts, slowness);
    for (size_t i = 0; i < methods->count; i++) {
        const struct method_sum *sum = LODE_ARRAY_AT(methods, struct method_sum, i);
        uint32_t number = facts->entry_of[sum->entry];
        if (number)
            slowness[number - 1].own += sum->own;
    }
    for (size_t i = 0; i < methods->count; i++) {
        const struct method_sum *sum = LODE_ARRAY_AT(methods, struct method_sum, i);
        uint32_t number = facts->entry_of[sum->entry];
        if (number && facts->entries[number - 1].slow >= SLOW_MIN)
            add_method(d, sum, &facts->entries[number - 1], &slowness[number - 1]);
    }
}

static const char *describe(struct lode_diagnosis *d, const struct contrast *method, bool is_entry)
{
    double usual = method->other_calls > 0 ? method->other_own / method->other_calls : 0;
    if (is_entry && method->slow_calls <= 1)
        return lode_diagnose_say(d,
                                 "it takes %s itself instead of %s: waiting, or calls that are not recorded",
                                 lode_diagnose_request_time(d, method->slow_own),
                                 lode_diagnose_request_time(d, method->other_own));
    if (method->other_calls <= 0)
        return lode_diagnose_say(
            d, "it is called %s, and never in other requests",
            method->slow_calls == 1 ? "once" : lode_diagnose_say(d, "%.3g times", method->slow_calls));
    /* Which of both explains more: the number of calls, or the time of a call. */
    double by_calls = (method->slow_calls - method->other_calls) * usual;
    if (by_calls > (method->slow_own - method->other_own) / 2)
        return lode_diagnose_say(d, "it is called %.3g times instead of %.3g", method->slow_calls,
                                 method->other_calls);
    return lode_diagnose_say(d, "a call takes %s itself instead of %s",
                             lode_diagnose_request_time(d, method->slow_own / method->slow_calls),
                             lode_diagnose_request_time(d, usual));
}

static const char *describe_times(struct lode_diagnosis *d, const struct contrast *method, const char *name)
{
    const char *time = lode_diagnose_request_time(d, method->slow_own);
    if (method->other_calls <= 0)
        return lode_diagnose_say(d, "%s: %s a slow request; the others do not call it", name, time);
    return lode_diagnose_say(d, "%s: %s instead of %s a request", name, time,
                             lode_diagnose_request_time(d, method->other_own));
}

static void add_entry(struct cause *cause, const struct entry *entry, const struct contrast *contrast,
                      struct part part)
{
    if (cause->entries++ == 0 || part.sum > cause->most) {
        cause->entry = entry;
        cause->contrast = *contrast;
        cause->most = part.sum;
    }
    cause->limit = cause->entries == 1 ? entry->limit : fmin(cause->limit, entry->limit);
    cause->slow += entry->slow;
    cause->count += entry->count;
    cause->part.sum += part.sum;
    cause->part.squares += part.squares;
    cause->part.products += part.products;
}

static lode_status say(struct lode_diagnosis *d, const struct cause *cause, lode_error *error)
{
    struct draft draft = {.statement = {.id = "slow-method", .confidence = LODE_LIKELY}};
    const struct entry *entry = cause->entry;
    const struct contrast *contrast = &cause->contrast;
    const char *name = lode_diagnose_request_method(d, entry->function);
    const char *inner = lode_diagnose_request_method(d, contrast->method);
    const char *more =
        cause->entries == 1 ? "" : lode_diagnose_say(d, " (and of %" PRIu32 " more)", cause->entries - 1);
    bool is_entry = contrast->method == entry->function;
    lode_diagnose_set_gain_within(&draft, cause->gain.value, cause->gain.low, cause->gain.high);
    draft.statement.function = inner;
    lode_diagnose_set_text(d, &draft,
                           "%" PRIu32 " of %" PRIu32
                           " requests of %s%s are slow: over %s, median %s. %.0f%% of the "
                           "difference is in %s: %s.",
                           cause->slow, cause->count, name, more, lode_diagnose_request_time(d, entry->limit),
                           lode_diagnose_request_time(d, entry->median), 100 * contrast->part,
                           is_entry ? "the method" : inner, describe(d, contrast, is_entry));
    lode_diagnose_show(d, &draft, (contrast->slow_own - contrast->other_own) / 1e9, "seconds", "%s",
                       describe_times(d, contrast, inner));
    LODE_SET_COMMAND(
        &draft, "search", lode_diagnose_request_option(d, "method", inner),
        lode_diagnose_request_option(d, "min-duration", lode_diagnose_request_duration(d, cause->limit)),
        "--sort=duration");
    lode_diagnose_show(d, &draft, cause->gain.value, "share",
                       "beyond the usual, slow requests take %.1f%% of the time of "
                       "all requests",
                       100 * cause->gain.value);
    LODE_SET_COMMAND(&draft, "tree", lode_diagnose_request_option(d, "callers", inner));
    return lode_diagnose_add_statement(d, &draft, error);
}

/* By method; `of` is by function: its cause plus 1. */
static size_t list_causes(const struct request_facts *facts, const struct slowness *slowness,
                          struct cause *causes, uint32_t *of)
{
    size_t count = 0;
    for (uint32_t i = 0; i < facts->entry_count; i++) {
        const struct contrast *contrast = &slowness[i].contrast;
        if (contrast->method == NULL)
            continue;
        uint32_t *number = &of[contrast->method->index];
        if (*number == 0)
            *number = (uint32_t)++count;
        add_entry(&causes[*number - 1], &facts->entries[i], contrast, slowness[i].excess);
    }
    return count;
}

static lode_status judge(struct lode_diagnosis *d, struct slowness *slowness, struct cause *causes,
                         uint32_t *of, lode_error *error)
{
    struct request_facts *facts = d->requests;
    const struct cause *best = NULL;
    find_methods(d, slowness);
    size_t count = list_causes(facts, slowness, causes, of);
    for (size_t i = 0; i < count; i++) {
        causes[i].gain = lode_diagnose_request_share(facts, &causes[i].part);
        if (causes[i].gain.low > EXCESS_MIN && (best == NULL || causes[i].gain.value > best->gain.value))
            best = &causes[i];
    }
    for (uint32_t i = 0; best && i < facts->entry_count; i++)
        facts->entries[i].has_slow_method = slowness[i].contrast.method == best->contrast.method;
    return best ? say(d, best, error) : LODE_OK;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    if (facts->slow == NULL)
        return LODE_OK;
    struct slowness *slowness = calloc((size_t)facts->entry_count + 1, sizeof *slowness);
    struct cause *causes = calloc((size_t)facts->entry_count + 1, sizeof *causes);
    uint32_t *of = calloc((size_t)recording_functions(facts->recording)->count + 1, sizeof *of);
    lode_status status =
        slowness && causes && of ? judge(d, slowness, causes, of, error) : lode_fail_memory(error);
    free(slowness);
    free(causes);
    free(of);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_slow_method = {
    "slow-method", "slow requests take more than 5% of all time, mostly in one method",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_ENTRY, run};
