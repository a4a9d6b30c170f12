/* SPDX-License-Identifier: BSD-3-Clause */
/* Three threads with unequal work, that sleep and take a lock. All calls return first. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((noinline)) static long fibonacci(long n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static void add(long value)
{
    pthread_mutex_lock(&lock);
    total += value;
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void pause_shortly(void)
{
    usleep(300);
}

__attribute__((noinline)) static void work(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        add(fibonacci(4));
        if (i % 3 == 0)
            pause_shortly();
    }
}

static void *worker(void *argument)
{
    work((long)argument);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(3 + 3 * i));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return total == 0;
}
