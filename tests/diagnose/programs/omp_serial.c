/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between parallel loops, the first thread works alone in assemble(), for half of the time.
 * Control: for 1 %.
 * Truth: the second thread waits for half of the run; a quarter of the run could be saved.
 */
#include "work.h"

enum {
    ROWS = 20,
    SWEEPS = 60,
    ROW = 400,
    ALONE = 4000,
    SHORT = 40
};

static bool planted;

NOINLINE static void assemble(void)
{
    work(planted ? ALONE : SHORT);
}

NOINLINE static void relax_row(int row)
{
    work(ROW + (unsigned)row % 2);
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
    for (int i = 0; i < SWEEPS; ++i) {
        assemble();
        sweep();
    }
    return 0;
}
