/* SPDX-License-Identifier: BSD-3-Clause */
/* A small MPI program to record: each rank relaxes its own field; an allreduce after every step. */
#include <mpi.h>
#include <stdio.h>

enum {
    CELLS = 1000,
    STEPS = 100
};

static double relax(double *field)
{
    double sum = 0.0;
    for (int i = 0; i < CELLS; i++) {
        field[i] = 0.5 * field[i] + 1.0;
        sum += field[i];
    }
    return sum;
}

static double step(double *field)
{
    double mine = relax(field), all = 0.0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    double field[CELLS] = {0.0}, sum = 0.0;
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STEPS; i++)
        sum = step(field);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
