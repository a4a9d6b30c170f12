/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenMP loop with a static schedule, whose iterations get more expensive: relax_row()
 * below sweep(). Control: all iterations take the same.
 * Truth, for two threads: load balance (1/4 + 3/4) / 2 / (3/4) = 0.67.
 */
#include "work.h"

enum {
    ROWS = 64,
    SWEEPS = 40,
    ROW = 400
};

static bool planted;

NOINLINE static void relax_row(int row)
{
    work(planted ? (unsigned)row * 2 * ROW / ROWS : ROW);
}

NOINLINE static void sweep(void)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < ROWS; ++row)
        relax_row(row);
}

int main(int count, char **arguments)
{
    planted = is_planted(count, arguments);
    for (int i = 0; i < SWEEPS; ++i)
        sweep();
    return 0;
}
