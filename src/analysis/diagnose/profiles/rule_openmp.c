/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * omp-serial, omp-imbalance: threads wait in the OpenMP runtime. What masters do outside of
 * regions, also in MPI, explains at most that time x (threads - 1) of it: an upper bound.
 */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>

#define WAIT_MIN  0.10
#define EXPLAINED 0.50

struct waiting {
    double share;     /* of the time of threads */
    double explained; /* of the waiting, at most */
    double serial;    /* time of masters alone */
};

/* False: threads do not wait much. */
static bool measure(const struct lode_diagnosis *d, struct waiting *w)
{
    double wait = lode_time_of_threads(d, OPENMP, EVERYWHERE), idle = 0;
    w->share = wait / d->run.total;
    w->serial = lode_time_of_masters(d, USEFUL, OUTSIDE);
    for (size_t i = 0; i < d->profiles->rank_count; i++)
        idle += lode_time_of_thread(&d->profiles->threads[d->profiles->ranks[i].first], ~OPENMP, OUTSIDE) *
                (double)(d->profiles->ranks[i].count - 1);
    w->explained = wait > 0 ? fmin(1, idle / wait) : 0;
    return w->share - lode_share_error(d, w->share) > WAIT_MIN;
}

static void add_wait(struct lode_diagnosis *d, struct draft *draft, const struct waiting *w)
{
    static const char *const words[] = {"top", "--by", "kind", "--limit", "0", NULL};
    lode_set_command(
        lode_add_evidence(draft,
                          lode_say(d,
                                   "threads spend %.1f%% of their time in the OpenMP runtime; what first "
                                   "threads do outside of regions explains at most %.0f%% of it",
                                   100 * w->share, 100 * w->explained),
                          w->share, "share"),
        words);
}

static lode_status run_serial(struct lode_diagnosis *d, lode_error *error)
{
    struct waiting w;
    if (!measure(d, &w) || w.explained <= EXPLAINED)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-serial", .confidence = LODE_LIKELY}};
    lode_set_gain(d, &draft, w.serial / ((double)d->profiles->rank_count * d->run.run_time));
    draft.statement.text =
        "OpenMP threads wait while the first thread of their process works outside of regions.";
    add_wait(d, &draft, &w);
    lode_add_explains(&draft, "efficiency");
    return lode_add_statement(d, &draft, error);
}

static lode_status run_imbalance(struct lode_diagnosis *d, lode_error *error)
{
    static const char *const words[] = {"profiles", NULL};
    struct waiting w;
    if (!measure(d, &w) || w.explained > EXPLAINED)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-imbalance", .confidence = LODE_LIKELY}};
    lode_set_gain(d, &draft,
                  d->has_efficiency && d->efficiency.is_hybrid ? 1 - d->efficiency.openmp : w.share);
    draft.statement.text =
        lode_say(d, "Threads wait at the ends of OpenMP regions: their parts are unequal, or too small.");
    add_wait(d, &draft, &w);
    lode_set_command(lode_add_evidence(
                         &draft,
                         lode_say(d, "useful work of threads: load balance %.2f", d->efficiency.load_balance),
                         d->efficiency.load_balance, "share"),
                     words);
    lode_add_explains(&draft, "efficiency");
    return lode_add_statement(d, &draft, error);
}

enum {
    NEEDS = 1u << NEED_METRIC | 1u << NEED_VALUES | 1u << NEED_SAMPLES | 1u << NEED_THREADS |
            1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT | 1u << NEED_REGIONS | 1u << NEED_PROCESSORS
};

const struct rule lode_rule_omp_serial = {
    "omp-serial", "OpenMP threads wait more than 10% of their time, mostly for the first thread", NEEDS,
    run_serial};
const struct rule lode_rule_omp_imbalance = {
    "omp-imbalance", "OpenMP threads wait more than 10% of their time, mostly for each other", NEEDS,
    run_imbalance};
