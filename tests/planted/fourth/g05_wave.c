// SPDX-License-Identifier: BSD-3-Clause
/* A balanced OpenMP wave equation: one region per time step, static schedule. */
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>

#define N 1026
#define STEPS 400

static float (*now)[N], (*before)[N], (*after)[N];

__attribute__((noinline)) static void init_wave(void)
{
    now = calloc(N, sizeof *now);
    before = calloc(N, sizeof *before);
    after = calloc(N, sizeof *after);
    if (!now || !before || !after)
        exit(1);
    for (int i = 400; i < 600; i++)
        for (int j = 400; j < 600; j++)
            now[i][j] = before[i][j] = 1.0f;
}

__attribute__((noinline)) static void step_rows(int first, int last)
{
    for (int i = first; i < last; i++)
        for (int j = 1; j < N - 1; j++) {
            float laplace = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j];
            float v = 2 * now[i][j] - before[i][j] + 0.2f * laplace;
            after[i][j] = v * 0.9999f + 0.00001f * laplace * laplace;
        }
}

__attribute__((noinline)) static void time_step(void)
{
#pragma omp parallel for schedule(static)
    for (int block = 0; block < 16; block++)
        step_rows(1 + block * 64, 1 + (block + 1) * 64);
    float (*t)[N] = before;
    before = now;
    now = after;
    after = t;
}

int main(void)
{
    omp_set_num_threads(2);
    init_wave();
    for (int s = 0; s < STEPS; s++)
        time_step();
    double energy = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            energy += now[i][j] * now[i][j];
    printf("energy %.4f\n", energy);
    free(now);
    free(before);
    free(after);
    return 0;
}
