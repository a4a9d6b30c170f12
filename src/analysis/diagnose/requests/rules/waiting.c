/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waiting: calls wait for a lock, or for a connection of a pool.
 * Needs: spans of services, 30 calls of the one that waits.
 * Computation: time of calls whose name says that they wait for a lock, a pool or a connection
 *     (services/wait.c) / time of the calls that make them.
 * Guard: 1 ms on average, since clocks are no more exact; names with a route are requests.
 * Limit: 10 %. Gain: the time of the waits. Confidence: likely.
 */
#include "analysis/diagnose/requests/services/speak.h"
#include "base/text/count.h"

#include <stdlib.h>

#define WAIT_MIN 0.10

enum {
    MEAN_MIN = 1000 * 1000, /* nanoseconds */
    SHOWN = 2
};

/* What most often comes right after the wait: likely, this is what the lock is held for. */
static const struct service_found *find_holder(const struct service_found *after, size_t count, uint32_t wait)
{
    const struct service_found *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (after[i].key->function == wait && (best == NULL || after[i].sum->calls > best->sum->calls))
            best = &after[i];
    return best;
}

static lode_status say(struct lode_diagnosis *d, const struct service_found *found,
                       const struct service_found *holder, lode_error *error)
{
    struct draft draft = {.statement = {.id = "waiting", .confidence = LODE_LIKELY}};
    const struct service_sum *sum = found->sum;
    const char *wait = lode_diagnose_service_name(d, found->key->other);
    lode_diagnose_set_text(d, &draft, "%s waits: %s takes %.0f%% of its time, %s on average and at most %s.",
                           lode_diagnose_service_name(d, found->key->function), wait, 100 * found->of_caller,
                           lode_diagnose_request_time(d, (double)sum->time / (double)sum->calls),
                           lode_diagnose_request_time(d, (double)sum->most));
    draft.statement.function = wait;
    lode_diagnose_service_set_gain(&draft, &found->gain);
    lode_diagnose_show(
        d, &draft, (double)sum->time / 1e9, "seconds", "%s in %s, %.2g%% of the time of all requests",
        lode_diagnose_request_time(d, (double)sum->time), LODE_COUNTED(sum->calls, "wait", "waits"),
        d->requests->total > 0 ? 100 * (double)sum->time / d->requests->total : 0);
    LODE_SET_COMMAND(&draft, "search", lode_diagnose_request_option(d, "method", wait), "--sort=duration");
    if (holder)
        lode_diagnose_show(
            d, &draft, (double)holder->sum->time / 1e9, "seconds",
            "after it comes %s, %s on average: what others wait for, likely",
            lode_diagnose_service_name(d, holder->key->other),
            lode_diagnose_request_time(d, (double)holder->sum->time / (double)holder->sum->calls));
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = 0, after_count = 0, said = 0;
    struct service_found *found = lode_diagnose_service_list(d->requests, SUM_WAITS, &count);
    struct service_found *after = lode_diagnose_service_list(d->requests, SUM_AFTER, &after_count);
    lode_status status = found && after ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; status == LODE_OK && i < count && said < SHOWN; i++) {
        const struct service_sum *sum = found[i].sum;
        if (sum->calls < REQUESTS_MIN || found[i].of_caller <= WAIT_MIN || sum->time / sum->calls < MEAN_MIN)
            continue;
        status = say(d, &found[i], find_holder(after, after_count, found[i].key->other), error);
        said++;
    }
    free(found);
    free(after);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_waiting = {
    "waiting", "calls wait for a lock or a pool for more than 10% of their time",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_SERVICES | 1u << REQUEST_NEED_STATEMENTS, run};
