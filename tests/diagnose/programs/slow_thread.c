/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The third of four threads has 4 times the work of each other one, in solve_part(). Control:
 * all have the same. Prints the id of the third thread.
 * Truth: load balance 7 / 16 = 0.44.
 */
#include "threads.h"
#include "work.h"

#include <stdio.h>
#include <unistd.h>

enum {
    THREADS = 4,
    SLOW = 2,
    TIMES = 4,
    PARTS = 200,
    PART = 300
};

static bool planted;

NOINLINE static void solve_part(int part)
{
    work(PART + (unsigned)part % 3);
}

NOINLINE static void *solve(void *number)
{
    bool is_slow = *(int *)number == SLOW;
    int parts = is_slow && planted ? PARTS * TIMES : PARTS;
    if (is_slow)
        printf("thread %d\n", (int)gettid());
    for (int i = 0; i < parts; ++i)
        solve_part(i);
    return number;
}

int main(int count, char **arguments)
{
    planted = is_planted(count, arguments);
    run_threads(THREADS, solve);
    return 0;
}
