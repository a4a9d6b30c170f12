/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that recurse, sleep, call libraries and lock. All calls return before threads end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS = 4,
    ROUNDS = 25
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

__attribute__((noinline)) static long fibonacci(long n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int odd(int n);

__attribute__((noinline)) static int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}

__attribute__((noinline)) static int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}

__attribute__((noinline)) static void add(long value)
{
    pthread_mutex_lock(&lock);
    sum += value;
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* A library that calls back. */
__attribute__((noinline)) static void sort(int seed)
{
    int *numbers = malloc(16 * sizeof *numbers);
    for (int i = 0; i < 16; i++) {
        numbers[i] = seed * (i + 7) % 31;
    }
    qsort(numbers, 16, sizeof *numbers, compare);
    add(numbers[0]);
    free(numbers);
}

__attribute__((noinline)) static void rest(int round)
{
    if (round % 8 == 0) {
        usleep(300);
    }
}

static void *work(void *argument)
{
    int index = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        add(fibonacci(index + round % 5));
        add(even(round));
        sort(round + index);
        rest(round);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int indices[THREADS];
    for (int i = 0; i < THREADS; i++) {
        indices[i] = i;
        pthread_create(&threads[i], NULL, work, &indices[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld\n", sum);
    return 0;
}
