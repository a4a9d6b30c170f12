/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * efficiency: threads do useful work in less than 80 % of the run time.
 * Needs: several threads. Guard: time that threads were pre-empted is not theirs, so that the rest
 * has to be below the limit, too; not on machines with too few processors.
 * Gain: 1 - efficiency. Likely; a cause explains it.
 */
#include "analysis/diagnose/calls/facts.h"

#define ACCEPTABLE 0.8

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const lode_efficiency *e = &d->efficiency;
    static const char *const words[] = {"profiles", NULL};
    double stolen = 0;
    for (size_t i = 0; i < d->calls->track_count; i++)
        stolen += (double)d->calls->tracks[i].stolen;
    stolen = lode_call_share(d, stolen);
    if (!d->has_efficiency || stolen >= 1 || e->parallel / (1 - stolen) >= ACCEPTABLE)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "efficiency", .confidence = LODE_LIKELY}};
    lode_call_gain(&draft, 1 - stolen - e->parallel);
    draft.statement.text = lode_say(d, "%u threads do useful work in %.0f%% of the run time.", d->run.threads,
                                    100 * e->parallel);
    lode_set_command(
        lode_add_evidence(&draft,
                          lode_say(d, "parallel efficiency %.2f: load balance %.2f x communication %.2f",
                                   e->parallel, e->load_balance, e->communication),
                          e->parallel, "share"),
        words);
    return lode_add_statement(d, &draft, error);
}

const struct rule lode_call_rule_efficiency = {
    "efficiency", "threads do useful work in less than 80% of the run time",
    CALL_NEEDS | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_PROCESSORS, run};
