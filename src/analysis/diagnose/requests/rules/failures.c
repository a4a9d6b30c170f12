/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failures: calls of an endpoint fail; where it begins, and what the failed calls have in common.
 * Needs: spans of services, 30 calls of the endpoint.
 * Computation: from a call of an endpoint that failed, and whose caller's endpoint did not, down to
 *     the innermost failed call; counted by endpoint, that call and its exception. Fisher's exact
 *     test, one-sided, of each value of an attribute, such as service.version, against all calls of
 *     the endpoint, corrected for the number of tests, p < 0.01.
 * Guard: 5 failures; the lower end of the interval. What is tried again until it succeeds is told
 *     by `retries`. Attributes that say what happened, such as a status, are no causes.
 * Limit: 5 % of the calls of the endpoint. Gain: none. Confidence: sure.
 * Explains: error-rate, if half of the failed requests are of this kind.
 */
#include "analysis/diagnose/requests/services/speak.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MIN  0.05
#define TEST_P    0.01
#define LIFT_MIN  1.5
#define MOST      0.5
#define EXPLAINED 0.5

enum {
    FAILURES_MIN = 5,
    SHOWN = 3
};

/* What attributes say of the outcome. */
static bool is_outcome(const char *key)
{
    static const char *const keys[] = {"http.response.status_code",
                                       "http.status_code",
                                       "http.status_text",
                                       "error",
                                       "error.type",
                                       "otel.status_code",
                                       "otel.status_description",
                                       "rpc.grpc.status_code",
                                       "http.response.body.size",
                                       "exception.type"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static const struct feature *feature_at(const struct service_tables *tables, size_t index,
                                        const struct feature_key **key)
{
    *key = LODE_ARRAY_AT(&tables->feature_keys.items, struct feature_key, index);
    return LODE_ARRAY_AT(&tables->features, struct feature, index);
}

static const struct feature *all_calls(const struct service_tables *tables, uint32_t endpoint)
{
    struct feature_key key = {FEATURE_ALL, endpoint, 0, 0};
    uint32_t at = lode_interner_find(&tables->feature_keys, &key);
    return at == LODE_NO_NUMBER ? NULL : LODE_ARRAY_AT(&tables->features, struct feature, at);
}

/* A value that failed calls of an endpoint have in common. */
struct common {
    const char *key, *value;
    const struct feature *feature, *all;
    uint32_t endpoint;
    double p;
};

static bool is_tested(const struct service_tables *tables, const struct feature_key *key,
                      const struct feature *feature, const struct feature *all)
{
    return key->kind == FEATURE_VALUE && !service_has_many_values(tables, key->key) &&
           feature->calls < all->calls && !is_outcome(lode_strings_at(&tables->names, key->key));
}

static struct common find_common(const struct service_tables *tables, uint32_t endpoint,
                                 const struct feature *all)
{
    struct common best = {.p = TEST_P};
    const struct feature_key *key;
    size_t tests = 0;
    for (size_t i = 0; i < tables->features.count; i++) {
        const struct feature *feature = feature_at(tables, i, &key);
        tests += key->endpoint == endpoint && is_tested(tables, key, feature, all);
    }
    for (size_t i = 0; i < tables->features.count; i++) {
        const struct feature *feature = feature_at(tables, i, &key);
        if (key->endpoint != endpoint || !is_tested(tables, key, feature, all))
            continue;
        double share = (double)feature->failed / (double)all->failed;
        double lift = share / ((double)feature->calls / (double)all->calls);
        double p = (double)tests * lode_diagnose_hypergeometric_tail(feature->failed, all->failed,
                                                                     feature->calls, all->calls);
        struct common one = {lode_strings_at(&tables->names, key->key),
                             lode_strings_at(&tables->values, key->what),
                             feature,
                             all,
                             endpoint,
                             p};
        int order = best.key ? strcmp(one.key, best.key) : -1;
        if (share >= MOST && lift >= LIFT_MIN && (p < best.p || (p == best.p && order < 0)))
            best = one;
    }
    return best;
}

/*
 * Of the endpoint, and of those in which the failures begin: another service has another release.
 */
static struct common find_best(const struct service_tables *tables, const struct service_key *failure)
{
    struct common best = {.p = TEST_P};
    for (size_t i = 0; i < tables->features.count; i++) {
        const struct feature_key *key;
        feature_at(tables, i, &key);
        bool is_origin = key->kind == FEATURE_CALLS && key->what == failure->other;
        bool is_endpoint = key->kind == FEATURE_ALL &&
                           (key->endpoint == failure->function || key->endpoint == failure->other);
        const struct feature *all = is_origin || is_endpoint ? all_calls(tables, key->endpoint) : NULL;
        if (all == NULL || all->failed < FAILURES_MIN)
            continue;
        struct common one = find_common(tables, key->endpoint, all);
        int order = best.key && one.key ? strcmp(one.key, best.key) : -1;
        if (one.key && (one.p < best.p || (one.p == best.p && order < 0)))
            best = one;
    }
    return best;
}

static uint32_t failed_requests(const struct request_facts *facts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++)
        count += (facts->requests[i].flags & REQUEST_FAILED) != 0;
    return count;
}

static void show_common(struct lode_diagnosis *d, struct draft *draft, const struct service_key *failure)
{
    struct common common = find_best(d->requests->services, failure);
    if (common.key == NULL)
        return;
    lode_diagnose_show(d, draft, (double)common.feature->failed, "calls",
                       "%" PRIu64 " of %" PRIu64 " failed calls of %s have %s=%s; of all its calls, %" PRIu64
                       " of %" PRIu64 " have it (by chance: p = %.2g)",
                       common.feature->failed, common.all->failed,
                       lode_diagnose_service_name(d, common.endpoint), common.key, common.value,
                       common.feature->calls, common.all->calls, common.p);
    if (strpbrk(common.key, "=<>~!") == NULL)
        LODE_SET_COMMAND(draft, "search", "--errors",
                         lode_diagnose_request_option(
                             d, "attribute", lode_diagnose_say(d, "%s=%s", common.key, common.value)));
}

static lode_status say(struct lode_diagnosis *d, const struct service_found *found, const struct feature *all,
                       lode_error *error)
{
    struct draft draft = {.statement = {.id = "failures", .confidence = LODE_SURE}};
    const struct service_sum *sum = found->sum;
    const char *endpoint = lode_diagnose_service_name(d, found->key->function);
    const char *origin = lode_diagnose_service_name(d, found->key->other);
    const char *type = found->key->text ? lode_diagnose_service_quote(d, found->key->text) : "an error";
    struct share rate = lode_diagnose_count_share((double)sum->calls, (double)all->calls);
    lode_diagnose_set_text(d, &draft, "%" PRIu64 " of %" PRIu64 " calls of %s fail: %s in %s.", sum->calls,
                           all->calls, endpoint, type,
                           found->key->other == found->key->function ? "it" : origin);
    draft.statement.function = origin;
    lode_diagnose_show(d, &draft, rate.value, "share", "%.1f%% (95%% interval: %.1f to %.1f%%)",
                       100 * rate.value, 100 * rate.low, 100 * rate.high);
    LODE_SET_COMMAND(&draft, "search", "--errors", lode_diagnose_request_option(d, "method", origin));
    show_common(d, &draft, found->key);
    if ((double)sum->requests >= EXPLAINED * failed_requests(d->requests))
        LODE_ADD_EXPLAINS(&draft, "error-rate");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* Whether something above made most of them good. */
static bool is_made_good(const struct service_found *found)
{
    return 2 * found->sum->failed < found->sum->calls;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0, said = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, SUM_FAILURES, &count);
    LODE_TRY_ALLOC(found, error);
    bool has_retries = lode_diagnose_find_statement(d, "retries") != NULL;
    lode_status status = LODE_OK;
    for (size_t i = 0; i < count && said < SHOWN && status == LODE_OK; i++) {
        const struct feature *all = all_calls(d->requests->services, found[i].key->function);
        if (all == NULL || all->calls < REQUESTS_MIN || found[i].sum->calls < FAILURES_MIN ||
            (has_retries && is_made_good(&found[i])) ||
            lode_diagnose_count_share((double)found[i].sum->calls, (double)all->calls).low <= RATE_MIN)
            continue;
        status = say(d, &found[i], all, error);
        said++;
    }
    free(found);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_failures = {
    "failures", "more than 5% of the calls of an endpoint fail at one call",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_SERVICES | 1u << REQUEST_NEED_FEATURES |
        1u << REQUEST_NEED_STATEMENTS,
    run};
