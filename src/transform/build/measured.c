/* SPDX-License-Identifier: BSD-3-Clause */
/* From measurements to a database: a format's source, and the pump. */
#include "base/error.h"
#include "format/format.h"
#include "model/database/block_builder.h"
#include "transform/build/build.h"
#include "transform/pump.h"

static void end_reading(void *user)
{
    lode_build_end_phase(user, LODE_BUILD_READING);
}

/* What this rank has done, for lode_build_add_up. */
static void count(struct lode_build *build, const struct lode_measured_source *source, size_t paths)
{
    const struct lode_measured_counts *counts = &source->counts;
    lode_build_result *result = &build->result;
    result->recordings = paths;
    result->tracks = counts->profiles;
    result->metrics = counts->metrics;
    result->nodes = counts->nodes;
    result->ranks = counts->ranks;
    result->events = counts->records;
    result->functions = counts->functions;
    result->contexts = counts->contexts;
    result->tree_contexts = counts->worker_contexts;
    result->rows = build->counts.groups;
    result->sources = counts->sources;
    result->spooled_bytes = counts->spooled_rows + counts->spooled_samples;
    result->phases[LODE_BUILD_READING].read_bytes = counts->bytes;
    result->phases[LODE_BUILD_READING].written_bytes = result->spooled_bytes;
    result->phases[LODE_BUILD_PROFILES].read_bytes = counts->spooled_rows * 2;
    result->phases[LODE_BUILD_LINES].read_bytes = counts->spooled_samples;
}

static lode_status pump_measured(struct lode_build *build, struct lode_measured_source *source, size_t paths,
                                 const char *path, lode_error *error)
{
    const lode_build_options *options = build->options;
    struct lode_pump pump = {.source = &source->base,
                             .to = lode_target_of_databases(NULL)->sink,
                             .path = path,
                             .options = {.comm = build->comm,
                                         .force = options->force,
                                         .traces = source->has_traces,
                                         .joint = options->joint,
                                         .threads = lode_build_threads(&build->inputs, UINT32_MAX),
                                         .pool = options->pool,
                                         .memory = options->memory,
                                         .open_source = source->open_file,
                                         .opener = source,
                                         .access = &source->access,
                                         .on_finding = options->on_finding,
                                         .on_progress = options->on_progress,
                                         .user = options->user},
                             .on_step = lode_build_end_step,
                             .context = build};
    LODE_TRY(lode_pump(&pump, error));
    count(build, source, paths);
    return lode_build_add_up(build, error);
}

lode_status lode_build_measured(struct lode_build *build, const struct lode_format *format,
                                const char *const *paths, size_t path_count, const char *path,
                                lode_error *error)
{
    struct lode_measured_source *source = NULL;
    build->inputs = (struct lode_build_inputs){.options = build->options, .comm = build->comm};
    struct lode_measured_input input = {.paths = paths,
                                        .count = path_count,
                                        .options = build->options,
                                        .comm = build->comm,
                                        .threads = lode_build_threads(&build->inputs, UINT32_MAX),
                                        .on_read = end_reading,
                                        .user = build};
    lode_status status = format->open_source(&source, &input, error);
    if (status == LODE_OK)
        status = pump_measured(build, source, path_count, path, error);
    format->close_source(source);
    return status;
}
