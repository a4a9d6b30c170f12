/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI job that the program may have been started in. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "launcher.h"
#include <lode/unstable.h>

extern const char *const job_choices[];

/* Whether another task is the first, by the launcher's environment: then that one speaks. */
int job_is_quiet(void);

/* Before joining: files will be written jointly. */
void job_prepare_files(void);
/*
 * Joins the job of the environment, or the named one; *comm is NULL if there is none, or if there
 * are local ranks. Refuses to be one of several tasks that are not ranks of one job, before
 * anything is written, unless `kind` is JOB_OFF.
 */
int job_join(lode_comm **comm, job_kind kind, int has_local_ranks);
/*
 * For a command that does not use MPI, before it writes to one path: refuses to be one of several
 * tasks of a launcher, which would all do the same work. The first one speaks. LODE_MPI=off in the
 * environment says that each has an output of its own.
 */
int job_check_alone(const char *command);
/* Leaves the job with an exit status, and returns it; aborts unless EXIT_DONE. NULL is no job. */
int job_leave(lode_comm *comm, int status);
/* Whether this process is the one that speaks. */
int job_is_first(const lode_comm *comm);

#endif
