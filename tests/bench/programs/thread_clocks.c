/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD: at the end of a program, prints how much processor time its busiest thread and
 * all of its threads took. Unlike wall-clock time, other programs hardly change it.
 *   LD_PRELOAD=thread_clocks.so PROGRAM...
 * prints "threads N longest SECONDS total SECONDS" as the last line of the standard error.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

struct start {
    void *(*function)(void *);
    void *argument;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double longest, total;
static unsigned threads;

static void add_this_thread(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    double seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    pthread_mutex_lock(&lock);
    longest = seconds > longest ? seconds : longest;
    total += seconds;
    threads++;
    pthread_mutex_unlock(&lock);
}

static void *run(void *user)
{
    struct start start = *(struct start *)user;
    free(user);
    void *result = start.function(start.argument);
    add_this_thread();
    return result;
}

/* All else is hidden in this build, and the program would not find it. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument)
{
    create_fn *create;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    struct start *start = malloc(sizeof *start);
    if (symbol == NULL || start == NULL)
        abort();
    memcpy(&create, &symbol, sizeof create);
    *start = (struct start){function, argument};
    return create(thread, attributes, run, start);
}

static __attribute__((destructor)) void print_times(void)
{
    add_this_thread();
    fprintf(stderr, "threads %u longest %.6f total %.6f\n", threads, longest, total);
}
