// SPDX-License-Identifier: BSD-3-Clause
/* Submits jobs to a background thread and watches their state. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { IDLE, SUBMITTED, DONE, QUIT };
#define JOBS 90

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state = IDLE;
static uint32_t job, result;

static int get_state(void)
{
    pthread_mutex_lock(&lock);
    int s = state;
    pthread_mutex_unlock(&lock);
    return s;
}

static void set_state(int s)
{
    pthread_mutex_lock(&lock);
    state = s;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static uint32_t compile_unit(uint32_t unit)
{
    uint32_t x = unit;
    for (int i = 0; i < 1000000; i++)
        x = x * 22695477u + 1u + (x >> 18);
    return x;
}

__attribute__((noinline)) static void *builder_main(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (state != SUBMITTED && state != QUIT)
            pthread_cond_wait(&changed, &lock);
        int s = state;
        pthread_mutex_unlock(&lock);
        if (s == QUIT)
            return NULL;
        result = compile_unit(job);
        set_state(DONE);
    }
}

__attribute__((noinline)) static void await_job(void)
{
#ifdef FIX
    pthread_mutex_lock(&lock);
    while (state != DONE)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
#else
    while (get_state() != DONE)
        usleep(10000);
#endif
}

int main(void)
{
    pthread_t builder;
    uint64_t sum = 0;
    pthread_create(&builder, NULL, builder_main, NULL);
    for (uint32_t j = 0; j < JOBS; j++) {
        job = j;
        set_state(SUBMITTED);
        await_job();
        sum += result;
    }
    set_state(QUIT);
    pthread_join(builder, NULL);
    printf("sum %lu state %d\n", (unsigned long)sum, get_state());
    return 0;
}
