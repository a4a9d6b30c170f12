/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of the communicators that communicator.py starts:
 *   comm_rank PLUGIN checks FILE        checks that hold for any communicator, and a shared file
 *   comm_rank PLUGIN fail WAIT RANK     one rank fails while the others wait in an operation
 *   comm_rank PLUGIN die WAIT RANK      one rank is killed
 */
#include "comm_checks.h"
#include <lode/unstable/comm.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FAILED = 3
};

struct arguments {
    const char *what, *name;
    uint32_t rank;
};

static lode_status check(struct lode_comm *comm, const struct arguments *arguments, lode_error *error)
{
    unsigned count = 0;
    LODE_TRY(comm_check_all(comm, &count, error));
    LODE_TRY(comm_check_file(comm, arguments->name, error));
    if (comm->place.rank == 0)
        printf("%u checks hold for %u ranks of %s, %u of them here\n", count + 1, comm->place.size,
               comm->ops->name, comm->place.local);
    return LODE_OK;
}

static lode_status wait_in(struct lode_comm *comm, const char *name, lode_error *error)
{
    for (size_t i = 0; i < comm_wait_count; i++)
        if (strcmp(comm_waits[i].name, name) == 0)
            return comm_waits[i].run(comm, error);
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "no operation %s", name);
}

static lode_status fail_or_wait(struct lode_comm *comm, const struct arguments *arguments, lode_error *error)
{
    LODE_TRY(lode_comm_barrier(comm, error));
    if (comm->place.rank != arguments->rank)
        return wait_in(comm, arguments->name, error);
    nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
    if (strcmp(arguments->what, "die") == 0)
        raise(SIGKILL);
    return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "no room at rank %u", comm->place.rank);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    lode_comm *comm;
    lode_error error = {0};
    if (argc < 4)
        return 2;
    arguments.what = argv[2];
    arguments.name = argv[3];
    arguments.rank = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
    lode_status status = lode_comm_join(&comm, argv[1], &error);
    if (status != LODE_OK) {
        fprintf(stderr, "cannot join: %s: %s\n", error.file, error.text);
        return 2;
    }
    status = strcmp(arguments.what, "checks") == 0 ? check(comm, &arguments, &error)
                                                   : fail_or_wait(comm, &arguments, &error);
    if (status != LODE_OK) {
        lode_comm_raise(comm, status, &error);
        if (lode_comm_rank(comm) == 0)
            fprintf(stderr, "rank 0 says: %s\n", error.text);
        lode_comm_abort(comm, FAILED);
    }
    lode_comm_leave(comm);
    return status == LODE_OK ? 0 : FAILED;
}
