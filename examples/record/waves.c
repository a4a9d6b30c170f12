/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over rows of a triangle: the threads with the long rows work while the others wait. For doc/recording.md. */
#include <math.h>
#include <stdio.h>

#define ROWS 3000

static double row(int length)
{
    double sum = 0;
    for (int i = 1; i <= length; i++)
        sum += sin(i) / i;
    return sum;
}

int main(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int i = 0; i < ROWS; i++)
        sum += row(4 * i);
    printf("%.6f\n", sum);
    return 0;
}
