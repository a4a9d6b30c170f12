/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads do 90 % of their work under one mutex, which transfer() takes. Control: 1 %.
 * Truth: one thread waits while the other one works; at most half of the run could be saved.
 */
#include "threads.h"
#include "work.h"

enum {
    THREADS = 2,
    ROUNDS = 400,
    INSIDE = 400,
    OUTSIDE = 40,
    SHORT = 4
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool planted;

NOINLINE static void update_accounts(void)
{
    work(planted ? INSIDE : SHORT);
}

NOINLINE static void transfer(void)
{
    pthread_mutex_lock(&lock);
    update_accounts();
    pthread_mutex_unlock(&lock);
}

NOINLINE static void check_order(void)
{
    work(planted ? OUTSIDE : INSIDE);
}

NOINLINE static void *serve(void *number)
{
    for (int i = 0; i < ROUNDS; ++i) {
        check_order();
        transfer();
    }
    return number;
}

int main(int count, char **arguments)
{
    planted = is_planted(count, arguments);
    /* uftrace loses a function if two threads call it for the first time at once. */
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    run_threads(THREADS, serve);
    return 0;
}
