/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that takes a microsecond a unit, and is no call of its own in recordings. */
#ifndef PLANTED_WORK_H
#define PLANTED_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define NOINLINE    __attribute__((noinline))
#define NOT_TRACED  __attribute__((no_instrument_function, unused))
#define TURNS       800 /* about half a microsecond */
#define NS_PER_UNIT 1000

/* By its address, because recorders see calls through the tables of the linker. */
static int (*volatile read_clock)(clockid_t, struct timespec *) = clock_gettime;

NOT_TRACED static int64_t used_time(void)
{
    struct timespec now;
    read_clock(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Uses the processor for that many microseconds, however fast it is: processors of virtual machines
 * differ, and times are what is planted.
 */
NOINLINE NOT_TRACED static void work(unsigned units)
{
    int64_t end = used_time() + (int64_t)units * NS_PER_UNIT;
    do {
        for (unsigned i = 0; i < TURNS; ++i)
            __asm__ volatile("" : "+r"(i));
    } while (used_time() < end);
}

/* Whether the problem is planted: the argument of the program is "planted" or "control". */
NOT_TRACED static inline bool is_planted(int count, char **arguments)
{
    return count > 1 && strcmp(arguments[1], "planted") == 0;
}

#endif
