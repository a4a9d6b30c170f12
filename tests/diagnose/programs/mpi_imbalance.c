/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank has 3 times the work of each other one, in solve_block(); the others wait in
 * MPI_Allreduce. Control: all have the same. The last rank prints its process id.
 * Truth, for two ranks: load balance 4 / 6 = 0.67.
 */
#include "work.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum {
    STEPS = 100,
    BLOCK = 3000,
    TIMES = 3
};

NOINLINE static void solve_block(unsigned times)
{
    work(BLOCK * times);
}

NOINLINE static double time_step(unsigned times)
{
    double here = 1, sum = 0;
    solve_block(times);
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int count, char **arguments)
{
    bool planted = is_planted(count, arguments);
    int rank, ranks;
    double sum = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool is_last = rank == ranks - 1;
    if (is_last)
        printf("rank %d\nthread %d\n", rank, (int)getpid());
    for (int i = 0; i < STEPS; ++i)
        sum += time_step(planted && is_last ? TIMES : 1);
    MPI_Finalize();
    return sum > 0 ? 0 : 1;
}
