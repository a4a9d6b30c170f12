/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * efficiency: threads do useful work in less than 80 % of the run time.
 * Needs: several threads, enough processors, threads that were seldom pre-empted. Guard: pre-empted
 * time, the start of MPI, sleeping, waiting for the network, and waiting for locks that the rule
 * lock does not judge, do not count.
 * Gain: what is left of the time of threads. Likely; a cause explains it.
 */
#include "analysis/diagnose/calls/facts.h"

#define ACCEPTABLE 0.8
#define JUDGED_MIN 0.2

/* Time that is nobody's fault, as a share of threads x run time. */
static double find_excused(const struct lode_diagnosis *d)
{
    double time = lode_call_time(d, CALL_SET(MPI_STARTUP) | CALL_SET(SLEEP) | CALL_SET(NET));
    return lode_call_share(d, time + d->calls->lock_excused);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const lode_efficiency *e = &d->efficiency;
    static const char *const words[] = {"profiles", NULL};
    double judged = 1 - find_excused(d), useful = 0;
    for (size_t i = 0; i < d->calls->slot_count; i++)
        useful += lode_call_share(d, (double)d->calls->slots[i].useful);
    if (!d->has_efficiency || judged < JUDGED_MIN || useful >= ACCEPTABLE * judged)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "efficiency", .confidence = LODE_LIKELY}};
    lode_call_gain(&draft, judged - useful);
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
    CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_PROCESSORS | 1u << CALL_NEED_CALM, run};
