// SPDX-License-Identifier: BSD-3-Clause
/* Band statistics of a large raster: smooth and sum along the columns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4096
#define COLS 4096
#define PASSES 5

static int32_t *raster;
static int64_t column_sum[COLS];

__attribute__((noinline)) static void load_raster(void)
{
    raster = malloc((size_t)ROWS * COLS * sizeof *raster);
    uint32_t x = 99;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        x = x * 1664525u + 1013904223u;
        raster[i] = (int32_t)(x >> 20);
    }
}

#ifdef FIX
__attribute__((noinline)) static void add_row(int r, int pass)
{
    const int32_t *row = raster + (size_t)r * COLS;
    for (int c = 0; c < COLS; c++)
        column_sum[c] += row[c] ^ pass;
}
#else
__attribute__((noinline)) static void add_column(int c, int pass)
{
    int64_t sum = 0;
    for (int r = 0; r < ROWS; r++)
        sum += raster[(size_t)r * COLS + c] ^ pass;
    column_sum[c] += sum;
}
#endif

__attribute__((noinline)) static void sum_columns(int pass)
{
#ifdef FIX
    for (int r = 0; r < ROWS; r++)
        add_row(r, pass);
#else
    for (int c = 0; c < COLS; c++)
        add_column(c, pass);
#endif
}

int main(void)
{
    load_raster();
    for (int pass = 0; pass < PASSES; pass++)
        sum_columns(pass);
    uint64_t total = 0;
    for (int c = 0; c < COLS; c++)
        total = total * 31 + (uint64_t)column_sum[c];
    printf("total %lu\n", (unsigned long)total);
    free(raster);
    return 0;
}
