/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of any communicator, run by all ranks: of threads (test_comm.c) or MPI (tests/ranks). */
#ifndef LODE_TESTS_COMM_CHECKS_H
#define LODE_TESTS_COMM_CHECKS_H

#include "base/comm/comm.h"

typedef lode_status (*comm_check_fn)(struct lode_comm *comm, lode_error *error);

struct comm_check {
    const char *name;
    comm_check_fn run;
};

/* What does not hold is an error whose text says it. */
extern const struct comm_check comm_checks[];
extern const size_t comm_check_count;
/* All of them, cut into pieces of several sizes; `count` is how many were run. */
lode_status comm_check_all(struct lode_comm *comm, unsigned *count, lode_error *error);

/* Operations that wait for others, to fail in. Each returns what the communicator says. */
extern const struct comm_check comm_waits[];
extern const size_t comm_wait_count;

/* The file at `path` is made by rank 0, written by all, and read by rank 0. */
lode_status comm_check_file(struct lode_comm *comm, const char *path, lode_error *error);

#endif
