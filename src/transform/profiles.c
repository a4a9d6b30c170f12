/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/profiles.h"

#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include <stdlib.h>

struct work {
    const struct lode_profiles *profiles;
    lode_profile_builder **builders; /* of items under way, by item % draft_count */
    unsigned builder_count;
    struct lode_progress progress;
};

static lode_status fill_builder(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *work = context;
    lode_profile_builder *builder = work->builders[item % work->builder_count];
    (void)worker;
    LODE_TRY(work->profiles->fill(work->profiles->context, item, builder, error));
    return lode_profile_builder_end(builder, error);
}

static lode_status append_builder(void *context, uint64_t item, lode_error *error)
{
    struct work *work = context;
    LODE_TRY(lode_writer_append(work->profiles->writer, work->builders[item % work->builder_count], error));
    return lode_progress_add(&work->progress, 1, error);
}

lode_status lode_write_profiles(const struct lode_profiles *profiles, lode_error *error)
{
    unsigned threads = lode_pool_threads(profiles->threads, profiles->count);
    struct work work = {.profiles = profiles,
                        .builder_count = lode_pool_window(threads),
                        .progress = {.report = profiles->on_progress,
                                     .user = profiles->user,
                                     .phase = profiles->phase,
                                     .total = profiles->count}};
    struct lode_job job = {
        .items = profiles->count, .work = fill_builder, .finish = append_builder, .context = &work};
    work.builders = calloc(work.builder_count, sizeof *work.builders);
    lode_status status = work.builders ? LODE_OK : lode_fail_memory(error);
    for (unsigned i = 0; i < work.builder_count && status == LODE_OK; i++)
        status = lode_profile_builder_create(&work.builders[i], profiles->writer, error);
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    for (unsigned i = 0; work.builders && i < work.builder_count; i++)
        lode_profile_builder_free(work.builders[i]);
    free(work.builders);
    return status;
}
