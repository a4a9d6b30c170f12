/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program with its own communicators: each half of its ranks builds a database,
 * concurrently.
 *   halves PLUGIN OUTPUT RECORDING...    writes OUTPUT-0 and OUTPUT-1
 */
#include <lode/unstable.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void need(int holds, const char *what, const lode_error *error)
{
    if (holds)
        return;
    fprintf(stderr, "halves: %s: %s\n", what, error ? error->text : "");
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void refuse(const char *plugin, MPI_Comm half)
{
    lode_comm *comm;
    lode_error error = {0};
    MPI_Comm none = MPI_COMM_NULL;
    need(lode_comm_from_mpi(&comm, plugin, NULL, sizeof half, &error) == LODE_ERR_ARGUMENT, "NULL", NULL);
    need(lode_comm_from_mpi(&comm, plugin, &half, sizeof half - 1, &error) == LODE_ERR_ARGUMENT,
         "another size", NULL);
    need(lode_comm_from_mpi(&comm, plugin, &none, sizeof none, &error) == LODE_ERR_ARGUMENT, "MPI_COMM_NULL",
         NULL);
    need(comm == NULL, "what was refused is NULL", NULL);
}

static void build(lode_comm *comm, const char *path, const char *const *recordings, size_t count)
{
    lode_build_options options = LODE_BUILD_OPTIONS_INIT;
    lode_error error = {0};
    options.title = "halves";
    options.threads = 1;
    options.comm = comm;
    need(lode_build(recordings, count, path, &options, NULL, &error) == LODE_OK, path, &error);
}

int main(int argc, char **argv)
{
    int level, rank, half_rank, half_size, finalized;
    char path[4096];
    MPI_Comm half;
    lode_comm *comm;
    lode_error error = {0};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    need(argc > 3 && level >= MPI_THREAD_SERIALIZED, "usage: halves PLUGIN OUTPUT RECORDING...", NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Ranks in reverse, so that rank 0 of a half is not the first process. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    refuse(argv[1], half);
    need(lode_comm_from_mpi(&comm, argv[1], &half, sizeof half, &error) == LODE_OK, argv[1], &error);
    MPI_Comm_free(&half);
    need(lode_comm_rank(comm) == (uint32_t)half_rank && lode_comm_size(comm) == (uint32_t)half_size,
         "a rank of the half", NULL);
    snprintf(path, sizeof path, "%s-%d", argv[2], rank % 2);
    build(comm, path, (const char *const *)argv + 3, (size_t)argc - 3);
    lode_comm_leave(comm);
    MPI_Finalized(&finalized);
    need(!finalized, "MPI is the program's", NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("both halves are done");
    MPI_Finalize();
    return 0;
}
