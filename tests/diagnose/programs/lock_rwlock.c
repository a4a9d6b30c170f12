/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads hold a read-write lock for most of their time: as writers, in change_entry().
 * Control: for just as long, but as readers.
 */
#include "threads.h"
#include "work.h"

enum {
    THREADS = 2,
    ROUNDS = 400,
    INSIDE = 400,
    OUTSIDE = 60
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static bool planted;

NOINLINE static void change_entry(void)
{
    pthread_rwlock_wrlock(&lock);
    work(INSIDE);
    pthread_rwlock_unlock(&lock);
}

NOINLINE static void find_entry(void)
{
    pthread_rwlock_rdlock(&lock);
    work(INSIDE);
    pthread_rwlock_unlock(&lock);
}

NOINLINE static void *serve(void *number)
{
    for (int i = 0; i < ROUNDS; ++i) {
        work(OUTSIDE);
        if (planted)
            change_entry();
        else
            find_entry();
    }
    return number;
}

int main(int count, char **arguments)
{
    planted = is_planted(count, arguments);
    /* uftrace loses a function if two threads call it for the first time at once. */
    change_entry();
    find_entry();
    run_threads(THREADS, serve);
    return 0;
}
