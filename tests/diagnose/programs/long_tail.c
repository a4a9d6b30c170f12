/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 20 of 3,000 calls of handle_order() take 200 times as long as the others. Control: none
 * does.
 * Truth: these take 57 % of the run.
 */
#include "work.h"

enum {
    ORDERS = 3000,
    EVERY = 150,
    ORDER = 60,
    TIMES = 200
};

NOINLINE static void handle_order(bool is_slow)
{
    work(is_slow ? ORDER * TIMES : ORDER);
}

int main(int count, char **arguments)
{
    bool planted = is_planted(count, arguments);
    for (int i = 0; i < ORDERS; ++i)
        handle_order(planted && i % EVERY == EVERY - 1);
    return 0;
}
