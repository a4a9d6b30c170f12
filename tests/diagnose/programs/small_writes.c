/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save_point() writes each point with a call of its own: 100,000 writes of 16 bytes. Control:
 * the same bytes, 4,096 points in one write.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    POINTS = 100000,
    BLOCK = 4096,
    SIZE = 16,
    LESS = 8
};

static char points[BLOCK][SIZE];

NOINLINE static void compute_points(int count)
{
    work((unsigned)count);
}

NOINLINE static void save_point(int file, int index)
{
    if (write(file, points[index], SIZE) != SIZE)
        abort();
}

NOINLINE static void save_block(int file)
{
    if (write(file, points, sizeof points) != sizeof points)
        abort();
}

int main(int count, char **arguments)
{
    bool planted = is_planted(count, arguments);
    FILE *out = tmpfile();
    if (!out)
        abort();
    for (int i = 0; i < POINTS; i += BLOCK) {
        compute_points(planted ? BLOCK / LESS : BLOCK);
        for (int j = 0; planted && j < BLOCK; ++j)
            save_point(fileno(out), j);
        if (!planted)
            save_block(fileno(out));
    }
    fclose(out);
    return 0;
}
