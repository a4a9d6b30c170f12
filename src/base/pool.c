/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pool.h"

#include "base/error.h"
#include "base/getter.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    POOL_MAX_THREADS = 1024,
    POOL_MAX_PROCESSORS = 1 << 20,
    POOL_ITEMS_PER_THREAD = 4,
};

/* One job: what lode_pool_run has for as long as it runs. */
struct run {
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

    /* Under the lock of the pool. */
    struct run *next;
    unsigned threads; /* that may work on it */
    unsigned workers; /* numbers that were given to threads so far; the caller has 0 */
    unsigned helpers; /* threads of the pool that are at it now */
};

struct lode_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* a run has come, or the pool ends */
    pthread_cond_t ended; /* a helper has left its run */
    struct run *runs;     /* that can take more threads; the next one to get one first */
    bool ends;
    unsigned size, started; /* threads with the caller's; of the pool that run */
    pthread_t threads[];
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
static void run_fail(struct run *run, uint64_t item, lode_status status, const lode_error *error)
{
    if (item >= run->failed)
        return;
    run->failed = item;
    run->status = status;
    run->error = *error;
}

/* Called with the lock held: passes done items to job->finish in order. */
static void finish_ready(struct run *run)
{
    const struct lode_job *job = run->job;
    if (run->finishing)
        return;
    run->finishing = true;
    while (run->finished < run->failed && run->done[run->finished % run->window]) {
        uint64_t item = run->finished;
        lode_error error = {0};
        lode_status status = LODE_OK;
        if (job->finish) {
            pthread_mutex_unlock(&run->lock);
            status = job->finish(job->context, item, &error);
            pthread_mutex_lock(&run->lock);
        }
        if (status != LODE_OK)
            run_fail(run, item, status, &error);
        run->done[item % run->window] = false;
        run->finished++;
        pthread_cond_broadcast(&run->moved);
    }
    run->finishing = false;
}

static void run_work(struct run *run, unsigned worker)
{
    pthread_mutex_lock(&run->lock);
    for (;;) {
        while (run->taken < run->failed && run->taken >= run->finished + run->window)
            pthread_cond_wait(&run->moved, &run->lock);
        if (run->taken >= run->failed)
            break;
        uint64_t item = run->taken++;
        pthread_mutex_unlock(&run->lock);
        lode_error error = {0};
        lode_status status = run->job->work(run->job->context, item, worker, &error);
        pthread_mutex_lock(&run->lock);
        if (status != LODE_OK) {
            run_fail(run, item, status, &error);
            pthread_cond_broadcast(&run->moved);
        } else {
            run->done[item % run->window] = true;
        }
        finish_ready(run);
    }
    pthread_mutex_unlock(&run->lock);
}

static lode_status run_inline(const struct lode_job *job, lode_error *error)
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

/* ---- threads ---- */

/* Called with the lock held. */
static void add_run(struct lode_pool *pool, struct run *run)
{
    struct run **at = &pool->runs;
    while (*at)
        at = &(*at)->next;
    *at = run;
    run->next = NULL;
}

/* Called with the lock held. */
static void remove_run(struct lode_pool *pool, const struct run *run)
{
    struct run **at = &pool->runs;
    while (*at && *at != run)
        at = &(*at)->next;
    if (*at)
        *at = run->next;
}

/* Runs take turns, so that none waits for another to have all the threads it can use. */
static void *help(void *argument)
{
    struct lode_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->runs == NULL && !pool->ends)
            pthread_cond_wait(&pool->work, &pool->lock);
        struct run *run = pool->runs;
        if (run == NULL)
            break;
        unsigned worker = run->workers++;
        run->helpers++;
        remove_run(pool, run);
        if (run->workers < run->threads)
            add_run(pool, run);
        pthread_mutex_unlock(&pool->lock);
        run_work(run, worker);
        pthread_mutex_lock(&pool->lock);
        run->helpers--;
        pthread_cond_broadcast(&pool->ended);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

lode_status lode_pool_create(lode_pool **out, unsigned threads, lode_error *error)
{
    threads = lode_pool_threads(threads, UINT64_MAX);
    lode_pool *pool = calloc(1, sizeof *pool + threads * sizeof *pool->threads);
    *out = pool;
    if (pool == NULL)
        return lode_fail_memory(error);
    pool->size = threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->ended, NULL);
    /* Fewer threads than asked for is slower, not wrong: callers work too. */
    while (pool->started + 1 < threads &&
           pthread_create(&pool->threads[pool->started], NULL, help, pool) == 0)
        pool->started++;
    return LODE_OK;
}

void lode_pool_free(lode_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ends = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

LODE_GETTER(unsigned, lode_pool_size, lode_pool, size);

/* This thread works too, and waits for those that help it. */
static void run_on(struct lode_pool *pool, struct run *run)
{
    pthread_mutex_lock(&pool->lock);
    add_run(pool, run);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    run_work(run, 0);
    pthread_mutex_lock(&pool->lock);
    remove_run(pool, run);
    while (run->helpers > 0)
        pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

lode_status lode_pool_run(unsigned threads, const struct lode_job *job, lode_error *error)
{
    threads = lode_pool_threads(threads, job->items);
    if (threads <= 1)
        return run_inline(job, error);
    struct run run = {.job = job,
                      .failed = job->items,
                      .window = job->window ? job->window : lode_pool_window(threads),
                      .threads = threads,
                      .workers = 1};
    lode_pool *own = NULL;
    if (job->pool == NULL)
        LODE_TRY(lode_pool_create(&own, threads, error));
    run.done = calloc(run.window, sizeof *run.done);
    if (run.done == NULL) {
        lode_pool_free(own);
        return lode_fail_memory(error);
    }
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.moved, NULL);
    run_on(own ? own : job->pool, &run);
    lode_pool_free(own);
    pthread_cond_destroy(&run.moved);
    pthread_mutex_destroy(&run.lock);
    free(run.done);
    if (run.failed < job->items && error)
        *error = run.error;
    return run.failed < job->items ? run.status : LODE_OK;
}
