// SPDX-License-Identifier: BSD-3-Clause
/* A client asks a solver thread through a one-slot mailbox. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t request_ready = PTHREAD_COND_INITIALIZER;
static pthread_cond_t reply_ready = PTHREAD_COND_INITIALIZER;
static int has_request, has_reply, closing;
static uint32_t request, reply;

__attribute__((noinline)) static uint32_t solve(uint32_t seed)
{
    uint32_t x = seed;
    for (int i = 0; i < 900000; i++)
        x = x * 1664525u + 1013904223u + (x >> 16);
    return x;
}

__attribute__((noinline)) static void *solver_main(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&box_lock);
    for (;;) {
        while (!has_request && !closing)
            pthread_cond_wait(&request_ready, &box_lock);
        if (!has_request)
            break;
        has_request = 0;
        uint32_t q = request;
        pthread_mutex_unlock(&box_lock);
        uint32_t answer = solve(q);
        pthread_mutex_lock(&box_lock);
        reply = answer;
        has_reply = 1;
#ifdef FIX
        pthread_cond_signal(&reply_ready);
#else
        pthread_cond_signal(&request_ready);
#endif
    }
    pthread_mutex_unlock(&box_lock);
    return NULL;
}

__attribute__((noinline)) static void wait_reply(void)
{
    while (!has_reply) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 15000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&reply_ready, &box_lock, &until);
    }
}

__attribute__((noinline)) static uint32_t ask(uint32_t q)
{
    pthread_mutex_lock(&box_lock);
    request = q;
    has_request = 1;
    has_reply = 0;
    pthread_cond_signal(&request_ready);
    wait_reply();
    uint32_t answer = reply;
    pthread_mutex_unlock(&box_lock);
    return answer;
}

int main(void)
{
    pthread_t solver;
    pthread_create(&solver, NULL, solver_main, NULL);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 100; i++)
        sum += ask(i);
    pthread_mutex_lock(&box_lock);
    closing = 1;
    pthread_cond_signal(&request_ready);
    pthread_mutex_unlock(&box_lock);
    pthread_join(solver, NULL);
    printf("sum %u\n", sum);
    return 0;
}
