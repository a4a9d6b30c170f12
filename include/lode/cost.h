/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs: what one metric amounts to at every context, over all profiles or some. */
#ifndef LODE_COST_H
#define LODE_COST_H

#include <lode/context.h>
#include <lode/metric.h>
#include <lode/pool.h>
#include <lode/selection.h>

LODE_BEGIN_DECLS

typedef struct lode_cost lode_cost;

typedef struct lode_cost_options {
    size_t size;
    const lode_metric *metric; /* NULL: lode_database_default_metric */
    /* NULL: all profiles, taken from the summary where it has the sum */
    const lode_selection *selection;
    unsigned threads; /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
    /*
     * All ranks of a communicator add up profiles together, with the same database and arguments,
     * and have the same costs. NULL: this process only, as `local_ranks` ranks (0: one).
     */
    lode_comm *comm;
    uint32_t local_ranks;
} lode_cost_options;
#define LODE_COST_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(lode_cost_options), NULL, NULL, 0, NULL, NULL, NULL, NULL, 0                                  \
    }

/*
 * Computes the inclusive and the own cost of every context. Inclusive is the execution scope; own
 * is what is left of it after the context's listed children, so that costs of contexts that the
 * metadata does not list stay with their nearest listed ancestor. Memory grows with the number of
 * contexts. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_cost_compute(lode_cost **out, const lode_database *db,
                                                    const lode_cost_options *options, lode_error *error);
typedef struct lode_window_cost_options {
    size_t size;
    /* nanoseconds since the epoch; `to` is exclusive; both 0: from the first sample to the last */
    uint64_t from, to;
    const lode_selection *selection; /* of profiles with trace lines; NULL: all */
    unsigned threads;                /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
    lode_comm *comm; /* all ranks read lines together, as with lode_cost_options */
    uint32_t local_ranks;
} lode_window_cost_options;
#define LODE_WINDOW_COST_OPTIONS_INIT                                                                        \
    {                                                                                                        \
        sizeof(lode_window_cost_options), 0, 0, NULL, 0, NULL, NULL, NULL, NULL, 0                           \
    }

/*
 * The time in seconds that contexts had in a time window, from trace lines instead of profiles: an
 * estimate, because lines are sampled. A sample lasts until the next one of its line, the last one
 * has no length; the part of it in the time window is the own cost of its context. Time when a
 * thread did not run is not part of the cost. lode_cost_metric names a metric that no database has.
 * Time is proportional to the time window, after a binary search in every line; memory grows with
 * the number of contexts. LODE_ABSENT if the database has no traces. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_cost_compute_window(lode_cost **out, const lode_database *db,
                                                           const lode_window_cost_options *options,
                                                           lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_cost_free(lode_cost *cost);

/* All of these: MT: any thread. */
LODE_API const lode_metric *lode_cost_metric(const lode_cost *cost);
LODE_API const lode_database *lode_cost_database(const lode_cost *cost);
/* The cost of the global context: everything. */
LODE_API double lode_cost_total(const lode_cost *cost);
/* The context of an id (lode_context_id) in the tree of the costs; NULL if there is none. */
LODE_API const lode_context *lode_cost_context(const lode_cost *cost, uint32_t id);
LODE_API double lode_cost_inclusive(const lode_cost *cost, const lode_context *context);
LODE_API double lode_cost_own(const lode_cost *cost, const lode_context *context);
/* How many profiles, or trace lines, were added up. */
LODE_API uint32_t lode_cost_profiles(const lode_cost *cost);
/* For a time window: samples that begin in it, and seconds when threads did not run; else 0. */
LODE_API uint64_t lode_cost_samples(const lode_cost *cost);
LODE_API double lode_cost_idle(const lode_cost *cost);
/*
 * Context ids, and values at them, that the metadata does not list: their cost is with listed
 * ancestors.
 */
LODE_API uint64_t lode_cost_unlisted_contexts(const lode_cost *cost);
LODE_API uint64_t lode_cost_unlisted_values(const lode_cost *cost);

LODE_END_DECLS
#endif
