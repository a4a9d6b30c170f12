/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings to a database: the steps, one after the other. */
#include "transform/build.h"

#include "base/error.h"
#include "base/options.h"
#include <stdlib.h>

/* What all ranks are given. */
struct order {
    const char *const *paths;
    size_t count;
    const char *path;
    const lode_build_options *options;
    lode_build_result *result;
};

static lode_status create_writer(struct lode_build *build, const char *path, lode_error *error)
{
    const lode_build_options *options = build->options;
    lode_writer_options writer_options = LODE_WRITER_OPTIONS_INIT;
    writer_options.force = options->force;
    writer_options.traces = options->trace != LODE_TRACE_NONE;
    writer_options.threads = lode_build_threads(&build->inputs, UINT32_MAX);
    writer_options.memory = options->memory;
    writer_options.title = options->title;
    writer_options.on_progress = build->comm->place.rank == 0 ? options->on_progress : NULL;
    writer_options.user = options->user;
    return lode_writer_create_with(&build->writer, build->comm, path, &writer_options, error);
}

static lode_status finish(struct lode_build *build, lode_error *error)
{
    uint32_t count = build->inputs.share;
    struct wire_Profile *wire = calloc((size_t)count + 1, sizeof *wire);
    if (wire == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        lode_build_wire(&build->records[i], &wire[i]);
    struct written_share share = {.first = build->inputs.first, .count = count, .records = wire};
    lode_status status = lode_writer_finish_with(build->writer, &share, error);
    free(wire);
    return status;
}

static lode_status run(struct lode_build *build, const struct order *order, lode_error *error)
{
    clock_gettime(CLOCK_MONOTONIC, &build->lap.time);
    LODE_TRY(lode_build_inputs_open(&build->inputs, build->comm, order->paths, order->count, order->options,
                                    error));
    LODE_TRY(create_writer(build, order->path, error));
    if (build->options->joint)
        LODE_TRY(lode_writer_write_jointly(build->writer, error));
    lode_build_end_phase(build, LODE_BUILD_OPENING);
    LODE_TRY(lode_build_read(build, build->writer->output.staging, error));
    lode_build_end_phase(build, LODE_BUILD_READING);
    LODE_TRY(lode_build_merge(build, error));
    LODE_TRY(lode_build_describe(build, error));
    lode_build_end_phase(build, LODE_BUILD_MERGING);
    LODE_TRY(lode_build_values(build, error));
    lode_build_end_phase(build, LODE_BUILD_PROFILES);
    LODE_TRY(lode_build_lines(build, error));
    lode_build_end_phase(build, LODE_BUILD_LINES);
    LODE_TRY(finish(build, error));
    lode_build_end_phase(build, LODE_BUILD_FINISHING);
    return lode_build_add_up(build, error);
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
    for (unsigned i = 0; i < LODE_BUILD_LEVELS; i++)
        free(build->branches[i].map);
    free(build->workers);
    free(build->nodes);
    free(build->parents);
    free(build->metrics);
    free(build->node_counts);
    free(build->final);
    free(build->ids);
    free(build->above);
    free(build->value_ids);
    free(build->records);
    lode_content_tree_close(&build->tree);
    lode_frames_free(&build->frames);
    lode_strings_free(&build->changes);
    lode_build_inputs_close(&build->inputs);
    lode_writer_close(build->writer);
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
    if (status != LODE_OK)
        lode_comm_raise(comm, status, error);
    release(&build);
    return status;
}

static lode_status build_with(struct order *order, lode_error *error)
{
    struct lode_comm alone = LODE_COMM_SELF;
    struct lode_comm *comm = order->options->comm ? order->options->comm : &alone;
    lode_error own = {0};
    if (order->options->comm == NULL && order->options->local_ranks > 1)
        return lode_comm_run(order->options->local_ranks, work, order, error);
    lode_status status = work(order, comm, &own);
    /* What ended the job is what some rank has raised. */
    if (status != LODE_OK && error && lode_comm_poll(comm, error) == LODE_OK)
        *error = own;
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
    lode_status status = build_with(&order, error);
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
