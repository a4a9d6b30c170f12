/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oversubscribed: for half of the run time or more, threads want at least 4 times as many
 * processors as there are. What that costs cannot be told from calls: no gain.
 * Needs: off-CPU events, the number of processors.
 */
#include "analysis/diagnose/calls/sweep.h"

#define CROWDED_MIN 0.50

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_blame *blame = d->calls->blame;
    double share = blame->crowded / (d->run.run_time * 1e9);
    if (d->run.processors == 0 || share < CROWDED_MIN || d->calls->mpi_processes)
        return LODE_OK;
    double wanted = blame->wanted / blame->crowded;
    struct draft draft = {.statement = {.id = "oversubscribed", .confidence = LODE_LIKELY}};
    lode_diagnose_set_text(d, &draft, "%.0f threads want to run on %u processors for %.0f%% of the run time.",
                           wanted, d->run.processors, 100 * share);
    draft.statement.advice = "Try as many threads as processors.";
    lode_diagnose_show(d, &draft, wanted, "threads", "%.1f threads for each processor",
                       wanted / d->run.processors);
    LODE_SET_COMMAND(&draft, "profiles");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_oversubscribed = {
    "oversubscribed", "threads want 4 times as many processors as there are, for half of the run time",
    CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_SCHED, run};
