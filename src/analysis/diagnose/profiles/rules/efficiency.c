/* SPDX-License-Identifier: BSD-3-Clause */
/* efficiency: threads do useful work in less than 80 % of the run time. */
#include "analysis/diagnose/profiles/facts.h"

#define ACCEPTABLE 0.8

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const lode_efficiency *e = &d->efficiency;
    if (!d->has_efficiency)
        return LODE_OK;
    /* Not lost: threads that did not get a processor, or that wait for the ends of others. */
    double whole = (double)d->profiles->thread_count * d->run.run_time;
    double kept = lode_diagnose_time_of_threads(d, ALL, JOINS | READY) / whole;
    if (e->useful_high + kept >= ACCEPTABLE)
        return LODE_OK;
    /* Samples do not tell threads that were pre-empted from those that wait. */
    lode_confidence confidence = d->profiles->tells_samples ? LODE_POSSIBLE : LODE_LIKELY;
    struct draft draft = {.statement = {.id = "efficiency", .confidence = confidence, .is_bound = 1}};
    lode_diagnose_set_gain(d, &draft, 1 - e->parallel - kept);
    lode_diagnose_set_text(d, &draft, "%u threads do useful work in %.0f%% of the run time.", d->run.threads,
                           100 * e->parallel);
    lode_diagnose_show(d, &draft, e->parallel, "share",
                       "parallel efficiency %.2f: load balance %.2f x communication %.2f", e->parallel,
                       e->load_balance, e->communication);
    LODE_SET_COMMAND(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_efficiency = {
    "efficiency", "threads do useful work in less than 80% of the run time",
    1u << NEED_METRIC | 1u << NEED_RUNNING | 1u << NEED_ALIVE | 1u << NEED_VALUES | 1u << NEED_SAMPLES |
        1u << NEED_THREADS | 1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT,
    run};
