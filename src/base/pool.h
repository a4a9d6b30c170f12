/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread pool: any thread works on items; results are delivered in item order. */
#ifndef LODE_BASE_POOL_H
#define LODE_BASE_POOL_H

#include <lode/pool.h>
#include <sched.h>
#include <sys/types.h>

struct lode_job {
    uint64_t items;
    /* Called by any worker, for several items at once. `worker` is below the number of threads. */
    lode_status (*work)(void *context, uint64_t item, unsigned worker, lode_error *error);
    /* Optional. Called for items 0, 1, 2... in order, never concurrently, after their work. */
    lode_status (*finish)(void *context, uint64_t item, lode_error *error);
    void *context;
    /* Limit of items that are started and not finished; 0: lode_pool_window. */
    unsigned window;
    lode_pool *pool; /* whose threads work besides the caller; NULL: starts threads */
};

/* The default: enough that one slow item does not stall the others. */
unsigned lode_pool_window(unsigned threads);

/* Runs a job on `threads` threads, this one included. Returns the status of the first failure. */
lode_status lode_pool_run(unsigned threads, const struct lode_job *job, lode_error *error);

/* The number of CPUs that this process may use. */
unsigned lode_pool_processors(void);
/* Likewise, with a replacement for sched_getaffinity. */
typedef int (*lode_affinity_fn)(pid_t process, size_t size, cpu_set_t *set);
unsigned lode_pool_count_processors(lode_affinity_fn affinity);

/* `asked`, or one per CPU if it is 0; at least 1, at most the number of items. */
unsigned lode_pool_threads(unsigned asked, uint64_t items);
/* What options ask for that may have a pool. */
static inline unsigned lode_pool_asked(unsigned threads, const lode_pool *pool)
{
    return threads == 0 && pool ? lode_pool_size(pool) : threads;
}

#endif
