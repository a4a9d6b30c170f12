/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for databases, and what each of them needs. */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>
#include <stdlib.h>

#define ALIVE_MIN 0.90

static const struct lode_diagnose_rule *const items[] = {
#define DIAGNOSE_RULE(name, file) &lode_diagnose_profile_rule_##name,
#include "analysis/diagnose/profiles/rules.def"
};

const char *const lode_diagnose_profile_reasons[NEED_COUNT] = {
    [NEED_METRIC] = "no metric of time on the processor",
    [NEED_SAMPLES] = "too few samples",
    [NEED_ONE_RUN] = "several runs in one store",
    [NEED_CONSISTENT] = "metric and trace lines do not belong together",
    [NEED_THREADS] = "one thread",
    [NEED_RANKS] = "one rank",
    [NEED_REGIONS] = "no function is the body of an OpenMP region",
    [NEED_MPI] = "no time in MPI",
    [NEED_NAMES] = "functions without names",
    [NEED_PROCESSORS] = "fewer processors than threads",
    [NEED_COUNTERS] = "cycles and instructions were not counted",
    [NEED_GPU] = "no metric of GPU operations",
    [NEED_VALUES] = "needs the values of each profile: use --deep",
    [NEED_MASTERS] = "needs the values of each profile: use --deep",
    [NEED_OFF_CPU] = "times on and off processors were not recorded",
    [NEED_STREAMS] = "no trace lines of GPU streams, or too large ones (--deep)",
    [NEED_UNSAMPLED_GPU] = "GPU instructions were sampled, which lets kernels run one after another",
    [NEED_STALLS] = "GPU instructions were not sampled",
    [NEED_RUNNING] = "threads were pre-empted for more than 10% of their time",
    [NEED_ALIVE] = "threads were there for less than 90% of the run time",
    [NEED_SECONDS] = "the run time in seconds is not known",
};

static void find_lacks(struct lode_diagnosis *d)
{
    bool has_metric = !d->lacks[NEED_METRIC];
    /* Values of a damaged file can be anything. */
    bool is_sound =
        isfinite(d->run.total) && d->run.total > 0 && isfinite(d->run.run_time) && d->run.run_time > 0;
    d->lacks[NEED_SAMPLES] |= !has_metric || !is_sound;
    d->lacks[NEED_THREADS] = d->profiles->thread_count < 2;
    d->lacks[NEED_RANKS] = d->profiles->rank_count < 2;
    d->lacks[NEED_REGIONS] = !has_metric || !(lode_diagnose_time_of_threads(d, ALL, INSIDE) > 0);
    d->lacks[NEED_MPI] =
        !has_metric || !(lode_diagnose_time_of_threads(d, SET(MPI) | SET(MPI_STARTUP), EVERYWHERE) > 0);
    d->lacks[NEED_COUNTERS] =
        !lode_diagnose_metric(d, "cycles", NULL) || !lode_diagnose_metric(d, "instructions", NULL);
    d->lacks[NEED_GPU] = !lode_diagnose_metric(d, "GPUOP (sec)", NULL);
    d->lacks[NEED_OFF_CPU] = !d->run.is_seconds || !lode_diagnose_metric(d, LODE_DIAGNOSE_OFF_CPU, NULL);
    d->lacks[NEED_STREAMS] = !(d->profiles->gpu.span > 0);
    d->lacks[NEED_STALLS] = !lode_diagnose_metric(d, "GINS", NULL);
    d->lacks[NEED_UNSAMPLED_GPU] = !d->lacks[NEED_STALLS] || lode_diagnose_metric(d, "GSAMP:TOT", NULL);
    /* Calls do not tell what a thread does before its first and after its last. */
    d->lacks[NEED_ALIVE] = d->profiles->is_counted && d->profiles->covered < ALIVE_MIN;
    d->lacks[NEED_SECONDS] = !(d->run.seconds > 0);
    d->run.can_judge = !d->lacks[NEED_SAMPLES] && !d->lacks[NEED_ONE_RUN];
}

static const struct lode_diagnose_rules rules = {items, sizeof items / sizeof *items,
                                                 lode_diagnose_profile_reasons};

lode_status lode_diagnose_profile_facts_make(struct lode_diagnosis *d, const lode_database *db,
                                             lode_error *error)
{
    d->profiles = calloc(1, sizeof *d->profiles);
    LODE_TRY_ALLOC(d->profiles, error);
    d->profiles->db = db;
    d->run.program = lode_database_title(db);
    lode_diagnose_choose_metric(d);
    if (!d->lacks[NEED_METRIC]) {
        LODE_TRY(lode_diagnose_contexts(d, error));
        LODE_TRY(lode_diagnose_threads(d, error));
    }
    LODE_TRY(lode_diagnose_time(d, error));
    LODE_TRY(lode_diagnose_gpu(d, error));
    LODE_TRY(lode_diagnose_quality(d, error));
    find_lacks(d);
    return LODE_OK;
}

lode_status lode_diagnose_profiles(struct lode_diagnosis *d, const lode_database *db, lode_error *error)
{
    LODE_TRY(lode_diagnose_profile_facts_make(d, db, error));
    LODE_TRY(lode_diagnose_efficiency(d, error));
    LODE_TRY(lode_diagnose_run_rules(d, &rules, error));
    lode_diagnose_add_metric_to_commands(d);
    return LODE_OK;
}

void lode_diagnose_profile_facts_free(struct profile_facts *facts)
{
    if (facts == NULL)
        return;
    free(facts->activities_of);
    free(facts->places);
    free(facts->functions);
    free(facts->holders);
    free(facts->entries);
    free(facts->times);
    free(facts->threads);
    free(facts->ranks);
    lode_cost_free(facts->cost);
    lode_cost_free(facts->master_cost);
    lode_cost_free(facts->blame.cost);
    lode_cost_free(facts->gpu.meanwhile);
    free(facts);
}
