/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that compute and add up; the last one has twice the work. For doc/recording.md. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

static double compute(int count)
{
    double sum = 0;
    for (int i = 1; i <= count; i++)
        sum += cos(i) / i;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double total = 0;
    for (int step = 0; step < 20; step++) {
        double own = compute(rank == size - 1 ? 200000 : 100000), all = 0;
        MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        total += all;
    }
    if (rank == 0)
        printf("%d ranks, %.6f\n", size, total);
    MPI_Finalize();
    return 0;
}
