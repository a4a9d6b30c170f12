/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first rank prepares each step alone, in make_table(), and enters MPI_Bcast late; the
 * others wait there. Control: every rank prepares a part of the table. The first rank prints
 * its process id.
 */
#include "work.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum {
    STEPS = 60,
    TABLE = 8000,
    BLOCK = 6000,
    ENTRIES = 256
};

NOINLINE static void make_table(unsigned units)
{
    work(units);
}

NOINLINE static void solve_block(void)
{
    work(BLOCK);
}

NOINLINE static void time_step(int rank, int ranks, bool planted)
{
    static double table[ENTRIES];
    if (!planted)
        make_table(TABLE / (unsigned)ranks);
    else if (rank == 0)
        make_table(TABLE);
    MPI_Bcast(table, ENTRIES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    solve_block();
}

int main(int count, char **arguments)
{
    bool planted = is_planted(count, arguments);
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        printf("rank 0\nthread %d\n", (int)getpid());
    for (int i = 0; i < STEPS; ++i)
        time_step(rank, ranks, planted);
    MPI_Finalize();
    return 0;
}
