/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const job_choices[] = {"auto", "off", "openmpi", "mpich", NULL};

/* What launchers tell the processes that they start. The first whose variable is set is the one. */
static const struct launcher {
    const char *rank, *size; /* of this process, of the job; `size` may be NULL */
    job_kind kind;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", JOB_OPENMPI},
    {"PMI_RANK", "PMI_SIZE", JOB_MPICH},
    {"PMIX_RANK", NULL, JOB_OPENMPI},
};

/* NULL: none. `*rank` is what it says of this process. */
static const struct launcher *find_launcher(const char **rank)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        *rank = getenv(launchers[i].rank);
        if (*rank)
            return &launchers[i];
    }
    return NULL;
}

int job_is_quiet(void)
{
    const char *rank;
    return find_launcher(&rank) && strcmp(rank, "0") != 0;
}

/* A job of one can do without. */
static int is_single(const struct launcher *launcher)
{
    const char *size = launcher->size ? getenv(launcher->size) : NULL;
    return size && strcmp(size, "1") == 0;
}

void job_prepare_files(void)
{
    /* Open MPI's own I/O reports success when the disk is full; use the other one. */
    setenv("OMPI_MCA_io", "^ompio", 0);
}

static int join(lode_comm **comm, job_kind kind, int is_needed)
{
    char path[4096];
    lode_error error = {0};
    const char *folder = getenv("LODE_PLUGINS");
    snprintf(path, sizeof path, "%s/lode-mpi-%s.so", folder ? folder : PLUGIN_DIRECTORY, job_choices[kind]);
    lode_status status = lode_comm_join(comm, path, &error);
    if (status == LODE_OK || (status == LODE_ERR_UNSUPPORTED && !is_needed))
        return EXIT_DONE;
    if (status == LODE_ERR_UNSUPPORTED)
        return report("%s: %s (use '--mpi off' to build without MPI)", path, error.text);
    return report_error(path, &error);
}

int job_join(lode_comm **comm, job_kind kind)
{
    const char *rank;
    const struct launcher *launcher = find_launcher(&rank);
    *comm = NULL;
    if (kind == JOB_OFF || (kind == JOB_AUTO && !launcher))
        return EXIT_DONE;
    if (kind != JOB_AUTO)
        return join(comm, kind, 1);
    return join(comm, launcher->kind, !is_single(launcher));
}

int job_leave(lode_comm *comm, int status)
{
    if (comm && status != EXIT_DONE)
        lode_comm_abort(comm, status);
    lode_comm_leave(comm);
    return status;
}

int job_is_first(const lode_comm *comm)
{
    return comm == NULL || lode_comm_rank(comm) == 0;
}
