/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of one entry function, which get their numbers. */
#ifndef PLANTED_THREADS_H
#define PLANTED_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    THREADS_MAX = 16
};

static pthread_t threads[THREADS_MAX];

__attribute__((no_instrument_function)) static inline void start_threads(int count, void *(*entry)(void *))
{
    static int numbers[THREADS_MAX];
    for (int i = 0; i < count; ++i) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, entry, &numbers[i]) != 0)
            abort();
    }
}

__attribute__((no_instrument_function)) static inline void join_threads(int count)
{
    for (int i = 0; i < count; ++i)
        pthread_join(threads[i], NULL);
}

__attribute__((no_instrument_function, unused)) static inline void run_threads(int count,
                                                                               void *(*entry)(void *))
{
    start_threads(count, entry);
    join_threads(count);
}

#endif
