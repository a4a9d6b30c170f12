/* SPDX-License-Identifier: BSD-3-Clause */
/* From a database to any format that databases can be written in. */
#include "base/comm/ranks.h"
#include "base/options.h"
#include "base/pool.h"
#include "format/format.h"
#include "transform/database_source.h"
#include "transform/pump.h"

/* What all ranks are given. */
struct order {
    const lode_database *db;
    const char *path;
    const struct lode_sink_ops *to;
    const lode_convert_options *options;
};

static lode_status convert(const struct order *order, struct lode_comm *comm, lode_error *error)
{
    const lode_convert_options *options = order->options;
    struct lode_database_source source;
    struct lode_pump pump = {
        .source = &source.base,
        .to = order->to,
        .path = order->path,
        .options = {.comm = comm,
                    .force = options->force,
                    .traces = lode_database_has(order->db, LODE_PART_TRACE),
                    .threads = lode_ranks_threads(comm, lode_pool_asked(options->threads, options->pool)),
                    .pool = options->pool,
                    .memory = options->memory,
                    .origin = options->sources,
                    .on_finding = options->on_finding,
                    .on_progress = options->on_progress,
                    .user = options->user}};
    lode_status status = lode_database_source_open(&source, order->db, options, comm, error);
    if (status == LODE_OK)
        status = lode_pump(&pump, error);
    lode_database_source_close(&source);
    return status;
}

/* What one rank does. A single one needs no communicator. */
static lode_status work(void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    bool is_alone = comm->place.size == 1 || order->to->place == NULL;
    if (is_alone && comm->place.rank > 0)
        return LODE_OK;
    return convert(order, is_alone ? NULL : comm, error);
}

lode_status lode_convert(const lode_database *db, const char *path, const lode_convert_options *given,
                         lode_error *error)
{
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_target *target = lode_target_of_databases(options.to);
    if (target == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "there is no format '%s' to write databases in", options.to);
    struct order order = {db, path, target->sink, &options};
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    return lode_ranks_run(&ranks, work, &order, error);
}
