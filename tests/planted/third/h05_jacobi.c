// SPDX-License-Identifier: BSD-3-Clause
// Heat equation: Jacobi sweeps on a two-dimensional grid, rows distributed
// over the OpenMP threads, one parallel region per block of sweeps.
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>

#define N 1024
#define SWEEPS 260
#define REPORT 52

static double *grid[2];

__attribute__((noinline)) static void init_grid(double *g)
{
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            g[y * N + x] = y == 0 ? 100.0 : 0.0;
}

__attribute__((noinline)) static void sweep_rows(const double *in, double *out, int first, int last)
{
    for (int y = first; y < last; y++)
        for (int x = 1; x < N - 1; x++)
            out[y * N + x] = 0.25 * (in[(y - 1) * N + x] + in[(y + 1) * N + x] +
                                     in[y * N + x - 1] + in[y * N + x + 1]);
}

__attribute__((noinline)) static void relax(int sweeps)
{
#pragma omp parallel num_threads(2)
    {
        int t = omp_get_thread_num(), n = omp_get_num_threads();
        int first = 1 + (N - 2) * t / n, last = 1 + (N - 2) * (t + 1) / n;

        for (int s = 0; s < sweeps; s++) {
            sweep_rows(grid[s & 1], grid[(s + 1) & 1], first, last);
#pragma omp barrier
        }
    }
}

__attribute__((noinline)) static double checksum(const double *g)
{
    double s = 0;

    for (int i = 0; i < N * N; i++)
        s += g[i];
    return s;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        grid[i] = malloc(sizeof(double) * N * N);
        if (!grid[i])
            return 1;
        init_grid(grid[i]);
    }
    for (int done = 0; done < SWEEPS; done += REPORT) {
        relax(REPORT);
        printf("sweeps %d sum %.6f\n", done + REPORT, checksum(grid[0]));
    }
    free(grid[0]);
    free(grid[1]);
    return 0;
}
