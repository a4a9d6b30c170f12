/* SPDX-License-Identifier: BSD-3-Clause */
/* off-cpu: no thread of the program runs in a part of the run time. */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>
#include <string.h>

#define SHARE_MIN 0.20

/* What all threads ran, also those that are left out: each of them makes the program run. */
static double running(const struct lode_diagnosis *d)
{
    double all = 0;
    lode_diagnose_metric(d, lode_metric_name(d->run.metric), &all);
    return fmax(all, d->run.total);
}

static bool is_join(const struct lode_diagnosis *d, const struct path *path)
{
    return path->leaf && d->profiles->places[path->leaf->index] == PLACE_JOIN;
}

/* Whether the first thread of each process is among the threads: one without samples is not. */
static bool has_first_threads(const struct lode_diagnosis *d)
{
    const struct profile_facts *facts = d->profiles;
    for (size_t i = 0; i < facts->rank_count; i++)
        if (facts->threads[facts->ranks[i].first].number != 0)
            return false;
    return true;
}

/*
 * Where the first threads of processes wait: others mostly wait for work. If they only wait for the
 * ends of the others, it is where these do.
 */
static lode_status find_waits(struct lode_diagnosis *d, const lode_metric *metric, struct path *path,
                              lode_error *error)
{
    lode_cost *cost;
    lode_status status = LODE_OK;
    bool has_first = has_first_threads(d);
    if (has_first) {
        LODE_TRY(lode_diagnose_cost_of_masters(d, metric, &cost, error));
        status = lode_diagnose_path(d, cost, ALL, path, error);
        lode_cost_free(cost);
    }
    if (status != LODE_OK || (has_first && !is_join(d, path)))
        return status;
    LODE_TRY(lode_diagnose_cost(d, metric, NULL, &cost, error));
    *path = (struct path){0};
    status = lode_diagnose_path(d, cost, ALL, path, error);
    lode_cost_free(cost);
    return status;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct path path = {0};
    const lode_metric *metric = lode_diagnose_metric(d, LODE_DIAGNOSE_OFF_CPU, NULL);
    double samples = lode_diagnose_sample_count(d), ran = running(d) / d->run.seconds;
    /* Each sample stands for the same time: their number has an error of its root. */
    double half = samples > 0 ? 1.96 * ran / sqrt(samples) : 0;
    double share = 1 - ran;
    if (d->profiles->thread_count == 0 || !(share - half > SHARE_MIN))
        return LODE_OK;
    LODE_TRY(find_waits(d, metric, &path, error));
    struct draft draft = {
        .statement = {.id = "off-cpu", .confidence = LODE_POSSIBLE, .context = path.holder}};
    lode_diagnose_set_gain_within(&draft, share, share - half, share + half);
    lode_diagnose_set_text(d, &draft, "No thread of the program runs in at least %.0f%% of the run time.",
                           100 * (share - half));
    if (path.holder && path.all > 0) {
        const char *holder = lode_diagnose_name_of(d, path.holder),
                   *entry = lode_diagnose_name_of(d, path.entry);
        bool is_short = strcmp(holder, entry) == 0;
        draft.statement.function = holder;
        lode_diagnose_show(d, &draft, path.share, "share", "%s%s%s: %.0f%% of the waiting", holder,
                           is_short ? "" : " > ", is_short ? "" : entry, 100 * path.share);
        LODE_SET_COMMAND(&draft, "tree", "--metric", LODE_DIAGNOSE_OFF_CPU, "--callers", entry);
    }
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_off_cpu = {
    "off-cpu", "no thread runs in more than 20% of the run time",
    1u << NEED_METRIC | 1u << NEED_OFF_CPU | 1u << NEED_SECONDS | 1u << NEED_ONE_RUN, run};
