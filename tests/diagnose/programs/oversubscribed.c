/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More threads than processors meet at a barrier after each step. Control: as many threads as
 * processors.
 * Truth: waiting at the barrier is the machine's fault, not that of the program.
 */
#include "threads.h"
#include "work.h"

#include <unistd.h>

enum {
    TIMES = 4,
    STEPS = 100,
    STEP = 800
};

static pthread_barrier_t barrier;

NOINLINE static void advance(int step)
{
    work(STEP + (unsigned)step % 2);
}

NOINLINE static void *simulate(void *number)
{
    for (int i = 0; i < STEPS; ++i) {
        advance(i);
        pthread_barrier_wait(&barrier);
    }
    return number;
}

int main(int count, char **arguments)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long wanted = is_planted(count, arguments) ? processors * TIMES : processors;
    int number = wanted < THREADS_MAX ? (int)wanted : THREADS_MAX;
    /* uftrace loses a function if two threads call it for the first time at once. */
    if (pthread_barrier_init(&barrier, NULL, 1) != 0)
        return 1;
    pthread_barrier_wait(&barrier);
    if (pthread_barrier_init(&barrier, NULL, (unsigned)number) != 0)
        return 1;
    run_threads(number, simulate);
    return 0;
}
