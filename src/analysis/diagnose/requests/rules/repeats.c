/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * n-plus-one, identical-calls, retries: requests repeat a call.
 * Needs: 30 requests.
 * Computation: n-plus-one: 5 or more calls of one normalised statement in a request, with other
 *     values, or values that were not recorded; or 5 or more calls of one method by one call.
 *     identical-calls: the same with equal values. retries: the same call again after a call that
 *     failed, by one call.
 * Guard: a request counts once, with what all its methods repeat. Calls of a method inside of
 *     itself are a part of its call. The calls of a request take more than 50 ms or a tenth of it.
 *     Failed calls count as retries only, and retries end with the first success: otherwise it is a
 *     loop over items. A method without a statement may do something else each time: 10 % instead
 *     of 3 %, possible.
 * Gain: all but one of the calls, or up to the last try with all pauses; more than 3 % of all time.
 * Confidence: likely; retries: sure.
 * Spans of services have rules of their own for these three (services/rounds.c).
 */
#include "analysis/diagnose/requests/services/speak.h"
#include "base/text/count.h"

#include "base/compare.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAVED_MIN        0.03
#define SAVED_METHOD_MIN 0.10
#define INSIDE           0.8 /* of the time: one statement for both */

enum {
    REQUESTS_WITH_MIN = 5,
    STATEMENT_SHOWN = 120
};

/* A repeated call, by all methods that repeat it. */
struct found {
    const struct site_key *key; /* of the caller that takes most */
    uint32_t callers;
    uint64_t requests, calls;
    double time;
    struct part part;
    struct share gain;
};

static double limit_of(const struct site_key *key)
{
    return key->kind == REPEAT_METHOD ? SAVED_METHOD_MIN : SAVED_MIN;
}

static const char *text_of(const struct request_facts *facts, const struct site_key *key)
{
    return key->statement ? lode_strings_at(&facts->all->statements, key->statement - 1) : "";
}

static const struct site_key *key_at(const struct request_facts *facts, size_t index)
{
    return LODE_ARRAY_AT(&facts->all->site_keys.items, struct site_key, index);
}

static const struct site_sum *sum_at(const struct request_facts *facts, size_t index)
{
    return LODE_ARRAY_AT(&facts->all->site_sums, struct site_sum, index);
}

/* A site and its position in the order of names: numbers depend on which thread met one first. */
struct place {
    const struct request_facts *facts;
    size_t index;
};

static int compare_calls(const struct place *a, const struct place *b)
{
    const struct site_key *k = key_at(a->facts, a->index), *l = key_at(b->facts, b->index);
    if (k->function != l->function)
        return a->facts->ranks[k->function] < a->facts->ranks[l->function] ? -1 : 1;
    return k->statement == l->statement ? 0 : strcmp(text_of(a->facts, k), text_of(a->facts, l));
}

/* Sites of one call are contiguous: that of all callers, then the largest first. */
static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare_calls(a, b);
    if (order)
        return order;
    uint32_t k = key_at(a->facts, a->index)->caller, l = key_at(b->facts, b->index)->caller;
    if (k == ALL_CALLERS || l == ALL_CALLERS)
        return k == ALL_CALLERS ? -1 : 1;
    lode_square m = sum_at(a->facts, a->index)->saved, n = sum_at(b->facts, b->index)->saved;
    if (m != n)
        return m > n ? -1 : 1;
    return LODE_COMPARE(a->facts->ranks[k], a->facts->ranks[l]);
}

/* Sites of one call: that of all callers, and at least one of a caller. */
static struct found describe(const struct request_facts *facts, const struct place *places, size_t count)
{
    const struct site_sum *sum = sum_at(facts, places[0].index);
    struct found found = {.key = key_at(facts, places[1].index),
                          .callers = (uint32_t)count - 1,
                          .requests = sum->requests,
                          .calls = sum->calls,
                          .time = (double)sum->time,
                          .part = {(double)sum->saved, (double)sum->squares, (double)sum->products}};
    found.gain = lode_diagnose_request_share(facts, &found.part);
    return found;
}

