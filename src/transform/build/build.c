/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings to a database: the steps, one after the other. */
#include "transform/build/build.h"

#include "base/comm/ranks.h"
#include "base/error.h"
#include "base/options.h"
#include "format/format.h"
#include "transform/pump.h"
#include <errno.h>
#include <stdlib.h>

/* What all ranks are given. */
struct order {
    const char *const *paths;
    size_t count;
    const char *path;
    const lode_build_options *options;
    lode_build_result *result;
};

static lode_status describe(struct lode_profile_source *base, struct lode_description *out, bool keeps_ids,
                            int scratch, lode_error *error)
{
    struct lode_build *build = build_of(base);
    (void)keeps_ids;
    build->about = out;
    LODE_TRY(lode_build_read(build, scratch, error));
    lode_build_end_phase(build, LODE_BUILD_READING);
    LODE_TRY(lode_build_merge(build, error));
    return lode_build_describe(build, error);
}

/* Memory for samples is not needed while the sink finishes. */
static lode_status end(struct lode_profile_source *base, lode_error *error)
{
    (void)error;
    lode_build_close_scratches(build_of(base));
    lode_build_close_lines(build_of(base));
    return LODE_OK;
}

void lode_build_end_step(void *context, enum lode_pump_step step, const struct lode_sink *sink)
{
    static const unsigned phases[] = {[LODE_PUMP_CREATED] = LODE_BUILD_OPENING,
                                      [LODE_PUMP_DESCRIBED] = LODE_BUILD_MERGING,
                                      [LODE_PUMP_VALUES] = LODE_BUILD_PROFILES,
                                      [LODE_PUMP_SAMPLES] = LODE_BUILD_LINES,
                                      [LODE_PUMP_FINISHED] = LODE_BUILD_FINISHING};
    struct lode_build *build = context;
    build->counts = sink->counts;
    lode_build_end_phase(build, phases[step]);
}

static lode_status run_recordings(struct lode_build *build, const struct order *order, lode_error *error)
{
    static const struct lode_profile_source_ops ops = {.describe = describe,
                                                       .number = lode_build_number,
                                                       .open_slots = lode_build_open_slots,
                                                       .values = lode_build_values,
                                                       .begin_samples = lode_build_begin_samples,
                                                       .samples = lode_build_samples,
                                                       .sample_count = lode_build_sample_count,
                                                       .end = end};
    const lode_build_options *options = build->options;
    LODE_TRY(lode_build_inputs_open(&build->inputs, build->comm, order->paths, order->count, options, error));
    build->source = (struct lode_profile_source){.ops = &ops,
                                                 .placed = true,
                                                 .leaves_contexts = true,
                                                 .first = build->inputs.first,
                                                 .count = build->inputs.share};
    struct lode_pump pump = {.source = &build->source,
                             .to = lode_target_of_databases(NULL)->sink,
                             .path = order->path,
                             .options = {.comm = build->comm,
                                         .force = options->force,
                                         .traces = options->trace != LODE_TRACE_NONE,
                                         .joint = options->joint,
                                         .threads = lode_build_threads(&build->inputs, UINT32_MAX),
                                         .pool = options->pool,
                                         .memory = options->memory,
                                         .on_progress = options->on_progress,
                                         .user = options->user},
                             .on_step = lode_build_end_step,
                             .context = build};
    LODE_TRY(lode_pump(&pump, error));
    lode_build_count(build);
    return lode_build_add_up(build, error);
}

/* The number of the format if all paths are measurements; else SIZE_MAX. Rank 0 looks. */
static lode_status find_measurements(const struct order *order, uint64_t *number, lode_error *error)
{
    *number = UINT64_MAX;
    for (size_t i = 0; i < order->count; i++) {
        const struct lode_format *format;
        lode_error why = {0};
        lode_status status = lode_store_format(order->paths[i], &format, &why);
        bool is_measured = status == LODE_OK && format->open_source;
        if (!is_measured && why.os_errno == EIO)
            return lode_fail(error, status, why.file, why.offset, "%s", why.text);
        if (!is_measured && i == 0)
            return LODE_OK;
        if (!is_measured)
            return lode_fail(error, LODE_ERR_ARGUMENT, order->paths[i], LODE_NO_OFFSET,
                             "not measurements, as those before it are");
        for (size_t k = 0; k < lode_formats_count; k++)
            *number = lode_formats[k] == format ? k : *number;
    }
    return LODE_OK;
}

static lode_status run(struct lode_build *build, const struct order *order, lode_error *error)
{
    uint64_t measured = UINT64_MAX;
    clock_gettime(CLOCK_MONOTONIC, &build->lap.time);
    if (build->comm->place.rank == 0)
        LODE_TRY(find_measurements(order, &measured, error));
    LODE_TRY(lode_comm_broadcast(build->comm, &measured, sizeof measured, error));
    if (measured < lode_formats_count)
        return lode_build_measured(build, lode_formats[measured], order->paths, order->count, order->path,
                                   error);
    return run_recordings(build, order, error);
}

static void release(struct lode_build *build)
{
    for (unsigned i = 0; i < build->threads; i++) {
        if (build->workers)
            lode_build_worker_close(&build->workers[i]);
        if (build->nodes)
            free(build->nodes[i]);
        if (build->parents)
            free(build->parents[i]);
        if (build->metrics)
            free(build->metrics[i]);
    }
    free(build->workers);
    free(build->nodes);
    free(build->parents);
    free(build->metrics);
    free(build->node_counts);
    free(build->final);
    free(build->ids);
    free(build->above);
    free(build->value_ids);
    lode_build_close_scratches(build);
    lode_build_close_lines(build);
    lode_content_tree_close(&build->tree);
    lode_content_tree_close(&build->all);
    lode_rank_trees_free(&build->ranks);
    free(build->node_of);
    lode_frames_free(&build->frames);
    lode_strings_free(&build->changes);
    lode_build_inputs_close(&build->inputs);
}

/* What one rank does. */
static lode_status work(void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    struct lode_build build = {.options = order->options, .comm = comm};
    lode_strings_init(&build.changes);
    lode_status status = run(&build, order, error);
    /* Ranks that are threads share one result, which is the same for all. */
    if (comm->place.rank == 0 || order->options->comm)
        *order->result = build.result;
    lode_comm_raise(comm, status, error);
    release(&build);
    return status;
}

lode_status lode_build_sized(const char *const *paths, size_t count, const char *path,
                             const lode_build_options *given, lode_build_result *result, size_t result_size,
                             lode_error *error)
{
    lode_build_options options = LODE_BUILD_OPTIONS_INIT;
    lode_build_result own = {0};
    struct order order = {paths, count, path, &options, &own};
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    lode_status status = lode_ranks_run(&ranks, work, &order, error);
    lode_result_give(result, result_size, &own, sizeof own);
    return status;
}

lode_status(lode_build)(const char *const *paths, size_t count, const char *path,
                        const lode_build_options *options, lode_build_result *result, lode_error *error)
{
    /* Who calls this function, rather than the macro, has the result of 0.1. */
    size_t size = offsetof(lode_build_result, phases) + 6 * sizeof(lode_build_phase);
    return lode_build_sized(paths, count, path, options, result, size, error);
}
