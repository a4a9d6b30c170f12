/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for recordings of function calls, and what each of them needs. */
#include "analysis/diagnose/calls/sweep.h"

#include <stdlib.h>

/* Causes after symptoms, whose statements they look at; lock first: it says what it excuses. */
static const struct rule *const items[] = {
    &lode_call_rule_lock,        &lode_call_rule_efficiency,     &lode_call_rule_mpi,
    &lode_call_rule_omp_serial,  &lode_call_rule_omp_imbalance,  &lode_call_rule_imbalance,
    &lode_call_rule_slow_thread, &lode_call_rule_file_io,        &lode_call_rule_small_io,
    &lode_call_rule_allocation,  &lode_call_rule_churn,          &lode_call_rule_long_tail,
    &lode_call_rule_recursion,   &lode_call_rule_copy,           &lode_call_rule_sleep,
    &lode_call_rule_threads,     &lode_call_rule_chatty,         &lode_call_rule_one_by_one,
    &lode_call_rule_straggler,   &lode_call_rule_serial,         &lode_call_rule_turns,
    &lode_call_rule_herd,        &lode_call_rule_oversubscribed, &lode_call_rule_processes,
    &lode_call_rule_loading,     &lode_call_rule_mapping,        &lode_call_rule_exceptions,
    &lode_call_rule_preparing,   &lode_call_rule_busy_wait,      &lode_call_rule_cache,
    &lode_call_rule_growth,      &lode_call_rule_omp_calls,      &lode_call_rule_hand_over,
    &lode_call_rule_barrier,     &lode_call_rule_large_blocks,   &lode_call_rule_startup,
    &lode_call_rule_repeated,    &lode_call_rule_hot_spot};

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

static const struct rules rules = {items, sizeof items / sizeof *items, reasons};

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
    LODE_TRY(lode_call_facts_read(d, error));
    LODE_TRY(lode_call_facts_conclude(d, error));
    LODE_TRY(lode_call_quality(d, error));
    find_lacks(d);
    LODE_TRY(lode_call_sweep(d, error));
    lode_call_efficiency(d);
    return lode_run_rules(d, &rules, error);
}
