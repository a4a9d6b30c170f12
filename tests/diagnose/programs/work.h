/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that takes about a microsecond a unit, and is no call of its own in recordings. */
#ifndef PLANTED_WORK_H
#define PLANTED_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STEPS_PER_UNIT 1600
#define NOINLINE       __attribute__((noinline))

NOINLINE __attribute__((no_instrument_function, unused)) static void work(unsigned units)
{
    uint64_t x = 0;
    while (x++ < (uint64_t)units * STEPS_PER_UNIT)
        __asm__ volatile("" : "+r"(x));
}

/* Whether the problem is planted: the argument of the program is "planted" or "control". */
__attribute__((no_instrument_function)) static inline bool is_planted(int count, char **arguments)
{
    return count > 1 && strcmp(arguments[1], "planted") == 0;
}

#endif
