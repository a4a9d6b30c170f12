// SPDX-License-Identifier: BSD-3-Clause
// Dense linear algebra: blocked matrix multiplication with a register-tiled
// micro kernel, used to form powers of a transition matrix.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 512
#define BK 64
#define BJ 128
#define POWERS 18

typedef float v4 __attribute__((vector_size(16), aligned(4)));

static float a[N][N], b[N][N], c[N][N];

__attribute__((noinline)) static void init_matrices(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (float)((i * 37 + j * 11) % 101) / (101.0f * N / 2);
            b[i][j] = i == j;
        }
}

__attribute__((noinline)) static void block_kernel(int k0, int j0)
{
    for (int i = 0; i < N; i += 2)
        for (int j = j0; j < j0 + BJ; j += 8) {
            v4 c00, c01, c10, c11;

            memcpy(&c00, &c[i][j], 16);
            memcpy(&c01, &c[i][j + 4], 16);
            memcpy(&c10, &c[i + 1][j], 16);
            memcpy(&c11, &c[i + 1][j + 4], 16);
            for (int k = k0; k < k0 + BK; k++) {
                v4 b0, b1;
                float x = a[i][k], y = a[i + 1][k];

                memcpy(&b0, &b[k][j], 16);
                memcpy(&b1, &b[k][j + 4], 16);
                c00 += x * b0;
                c01 += x * b1;
                c10 += y * b0;
                c11 += y * b1;
            }
            memcpy(&c[i][j], &c00, 16);
            memcpy(&c[i][j + 4], &c01, 16);
            memcpy(&c[i + 1][j], &c10, 16);
            memcpy(&c[i + 1][j + 4], &c11, 16);
        }
}

__attribute__((noinline)) static void multiply(void)
{
    memset(c, 0, sizeof(c));
    for (int k = 0; k < N; k += BK)
        for (int j = 0; j < N; j += BJ)
            block_kernel(k, j);
}

int main(void)
{
    double trace = 0, total = 0;

    init_matrices();
    for (int p = 0; p < POWERS; p++) {
        multiply();
        memcpy(b, c, sizeof(b));
    }
    for (int i = 0; i < N; i++) {
        trace += b[i][i];
        for (int j = 0; j < N; j++)
            total += b[i][j];
    }
    printf("powers %d trace %.6g total %.6g\n", POWERS, trace, total);
    return 0;
}
