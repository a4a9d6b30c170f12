/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * append_log() sleeps, as if it waited for a disk, while it holds a mutex that both threads
 * need. Control: it sleeps after it released the mutex.
 */
#include "threads.h"
#include "work.h"

#include <unistd.h>

enum {
    THREADS = 2,
    ROUNDS = 60,
    OUTSIDE = 300,
    INSIDE = 20,
    SLEEP = 3000
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool planted;

NOINLINE static void append_log(void)
{
    pthread_mutex_lock(&lock);
    work(INSIDE);
    if (planted)
        usleep(SLEEP);
    pthread_mutex_unlock(&lock);
    if (!planted)
        usleep(SLEEP);
}

NOINLINE static void *serve(void *number)
{
    for (int i = 0; i < ROUNDS; ++i) {
        work(OUTSIDE);
        append_log();
    }
    return number;
}

int main(int count, char **arguments)
{
    planted = is_planted(count, arguments);
    /* uftrace loses a function if two threads call it for the first time at once. */
    append_log();
    run_threads(THREADS, serve);
    return 0;
}
