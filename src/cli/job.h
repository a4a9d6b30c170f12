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

/* Whether the launcher's environment says that another process is the first of the job: then that one speaks for all. */
int job_is_quiet(void);

/* Before joining: files will be written jointly. */
void job_prepare_files(void);
/* Joins the job that the environment tells of, or the one that is named; *communicator is NULL if there is none. */
int job_join(lode_comm **comm, job_kind kind);
/* Leaves it with an exit status, which it returns; if that is not EXIT_DONE, the whole job ends. NULL is no job. */
int job_leave(lode_comm *comm, int status);
/* Whether this process is the one that speaks. */
int job_is_first(const lode_comm *comm);

#endif
