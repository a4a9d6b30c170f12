/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for recordings of function calls, and what each of them needs. */
#include "analysis/diagnose/calls/facts.h"

#include <stdlib.h>

static const char *const reasons[CALL_NEED_COUNT] = {
    [CALL_NEED_DATA] = "too few calls",
};

static const struct rules rules = {NULL, 0, reasons};

lode_status lode_diagnose_calls(struct lode_diagnosis *d, const lode_recording *recording, lode_error *error)
{
    d->calls = calloc(1, sizeof *d->calls);
    LODE_TRY_ALLOC(d->calls, error);
    d->calls->recording = recording;
    d->run.source = LODE_RUN_CALLS;
    d->lacks[CALL_NEED_DATA] = true;
    return lode_run_rules(d, &rules, error);
}

void lode_call_facts_free(struct call_facts *facts)
{
    free(facts);
}
