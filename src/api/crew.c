/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining an MPI job through a plug-in. */
#include "base/crew.h"

#include <dlfcn.h>
#include <lode/crew.h>
#include <stdlib.h>

static lode_status check_plugin(const struct lode_crew_ops *ops, const char *path, lode_error *error)
{
    if (ops == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                         "not a plug-in of Lode: it has no symbol lode_crew_plugin; give the path of "
                         "lode-crew-openmpi.so or lode-crew-mpich.so");
    if (ops->version != LODE_CREW_VERSION)
        return lode_fail(
            error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
            "a plug-in with interface %u, where %u is needed; use the one that was installed with "
            "this version of Lode",
            ops->version, (unsigned)LODE_CREW_VERSION);
    return LODE_OK;
}

/* What was loaded stays: MPI libraries leave handlers behind that run when the process ends. */
static lode_status load_plugin(const struct lode_crew_ops **out, const char *path, lode_error *error)
{
    /* The components that Open MPI loads on its own look for its symbols among the global ones. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        const char *why = dlerror(); /* NOLINT(concurrency-mt-unsafe): it is this thread's own */
        return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                         "cannot load the plug-in: %s; it is built where its MPI library is found, and needs "
                         "that library to run",
                         why ? why : "no reason given");
    }
    *out = dlsym(library, "lode_crew_plugin");
    return check_plugin(*out, path, error);
}

lode_status lode_crew_join(lode_crew **out, const char *plugin, lode_error *error)
{
    const struct lode_crew_ops *ops = NULL;
    *out = NULL;
    LODE_TRY(load_plugin(&ops, plugin, error));
    lode_crew *crew = calloc(1, sizeof *crew);
    if (crew == NULL)
        return lode_fail_memory(error);
    crew->ops = ops;
    crew->piece = LODE_CREW_PIECE;
    lode_status status = ops->join(&crew->self, &crew->place, error);
    if (status != LODE_OK) {
        free(crew);
        return status;
    }
    *out = crew;
    return LODE_OK;
}

void lode_crew_leave(lode_crew *crew)
{
    if (crew == NULL)
        return;
    crew->ops->leave(crew->self);
    free(crew);
}

void lode_crew_abort(lode_crew *crew, int status)
{
    crew->ops->abort(crew->self, status);
}

uint32_t lode_crew_rank(const lode_crew *crew)
{
    return crew->place.rank;
}

uint32_t lode_crew_size(const lode_crew *crew)
{
    return crew->place.size;
}
