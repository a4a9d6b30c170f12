/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect_service() sleeps for 300 ms once, at the start of a run of 400 ms of work. Control:
 * for 5 ms.
 * Truth: 43 % of the run.
 */
#include "work.h"

#include <unistd.h>

enum {
    WAIT = 300000,
    SHORT = 5000,
    ITEMS = 2000,
    ITEM = 200
};

NOINLINE static void connect_service(bool is_slow)
{
    usleep(is_slow ? WAIT : SHORT);
}

NOINLINE static void process_item(int item)
{
    work(ITEM + (unsigned)item % 2);
}

int main(int count, char **arguments)
{
    connect_service(is_planted(count, arguments));
    for (int i = 0; i < ITEMS; ++i)
        process_item(i);
    return 0;
}
