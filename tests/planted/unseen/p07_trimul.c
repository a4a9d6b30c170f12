// SPDX-License-Identifier: BSD-3-Clause
/* Repeated product of lower triangular matrices, two threads, one barrier per step. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N       320
#define STEPS   180
#define THREADS 2

static double a[N][N], b[N][N], c[N][N];
static pthread_barrier_t barrier;

/* Row i of the product needs about i * i / 2 multiplications. */
__attribute__((noinline)) static void multiply_row(int i)
{
    double *out = c[i];

    memset(out, 0, sizeof(double) * N);
    for (int k = 0; k <= i; k++) {
        double f = a[i][k];
        for (int j = 0; j <= k; j++)
            out[j] += f * b[k][j];
    }
}

__attribute__((noinline)) static void multiply_part(int id)
{
#ifdef FIX
    for (int i = id; i < N; i += THREADS)
        multiply_row(i);
#else
    int first = N / THREADS * id;
    int last = N / THREADS * (id + 1);

    for (int i = first; i < last; i++)
        multiply_row(i);
#endif
}

/* Scale the result so that the values stay bounded, and make it the next input. */
__attribute__((noinline)) static void copy_back(int id)
{
    int first = N / THREADS * id;
    int last = N / THREADS * (id + 1);

    for (int i = first; i < last; i++) {
        double m = 1e-30;
        for (int j = 0; j <= i; j++)
            if (c[i][j] > m)
                m = c[i][j];
        for (int j = 0; j <= i; j++)
            a[i][j] = c[i][j] / m;
    }
}

static void *worker(void *arg)
{
    int id = (int)(long)arg;

    for (int s = 0; s < STEPS; s++) {
        multiply_part(id);
        pthread_barrier_wait(&barrier);
        copy_back(id);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    double sum = 0;

    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            a[i][j] = ((i * 31 + j * 17) % 100) / 100.0;
            b[i][j] = ((i * 13 + j * 7) % 100) / 100.0;
        }
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            sum += a[i][j];
    printf("sum %.6f\n", sum);
    return 0;
}
