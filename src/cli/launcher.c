/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const char *const job_choices[] = {
    [JOB_AUTO] = "auto", [JOB_OFF] = "off", [JOB_OPENMPI] = "openmpi", [JOB_MPICH] = "mpich", NULL};

/*
 * What launchers tell the tasks that they start. The first whose rank is set decides: what prepares
 * MPI comes before what only starts tasks, since a launcher may run inside another one.
 *
 * Variables of a whole job, such as SLURM_NTASKS, are not here: a batch script has them too.
 */
static const struct launcher {
    const char *rank, *size; /* of the task, of all; `size` may be NULL */
    const char *name;
    job_kind mpi;
    const char *advice;
    const char *terminal, *task; /* set in an interactive shell; the pid of the task */
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI", JOB_OPENMPI, NULL, NULL, NULL},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "mpirun of MVAPICH", JOB_MPICH, NULL, NULL, NULL},
    {"PMI_RANK", "PMI_SIZE", "a launcher with PMI", JOB_MPICH, NULL, NULL, NULL},
    {"PMIX_RANK", NULL, "a launcher with PMIx", JOB_OPENMPI, NULL, NULL, NULL},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun", JOB_OPENMPI, NULL, NULL, NULL},
    {"PALS_RANKID", NULL, "mpiexec of PALS", JOB_MPICH, NULL, NULL, NULL},
    {"ALPS_APP_PE", NULL, "aprun", JOB_MPICH, NULL, NULL, NULL},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "flux run", JOB_OFF,
     "'flux run -o pmi=pmix' for Open MPI or 'flux run -o pmi=simple' for MPICH", NULL, NULL},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun", JOB_OFF,
     "'srun --mpi=pmix' for Open MPI or 'srun --mpi=pmi2' for MPICH", "SLURM_PTY_PORT", "SLURM_TASK_PID"},
};
#define LAUNCHER_COUNT (sizeof launchers / sizeof *launchers)

/* 0 if the variable is not set, or not a number. */
static uint64_t number_of(const char *variable)
{
    const char *text = variable ? getenv(variable) : NULL;
    char *end;
    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' ? number : 0;
}

/* Only the first task has the terminal, and the user types into a shell there. */
static int is_in_shell(const struct launcher *launcher)
{
    return launcher->terminal && getenv(launcher->terminal) &&
           number_of(launcher->task) != (uint64_t)getpid();
}

static int has_started_us(const struct launcher *launcher)
{
    return getenv(launcher->rank) && !is_in_shell(launcher);
}

/* A launcher that does not say how many there are may itself run inside one that does. */
static void count_tasks(launch *started, const struct launcher *first)
{
    for (const struct launcher *other = first; other < launchers + LAUNCHER_COUNT; other++)
        if (has_started_us(other) && number_of(other->size) > 0) {
            started->tasks = number_of(other->size);
            started->variable = other->size;
            return;
        }
}

launch launcher_find(void)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        const struct launcher *launcher = &launchers[i];
        if (!has_started_us(launcher))
            continue;
        launch started = {.name = launcher->name,
                          .variable = launcher->rank,
                          .rank = number_of(launcher->rank),
                          .mpi = launcher->mpi,
                          .advice = launcher->advice};
        if (launcher->size && number_of(launcher->size) > 0) {
            started.tasks = number_of(launcher->size);
            started.variable = launcher->size;
        } else if (!launcher->size) {
            count_tasks(&started, launcher + 1);
        }
        return started;
    }
    return (launch){.mpi = JOB_OFF};
}

int launcher_has_others(const launch *started)
{
    return started->tasks > 1 || (started->tasks == 0 && started->rank > 0);
}
