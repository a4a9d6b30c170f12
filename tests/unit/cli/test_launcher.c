/* SPDX-License-Identifier: BSD-3-Clause */
/* Environments of launchers, seen or from their manuals, and what they mean for a process. */
#include "launcher.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VARIABLES = 10
};

static const struct situation {
    const char *title;
    const char *variables[VARIABLES]; /* NAME=VALUE; "=PID" is replaced by this process's */
    job_kind mpi;
    unsigned rank, tasks;
    int has_others;
} situations[] = {
    {"no launcher", {0}, JOB_OFF, 0, 0, 0},

    /* Slurm 22.05. */
    {"srun --mpi=none -n4, first task",
     {"SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0", "SLURM_TASK_PID=PID"},
     JOB_OFF,
     0,
     4,
     1},
    {"srun --mpi=none -n4, last task",
     {"SLURM_PROCID=3", "SLURM_NTASKS=4", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0"},
     JOB_OFF,
     3,
     4,
     1},
    {"srun --mpi=none -n4, a script that runs the program",
     {"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=4", "SLURM_TASK_PID=1"},
     JOB_OFF,
     1,
     4,
     1},
    {"srun -n1", {"SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_NUM_TASKS=1"}, JOB_OFF, 0, 1, 0},
    {"srun -n1 in a job of 64 tasks",
     {"SLURM_PROCID=0", "SLURM_NTASKS=64", "SLURM_STEP_NUM_TASKS=1"},
     JOB_OFF,
     0,
     1,
     0},
    {"sbatch -n64: the batch script",
     {"SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=64", "SLURM_NPROCS=64", "SLURM_JOB_NUM_NODES=2"},
     JOB_OFF,
     0,
     0,
     0},
    {"sbatch --array=1-3: each is a job of its own",
     {"SLURM_PROCID=0", "SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_ID=2", "SLURM_NTASKS=1"},
     JOB_OFF,
     0,
     0,
     0},
    {"salloc -n5: the shell", {"SLURM_NTASKS=5", "SLURM_NPROCS=5", "SLURM_JOB_ID=6"}, JOB_OFF, 0, 0, 0},
    {"srun --pty -n4 bash: the shell",
     {"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_PTY_PORT=34889", "SLURM_TASK_PID=1"},
     JOB_OFF,
     0,
     0,
     0},
    {"srun --pty -n4: the program itself",
     {"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_PTY_PORT=34889", "SLURM_TASK_PID=PID"},
     JOB_OFF,
     0,
     4,
     1},
    {"srun --mpi=pmi2 -n4",
     {"PMI_RANK=2", "PMI_SIZE=4", "PMI_FD=13", "SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4"},
     JOB_MPICH,
     2,
     4,
     1},
    {"srun --mpi=pmix -n4: the size is Slurm's",
     {"PMIX_RANK=1", "PMIX_NAMESPACE=slurm.pmix.3.0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=4"},
     JOB_OPENMPI,
     1,
     4,
     1},
    {"srun --mpi=pmix -n1",
     {"PMIX_RANK=0", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1"},
     JOB_OPENMPI,
     0,
     1,
     0},

    /* Open MPI 4.1, MPICH 4.0, and those like them. */
    {"mpirun of Open MPI",
     {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=1", "PMIX_NAMESPACE=2024275969"},
     JOB_OPENMPI,
     1,
     2,
     1},
    {"mpirun -n 1 of Open MPI, by a daemon that srun started on two nodes",
     {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2"},
     JOB_OPENMPI,
     0,
     1,
     0},
    {"mpirun of MPICH",
     {"PMI_RANK=0", "PMI_SIZE=2", "PMI_FD=6", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=2"},
     JOB_MPICH,
     0,
     2,
     1},
    {"mpirun of MPICH, inside a task of Open MPI's with PMIx",
     {"PMI_RANK=0", "PMI_SIZE=1", "PMIX_RANK=3"},
     JOB_MPICH,
     0,
     1,
     0},
    {"mpirun_rsh of MVAPICH", {"MV2_COMM_WORLD_RANK=5", "MV2_COMM_WORLD_SIZE=8"}, JOB_MPICH, 5, 8, 1},
    {"PMIx without anything that counts, first task", {"PMIX_RANK=0"}, JOB_OPENMPI, 0, 0, 0},
    {"PMIx without anything that counts, another task", {"PMIX_RANK=2"}, JOB_OPENMPI, 2, 0, 1},

    /* By their manuals. */
    {"jsrun", {"JSM_NAMESPACE_RANK=1", "JSM_NAMESPACE_SIZE=20", "LSB_JOBID=1"}, JOB_OPENMPI, 1, 20, 1},
    {"jsrun with PMIx",
     {"JSM_NAMESPACE_RANK=1", "JSM_NAMESPACE_SIZE=20", "PMIX_RANK=1"},
     JOB_OPENMPI,
     1,
     20,
     1},
    {"flux run with PMI",
     {"FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=4", "PMI_RANK=1", "PMI_SIZE=4"},
     JOB_MPICH,
     1,
     4,
     1},
    {"flux run -o pmi=off", {"FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=4", "FLUX_JOB_NNODES=2"}, JOB_OFF, 1, 4, 1},
    {"flux run -n1", {"FLUX_TASK_RANK=0", "FLUX_JOB_SIZE=1"}, JOB_OFF, 0, 1, 0},
    {"mpiexec of PALS", {"PALS_RANKID=1", "PALS_NODEID=0", "PMI_RANK=1", "PMI_SIZE=8"}, JOB_MPICH, 1, 8, 1},
    {"mpiexec of PALS without PMI", {"PALS_RANKID=1", "PALS_NODEID=0"}, JOB_MPICH, 1, 0, 1},
    {"aprun", {"ALPS_APP_PE=3", "ALPS_APP_DEPTH=1"}, JOB_MPICH, 3, 0, 1},
    {"a script of PBS", {"PBS_TASKNUM=1", "PBS_NODENUM=0", "NCPUS=64", "PBS_NP=64"}, JOB_OFF, 0, 0, 0},
    {"a script of LSF", {"LSB_DJOB_NUMPROC=64", "LSB_JOBID=7"}, JOB_OFF, 0, 0, 0},

    /* What is no number is unknown. */
    {"numbers that are none", {"PMI_RANK=x", "PMI_SIZE=-4"}, JOB_MPICH, 0, 0, 0},
    {"a number that is too large",
     {"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=99999999999999999999"},
     JOB_OFF,
     0,
     0,
     0},
    {"a number with a tail", {"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4(x2)"}, JOB_OFF, 0, 0, 0},
};

static void set_environment(const struct situation *situation)
{
    const char *format = getenv("CMOCKA_MESSAGE_OUTPUT");
    char kept[64] = "";
    snprintf(kept, sizeof kept, "%s", format ? format : "");
    assert_int_equal(clearenv(), 0);
    assert_int_equal(setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1), 0);
    for (size_t i = 0; i < VARIABLES && situation->variables[i]; i++) {
        char name[64], value[64];
        const char *equals = strchr(situation->variables[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - situation->variables[i]), situation->variables[i]);
        if (strcmp(equals, "=PID") == 0)
            snprintf(value, sizeof value, "%ld", (long)getpid());
        else
            snprintf(value, sizeof value, "%s", equals + 1);
        assert_int_equal(setenv(name, value, 1), 0);
    }
}

static void environments_say_how_many_tasks_there_are_and_with_which_mpi(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        const struct situation *situation = &situations[i];
        set_environment(situation);
        launch found = launcher_find();
        if (found.mpi != situation->mpi || found.rank != situation->rank || found.tasks != situation->tasks ||
            launcher_has_others(&found) != situation->has_others)
            fail_msg("%s: MPI %d, rank %d, %d tasks, others: %d", situation->title, (int)found.mpi,
                     (int)found.rank, (int)found.tasks, launcher_has_others(&found));
    }
}

static void whoever_has_others_knows_how_to_say_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        set_environment(&situations[i]);
        launch found = launcher_find();
        if (!launcher_has_others(&found))
            continue;
        assert_non_null(found.name);
        assert_non_null(getenv(found.variable));
        /* Without MPI, there is advice. */
        assert_true(found.mpi != JOB_OFF || found.advice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environments_say_how_many_tasks_there_are_and_with_which_mpi),
        cmocka_unit_test(whoever_has_others_knows_how_to_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
