/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for recordings of function calls, and what each of them needs. */
#include "analysis/diagnose/calls/sweep.h"

#include <stdlib.h>

static const struct lode_diagnose_rule *const items[] = {
#define DIAGNOSE_RULE(name, file) &lode_diagnose_call_rule_##name,
#include "analysis/diagnose/calls/rules.def"
};

static const char *const reasons[CALL_NEED_COUNT] = {
    [CALL_NEED_TIME] = "the recording is too short",
    [CALL_NEED_SOUND] = "the recording is damaged",
    [CALL_NEED_COMPLETE] = "files of the recording are damaged, or missing",
    [CALL_NEED_SCHED] = "off-CPU time was not recorded",
    [CALL_NEED_THREADS] = "one thread",
    [CALL_NEED_RANKS] = "not several processes that use MPI",
    [CALL_NEED_REGIONS] = "no function is the body of an OpenMP region",
    [CALL_NEED_PROCESSORS] = "fewer processors than threads",
    [CALL_NEED_NAMES] = "functions without names",
    [CALL_NEED_CALM] = "threads were pre-empted for more than 10% of their time, or no thread ran",
    [CALL_NEED_TEAMS] = "the begin of OpenMP regions was not recorded, or other threads work beside them",
    [CALL_NEED_RUNNING] = "fewer processors than threads, and off-CPU time was not recorded",
};

static const struct lode_diagnose_rules rules = {items, sizeof items / sizeof *items, reasons};

static void find_lacks(struct lode_diagnosis *d)
{
    const struct call_facts *facts = d->calls;
    bool has_regions = false;
    for (size_t i = 0; i < facts->track_count; i++)
        has_regions |= facts->tracks[i].region > 0;
    d->lacks[CALL_NEED_THREADS] = facts->slot_count < 2;
    d->lacks[CALL_NEED_RANKS] = facts->mpi_processes < 2;
    d->lacks[CALL_NEED_REGIONS] = !has_regions;
    d->lacks[CALL_NEED_CALM] |= facts->stolen > 0.10;
    d->run.can_judge = !d->lacks[CALL_NEED_TIME] && !d->lacks[CALL_NEED_SOUND];
}

lode_status lode_diagnose_calls(struct lode_diagnosis *d, const lode_recording *recording, lode_error *error)
{
    d->calls = calloc(1, sizeof *d->calls);
    LODE_TRY_ALLOC(d->calls, error);
    d->calls->recording = recording;
    d->run.source = LODE_RUN_CALLS;
    LODE_TRY(lode_diagnose_call_facts_read(d, error));
    LODE_TRY(lode_diagnose_call_facts_conclude(d, error));
    LODE_TRY(lode_diagnose_call_quality(d, error));
    find_lacks(d);
    LODE_TRY(lode_diagnose_call_sweep(d, error));
    lode_diagnose_call_efficiency(d);
    return lode_diagnose_run_rules(d, &rules, error);
}