/* The repeated call of a kind that takes most; its key is NULL if there is none. */
static lode_status find(const struct request_facts *facts, enum repeat_kind kind, struct found *best,
                        lode_error *error)
{
    size_t count = 0;
    struct place *places = calloc(facts->all->site_sums.count + 1, sizeof *places);
    LODE_TRY_ALLOC(places, error);
    for (size_t i = 0; i < facts->all->site_sums.count; i++)
        if (key_at(facts, i)->kind == kind)
            places[count++] = (struct place){facts, i};
    if (count)
        qsort(places, count, sizeof *places, compare_places);
    *best = (struct found){0};
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_calls(&places[i], &places[end]) == 0;)
            end++;
        struct found one = describe(facts, &places[i], end - i);
        if (one.requests >= REQUESTS_WITH_MIN && one.gain.low > limit_of(one.key) &&
            one.part.sum > best->part.sum)
            *best = one;
    }
    free(places);
    return LODE_OK;
}

static const char *shortened(struct lode_diagnosis *d, const char *text)
{
    size_t length = strlen(text), shown = STATEMENT_SHOWN;
    if (length <= STATEMENT_SHOWN)
        return text;
    while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--;
    return lode_diagnose_say(d, "%.*s...", (int)shown, text);
}

/* The slow requests of these methods are explained. */
static void explain_slow(struct lode_diagnosis *d, struct draft *draft, const char *method,
                         const char *caller)
{
    const struct draft *slow = lode_diagnose_find_statement(d, "slow-method");
    if (slow &&
        (strcmp(slow->statement.function, method) == 0 || strcmp(slow->statement.function, caller) == 0))
        LODE_ADD_EXPLAINS(draft, "slow-method");
}

/* The method that repeats a call. */
static const char *caller_of(struct lode_diagnosis *d, const struct found *found)
{
    const char *name = lode_diagnose_request_method(d, lode_diagnose_request_function(d, found->key->caller));
    return found->callers == 1 ? name
                               : lode_diagnose_say(d, "%s (and %s)", name,
                                                   LODE_COUNTED(found->callers - 1, "other", "others"));
}

static lode_status say(struct lode_diagnosis *d, const struct found *found, struct draft *draft,
                       lode_error *error)
{
    const char *name =
        lode_diagnose_request_method(d, lode_diagnose_request_function(d, found->key->function));
    const char *caller =
        lode_diagnose_request_method(d, lode_diagnose_request_function(d, found->key->caller));
    lode_diagnose_set_gain_within(draft, found->gain.value, found->gain.low, found->gain.high);
    draft->statement.function = name;
    lode_diagnose_show(d, draft, (double)found->calls, "calls",
                       "%" PRIu64 " calls in %" PRIu64 " of %" PRIu32 " requests", found->calls,
                       found->requests, d->requests->count);
    LODE_SET_COMMAND(draft, "search", lode_diagnose_request_option(d, "method", name), "--sort=calls");
    lode_diagnose_show(d, draft, found->time / 1e9, "seconds", "%s of the %s that all requests take",
                       lode_diagnose_request_time(d, found->time),
                       lode_diagnose_request_time(d, d->requests->total));
    LODE_SET_COMMAND(draft, "tree", lode_diagnose_request_option(d, "callers", name));
    explain_slow(d, draft, name, caller);
    return lode_diagnose_add_statement(d, draft, error);
}

static double times_of(const struct found *found)
{
    return (double)found->calls / (double)found->requests;
}

/* Whether a repeated method is said already: by its statements, or as a method of slow requests. */
static lode_status is_said(struct lode_diagnosis *d, const struct found *found, bool *out, lode_error *error)
{
    struct found other;
    const struct draft *slow = lode_diagnose_find_statement(d, "slow-method");
    const char *name =
        lode_diagnose_request_method(d, lode_diagnose_request_function(d, found->key->function));
    LODE_TRY(find(d->requests, REPEAT_IDENTICAL, &other, error));
    *out = (other.key && other.key->caller == found->key->caller && other.time > INSIDE * found->time) ||
           (slow && strcmp(slow->statement.function, name) == 0);
    return LODE_OK;
}

