/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing is planted: two threads hold a mutex for 5 % of their work. Run beside other
 * programs, they lose the processor while they hold it, and the others wait: no fault of the
 * program.
 */
#include "threads.h"
#include "work.h"

enum {
    THREADS = 2,
    ROUNDS = 1500,
    INSIDE = 10,
    OUTSIDE = 190
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void count_result(void)
{
    pthread_mutex_lock(&lock);
    work(INSIDE);
    pthread_mutex_unlock(&lock);
}

NOINLINE static void compute_result(void)
{
    work(OUTSIDE);
}

NOINLINE static void *serve(void *number)
{
    for (int i = 0; i < ROUNDS; ++i) {
        compute_result();
        count_result();
    }
    return number;
}

int main(void)
{
    /* uftrace loses a function if two threads call it for the first time at once. */
    count_result();
    run_threads(THREADS, serve);
    return 0;
}
