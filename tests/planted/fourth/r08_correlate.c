// SPDX-License-Identifier: BSD-3-Clause
/* Correlation of all pairs of sensor series, upper triangle, OpenMP. */
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>

#define SERIES 900
#define LENGTH 2048

static float *series[SERIES];
static double row_score[SERIES];

__attribute__((noinline)) static void load_series(void)
{
    unsigned x = 4711;
    for (int s = 0; s < SERIES; s++) {
        series[s] = malloc(LENGTH * sizeof(float));
        for (int i = 0; i < LENGTH; i++) {
            x = x * 1103515245u + 12345u;
            series[s][i] = (float)((x >> 16) & 255) - 127.0f;
        }
    }
}

static double dot(const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < LENGTH; i++)
        sum += a[i] * b[i];
    return sum;
}

__attribute__((noinline)) static double correlate_row(int row)
{
    double best = 0;
    for (int other = row + 1; other < SERIES; other++) {
        double d = dot(series[row], series[other]);
        if (d > best)
            best = d;
    }
    return best;
}

__attribute__((noinline)) static void correlate_all(void)
{
#ifdef FIX
#pragma omp parallel for schedule(dynamic, 8)
#else
#pragma omp parallel for schedule(static)
#endif
    for (int row = 0; row < SERIES; row++)
        row_score[row] = correlate_row(row);
}

int main(void)
{
    omp_set_num_threads(2);
    load_series();
    correlate_all();
    double sum = 0;
    for (int s = 0; s < SERIES; s++) {
        sum += row_score[s];
        free(series[s]);
    }
    printf("score %.1f\n", sum);
    return 0;
}
