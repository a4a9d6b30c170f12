/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * n-plus-one, identical-calls and retries of spans. Two numbers: the time that the calls take, and
 * that from the first to the last, with what is between them, which goes with them at most.
 */
#include "analysis/diagnose/requests/services/speak.h"
#include "base/text/count.h"

#include <inttypes.h>
#include <stdlib.h>

#define SAVED_MIN     0.03 /* of the time of all requests, or */
#define OF_CALLER_MIN 0.25 /* of that of their callers */
#define RETRIED_MIN   0.02 /* of the calls of the caller */

enum {
    REQUESTS_WITH_MIN = 5,
    STATEMENTS_SHOWN = 2 /* by a rule */
};

static const char *share_of(struct lode_diagnosis *d, lode_square time)
{
    double total = d->requests->total;
    return lode_diagnose_say(d, "%.2g%%", total > 0 ? 100 * (double)time / total : 0);
}

static bool is_worth(const struct service_found *found)
{
    return found->sum->requests >= REQUESTS_WITH_MIN &&
           (found->gain.low > SAVED_MIN ||
            (found->of_caller > OF_CALLER_MIN && found->sum->requests >= REQUESTS_MIN));
}

static lode_status say_round(struct lode_diagnosis *d, const struct service_found *found, lode_error *error)
{
    bool is_same = found->key->kind == SUM_IDENTICAL, has_text = found->key->text > 0;
    struct draft draft = {.statement = {.id = is_same ? "identical-calls" : "n-plus-one",
                                        .confidence = LODE_LIKELY,
                                        .is_bound = 1}};
    const struct service_sum *sum = found->sum;
    const char *caller = lode_diagnose_service_name(d, found->key->function);
    const char *callee = lode_diagnose_service_name(d, found->key->other);
    double times = (double)sum->calls / (double)sum->groups;
    if (has_text)
        lode_diagnose_set_text(d, &draft, "%s runs %s %.3g times a request, one after the other: %s", caller,
                               is_same ? "the same statement with the same values" : "one statement", times,
                               lode_diagnose_service_quote(d, found->key->text));
    else
        lode_diagnose_set_text(d, &draft, "%s calls %s %.3g times a request, one after the other.", caller,
                               callee, times);
    draft.statement.advice = is_same ? "Try to keep the result for the rest of the request."
                             : has_text
                                 ? "Try one statement for all rows: a join, a list of keys, or a batch."
                                 : "Try one call for all items, or calls at the same time.";
    draft.statement.function = callee;
    lode_diagnose_service_set_gain(&draft, &found->gain);
    lode_diagnose_show(d, &draft, (double)sum->calls, "calls",
                       "%" PRIu64 " calls in %" PRIu64 " of %" PRIu32 " requests", sum->calls, sum->requests,
                       d->requests->count);
    LODE_SET_COMMAND(&draft, "search", lode_diagnose_request_option(d, "method", callee), "--sort=calls");
    lode_diagnose_show(d, &draft, (double)sum->extent / 1e9, "seconds",
                       "the calls take %s, %s of the time of all requests; from the first to the last of a "
                       "request, %s, %s",
                       lode_diagnose_request_time(d, (double)sum->time), share_of(d, sum->time),
                       lode_diagnose_request_time(d, (double)sum->extent), share_of(d, sum->extent));
    LODE_SET_COMMAND(&draft, "tree", lode_diagnose_request_option(d, "callers", callee));
    if (!draft.statement.has_gain)
        lode_diagnose_show(d, &draft, found->of_caller, "share", "%.0f%% of the time of %s",
                           100 * found->of_caller, caller);
    return lode_diagnose_add_statement(d, &draft, error);
}

lode_status lode_diagnose_service_say_rounds(struct lode_diagnosis *d, enum service_sum_kind kind,
                                             lode_error *error)
{
    size_t count = 0, said = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, kind, &count);
    LODE_TRY_ALLOC(found, error);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < count && said < STATEMENTS_SHOWN && status == LODE_OK; i++)
        if (is_worth(&found[i])) {
            status = say_round(d, &found[i], error);
            said++;
        }
    free(found);
    return status;
}

static lode_status say_retry(struct lode_diagnosis *d, const struct service_found *found, uint64_t calls,
                             lode_error *error)
{
    struct draft draft = {.statement = {.id = "retries", .confidence = LODE_SURE}};
    const struct service_sum *sum = found->sum;
    const char *caller = lode_diagnose_service_name(d, found->key->function);
    const char *callee = lode_diagnose_service_name(d, found->key->other);
    lode_diagnose_set_text(d, &draft, "%s calls %s again after an error, in %" PRIu64 " of %s: %s.", caller,
                           callee, sum->groups, LODE_COUNTED(calls, "call", "calls"),
                           LODE_COUNTED(sum->failed, "try failed", "tries failed"));
    draft.statement.function = callee;
    lode_diagnose_service_set_gain(&draft, &found->gain);
    lode_diagnose_show(d, &draft, (double)sum->saved / 1e9, "seconds",
                       "up to the last try, pauses included, %s, %s of the time of all requests",
                       lode_diagnose_request_time(d, (double)sum->saved), share_of(d, sum->saved));
    LODE_SET_COMMAND(&draft, "search", lode_diagnose_request_option(d, "method", callee), "--errors",
                     "--sort=duration");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* Judged by how often calls are made again: what fails is a fault even if it is quick. */
lode_status lode_diagnose_service_say_retries(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0, said = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, SUM_RETRIES, &count);
    LODE_TRY_ALLOC(found, error);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < count && said < STATEMENTS_SHOWN && status == LODE_OK; i++) {
        const struct service_sum *caller =
            lode_diagnose_service_calls_of(d->requests, found[i].key->function);
        uint64_t calls = caller ? caller->calls : 0;
        struct share share = lode_diagnose_count_share((double)found[i].sum->groups, (double)calls);
        if (found[i].sum->groups < REQUESTS_WITH_MIN || share.low <= RETRIED_MIN)
            continue;
        status = say_retry(d, &found[i], calls, error);
        said++;
    }
    free(found);
    return status;
}
