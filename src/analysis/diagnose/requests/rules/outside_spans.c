/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outside-spans: clients wait while no call of the server runs.
 * Needs: spans of services.
 * Computation: time of calls of clients that the calls of their servers do not cover / time of all
 *     requests; on main tracks, so that it is time that passed.
 * Guard: the lower end of the interval. Limit: 25 %. Gain: none. Confidence: sure.
 */
#include "analysis/diagnose/requests/services/speak.h"

#include <stdlib.h>

#define OUTSIDE_MIN 0.25

static lode_status say(struct lode_diagnosis *d, const struct service_found *all,
                       const struct service_found *most, lode_error *error)
{
    struct draft draft = {.statement = {.id = "outside-spans", .confidence = LODE_SURE}};
    const struct service_sum *sum = most->sum;
    const char *client = lode_diagnose_service_name(d, most->key->function);
    const char *server = lode_diagnose_service_name(d, most->key->other);
    lode_diagnose_set_text(d, &draft,
                           "In %.0f%% of the time of all requests clients wait while no call of the server "
                           "runs, most from %s to %s: network, connections, or queues before the server.",
                           100 * all->gain.value, client, server);
    draft.statement.function = client;
    lode_diagnose_show(d, &draft, all->gain.value, "share", "%.1f%% (95%% interval: %.1f to %.1f%%)",
                       100 * all->gain.value, 100 * all->gain.low, 100 * all->gain.high);
    LODE_SET_COMMAND(&draft, "tree", lode_diagnose_request_option(d, "callers", server));
    lode_diagnose_show(d, &draft, (double)sum->time / 1e9, "seconds", "%s to %s: %s of %s a call", client,
                       server, lode_diagnose_request_time(d, (double)sum->time / (double)sum->calls),
                       lode_diagnose_request_time(d, (double)sum->extent / (double)sum->calls));
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, SUM_OUTSIDE, &count);
    const struct service_found *all = NULL, *most = NULL;
    LODE_TRY_ALLOC(found, error);
    for (size_t i = 0; i < count; i++) {
        if (found[i].key->function == NO_CALL)
            all = &found[i];
        else
            most = most ? most : &found[i];
    }
    lode_status status = LODE_OK;
    if (all && most && all->gain.low > OUTSIDE_MIN)
        status = say(d, all, most, error);
    free(found);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_outside_spans = {
    "outside-spans", "clients wait while no call of the server runs, for more than 25% of all time",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_SERVICES | 1u << REQUEST_NEED_STATEMENTS, run};
