/* SPDX-License-Identifier: BSD-3-Clause */
/* From several databases to one. */
#include "base/comm/ranks.h"
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "format/format.h"
#include "transform/merge/merge_source.h"
#include "transform/pump.h"
#include <stdlib.h>

/* What all ranks are given. */
struct order {
    const lode_merge_input *inputs;
    size_t count;
    const char *path;
    const lode_merge_options *options;
    const lode_database_slice *slice; /* of the single input; or NULL */
};

/* Only rank 0 reports what cannot be copied. */
static lode_status pump_all(struct lode_merge_source *source, const struct order *order, lode_error *error)
{
    const lode_merge_options *options = order->options;
    const char **origins = calloc(source->count, sizeof *origins), *taxonomy;
    LODE_TRY_ALLOC(origins, error);
    for (uint32_t i = 0; i < source->count; i++)
        origins[i] = source->parts[i].directory;
    lode_status status = lode_merge_taxonomy(source, &taxonomy, error);
    if (order->slice && order->slice->to > 0)
        taxonomy = NULL; /* it has other metrics */
    struct lode_pump pump = {.source = &source->base,
                             .to = lode_target_of_databases(NULL)->sink,
                             .path = order->path,
                             .options = {.comm = source->comm,
                                         .force = options->force,
                                         .traces = source->has_traces,
                                         .threads = source->threads,
                                         .pool = options->pool,
                                         .memory = options->memory,
                                         .origin = taxonomy,
                                         .origins = origins,
                                         .on_finding = options->on_finding,
                                         .on_progress = options->on_progress,
                                         .user = options->user}};
    if (status == LODE_OK)
        status = lode_pump(&pump, error);
    free(origins);
    return status;
}

/* What one rank does. A single one needs no communicator. */
static lode_status work(void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    const lode_merge_options *options = order->options;
    struct lode_merge_source source;
    struct lode_comm *used = comm->place.size > 1 ? comm : NULL;
    lode_status status =
        lode_merge_source_open(&source, order->inputs, order->count, order->slice, options, used, error);
    source.threads = lode_ranks_threads(used, lode_pool_asked(options->threads, options->pool));
    if (status == LODE_OK)
        status = pump_all(&source, order, error);
    lode_comm_raise(comm, status, error);
    lode_merge_source_close(&source);
    return status;
}

static lode_status run(struct order *order, lode_error *error)
{
    const lode_merge_options *options = order->options;
    const struct lode_ranks ranks = {options->comm, options->local_ranks, options->on_progress,
                                     options->user};
    return lode_ranks_run(&ranks, work, order, error);
}

lode_status lode_merge_databases(const lode_merge_input *inputs, size_t count, const char *path,
                                 const lode_merge_options *given, lode_error *error)
{
    lode_merge_options options = LODE_MERGE_OPTIONS_INIT;
    struct order order = {inputs, count, path, &options, NULL};
    LODE_TRY(lode_options_take(&options, given, error));
    return run(&order, error);
}

lode_status lode_slice_database(const lode_merge_input *input, const char *path,
                                const lode_database_slice *slice, const lode_merge_options *given,
                                lode_error *error)
{
    lode_merge_options options = LODE_MERGE_OPTIONS_INIT;
    lode_database_slice taken = LODE_DATABASE_SLICE_INIT;
    struct order order = {input, 1, path, &options, &taken};
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(lode_options_take(&taken, slice, error));
    if (taken.from > taken.to || !(taken.min_share >= 0 && taken.min_share <= 1))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a time window begins before it ends, and a share is from 0 to 1");
    return run(&order, error);
}
