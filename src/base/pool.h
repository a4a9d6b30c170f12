/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker pool: items are worked on by any thread, and their results come out in the order of items. */
#ifndef LODE_BASE_POOL_H
#define LODE_BASE_POOL_H

#include <lode/status.h>
#include <sched.h>
#include <sys/types.h>

struct lode_job {
    uint64_t items;
    /* Runs on any worker, for several items at once. `worker` counts from 0 below the number of threads. */
    lode_status (*work)(void *context, uint64_t item, unsigned worker, lode_error *error);
    /* Optional. Runs for item 0, 1, 2... in this order, never twice at once, after the item's work is done. */
    lode_status (*finish)(void *context, uint64_t item, lode_error *error);
    void *context;
    /* How many items may be under way or wait for an earlier one to finish; 0: lode_pool_window. */
    unsigned window;
};

/* The usual number: enough that a slow item does not stop the others. */
unsigned lode_pool_window(unsigned threads);

/*
 * Runs a job on `threads` threads, this one among them. Ends at the first item, in their order, that fails, and
 * returns its status.
 */
lode_status lode_pool_run(unsigned threads, const struct lode_job *job, lode_error *error);

/* The number of processors that this process may use. */
unsigned lode_pool_processors(void);
/* The same, asking a function that is as sched_getaffinity. */
typedef int (*lode_affinity_fn)(pid_t process, size_t size, cpu_set_t *set);
unsigned lode_pool_count_processors(lode_affinity_fn affinity);

/* `asked`, or one per processor if it is 0; never more than there are items, never less than 1. */
unsigned lode_pool_threads(unsigned asked, uint64_t items);

#endif
