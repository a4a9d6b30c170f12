/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings to a database: the steps, one after the other. */
#include "build/build.h"

#include "base/error.h"
#include <stdlib.h>
#include <time.h>

/* The seconds since the last call. */
static double lap(struct timespec *last)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - last->tv_sec) + (double)(now.tv_nsec - last->tv_nsec) * 1e-9;
    *last = now;
    return seconds;
}

static lode_status create_writer(struct lode_build *build, const char *path, lode_error *error)
{
    const lode_build_options *options = build->options;
    lode_writer_options wishes = LODE_WRITER_OPTIONS_INIT;
    wishes.force = options->force;
    wishes.traces = options->trace != LODE_TRACE_NONE;
    wishes.threads = options->threads;
    wishes.memory = options->memory;
    wishes.title = options->title;
    wishes.on_progress = options->on_progress;
    wishes.user = options->user;
    return lode_writer_create(&build->writer, path, &wishes, error);
}

static void note_inputs(struct lode_build *build)
{
    const struct lode_build_inputs *inputs = &build->inputs;
    lode_build_result *result = &build->result;
    result->recordings = inputs->count;
    result->tracks = inputs->track_count;
    result->nodes = inputs->nodes;
    result->ranks = inputs->ranks;
    result->read_bytes = inputs->bytes;
    for (uint32_t i = 0; i < inputs->track_count; i++) {
        result->events += inputs->tracks[i].harvest.events;
        result->rows += inputs->tracks[i].harvest.row_count;
    }
}

static lode_status run(struct lode_build *build, const char *const *paths, size_t count, const char *path,
                       lode_error *error)
{
    lode_build_result *result = &build->result;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    LODE_TRY(lode_build_inputs_open(&build->inputs, paths, count, build->options, error));
    LODE_TRY(create_writer(build, path, error));
    result->open_time = lap(&time);
    LODE_TRY(lode_build_read(build, build->writer->output.holder, error));
    note_inputs(build);
    result->read_time = lap(&time);
    LODE_TRY(lode_build_merge(build, error));
    LODE_TRY(lode_build_describe(build, error));
    result->merge_time = lap(&time);
    LODE_TRY(lode_build_profiles(build, error));
    LODE_TRY(lode_build_lines(build, error));
    result->write_time = lap(&time);
    lode_status status = lode_writer_finish(build->writer, error);
    result->finish_time = lap(&time);
    return status;
}

static void release(struct lode_build *build)
{
    for (unsigned i = 0; i < build->threads; i++) {
        if (build->growers)
            lode_build_grower_close(&build->growers[i]);
        if (build->nodes)
            free(build->nodes[i]);
        if (build->parents)
            free(build->parents[i]);
        if (build->metrics)
            free(build->metrics[i]);
    }
    free(build->growers);
    free(build->nodes);
    free(build->parents);
    free(build->metrics);
    free(build->node_counts);
    free(build->value_ids);
    lode_build_tree_close(&build->tree);
    lode_build_texts_free(&build->changes);
    lode_build_inputs_close(&build->inputs);
    lode_writer_close(build->writer);
}

lode_status lode_build(const char *const *paths, size_t count, const char *path,
                       const lode_build_options *options, lode_build_result *result, lode_error *error)
{
    static const lode_build_options defaults = LODE_BUILD_OPTIONS_INIT;
    struct lode_build build = {.options = options ? options : &defaults};
    lode_build_texts_init(&build.changes);
    lode_status status = run(&build, paths, count, path, error);
    if (result)
        *result = build.result;
    release(&build);
    return status;
}
