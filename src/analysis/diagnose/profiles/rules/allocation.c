/* SPDX-License-Identifier: BSD-3-Clause */
/* allocation: memory is allocated and freed, also by masters while other threads wait. */
#include "analysis/diagnose/profiles/facts.h"

#include <string.h>

#define ALLOCATION_MIN 0.05
#define BY_MASTERS     0.80 /* share of the allocation */
#define OF_SERIAL      0.50 /* share of the serial time that explains waiting */

static const char *advice_for(struct lode_diagnosis *d, const struct path *path)
{
    const char *leaf = lode_diagnose_name_of(d, path->leaf);
    if (strstr(leaf, "brk") || strstr(leaf, "systrim") || strstr(leaf, "morecore"))
        return "Try MALLOC_TRIM_THRESHOLD_ and MALLOC_TOP_PAD_, or keep the memory.";
    if (strstr(leaf, "munmap") || strstr(leaf, "mmap"))
        return "Try MALLOC_MMAP_THRESHOLD_, or keep the memory.";
    if (strstr(leaf, "page"))
        return "Try huge pages, or keep the memory.";
    return NULL;
}

static lode_status state(struct lode_diagnosis *d, double share, bool is_of_masters, bool is_serial,
                         const struct path *path, lode_error *error)
{
    struct draft draft = {
        .statement = {.id = "allocation", .confidence = LODE_LIKELY, .context = path->holder}};
    const char *holder = lode_diagnose_name_of(d, path->holder),
               *entry = lode_diagnose_name_of(d, path->entry), *leaf = lode_diagnose_name_of(d, path->leaf);
    bool is_short = strcmp(entry, leaf) == 0;
    if (is_of_masters)
        lode_diagnose_set_gain_of_masters(d, &draft, share);
    else
        lode_diagnose_set_gain(d, &draft, share);
    draft.statement.function = holder;
    draft.statement.advice = advice_for(d, path);
    lode_diagnose_set_text(
        d, &draft, "Allocating and freeing memory takes %.0f%% of the run time%s.", 100 * share,
        is_serial ? " on the first thread of each process, while its other threads wait" : "");
    lode_diagnose_show(d, &draft, path->share, "share", "%s > %s%s%s: %.0f%% of it", holder, entry,
                       is_short ? "" : " > ", is_short ? "" : leaf, 100 * path->share);
    LODE_SET_COMMAND(&draft, "tree", "--callers", leaf);
    lode_diagnose_show(d, &draft, share * d->run.run_time, lode_metric_name(d->run.metric), "%s of %s",
                       lode_diagnose_amount(d, share * d->run.run_time),
                       lode_diagnose_amount(d, d->run.run_time));
    double waiting = is_serial ? lode_diagnose_blamed(d, SET(ALLOC) | SET(PAGES)) : 0;
    if (waiting > 0)
        lode_diagnose_show(d, &draft, waiting, "share",
                           "%.0f%% of the waiting of other threads falls into it (trace lines)",
                           100 * waiting);
    if (is_serial) {
        LODE_ADD_EXPLAINS(&draft, "omp-serial", "efficiency");
    }
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    enum {
        ALLOCATION = SET(ALLOC) | SET(PAGES)
    };
    struct path path;
    const lode_cost *cost = d->profiles->cost;
    double all = lode_diagnose_time_of_threads(d, ALLOCATION, EVERYWHERE),
           master = lode_diagnose_time_of_masters(d, ALLOCATION, EVERYWHERE);
    double serial = lode_diagnose_time_of_masters(d, ALLOCATION, OUTSIDE),
           alone = lode_diagnose_time_of_masters(d, USEFUL, OUTSIDE);
    bool is_of_masters = all > 0 && master / all > BY_MASTERS;
    bool is_serial =
        is_of_masters && lode_diagnose_find_statement(d, "omp-serial") && serial > OF_SERIAL * alone;
    double share = is_of_masters ? master / ((double)d->profiles->rank_count * d->run.run_time)
                                 : all / ((double)d->profiles->thread_count * d->run.run_time);
    double half = is_of_masters ? lode_diagnose_masters_error(d, share) : lode_diagnose_share_error(d, share);
    if (share - half <= ALLOCATION_MIN)
        return LODE_OK;
    if (is_of_masters)
        LODE_TRY(lode_diagnose_master_cost(d, &cost, error));
    LODE_TRY(lode_diagnose_path(d, cost, ALLOCATION, &path, error));
    return state(d, share, is_of_masters, is_serial, &path, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_allocation = {
    "allocation", "allocating and freeing memory takes more than 5% of the run time",
    1u << NEED_METRIC | 1u << NEED_MASTERS | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT,
    run};
