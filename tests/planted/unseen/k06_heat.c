// SPDX-License-Identifier: BSD-3-Clause
/* Healthy: heat equation on a plate with OpenMP, evenly split. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N     700
#define STEPS 200

static float u[2][N][N];

__attribute__((noinline)) static void relax_row(const float *up, const float *mid, const float *down, float *out)
{
    for (int x = 1; x < N - 1; x++)
        out[x] = mid[x] + 0.2f * (up[x] + down[x] + mid[x - 1] + mid[x + 1] - 4 * mid[x]);
}

__attribute__((noinline)) static void step(int from)
{
#pragma omp parallel for schedule(static)
    for (int y = 1; y < N - 1; y++)
        relax_row(u[from][y - 1], u[from][y], u[from][y + 1], u[1 - from][y]);
}

__attribute__((noinline)) static void init(void)
{
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            u[0][y][x] = u[1][y][x] = (y == 0) ? 100.0f : (x == 0) ? 50.0f : 0.0f;
    for (int i = 0; i < 20; i++) {
        int y = (i * 7919) % (N - 2) + 1, x = (i * 104729) % (N - 2) + 1;
        u[0][y][x] = 1000.0f;
    }
}

__attribute__((noinline)) static double mean_temperature(int side)
{
    double s = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            s += u[side][y][x];
    return s / N / N;
}

int main(void)
{
    int side = 0;

    init();
    for (int s = 0; s < STEPS; s++) {
        step(side);
        side = 1 - side;
        if (s % 50 == 49)
            printf("step %d mean %.5f\n", s + 1, mean_temperature(side));
    }
    return 0;
}
