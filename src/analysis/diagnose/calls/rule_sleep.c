/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleep: threads sleep again and again, for more than 10 % of their time.
 * Guard: one sleep is one-off-wait's. A program may be meant to do so: possible, no gain. It
 * explains a low efficiency if it is most of what is lost.
 */
#include "analysis/diagnose/calls/facts.h"

#include <inttypes.h>

#define SLEEP_MIN 0.10
#define MOST      0.50
#define AGAIN     5

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct call_place place = lode_call_place(d, CALL_SET(SLEEP));
    double share = lode_call_share(d, place.time);
    if (place.best == NULL || share <= SLEEP_MIN || place.best->calls < AGAIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "sleep", .confidence = LODE_POSSIBLE}};
    const char *pair = lode_call_pair_name(d, place.best);
    draft.statement.function = lode_call_name(d, place.best->holder);
    draft.statement.text = lode_say(d, "Threads sleep %.0f%% of %s, %s in %s.", 100 * share,
                                    lode_call_basis(d, "their time"), lode_call_most(&place), pair);
    draft.statement.advice = "If they wait for something, try to wake them instead.";
    lode_call_show_callers(
        d,
        lode_add_evidence(
            &draft,
            lode_say(d, "%s: %" PRIu64 " calls of %s each", pair, place.best->calls,
                     lode_call_amount(d, lode_call_pair_time(place.best) / (double)place.best->calls)),
            (double)place.best->calls, "calls"),
        place.best->entry);
    if (d->has_efficiency && share > MOST * (1 - d->efficiency.parallel))
        lode_add_explains(&draft, "efficiency");
    return lode_add_statement(d, &draft, error);
}

const struct rule lode_call_rule_sleep = {
    "sleep", "threads sleep again and again, for more than 10% of their time", CALL_NEEDS, run};
