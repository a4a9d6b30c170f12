/* SPDX-License-Identifier: BSD-3-Clause */
/* What started this process, by the environment: one task of how many, and with which MPI. */
#ifndef CLI_LAUNCHER_H
#define CLI_LAUNCHER_H

#include <stdint.h>

typedef enum job_kind {
    JOB_AUTO,
    JOB_OFF,
    JOB_OPENMPI,
    JOB_MPICH
} job_kind;
extern const char *const job_choices[];

typedef struct launch {
    const char *name;     /* of the launcher; NULL: none is known */
    const char *variable; /* that says so: the number of tasks, or the rank if that is unknown */
    uint64_t rank;
    uint64_t tasks;     /* 0: unknown */
    job_kind mpi;       /* JOB_OFF: the launcher has prepared none */
    const char *advice; /* how to start the tasks with MPI instead; NULL if `mpi` is one */
} launch;

launch launcher_find(void);
/* Whether there are other tasks for sure. */
int launcher_has_others(const launch *started);

#endif
