/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pool.h"

#include "base/error.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    POOL_MAX_THREADS = 1024,
    POOL_MAX_PROCESSORS = 1 << 20,
    POOL_ITEMS_PER_THREAD = 4,
};

struct pool {
    const struct lode_job *job;
    pthread_mutex_t lock;
    pthread_cond_t moved;     /* signals progress of `finished` or a failure */
    uint64_t taken, finished; /* items below `taken` were started; below `finished`, finished */
    uint64_t failed;          /* the first item that failed, or job->items */
    lode_status status;
    lode_error error;
    bool finishing; /* a thread is inside job->finish */
    unsigned window;
    bool *done; /* ring: work on item i is done, at i % window */
};

struct worker {
    struct pool *pool;
    pthread_t thread;
    unsigned index;
};

unsigned lode_pool_count_processors(lode_affinity_fn affinity)
{
    /* The system rejects a set too small for its processors; a cpu_set_t has 1,024. */
    for (size_t capacity = CPU_SETSIZE; capacity <= POOL_MAX_PROCESSORS; capacity *= 2) {
        cpu_set_t *set = CPU_ALLOC(capacity);
        if (set == NULL)
            return 1;
        size_t size = CPU_ALLOC_SIZE(capacity);
        int failed = affinity(0, size, set), count = failed ? 0 : CPU_COUNT_S(size, set);
        bool is_too_small = failed && errno == EINVAL;
        CPU_FREE(set);
        if (!is_too_small)
            return count > 0 ? (unsigned)count : 1;
    }
    return 1;
}

unsigned lode_pool_processors(void)
{
    return lode_pool_count_processors(sched_getaffinity);
}

unsigned lode_pool_threads(unsigned asked, uint64_t items)
{
    unsigned threads = asked ? asked : lode_pool_processors();
    if (threads > POOL_MAX_THREADS)
        threads = POOL_MAX_THREADS;
    if (threads > items)
        threads = items ? (unsigned)items : 1;
    return threads;
}

unsigned lode_pool_window(unsigned threads)
{
    return threads * POOL_ITEMS_PER_THREAD;
}

/* Called with the lock held. */
static void pool_fail(struct pool *pool, uint64_t item, lode_status status, const lode_error *error)
{
    if (item >= pool->failed)
        return;
    pool->failed = item;
    pool->status = status;
    pool->error = *error;
}

/* Called with the lock held: passes done items to job->finish in order. */
static void pool_finish_ready(struct pool *pool)
{
    const struct lode_job *job = pool->job;
    if (pool->finishing)
        return;
    pool->finishing = true;
    while (pool->finished < pool->failed && pool->done[pool->finished % pool->window]) {
        uint64_t item = pool->finished;
        lode_error error = {0};
        lode_status status = LODE_OK;
        if (job->finish) {
            pthread_mutex_unlock(&pool->lock);
            status = job->finish(job->context, item, &error);
            pthread_mutex_lock(&pool->lock);
        }
        if (status != LODE_OK)
            pool_fail(pool, item, status, &error);
        pool->done[item % pool->window] = false;
        pool->finished++;
        pthread_cond_broadcast(&pool->moved);
    }
    pool->finishing = false;
}

static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->taken < pool->failed && pool->taken >= pool->finished + pool->window)
            pthread_cond_wait(&pool->moved, &pool->lock);
        if (pool->taken >= pool->failed)
            break;
        uint64_t item = pool->taken++;
        pthread_mutex_unlock(&pool->lock);
        lode_error error = {0};
        lode_status status = pool->job->work(pool->job->context, item, worker->index, &error);
        pthread_mutex_lock(&pool->lock);
        if (status != LODE_OK) {
            pool_fail(pool, item, status, &error);
            pthread_cond_broadcast(&pool->moved);
        } else {
            pool->done[item % pool->window] = true;
        }
        pool_finish_ready(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static lode_status pool_run_inline(const struct lode_job *job, lode_error *error)
{
    for (uint64_t item = 0; item < job->items; item++) {
        lode_status status = job->work(job->context, item, 0, error);
        if (status == LODE_OK && job->finish)
            status = job->finish(job->context, item, error);
        if (status != LODE_OK)
            return status;
    }
    return LODE_OK;
}

lode_status lode_pool_run(unsigned threads, const struct lode_job *job, lode_error *error)
{
    threads = lode_pool_threads(threads, job->items);
    if (threads <= 1)
        return pool_run_inline(job, error);
    struct pool pool = {
        .job = job, .failed = job->items, .window = job->window ? job->window : lode_pool_window(threads)};
    struct worker *workers = calloc(threads, sizeof *workers);
    pool.done = calloc(pool.window, sizeof *pool.done);
    if (workers == NULL || pool.done == NULL) {
        free(workers);
        free(pool.done);
        return lode_fail_memory(error);
    }
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.moved, NULL);
    unsigned started = 1;
    for (unsigned i = 0; i < threads; i++)
        workers[i] = (struct worker){.pool = &pool, .index = i};
    /* Fewer threads than requested is fine: this thread works too. */
    while (started < threads &&
           pthread_create(&workers[started].thread, NULL, worker_run, &workers[started]) == 0)
        started++;
    worker_run(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_cond_destroy(&pool.moved);
    pthread_mutex_destroy(&pool.lock);
    free(workers);
    free(pool.done);
    if (pool.failed < job->items && error)
        *error = pool.error;
    return pool.failed < job->items ? pool.status : LODE_OK;
}
