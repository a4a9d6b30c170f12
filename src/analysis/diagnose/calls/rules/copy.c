/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy: copying memory takes more than 20 % of the time of threads, without what recording the
 * calls cost. Guard: that cost. Gain: the corrected share. Likely.
 */
#include "analysis/diagnose/calls/facts.h"

#include <inttypes.h>
#include <math.h>

#define COPY_MIN 0.20

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct call_place place = lode_diagnose_call_place(d, CALL_SET(COPY));
    double cost = (double)place.calls * (double)d->calls->cost;
    double share = lode_diagnose_call_share(d, fmax(0, place.time - cost));
    if (place.best == NULL || share <= COPY_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "copy", .confidence = LODE_LIKELY}};
    const char *pair = lode_diagnose_call_pair_name(d, place.best);
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, place.best->holder);
    lode_diagnose_set_text(d, &draft, "Copying memory takes %.0f%% of %s, %s in %s.", 100 * share,
                           lode_diagnose_call_basis(d, "the run time"), lode_diagnose_call_most(&place),
                           pair);
    lode_diagnose_show(d, &draft, place.part / 1e9, "seconds", "%s: %s in %" PRIu64 " calls", pair,
                       lode_diagnose_call_amount(d, place.part), place.best->calls);
    lode_diagnose_call_show_callers(d, &draft, place.best->entry);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_copy = {
    "copy", "copying memory takes more than 20% of the run time", CALL_NEEDS, run};
