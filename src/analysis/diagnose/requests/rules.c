/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for recordings of requests, and what each of them needs. */
#include "analysis/diagnose/requests/facts.h"

#include <stdlib.h>

static const char *const reasons[REQUEST_NEED_COUNT] = {
    [REQUEST_NEED_DATA] = "too few requests",
    [REQUEST_NEED_SPAN] = "all requests begin at the same time",
    [REQUEST_NEED_CLOCK] = "requests are too short for the clock",
    [REQUEST_NEED_MANY] = "fewer than 100 requests",
    [REQUEST_NEED_ENTRY] = "no entry point with 30 requests",
    [REQUEST_NEED_ATTRIBUTES] = "too many kinds of attributes",
    [REQUEST_NEED_STATEMENTS] = "too many different statements",
    [REQUEST_NEED_SERVICES] = "no spans of services",
    [REQUEST_NEED_FEATURES] = "too many attributes of calls",
};

static const struct lode_diagnose_rule *const items[] = {
#define DIAGNOSE_RULE(name, file) &lode_diagnose_request_rule_##name,
#include "analysis/diagnose/requests/rules.def"
};

enum {
    RULES = sizeof items / sizeof *items
};

/*
 * Rules about services are none of other stores: these do not list them as such that lack
 * something.
 */
static lode_status run_rules(struct lode_diagnosis *d, lode_error *error)
{
    const struct lode_diagnose_rule *chosen[RULES];
    struct lode_diagnose_rules rules = {chosen, 0, reasons};
    for (size_t i = 0; i < RULES; i++)
        if (d->requests->services || !(items[i]->needs >> REQUEST_NEED_SERVICES & 1))
            chosen[rules.count++] = items[i];
    return lode_diagnose_run_rules(d, &rules, error);
}

static void describe_run(struct lode_diagnosis *d)
{
    const struct request_facts *facts = d->requests;
    uint64_t end = facts->first;
    for (uint32_t i = 0; i < facts->count; i++) {
        uint64_t stop = facts->requests[i].begin + facts->requests[i].duration;
        end = stop > end ? stop : end;
    }
    d->run.is_seconds = 1;
    d->run.seconds = d->run.run_time = (double)(end - facts->first) / 1e9;
    d->run.total = facts->total / 1e9;
    d->run.calls = facts->calls;
    d->run.requests = facts->count;
    d->run.entry_points = facts->entry_count;
}

lode_status lode_diagnose_requests(struct lode_diagnosis *d, const lode_recording *recording,
                                   lode_error *error)
{
    d->requests = calloc(1, sizeof *d->requests);
    LODE_TRY_ALLOC(d->requests, error);
    d->requests->recording = recording;
    d->run.source = LODE_RUN_REQUESTS;
    LODE_TRY(lode_diagnose_request_facts_read(d, error));
    describe_run(d);
    LODE_TRY(lode_diagnose_request_quality(d, error));
    return run_rules(d, error);
}
