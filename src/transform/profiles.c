/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/profiles.h"

#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include <stdlib.h>

struct work {
    const struct lode_profiles *profiles;
    lode_draft **drafts; /* of items under way, by item % draft_count */
    unsigned draft_count;
    struct lode_progress progress;
};

static lode_status fill_draft(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct work *work = context;
    lode_draft *draft = work->drafts[item % work->draft_count];
    (void)worker;
    LODE_TRY(work->profiles->fill(work->profiles->context, item, draft, error));
    return lode_draft_end(draft, error);
}

static lode_status append_draft(void *context, uint64_t item, lode_error *error)
{
    struct work *work = context;
    LODE_TRY(lode_writer_append(work->profiles->writer, work->drafts[item % work->draft_count], error));
    return lode_progress_add(&work->progress, 1, error);
}

lode_status lode_write_profiles(const struct lode_profiles *profiles, lode_error *error)
{
    unsigned threads = lode_pool_threads(profiles->threads, profiles->count);
    struct work work = {.profiles = profiles,
                        .draft_count = lode_pool_window(threads),
                        .progress = {.report = profiles->on_progress,
                                     .user = profiles->user,
                                     .phase = profiles->phase,
                                     .total = profiles->count}};
    struct lode_job job = {
        .items = profiles->count, .work = fill_draft, .finish = append_draft, .context = &work};
    work.drafts = calloc(work.draft_count, sizeof *work.drafts);
    lode_status status = work.drafts ? LODE_OK : lode_fail_memory(error);
    for (unsigned i = 0; i < work.draft_count && status == LODE_OK; i++)
        status = lode_draft_create(&work.drafts[i], profiles->writer, error);
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    for (unsigned i = 0; work.drafts && i < work.draft_count; i++)
        lode_draft_free(work.drafts[i]);
    free(work.drafts);
    return status;
}
