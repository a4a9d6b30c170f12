/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi, mpi-startup: the masters of ranks are in MPI. */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>

#define MPI_MIN     0.15
#define STARTUP_MIN 0.10
#define TOO_SHORT   0.50

static double of_masters(const struct lode_diagnosis *d, unsigned activities)
{
    return lode_diagnose_time_of_masters(d, activities, EVERYWHERE) /
           ((double)d->profiles->rank_count * d->run.run_time);
}

double lode_diagnose_unequal_work(const struct lode_diagnosis *d)
{
    double most = 0, sum = 0, mpi = lode_diagnose_time_of_masters(d, SET(MPI), EVERYWHERE);
    for (size_t i = 0; i < d->profiles->rank_count; i++) {
        const struct thread *master = &d->profiles->threads[d->profiles->ranks[i].first];
        double work = lode_diagnose_time_of_thread(master, ~(SET(MPI) | SET(MPI_STARTUP)), EVERYWHERE);
        most = fmax(most, work);
        sum += work;
    }
    return mpi > 0 ? fmin(1, fmax(0, most * (double)d->profiles->rank_count - sum) / mpi) : 0;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct path path;
    const lode_cost *cost;
    double share = of_masters(d, SET(MPI));
    if (share - lode_diagnose_masters_error(d, share) <= MPI_MIN)
        return LODE_OK;
    LODE_TRY(lode_diagnose_master_cost(d, &cost, error));
    LODE_TRY(lode_diagnose_path(d, cost, SET(MPI), &path, error));
    struct draft draft = {.statement = {.id = "mpi", .confidence = LODE_LIKELY, .context = path.entry}};
    const char *entry = lode_diagnose_name_of(d, path.entry), *holder = lode_diagnose_name_of(d, path.holder);
    double unequal = lode_diagnose_unequal_work(d);
    lode_diagnose_set_gain_of_masters(d, &draft, share);
    draft.statement.function = entry;
    lode_diagnose_set_text(d, &draft, "MPI takes %.0f%% of the run time, %s in %s below %s.", 100 * share,
                           lode_diagnose_mostly(&path), entry, holder);
    lode_diagnose_show(d, &draft, path.share, "share", "%s below %s: %.0f%% of the time in MPI", entry,
                       holder, 100 * path.share);
    LODE_SET_COMMAND(&draft, "tree", "--callers", entry);
    lode_diagnose_show(d, &draft, unequal, "share", "unequal work of ranks explains at most %.0f%% of it",
                       100 * unequal);
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_startup(struct lode_diagnosis *d, lode_error *error)
{
    double share = of_masters(d, SET(MPI_STARTUP));
    if (share - lode_diagnose_masters_error(d, share) <= STARTUP_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "mpi-startup", .confidence = LODE_LIKELY}};
    lode_diagnose_set_gain_of_masters(d, &draft, share);
    lode_diagnose_set_text(d, &draft, "MPI_Init and MPI_Finalize take %.0f%% of the run time.%s", 100 * share,
                           share > TOO_SHORT ? " The run is too short to judge the rest." : "");
    lode_diagnose_show(d, &draft, share * d->run.run_time, lode_metric_name(d->run.metric),
                       "%s for each rank", lode_diagnose_amount(d, share * d->run.run_time));
    LODE_SET_COMMAND(&draft, "tree", "--callers", "MPI_Init*");
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

enum {
    NEEDS = 1u << NEED_METRIC | 1u << NEED_MASTERS | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN |
            1u << NEED_CONSISTENT | 1u << NEED_MPI
};

const struct lode_diagnose_rule lode_diagnose_profile_rule_mpi = {
    "mpi", "ranks spend more than 15% of the run time in MPI",
    NEEDS | 1u << NEED_PROCESSORS | 1u << NEED_RUNNING | 1u << NEED_RANKS | 1u << NEED_VALUES, run};
const struct lode_diagnose_rule lode_diagnose_profile_rule_mpi_startup = {
    "mpi-startup", "start and end of MPI take more than 10% of the run time", NEEDS, run_startup};
