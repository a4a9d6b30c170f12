/* SPDX-License-Identifier: BSD-3-Clause */
/* What functions are to rules, by their names. */
#include "analysis/diagnose/calls/facts.h"

#include <string.h>

static const struct {
    enum call_role role;
    const char *pattern;
} roles[] = {
    {ROLE_TAKE, "pthread_mutex_lock"},
    {ROLE_TAKE, "pthread_mutex_timedlock"},
    {ROLE_TAKE, "pthread_mutex_clocklock"},
    {ROLE_TAKE, "pthread_rwlock_*rdlock"},
    {ROLE_TAKE, "pthread_rwlock_*wrlock"},
    {ROLE_TAKE, "pthread_spin_lock"},
    {ROLE_TAKE, "mtx_lock"},
    {ROLE_TAKE, "mtx_timedlock"},
    {ROLE_TAKE, "std::mutex::lock*"},
    {ROLE_TAKE, "omp_set_lock"},
    {ROLE_TAKE, "GOMP_critical_start"},
    {ROLE_TAKE, "GOMP_critical_name_start"},
    {ROLE_TAKE, "__kmpc_critical*"},
    {ROLE_DROP, "pthread_mutex_unlock"},
    {ROLE_DROP, "pthread_rwlock_unlock"},
    {ROLE_DROP, "pthread_spin_unlock"},
    {ROLE_DROP, "mtx_unlock"},
    {ROLE_DROP, "std::mutex::unlock*"},
    {ROLE_DROP, "omp_unset_lock"},
    {ROLE_DROP, "GOMP_critical_end"},
    {ROLE_DROP, "GOMP_critical_name_end"},
    {ROLE_DROP, "__kmpc_end_critical*"},
    {ROLE_COND, "pthread_cond_*wait"},
    {ROLE_COND, "cnd_*wait"},
    {ROLE_COND, "std::condition_variable::wait*"},
    {ROLE_JOIN, "pthread_*join*"},
    {ROLE_JOIN, "thrd_join"},
    {ROLE_JOIN, "std::thread::join*"},
    {ROLE_JOIN, "wait"},
    {ROLE_JOIN, "waitpid"},
    {ROLE_JOIN, "wait3"},
    {ROLE_JOIN, "wait4"},
    {ROLE_JOIN, "waitid"},
    {ROLE_BARRIER, "pthread_barrier_wait"},
    {ROLE_ALLOC, "malloc"},
    {ROLE_ALLOC, "calloc"},
    {ROLE_ALLOC, "realloc"},
    {ROLE_ALLOC, "reallocarray"},
    {ROLE_ALLOC, "aligned_alloc"},
    {ROLE_ALLOC, "posix_memalign"},
    {ROLE_ALLOC, "memalign"},
    {ROLE_ALLOC, "strdup"},
    {ROLE_ALLOC, "strndup"},
    {ROLE_ALLOC, "_Znw*"},
    {ROLE_ALLOC, "_Zna*"},
    {ROLE_ALLOC, "operator new*"},
    {ROLE_ALL, "*MPI_Barrier"},
    {ROLE_ALL, "*MPI_Allreduce"},
    {ROLE_ALL, "*MPI_Allgather*"},
    {ROLE_ALL, "*MPI_Alltoall*"},
    {ROLE_ALL, "*MPI_Reduce_scatter*"},
    {ROLE_PARALLEL, "GOMP_parallel*"},
    {ROLE_PARALLEL, "__kmpc_fork_call*"},
    {ROLE_BODY, "*._omp_fn.*"},
    {ROLE_BODY, "*.omp_outlined*"},
    {ROLE_BODY, "*__omp_outlined*"},
    {ROLE_BODY, "*_omp_par_region*"},
};

enum call_role lode_call_role(const char *name)
{
    if (name == NULL)
        return ROLE_NONE;
    /* The names of bodies may have more after what symbols are compared without. */
    struct lode_text whole = {name, strnlen(name, LODE_NAME_COMPARED)}, symbol = lode_activity_symbol(name);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (lode_activity_matches(roles[i].pattern, roles[i].role == ROLE_BODY ? whole : symbol))
            return roles[i].role;
    return ROLE_NONE;
}

bool lode_call_spins(const char *name)
{
    static const char *const patterns[] = {"sched_yield", "pthread_yield", "pthread_spin_*",
                                           "std::this_thread::yield*"};
    struct lode_text symbol = lode_activity_symbol(name ? name : "");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (lode_activity_matches(patterns[i], symbol))
            return true;
    return false;
}
