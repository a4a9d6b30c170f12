/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main thread makes all items, in make_item(), which takes 10 times as long as their use.
 * Three threads wait for items. Control: use takes 30 times as long.
 * Truth: the main thread does 91 % of the work.
 */
#include "threads.h"
#include "work.h"

enum {
    THREADS = 3,
    ITEMS = 600,
    MAKE = 500,
    USE = 50,
    FAST = 20,
    SLOW = 600
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_there = PTHREAD_COND_INITIALIZER;
static int waiting, made;
static bool planted;

NOINLINE static void make_item(void)
{
    work(planted ? MAKE : FAST);
}

NOINLINE static void use_item(void)
{
    work(planted ? USE : SLOW);
}

/* Whether there was one. */
NOINLINE static bool take_item(void)
{
    pthread_mutex_lock(&lock);
    while (waiting == 0 && made < ITEMS)
        pthread_cond_wait(&is_there, &lock);
    bool is_one = waiting > 0;
    if (is_one)
        --waiting;
    pthread_mutex_unlock(&lock);
    return is_one;
}

NOINLINE static void *consume(void *number)
{
    while (take_item())
        use_item();
    return number;
}

NOINLINE static void produce(void)
{
    for (int i = 0; i < ITEMS; ++i) {
        make_item();
        pthread_mutex_lock(&lock);
        ++waiting;
        ++made;
        pthread_cond_broadcast(&is_there);
        pthread_mutex_unlock(&lock);
    }
}

int main(int count, char **arguments)
{
    planted = is_planted(count, arguments);
    /* uftrace loses a function if two threads call it for the first time at once. */
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    start_threads(THREADS, consume);
    produce();
    join_threads(THREADS);
    return 0;
}
