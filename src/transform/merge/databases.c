/* SPDX-License-Identifier: BSD-3-Clause */
/* From several databases to one. */
#include "base/error.h"
#include "base/options.h"
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

static unsigned threads_of(const lode_merge_options *options, const struct lode_comm *comm)
{
    unsigned asked = lode_pool_asked(options->threads, options->pool), local = comm ? comm->place.local : 1;
    if (asked == 0 && local > 1) {
        unsigned processors = lode_pool_processors();
        asked = processors > local ? processors / local : 1;
    }
    return lode_pool_threads(asked, UINT32_MAX);
}

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
    struct lode_merge_source source;
    struct lode_comm *used = comm && comm->place.size > 1 ? comm : NULL;
    lode_status status = lode_merge_source_open(&source, order->inputs, order->count, order->slice,
                                                order->options, used, error);
    source.threads = threads_of(order->options, used);
    if (status == LODE_OK)
        status = pump_all(&source, order, error);
    if (status != LODE_OK && comm)
        lode_comm_raise(comm, status, error);
    lode_merge_source_close(&source);
    return status;
}

/* The callback of rank 0, which may wait for a rank that was killed. */
static int is_cancelled(void *user)
{
    const struct order *order = user;
    return order->options->on_progress(order->options->user, "waiting for other ranks", 0, 0);
}

static lode_status merge_with(struct order *order, struct lode_comm *comm, lode_error *error)
{
    lode_error own = {0};
    if (comm->place.rank == 0 && order->options->on_progress)
        lode_comm_watch(comm, is_cancelled, order);
    lode_status status = work(order, comm, &own);
    lode_comm_watch(comm, NULL, NULL);
    /* What ended the job is what some rank has raised. */
    if (status != LODE_OK && error && lode_comm_poll(comm, error) == LODE_OK)
        *error = own;
    return status;
}

static lode_status run(struct order *order, lode_error *error)
{
    const lode_merge_options *options = order->options;
    if (options->comm)
        return merge_with(order, options->comm, error);
    if (options->local_ranks > 1)
        return lode_comm_run(options->local_ranks, work, order, error);
    return work(order, NULL, error);
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
