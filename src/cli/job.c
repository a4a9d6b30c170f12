/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include "output/report.h"
#include "plugin.h"
#include "text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each task works by itself. */
static int is_off(job_kind kind)
{
    const char *mpi = getenv("LODE_MPI");
    return kind == JOB_OFF || (kind == JOB_AUTO && mpi && strcmp(mpi, "off") == 0);
}

int job_is_quiet(job_kind kind)
{
    return !is_off(kind) && launcher_find().rank > 0;
}

/* Ends all messages about several tasks. */
#define ON_THEIR_OWN "'--mpi off' if each task works on its own"

/* "srun started 4 tasks (SLURM_STEP_NUM_TASKS=4)". */
static const char *describe(const launch *started, char *text, size_t size)
{
    const char *value = getenv(started->variable);
    if (started->tasks)
        snprintf(text, size, "%s started %s (%s=%s)", started->name, COUNTED(started->tasks, "task", "tasks"),
                 started->variable, value);
    else
        snprintf(text, size, "%s started several tasks (%s=%s)", started->name, started->variable, value);
    return text;
}

/* A launcher may end all tasks when the first one fails: the one that speaks needs a moment. */
static int refuse(const launch *started, int status)
{
    if (started->rank > 0)
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    return status;
}

/* A plug-in that is missing or refused is one that cannot be loaded. */
static lode_status load(lode_comm **comm, job_kind kind, plugin *found, lode_error *error)
{
    plugin_find_mpi(job_choices[kind], found);
    if (found->state == PLUGIN_FOUND)
        return lode_comm_join(comm, found->path, error);
    const char *name = job_choices[kind];
    if (found->state == PLUGIN_REFUSED)
        snprintf(error->text, sizeof error->text, "refused: %.400s", found->reason);
    else if (plugin_is_possible())
        snprintf(error->text, sizeof error->text, "not found; the plug-in for %s is not installed", name);
    else
        snprintf(error->text, sizeof error->text,
                 "not loaded; this program is static, which excludes plug-ins");
    return LODE_ERR_UNSUPPORTED;
}

static int join(lode_comm **comm, job_kind kind, const launch *started, int is_needed)
{
    static plugin found;
    char tasks[512];
    lode_error error = {0};
    lode_status status = load(comm, kind, &found, &error);
    if (status == LODE_OK || (status == LODE_ERR_UNSUPPORTED && !is_needed))
        return EXIT_DONE;
    if (status == LODE_ERR_UNSUPPORTED && launcher_has_others(started))
        return report("%s: %s; %s: install the plug-in, start one task, or use " ON_THEIR_OWN, found.path,
                      error.text, describe(started, tasks, sizeof tasks));
    if (status == LODE_ERR_UNSUPPORTED)
        return report("%s: %s (use '--mpi off' to work without MPI)", found.path, error.text);
    return report_error(found.path, &error);
}

/* An MPI library that does not know the launcher takes each task for a job of one. */
static int check_size(lode_comm **comm, job_kind kind, const launch *started)
{
    char tasks[512];
    if (!*comm || lode_comm_size(*comm) > 1 || !launcher_has_others(started))
        return EXIT_DONE;
    lode_comm_leave(*comm);
    *comm = NULL;
    report("%s, but %s sees one rank: use its own launcher, '--mpi %s', or " ON_THEIR_OWN,
           describe(started, tasks, sizeof tasks), job_choices[kind],
           job_choices[kind == JOB_MPICH ? JOB_OPENMPI : JOB_MPICH]);
    return refuse(started, EXIT_TROUBLE);
}

/* There will be no communicator: fine for one task. */
static int check_alone(const launch *started, int has_local_ranks)
{
    char tasks[512];
    if (!launcher_has_others(started))
        return EXIT_DONE;
    describe(started, tasks, sizeof tasks);
    if (has_local_ranks)
        report("%s, but --local-ranks is for one: start one task, or use " ON_THEIR_OWN, tasks);
    else
        report("%s without MPI: use %s, start one task, or use " ON_THEIR_OWN, tasks, started->advice);
    return refuse(started, EXIT_TROUBLE);
}

int job_join(lode_comm **comm, job_kind kind, int has_local_ranks)
{
    launch started = launcher_find();
    int is_needed = kind != JOB_AUTO || started.tasks != 1;
    *comm = NULL;
    if (is_off(kind))
        return EXIT_DONE;
    if (kind == JOB_AUTO)
        kind = started.mpi;
    /* Where ranks write a file jointly, Open MPI's own I/O hides that the disk is full. */
    setenv("OMPI_MCA_io", "^ompio", 0);
    if (has_local_ranks || kind == JOB_OFF)
        return check_alone(&started, has_local_ranks);
    int status = join(comm, kind, &started, is_needed);
    return status == EXIT_DONE ? check_size(comm, kind, &started) : refuse(&started, status);
}

int job_check_alone(const char *command)
{
    launch started = launcher_find();
    char tasks[512];
    if (started.tasks < 2 || is_off(JOB_AUTO))
        return EXIT_DONE;
    if (started.rank == 0)
        report("%s, but 'lode %s' does not use MPI (commands that do have --mpi): start one task, or set "
               "LODE_MPI=off if each task has an output of its own",
               describe(&started, tasks, sizeof tasks), command);
    return refuse(&started, EXIT_TROUBLE);
}

int job_leave(lode_comm *comm, int status)
{
    if (comm && status == EXIT_TROUBLE)
        lode_comm_abort(comm, status);
    status = lode_comm_first(comm, status);
    lode_comm_leave(comm);
    return status;
}

int job_is_first(const lode_comm *comm)
{
    return comm == NULL || lode_comm_rank(comm) == 0;
}
