/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins an MPI job through a plug-in. */
#include "base/comm/comm.h"

#include "base/getter.h"
#include <dlfcn.h>
#include <lode/unstable/comm.h>
#include <stdio.h>
#include <stdlib.h>

static lode_status check_plugin(const struct lode_comm_ops *ops, const char *path, lode_error *error)
{
    if (ops == NULL)
        return lode_fail(
            error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
            "not a plug-in of Lode: no symbol lode_comm_plugin; use lode-mpi-openmpi.so or lode-mpi-mpich.so");
    if (ops->version != LODE_COMM_VERSION)
        return lode_fail(
            error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
            "the plug-in has interface %u, but %u is needed; use the one installed with this version of Lode",
            ops->version, (unsigned)LODE_COMM_VERSION);
    return LODE_OK;
}

/* Never unloaded: MPI libraries install handlers that run at exit. */
static lode_status load_plugin(const struct lode_comm_ops **out, const char *path, lode_error *error)
{
    /* Open MPI loads components that need its symbols to be global. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        const char *why = dlerror(); /* NOLINT(concurrency-mt-unsafe): it is thread-local */
        return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                         "cannot load the plug-in: %s; it needs its MPI library",
                         why ? why : "no reason given");
    }
    *out = dlsym(library, "lode_comm_plugin");
    return check_plugin(*out, path, error);
}

static lode_status join(lode_comm **out, const char *plugin, const void *from, size_t size, lode_error *error)
{
    const struct lode_comm_ops *ops = NULL;
    *out = NULL;
    LODE_TRY(load_plugin(&ops, plugin, error));
    lode_comm *comm = calloc(1, sizeof *comm);
    LODE_TRY_ALLOC(comm, error);
    comm->ops = ops;
    comm->piece = LODE_COMM_PIECE;
    lode_status status = ops->join(&comm->self, from, size, &comm->place, error);
    if (status != LODE_OK) {
        free(comm);
        return status;
    }
    *out = comm;
    return LODE_OK;
}

lode_status lode_comm_join(lode_comm **out, const char *plugin, lode_error *error)
{
    return join(out, plugin, NULL, 0, error);
}

lode_status lode_comm_from_mpi(lode_comm **out, const char *plugin, const void *mpi_comm, size_t size,
                               lode_error *error)
{
    *out = NULL;
    if (mpi_comm == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no MPI communicator");
    return join(out, plugin, mpi_comm, size, error);
}

void lode_comm_leave(lode_comm *comm)
{
    if (comm == NULL)
        return;
    comm->ops->leave(comm->self);
    free(comm);
}

/* Rank 0 may not know yet why it waits in vain: it has met no error, or another one has met it. */
void lode_comm_abort(lode_comm *comm, int status)
{
    lode_error error = {.status = LODE_ERR_CANCELLED, .offset = LODE_NO_OFFSET};
    snprintf(error.text, sizeof error.text, "rank %u cannot go on", comm->place.rank);
    comm->ops->raise(comm->self, &error);
    comm->ops->abort(comm->self, status);
}

int lode_comm_first(lode_comm *comm, int number)
{
    int first = number;
    if (comm == NULL || lode_comm_broadcast(comm, &first, sizeof first, NULL) != LODE_OK)
        return number;
    return first;
}

LODE_GETTER(uint32_t, lode_comm_rank, lode_comm, place.rank);
LODE_GETTER(uint32_t, lode_comm_size, lode_comm, place.size);
