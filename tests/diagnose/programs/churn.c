/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parse_line() allocates and frees 41 fields in each of 5,000 calls. Control: it allocates one
 * block.
 */
#include "work.h"

#include <stdlib.h>

enum {
    LINES = 5000,
    FIELDS = 41,
    FIELD = 24,
    LINE = 60
};

NOINLINE static void parse_line(int fields, size_t size)
{
    void *field[FIELDS];
    for (int i = 0; i < fields; ++i)
        if (!(field[i] = malloc(size)))
            abort();
    work(LINE);
    for (int i = 0; i < fields; ++i)
        free(field[i]);
}

int main(int count, char **arguments)
{
    bool planted = is_planted(count, arguments);
    for (int i = 0; i < LINES; ++i)
        parse_line(planted ? FIELDS : 1, planted ? FIELD : FIELD * FIELDS);
    return 0;
}
