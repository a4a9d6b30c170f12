/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for recordings of requests, and what each of them needs. */
#include "analysis/diagnose/requests/facts.h"

#include <stdlib.h>

static const char *const reasons[REQUEST_NEED_COUNT] = {
    [REQUEST_NEED_DATA] = "too few requests",
};

static const struct rules rules = {NULL, 0, reasons};

lode_status lode_diagnose_requests(struct lode_diagnosis *d, const lode_recording *recording,
                                   lode_error *error)
{
    d->requests = calloc(1, sizeof *d->requests);
    LODE_TRY_ALLOC(d->requests, error);
    d->requests->recording = recording;
    d->run.source = LODE_RUN_REQUESTS;
    d->lacks[REQUEST_NEED_DATA] = true;
    return lode_run_rules(d, &rules, error);
}

void lode_request_facts_free(struct request_facts *facts)
{
    free(facts);
}