static lode_status say_method(struct lode_diagnosis *d, lode_error *error)
{
    struct found found;
    bool is_known = false;
    LODE_TRY(find(d->requests, REPEAT_METHOD, &found, error));
    if (found.key)
        LODE_TRY(is_said(d, &found, &is_known, error));
    if (found.key == NULL || is_known)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "n-plus-one", .confidence = LODE_POSSIBLE}};
    lode_diagnose_set_text(
        d, &draft, "%s calls %s %.3g times a request.", caller_of(d, &found),
        lode_diagnose_request_method(d, lode_diagnose_request_function(d, found.key->function)),
        times_of(&found));
    return say(d, &found, &draft, error);
}

static lode_status run_n_plus_one(struct lode_diagnosis *d, lode_error *error)
{
    struct found found;
    if (d->requests->services)
        return lode_diagnose_service_say_rounds(d, SUM_ROUNDS, error);
    LODE_TRY(find(d->requests, REPEAT_STATEMENT, &found, error));
    if (found.key == NULL)
        return say_method(d, error);
    struct draft draft = {.statement = {.id = "n-plus-one", .confidence = LODE_LIKELY}};
    lode_diagnose_set_text(d, &draft, "%s runs one statement %.3g times a request: %s", caller_of(d, &found),
                           times_of(&found), shortened(d, text_of(d->requests, found.key)));
    draft.statement.advice = "Try one statement for all rows: a join, a list of keys, or a batch.";
    return say(d, &found, &draft, error);
}

static lode_status run_identical(struct lode_diagnosis *d, lode_error *error)
{
    struct found found;
    if (d->requests->services)
        return lode_diagnose_service_say_rounds(d, SUM_IDENTICAL, error);
    LODE_TRY(find(d->requests, REPEAT_IDENTICAL, &found, error));
    if (found.key == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "identical-calls", .confidence = LODE_LIKELY}};
    lode_diagnose_set_text(
        d, &draft, "%s runs the same statement with the same values %.3g times a request: %s",
        caller_of(d, &found), times_of(&found), shortened(d, text_of(d->requests, found.key)));
    draft.statement.advice = "Try to keep the result for the rest of the request.";
    return say(d, &found, &draft, error);
}

static lode_status run_retries(struct lode_diagnosis *d, lode_error *error)
{
    struct found found;
    if (d->requests->services)
        return lode_diagnose_service_say_retries(d, error);
    LODE_TRY(find(d->requests, REPEAT_RETRY, &found, error));
    if (found.key == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "retries", .confidence = LODE_SURE}};
    lode_diagnose_set_text(
        d, &draft,
        "%s calls %s again after an error, %.3g times in each of %" PRIu64 " requests; up to the last try it "
        "takes %.0f%% of the time of all requests.",
        caller_of(d, &found),
        lode_diagnose_request_method(d, lode_diagnose_request_function(d, found.key->function)),
        times_of(&found), found.requests, 100 * found.gain.value);
    return say(d, &found, &draft, error);
}

enum {
    NEEDS = 1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_STATEMENTS
};

const struct lode_diagnose_rule lode_diagnose_request_rule_n_plus_one = {
    "n-plus-one", "requests run one statement 5 times or more, for more than 3% of all time", NEEDS,
    run_n_plus_one};
const struct lode_diagnose_rule lode_diagnose_request_rule_identical_calls = {
    "identical-calls", "requests run a statement with equal values 5 times or more, for more than 3%", NEEDS,
    run_identical};
const struct lode_diagnose_rule lode_diagnose_request_rule_retries = {
    "retries", "calls are made again after an error, for more than 3% of all time", NEEDS, run_retries};
