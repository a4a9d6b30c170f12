/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const job_choices[] = {"auto", "alone", "openmpi", "mpich", NULL};

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
    /* Of the two ways that Open MPI has, its own says that all was written when the disk was full. */
    setenv("OMPI_MCA_io", "^ompio", 0);
}

static int join(lode_crew **crew, job_kind kind, int is_needed)
{
    char path[4096];
    lode_error error = {0};
    const char *folder = getenv("LODE_PLUGINS");
    snprintf(path, sizeof path, "%s/lode-crew-%s.so", folder ? folder : PLUGIN_DIRECTORY, job_choices[kind]);
    lode_status status = lode_crew_join(crew, path, &error);
    if (status == LODE_OK || (status == LODE_ERR_UNSUPPORTED && !is_needed))
        return EXIT_DONE;
    if (status == LODE_ERR_UNSUPPORTED)
        return report("%s: %s ('--crew alone' does without MPI)", path, error.text);
    return report_error(path, &error);
}

int job_join(lode_crew **crew, job_kind kind)
{
    const char *rank;
    const struct launcher *launcher = find_launcher(&rank);
    *crew = NULL;
    if (kind == JOB_ALONE || (kind == JOB_AUTO && !launcher))
        return EXIT_DONE;
    if (kind != JOB_AUTO)
        return join(crew, kind, 1);
    return join(crew, launcher->kind, !is_single(launcher));
}

int job_leave(lode_crew *crew, int status)
{
    if (crew && status != EXIT_DONE)
        lode_crew_abort(crew, status);
    lode_crew_leave(crew);
    return status;
}

int job_is_first(const lode_crew *crew)
{
    return crew == NULL || lode_crew_rank(crew) == 0;
}
