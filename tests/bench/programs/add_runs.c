/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * add_runs PLUGIN ADDRESS WRITERS ADDS FIRST: processes with one connection each that add runs of
 * 200 functions and 3 metrics to the catalogue of a server. Prints adds a second, and what each
 * takes.
 */
#include "runs/backend.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FUNCTIONS = 200,
    METRICS = 3,
    COSTS = FUNCTIONS * METRICS
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int add_one(catalogue *c, unsigned long serial)
{
    static char names[FUNCTIONS][32];
    static run_cost costs[COSTS];
    char path[64], commit[32];
    catalogue_error error;
    run_total totals[METRICS] = {{"CPUTIME (sec)", 0}, {"PAPI_TOT_INS", 0}, {"calls", 0}};
    for (size_t i = 0; i < COSTS; i++) {
        size_t function = i % FUNCTIONS;
        double value = 100.0 / (double)(1 + function) * (1 + 0.02 * (double)rand() / RAND_MAX);
        snprintf(names[function], sizeof names[function], "function_%zu(int)", function);
        costs[i] =
            (run_cost){names[function], "", "", i / FUNCTIONS, value, 2 * value, (double)NAN, (double)NAN};
        totals[i / FUNCTIONS].value += value;
    }
    snprintf(path, sizeof path, "/scratch/%lu", serial);
    snprintf(commit, sizeof commit, "%016lx", serial * 2654435761UL);
    const run_label labels[] = {{"branch", "main"}, {"commit", commit}, {"host", "node7"}, {"title", "app"}};
    run_record run = {.path = path,
                      .format = "synthetic",
                      .begun = UINT64_C(1767225600) * 1000000000 + serial * UINT64_C(25000000000),
                      .added = serial + 1,
                      .labels = labels,
                      .label_count = sizeof labels / sizeof *labels,
                      .totals = totals,
                      .total_count = METRICS,
                      .costs = costs,
                      .cost_count = COSTS};
    int status = catalogue_add(c, &run, RUN_OF_SAME_STORE, &error);
    if (status < 0)
        fprintf(stderr, "%s\n", error.text);
    return status;
}

static int add_all(const catalogue_backend *backend, const char *address, unsigned long count,
                   unsigned long first)
{
    const catalogue_place place = {.address = address, .mode = CATALOGUE_WRITE, .milliseconds = 60000};
    catalogue *c = NULL;
    catalogue_error error;
    int status = catalogue_open_server(&c, backend, &place, &error);
    for (unsigned long i = 0; i < count && status == 0; i++)
        status = add_one(c, first + i);
    catalogue_close(c);
    return status != 0;
}

int main(int count, char **words)
{
    if (count != 6)
        return 2;
    void *library = dlopen(words[1], RTLD_NOW);
    const catalogue_backend *backend = library ? dlsym(library, CATALOGUE_BACKEND_SYMBOL) : NULL;
    unsigned long writers = strtoul(words[3], NULL, 10), adds = strtoul(words[4], NULL, 10);
    unsigned long first = strtoul(words[5], NULL, 10), failed = 0;
    int status;
    if (!backend)
        return 2;
    double begin = now();
    for (unsigned long i = 0; i < writers; i++)
        if (fork() == 0)
            _exit(add_all(backend, words[2], adds, first + i * adds));
    while (wait(&status) > 0)
        failed += status != 0;
    double seconds = now() - begin;
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    double processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    printf("%.0f a second, %.2f ms of processor time of the client for each, %lu writers failed\n",
           (double)(writers * adds) / seconds, 1000 * processor / (double)(writers * adds), failed);
    return failed != 0;
}
