/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program to record: five functions with a known number of calls and work that does not depend on
 * memory. SLOWER=N gives `relax` N percent more work in each call; -DMORE calls `norm` twice.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STEPS
#define STEPS 120
#endif

enum {
    WORK = 60000
};

static volatile uint64_t sink;

static uint64_t spin(uint64_t seed, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

__attribute__((noinline)) void relax(unsigned percent)
{
    sink = spin(sink, WORK * 3 / 100 * (100 + percent));
}

__attribute__((noinline)) void gather(void)
{
    sink = spin(sink, WORK * 2);
}

__attribute__((noinline)) void scatter(void)
{
    sink = spin(sink, WORK);
}

__attribute__((noinline)) void norm(void)
{
    sink = spin(sink, WORK / 2);
}

__attribute__((noinline)) void step(unsigned percent)
{
    gather();
    relax(percent);
    scatter();
    norm();
#ifdef MORE
    norm();
#endif
}

int main(void)
{
    const char *slower = getenv("SLOWER");
    unsigned percent = slower ? (unsigned)strtoul(slower, NULL, 10) : 0;
    for (unsigned i = 0; i < STEPS; i++)
        step(percent);
    return sink == 0;
}
