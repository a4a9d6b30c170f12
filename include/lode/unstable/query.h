/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries: caches costs for many questions about one database. */
#ifndef LODE_UNSTABLE_QUERY_H
#define LODE_UNSTABLE_QUERY_H

#include <lode/view.h>

LODE_BEGIN_DECLS

typedef struct lode_query lode_query;

typedef struct lode_query_options {
    size_t size;
    uint64_t memory; /* memory budget in bytes for cached costs that are not in use; 0: 256 MiB */
    lode_pool *pool; /* for questions that name none */
} lode_query_options;
#define LODE_QUERY_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_query_options), 0, NULL                                                                  \
    }

/* The database must outlive the query. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_query_open(lode_query **out, const lode_database *db,
                                                  const lode_query_options *options, lode_error *error);
/*
 * Frees all costs. Outlines that were made from it must have been closed. NULL is allowed. MT: one
 * thread.
 */
LODE_API void lode_query_close(lode_query *query);

/*
 * The cost of a metric over a selection of profiles, as lode_cost_compute has it, from the cache if
 * possible. If several threads request the same cost at once, one of them computes it. The cost
 * stays valid until lode_query_release, and then in the cache while the memory budget allows; the
 * least recently used is dropped first. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_query_cost(const lode_cost **out, lode_query *query,
                                                  const lode_cost_options *options, lode_error *error);
/* Once for each lode_query_cost. NULL is allowed. MT: any thread. */
LODE_API void lode_query_release(lode_query *query, const lode_cost *cost);

/* An outline of such a cost. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_query_outline(lode_outline **out, lode_query *query,
                                                     const lode_cost_options *cost_options,
                                                     const lode_view_options *view_options,
                                                     lode_error *error);

/* Costs that were computed so far; bytes of those in memory now. MT: any thread. */
LODE_API uint64_t lode_query_computed(lode_query *query);
LODE_API uint64_t lode_query_memory(lode_query *query);

LODE_END_DECLS
#endif
