// SPDX-License-Identifier: BSD-3-Clause
/* Jacobi heat equation on a plate, two threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 514
#define SWEEPS 400
#define THREADS 2

static double plate[2][N][N];
static pthread_barrier_t step_barrier;

__attribute__((noinline)) static void relax_row(double (*from)[N], double (*to)[N], int r)
{
    for (int c = 1; c < N - 1; c++)
        to[r][c] = 0.25 * (from[r - 1][c] + from[r + 1][c] +
                           from[r][c - 1] + from[r][c + 1]);
}

__attribute__((noinline)) static void sweep(double (*from)[N], double (*to)[N], int first, int last)
{
    for (int r = first; r < last; r++) {
        relax_row(from, to, r);
#ifndef FIX
        pthread_barrier_wait(&step_barrier);
#endif
    }
#ifdef FIX
    pthread_barrier_wait(&step_barrier);
#endif
}

__attribute__((noinline)) static void *relax_main(void *arg)
{
    long id = (long)arg;
    int rows = (N - 2) / THREADS;
    int first = 1 + (int)id * rows;
    for (int s = 0; s < SWEEPS; s++)
        sweep(plate[s & 1], plate[(s + 1) & 1], first, first + rows);
    return NULL;
}

static void init_plate(void)
{
    for (int i = 0; i < N; i++) {
        plate[0][0][i] = plate[1][0][i] = 100.0;
        plate[0][i][0] = plate[1][i][0] = 50.0;
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    init_plate();
    pthread_barrier_init(&step_barrier, NULL, THREADS);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, relax_main, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    double sum = 0;
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++)
            sum += plate[SWEEPS & 1][r][c];
    printf("heat %.6f\n", sum);
    return 0;
}
