/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load_table() reads the same file again in each of 60 steps, for more than a third of the
 * time. Control: it reads the file once.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SIZE = 16 << 20,
    BLOCK = 1 << 20,
    STEPS = 60,
    STEP = 5000
};

static char block[BLOCK];

NOINLINE static void load_table(int file)
{
    for (off_t at = 0; at < SIZE; at += BLOCK)
        if (pread(file, block, BLOCK, at) != BLOCK)
            abort();
}

NOINLINE static void solve(void)
{
    work(STEP);
}

NOINLINE static void make_table(int file)
{
    memset(block, 1, sizeof block);
    for (off_t at = 0; at < SIZE; at += BLOCK)
        if (pwrite(file, block, BLOCK, at) != BLOCK)
            abort();
}

int main(int count, char **arguments)
{
    bool planted = is_planted(count, arguments);
    FILE *table = tmpfile();
    if (!table)
        abort();
    make_table(fileno(table));
    for (int i = 0; i < STEPS; ++i) {
        if (planted || i == 0)
            load_table(fileno(table));
        solve();
    }
    fclose(table);
    return 0;
}
