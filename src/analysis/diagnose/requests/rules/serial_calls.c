/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serial-calls: a call asks several services one after the other.
 * Needs: spans of services, 30 such calls.
 * Computation: 3 or more calls of servers, of at least two kinds, each begun after the end of the
 * one before;
 *     what they take without the longest one / time of the caller.
 * Guard: less than a fifth of the time lies between them, since work between them likely uses
 *     answers. An answer may be needed without any work: possible. Statements are no servers:
 *     those of a transaction have an order.
 * Limit: 25 % of the time of the caller. Gain: the time without the longest, at most.
 */
#include "analysis/diagnose/requests/services/speak.h"

#include <inttypes.h>
#include <stdlib.h>

#define SERIAL_MIN 0.25

enum {
    SHOWN = 2
};

static lode_status say(struct lode_diagnosis *d, const struct service_found *found, lode_error *error)
{
    struct draft draft = {.statement = {.id = "serial-calls", .confidence = LODE_POSSIBLE, .is_bound = 1}};
    const struct service_sum *sum = found->sum;
    const char *caller = lode_diagnose_service_name(d, found->key->function);
    double times = (double)sum->groups;
    lode_diagnose_set_text(
        d, &draft,
        "%s calls services one after the other: %.3g calls take %s; at the same time, they would take %s.",
        caller, (double)sum->calls / times, lode_diagnose_request_time(d, (double)sum->time / times),
        lode_diagnose_request_time(d, (double)(sum->time - sum->saved) / times));
    draft.statement.function = caller;
    draft.statement.advice = "If no call needs the answer of another one, make them at the same time.";
    lode_diagnose_service_set_gain(&draft, &found->gain);
    lode_diagnose_show(d, &draft, found->of_caller, "share",
                       "%" PRIu64 " times; %.0f%% of the time of %s could go", sum->groups,
                       100 * found->of_caller, caller);
    LODE_SET_COMMAND(&draft, "tree", lode_diagnose_request_option(d, "focus", caller), "--depth=2");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0, said = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, SUM_SERIAL, &count);
    LODE_TRY_ALLOC(found, error);
    lode_status status = LODE_OK;
    for (size_t i = 0; status == LODE_OK && i < count && said < SHOWN; i++)
        if (found[i].sum->groups >= REQUESTS_MIN && found[i].of_caller > SERIAL_MIN) {
            status = say(d, &found[i], error);
            said++;
        }
    free(found);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_serial_calls = {
    "serial-calls", "calls ask several services one after the other, for more than 25% of their time",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_SERVICES | 1u << REQUEST_NEED_STATEMENTS, run};
