// SPDX-License-Identifier: BSD-3-Clause
/* A dispatcher hands single jobs to a set of parked workers. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define WORKERS 40
#define JOBS 7000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_ready = PTHREAD_COND_INITIALIZER;
static pthread_cond_t work_done = PTHREAD_COND_INITIALIZER;
static int pending, finished, stopping;
static uint32_t job_input;
static uint64_t total;

__attribute__((noinline)) static uint32_t handle_job(uint32_t input)
{
    uint32_t x = input;
    for (int i = 0; i < 12000; i++)
        x = x * 69069u + 1u + (x >> 15);
    return x;
}

__attribute__((noinline)) static void *worker_main(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!pending && !stopping)
            pthread_cond_wait(&work_ready, &lock);
        if (!pending)
            break;
        pending = 0;
        uint32_t input = job_input;
        pthread_mutex_unlock(&lock);
        uint32_t output = handle_job(input);
        pthread_mutex_lock(&lock);
        total += output;
        finished++;
        pthread_cond_signal(&work_done);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

__attribute__((noinline)) static void dispatch_job(uint32_t input)
{
    pthread_mutex_lock(&lock);
    int before = finished;
    job_input = input;
    pending = 1;
#ifdef FIX
    pthread_cond_signal(&work_ready);
#else
    pthread_cond_broadcast(&work_ready);
#endif
    while (finished == before)
        pthread_cond_wait(&work_done, &lock);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker_main, NULL);
    for (uint32_t j = 0; j < JOBS; j++)
        dispatch_job(j);
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_broadcast(&work_ready);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("total %lu\n", (unsigned long)total);
    return 0;
}
