/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI job that the program may have been started in. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "launcher.h"
#include <lode/unstable.h>

/*
 * Whether another task is the first, by the launcher's environment: then that one speaks. `kind` is
 * that of --mpi.
 */
int job_is_quiet(job_kind kind);

/*
 * Joins the job of the environment, or the named one; *comm is NULL if there is none, or if there
 * are local ranks. Refuses to be one of several tasks that are not ranks of one job, before
 * anything is written, unless `kind` is JOB_OFF, or JOB_AUTO with LODE_MPI=off.
 */
int job_join(lode_comm **comm, job_kind kind, int has_local_ranks);
/*
 * For a command that does not use MPI, before it writes to one path: refuses to be one of several
 * tasks of a launcher, which would all do the same work. The first one speaks. LODE_MPI=off says
 * that each has an output of its own.
 */
int job_check_alone(const char *command);
/* Leaves the job with the exit status of its first task. EXIT_TROUBLE aborts. NULL: no job. */
int job_leave(lode_comm *comm, int status);
/* Whether this process is the one that speaks. */
int job_is_first(const lode_comm *comm);

#endif
