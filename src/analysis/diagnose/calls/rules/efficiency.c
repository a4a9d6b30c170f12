/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * efficiency: processors that threads could use are idle for more than 22 %, because threads
 * wait for each other, or nobody is there to work.
 * Needs: several threads that were seldom pre-empted; MPI and OpenMP, enough processors. Guard:
 * sleeping, waiting for devices and the network, the start of MPI, and waiting for locks that
 * the rule lock does not judge do not count.
 * Gain: what is lost, of all that processors could do: a bound. Likely; a cause explains it.
 */
#include "analysis/diagnose/calls/sweep.h"

#include <math.h>

#define LOST_MIN   0.22
#define ACCEPTABLE 0.8

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const lode_efficiency *e = &d->efficiency;
    double share = d->has_efficiency ? lode_diagnose_call_unused(d) : 0;
    bool is_spinning =
        d->lacks[CALL_NEED_PROCESSORS] && (d->calls->mpi_processes || !d->lacks[CALL_NEED_REGIONS]);
    if (share <= LOST_MIN || e->parallel >= ACCEPTABLE || is_spinning)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "efficiency", .confidence = LODE_LIKELY, .is_bound = 1}};
    lode_diagnose_call_gain(&draft, share);
    lode_diagnose_set_text(d, &draft, "%u threads do useful work in %.0f%% of what %.0f processors could do.",
                           d->run.threads, 100 * e->parallel, d->calls->blame->capacity);
    lode_diagnose_show(d, &draft, e->parallel, "share",
                       "parallel efficiency %.2f: load balance %.2f x communication %.2f", e->parallel,
                       e->load_balance, e->communication);
    LODE_SET_COMMAND(&draft, "profiles");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_efficiency = {
    "efficiency", "processors that threads could use are idle for more than 22%",
    CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_CALM, run};
