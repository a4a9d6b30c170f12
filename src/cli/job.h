/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI job that the program may have been started in. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include <lode/lode.h>

/* In the order of job_choices. */
typedef enum job_kind {
    JOB_AUTO,
    JOB_OFF,
    JOB_OPENMPI,
    JOB_MPICH
} job_kind;

extern const char *const job_choices[];

/* Whether another process is the first of the job, by the launcher's environment. */
int job_is_quiet(void);

/* Before joining: files will be written jointly. */
void job_prepare_files(void);
/* Joins the job of the environment, or the named one; *communicator is NULL if there is none. */
int job_join(lode_comm **comm, job_kind kind);
/* Leaves the job with an exit status, and returns it; aborts unless EXIT_DONE. NULL is no job. */
int job_leave(lode_comm *comm, int status);
/* Whether this process is the one that speaks. */
int job_is_first(const lode_comm *comm);

#endif
