/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: worker threads that several calls share, one after the other or at once. */
#ifndef LODE_POOL_H
#define LODE_POOL_H

#include <lode/status.h>

LODE_BEGIN_DECLS

/* The ranks of a job: lode/unstable/comm.h. */
typedef struct lode_comm lode_comm;

typedef struct lode_pool lode_pool;

/*
 * Starts a pool, to be passed in the options of functions. A function that is called with it works
 * on up to `threads` threads: that of its caller, and those of the pool that are free. So each call
 * makes progress, however many there are at once, and its result is the same. Without a pool,
 * functions start threads of their own. 0: one per processor. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_pool_create(lode_pool **out, unsigned threads, lode_error *error);
/* Ends its threads. No call may be using it. NULL is allowed. MT: one thread. */
LODE_API void lode_pool_free(lode_pool *pool);
/* Threads that work for one call, that of the caller among them. MT: any thread. */
LODE_API unsigned lode_pool_size(const lode_pool *pool);

LODE_END_DECLS
#endif
