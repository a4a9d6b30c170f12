/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow-calls: a few calls of an endpoint of a service are slow, and have something in common.
 * Needs: spans of services, 30 calls of an endpoint: of a server, a consumer, or an outermost call.
 * Computation: calls of the endpoint with and without a value of an attribute, of it or of calls
 *     below it in the same service, or with a function that is called there; rank sum test
 *     (Mann-Whitney) over classes of durations, corrected for the number of tests, p < 0.01.
 * Guard: 5 calls or more, a fifth of all or fewer: others are no outliers; 3 times as long.
 * Gain: what they take beyond the mean of the others; more than 3 % of the time of the endpoint.
 *     Of causes with about the same gain, the most significant is named. Confidence: likely.
 */
#include "analysis/diagnose/requests/services/speak.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEST_P     0.01
#define FEW        0.20
#define TIMES_MIN  3.0
#define EXCESS_MIN 0.03
#define ALIKE      0.9

enum {
    CALLS_MIN = 5,
    SHOWN = 2
};

struct contrast {
    const struct feature_key *key;
    const struct feature *some, *all;
    double with, without; /* mean durations */
    double excess, z;
};

/* How many standard deviations the ranks of some are above those of the others. */
static double rank_sum(const struct feature *some, const struct feature *all)
{
    double n = (double)some->calls, m = (double)(all->calls - some->calls), total = n + m;
    double above = 0, below = 0, ties = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        double here = some->buckets[i], both = all->buckets[i], others = both - here;
        above += here * (below + others / 2);
        below += others;
        ties += both * both * both - both;
    }
    double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
    return variance > 0 ? (above - n * m / 2) / sqrt(variance) : 0;
}

static const struct feature *all_calls(const struct service_tables *tables, uint32_t endpoint)
{
    struct feature_key key = {FEATURE_ALL, endpoint, 0, 0};
    uint32_t at = lode_interner_find(&tables->feature_keys, &key);
    return at == LODE_NO_NUMBER ? NULL : LODE_ARRAY_AT(&tables->features, struct feature, at);
}

/* A test; false: this is not looked at. */
static bool compare(const struct service_tables *tables, size_t index, struct contrast *contrast)
{
    const struct feature_key *key = LODE_ARRAY_AT(&tables->feature_keys.items, struct feature_key, index);
    const struct feature *some = LODE_ARRAY_AT(&tables->features, struct feature, index);
    const struct feature *all = all_calls(tables, key->endpoint);
    if (key->kind == FEATURE_ALL || all == NULL || all->calls < REQUESTS_MIN || some->calls < CALLS_MIN ||
        (double)some->calls > FEW * (double)all->calls ||
        (key->kind == FEATURE_VALUE && service_has_many_values(tables, key->key)))
        return false;
    double n = (double)some->calls, m = (double)(all->calls - some->calls);
    *contrast = (struct contrast){.key = key, .some = some, .all = all};
    contrast->with = (double)some->time / n;
    contrast->without = (double)(all->time - some->time) / m;
    contrast->excess = n * (contrast->with - contrast->without);
    contrast->z = rank_sum(some, all);
    return true;
}

static bool is_slow(const struct contrast *contrast, size_t tests)
{
    double p = erfc(contrast->z / sqrt(2)) / 2 * (double)tests;
    return p < TEST_P && contrast->with >= TIMES_MIN * contrast->without &&
           contrast->excess > EXCESS_MIN * (double)contrast->all->time;
}

static const char *describe(struct lode_diagnosis *d, const struct contrast *contrast)
{
    const struct service_tables *tables = d->requests->services;
    if (contrast->key->kind == FEATURE_CALLS)
        return lode_diagnose_say(d, "that call %s", lode_diagnose_service_name(d, contrast->key->what));
    return lode_diagnose_say(d, "with %s=%s", lode_strings_at(&tables->names, contrast->key->key),
                             lode_strings_at(&tables->values, contrast->key->what));
}

/* Of those with about the same gain the most significant; then, by what is said. */
static bool is_better(struct lode_diagnosis *d, const struct contrast *one, const struct contrast *best)
{
    if (one->excess < ALIKE * best->excess || best->excess < ALIKE * one->excess)
        return one->excess > best->excess;
    if (one->z != best->z)
        return one->z > best->z;
    return strcmp(describe(d, one), describe(d, best)) < 0;
}

static lode_status say(struct lode_diagnosis *d, const struct contrast *found, lode_error *error)
{
    struct draft draft = {.statement = {.id = "slow-calls", .confidence = LODE_LIKELY}};
    const char *endpoint = lode_diagnose_service_name(d, found->key->endpoint);
    double total = d->requests->total, share = total > 0 ? found->excess / total : 0;
    struct share gain = {share, share, share};
    lode_diagnose_set_text(
        d, &draft, "%" PRIu64 " of %" PRIu64 " calls of %s take %s instead of %s: those %s.",
        found->some->calls, found->all->calls, endpoint, lode_diagnose_request_time(d, found->with),
        lode_diagnose_request_time(d, found->without), describe(d, found));
    draft.statement.function = endpoint;
    lode_diagnose_service_set_gain(&draft, &gain);
    lode_diagnose_show(d, &draft, found->excess / (double)found->all->time, "share",
                       "beyond the others they take %s, %.2g%% of the time of the endpoint and %.2g%% of "
                       "that of all requests",
                       lode_diagnose_request_time(d, found->excess),
                       100 * found->excess / (double)found->all->time, 100 * share);
    if (found->key->kind == FEATURE_CALLS)
        LODE_SET_COMMAND(
            &draft, "search",
            lode_diagnose_request_option(d, "method", lode_diagnose_service_name(d, found->key->what)),
            "--sort=duration");
    else
        LODE_SET_COMMAND(&draft, "search", lode_diagnose_request_option(d, "method", endpoint),
                         "--sort=duration");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The best of each endpoint, in place; how many there are. */
static size_t choose(struct lode_diagnosis *d, struct contrast *found, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < kept && found[k].key->endpoint != found[i].key->endpoint)
            k++;
        if (k == kept)
            found[kept++] = found[i];
        else if (is_better(d, &found[i], &found[k]))
            found[k] = found[i];
    }
    return kept;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct service_tables *tables = d->requests->services;
    size_t tests = 0, count = 0;
    struct contrast *found = calloc(tables->features.count + 1, sizeof *found);
    LODE_TRY_ALLOC(found, error);
    for (size_t i = 0; i < tables->features.count; i++)
        tests += compare(tables, i, &found[tests]);
    for (size_t i = 0; i < tests; i++)
        if (is_slow(&found[i], tests))
            found[count++] = found[i];
    count = choose(d, found, count);
    lode_status status = LODE_OK;
    for (size_t said = 0; said < SHOWN && count > 0 && status == LODE_OK; said++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if (is_better(d, &found[i], &found[best]))
                best = i;
        status = say(d, &found[best], error);
        found[best] = found[--count];
    }
    free(found);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_slow_calls = {
    "slow-calls", "a few calls of an endpoint are slow, and have something in common",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_SERVICES | 1u << REQUEST_NEED_FEATURES, run};
