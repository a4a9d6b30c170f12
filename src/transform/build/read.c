/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading all tracks, each by one worker, into the trees and spools of the workers. */
#include "base/error.h"
#include "transform/build/build.h"
#include <lode/unstable/guard.h>
#include <stdlib.h>

enum {
    EVENT_BYTES = 16,         /* of a record, about: for progress */
    EVENTS_PER_STEP = 1 << 20 /* between two reports of progress */
};

struct reading {
    struct lode_build *build;
    struct lode_finding_buffer *buffers; /* by worker */
    pthread_mutex_t lock;                /* of progress */
    struct lode_progress progress;
};

/* Reports that `events` more were read of a track of which `*left` bytes are not yet reported. */
static lode_status report_events(struct reading *self, uint64_t events, uint64_t *left, lode_error *error)
{
    uint64_t bytes = events < *left / EVENT_BYTES ? events * EVENT_BYTES : *left;
    *left -= bytes;
    pthread_mutex_lock(&self->lock);
    lode_status status = lode_progress_add(&self->progress, bytes, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static lode_status read_events(struct reading *self, struct lode_build_worker *worker, lode_cursor *cursor,
                               uint64_t bytes, lode_error *error)
{
    uint64_t left = bytes, unreported = 0;
    const lode_event *events;
    size_t count;
    lode_status status;
    while ((status = lode_cursor_next(cursor, &events, &count, error)) == LODE_OK) {
        LODE_TRY(lode_build_worker_take(worker, events, count, error));
        unreported += count;
        if (unreported < EVENTS_PER_STEP)
            continue;
        LODE_TRY(report_events(self, unreported, &left, error));
        unreported = 0;
    }
    if (status != LODE_END)
        return status;
    return report_events(self, left, &left, error);
}

static lode_status read_track(struct reading *self, struct lode_build_track *track,
                              struct lode_build_worker *worker, lode_error *error)
{
    struct lode_build_inputs *inputs = &self->build->inputs;
    struct lode_build_input *input = &inputs->items[track->input];
    struct lode_finding_buffer *buffer = &self->buffers[worker->number];
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor = NULL;
    LODE_TRY(lode_build_input_acquire(inputs, input, error));
    LODE_TRY(lode_build_worker_begin(worker, track->input, input->recording, track->track, track->entry,
                                     &track->track_result, error));
    options.strict = inputs->options->strict;
    if (inputs->options->on_finding) {
        lode_finding_buffer_begin(buffer, &track->kept);
        options.on_finding = lode_finding_buffer_take;
        options.user = buffer;
    }
    lode_status status = lode_cursor_open(&cursor, input->recording, track->track, &options, error);
    if (status == LODE_OK)
        status = read_events(self, worker, cursor, track->bytes, error);
    lode_cursor_close(cursor);
    if (buffer->failed)
        return lode_fail_memory(error);
    return status == LODE_OK ? lode_build_worker_end(worker, error) : status;
}

static lode_status work(void *context, uint64_t item, unsigned number, lode_error *error)
{
    struct reading *self = context;
    struct lode_build_inputs *inputs = &self->build->inputs;
    struct lode_build_track *track = &inputs->tracks[inputs->reading[item]];
    struct lode_build_input *input = &inputs->items[track->input];
    struct lode_build_worker *worker = &self->build->workers[number];
    lode_status status = read_track(self, track, worker, error);
    LODE_TRY(lode_build_input_blame(inputs, input, status, error));
    if (lode_build_input_release(input)) {
        LODE_TRY(
            lode_build_input_blame(inputs, input, lode_recording_intact(input->recording, error), error));
        lode_recording_close(input->recording);
        input->recording = NULL;
    }
    return LODE_OK;
}

/* In the order of profiles. */
static lode_status pass_findings_on(const struct lode_build_inputs *inputs, lode_error *error)
{
    struct lode_finding_list **kept = calloc((size_t)inputs->share + 1, sizeof *kept);
    for (uint32_t i = 0; kept && i < inputs->share; i++)
        kept[i] = &build_share(inputs, i)->kept;
    lode_status status =
        kept ? lode_build_pass_on(inputs, kept, inputs->share, error) : lode_fail_memory(error);
    free(kept);
    return status;
}

static lode_status flush_spools(struct lode_build *build, lode_error *error)
{
    for (unsigned i = 0; i < build->threads; i++) {
        struct lode_build_worker *worker = &build->workers[i];
        LODE_TRY(lode_spool_flush(&worker->rows, error));
        LODE_TRY(lode_spool_flush(&worker->builder.samples, error));
        build->result.tree_contexts += worker->builder.tree.count - LODE_BUILD_FIRST;
    }
    return LODE_OK;
}

static lode_status open_workers(struct lode_build *build, int directory, lode_error *error)
{
    build->workers = calloc(build->threads, sizeof *build->workers);
    if (build->workers == NULL)
        return lode_fail_memory(error);
    for (unsigned i = 0; i < build->threads; i++)
        build->workers[i] =
            (struct lode_build_worker){.rows = LODE_SPOOL_INIT, .builder.samples = LODE_SPOOL_INIT};
    for (unsigned i = 0; i < build->threads; i++)
        LODE_TRY(lode_build_worker_open(&build->workers[i], build->comm->place.rank, i, directory,
                                        build->options->trace, error));
    return LODE_OK;
}

lode_status lode_build_read(struct lode_build *build, int directory, lode_error *error)
{
    struct lode_build_inputs *inputs = &build->inputs;
    struct reading self = {.build = build,
                           .progress = lode_build_progress(inputs, "reading", inputs->share_bytes)};
    build->threads = lode_build_threads(inputs, inputs->share);
    LODE_TRY(open_workers(build, directory, error));
    self.buffers = calloc(build->threads, sizeof *self.buffers);
    if (self.buffers == NULL)
        return lode_fail_memory(error);
    pthread_mutex_init(&self.lock, NULL);
    /* A window of all tracks: nothing waits for the first, which is the largest. */
    struct lode_job job = {.items = inputs->share,
                           .work = work,
                           .context = &self,
                           .window = inputs->share,
                           .pool = inputs->options->pool};
    lode_status status = lode_pool_run(build->threads, &job, error);
    if (status == LODE_OK)
        status = flush_spools(build, error);
    if (status == LODE_OK)
        status = pass_findings_on(inputs, error);
    pthread_mutex_destroy(&self.lock);
    for (unsigned i = 0; i < build->threads; i++)
        lode_finding_buffer_free(&self.buffers[i]);
    free(self.buffers);
    return status;
}
