// SPDX-License-Identifier: BSD-3-Clause
/* Healthy: blocked matrix product, used to raise a transition matrix to a power. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N  384
#define BS 64

typedef float matrix[N][N];

static matrix a, b, c;

__attribute__((noinline)) static void multiply_tile(matrix x, matrix y, matrix out, int i0, int j0, int k0)
{
    for (int i = i0; i < i0 + BS; i++)
        for (int k = k0; k < k0 + BS; k++) {
            float f = x[i][k];
            for (int j = j0; j < j0 + BS; j++)
                out[i][j] += f * y[k][j];
        }
}

__attribute__((noinline)) static void multiply(matrix x, matrix y, matrix out)
{
    memset(out, 0, sizeof(matrix));
    for (int i = 0; i < N; i += BS)
        for (int k = 0; k < N; k += BS)
            for (int j = 0; j < N; j += BS)
                multiply_tile(x, y, out, i, j, k);
}

/* Rows of a transition matrix sum up to one. */
__attribute__((noinline)) static void normalize(matrix m)
{
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int j = 0; j < N; j++)
            s += m[i][j];
        for (int j = 0; j < N; j++)
            m[i][j] /= s;
    }
}

__attribute__((noinline)) static void fill(matrix m)
{
    unsigned x = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            x = x * 1664525u + 1013904223u;
            m[i][j] = (x >> 16) / 65536.0f;
        }
}

int main(void)
{
    double trace = 0;

    fill(a);
    normalize(a);
    memcpy(b, a, sizeof(a));
    for (int step = 0; step < 36; step++) {
        multiply(a, b, c);
        normalize(c);
        memcpy(b, c, sizeof(b));
    }
    for (int i = 0; i < N; i++)
        trace += b[i][i];
    printf("trace %.6f\n", trace);
    return 0;
}
