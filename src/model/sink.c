/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of all sinks: an output that is committed atomically. */
#include "model/sink.h"

#include "base/memory/machine.h"
#include <stdlib.h>

static uint64_t default_memory(const struct lode_comm *comm)
{
    uint64_t all = lode_machine_memory(), memory = all ? all / 4 : UINT64_C(1) << 30;
    return memory / (comm ? comm->place.local : 1);
}

static lode_status begin(struct lode_sink *self, lode_error *error)
{
    self->created = true;
    return self->ops->create ? self->ops->create(self, error) : LODE_OK;
}

/* Rank 0 creates the staging directory and its contents, the others join it. */
static lode_status create(struct lode_sink *self, const char *path, lode_error *error)
{
    struct lode_comm *comm = self->options.comm;
    bool is_first = sink_is_first(self);
    uint64_t identity = 0;
    const struct lode_replace *replaces = self->ops->replaces;
    if (is_first && replaces) {
        LODE_TRY(lode_output_create(&self->output, path, self->options.force ? replaces : NULL, error));
        if (self->options.access)
            LODE_TRY(lode_access_narrow(self->output.directory, *self->options.access, path, error));
        identity = lode_output_identity(&self->output);
    }
    if (is_first)
        LODE_TRY(begin(self, error));
    if (comm)
        LODE_TRY(lode_comm_broadcast(comm, &identity, sizeof identity, error));
    if (is_first)
        return LODE_OK;
    if (replaces)
        LODE_TRY(lode_output_join(&self->output, path, identity, error));
    return begin(self, error);
}

lode_status lode_sink_open(struct lode_sink **out, const struct lode_sink_ops *ops, const char *path,
                           const struct lode_sink_options *options, lode_error *error)
{
    struct lode_sink *self = *out = calloc(1, ops->size);
    LODE_TRY_ALLOC(self, error);
    self->ops = ops;
    self->options = *options;
    if (self->options.memory == 0)
        self->options.memory = default_memory(options->comm);
    self->output = (struct lode_output)LODE_OUTPUT_INIT;
    lode_status status = create(self, path, error);
    if (status != LODE_OK) {
        lode_sink_close(self);
        *out = NULL;
    }
    return status;
}

int lode_sink_scratch(const struct lode_sink *self)
{
    return self->output.staging;
}

lode_status lode_sink_seal(struct lode_sink *self, struct lode_description *about, lode_error *error)
{
    self->about = about;
    /* Only rank 0 knows the contexts; the others know their number. */
    if (self->options.comm)
        LODE_TRY(lode_comm_broadcast(self->options.comm, &about->id_count, sizeof about->id_count, error));
    return self->ops->seal ? self->ops->seal(self, error) : LODE_OK;
}

lode_status lode_sink_finish(struct lode_sink *self, lode_error *error)
{
    if (self->ops->finish)
        LODE_TRY(self->ops->finish(self, error));
    if (self->ops->replaces && sink_is_first(self))
        LODE_TRY(lode_output_commit(&self->output, error));
    /* No rank returns before the output is committed. */
    return self->options.comm ? lode_comm_barrier(self->options.comm, error) : LODE_OK;
}

void lode_sink_close(struct lode_sink *self)
{
    if (self == NULL)
        return;
    if (self->created && self->ops->close)
        self->ops->close(self);
    lode_output_close(&self->output);
    free(self);
}
