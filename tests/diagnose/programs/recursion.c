/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_paths() calls itself 242,784 times from one call. Control: one level of calls for each
 * of 2,000 items.
 */
#include "work.h"

enum {
    DEPTH = 25,
    ITEMS = 2000,
    ITEM = 100
};

NOINLINE static long count_paths(int n)
{
    work(1);
    return n < 2 ? n : count_paths(n - 1) + count_paths(n - 2);
}

NOINLINE static long count_items(void)
{
    long sum = 0;
    for (int i = 0; i < ITEMS; ++i) {
        work(ITEM);
        sum += count_paths(1);
    }
    return sum;
}

int main(int count, char **arguments)
{
    long sum = is_planted(count, arguments) ? count_paths(DEPTH) : count_items();
    return sum > 0 ? 0 : 1;
}
