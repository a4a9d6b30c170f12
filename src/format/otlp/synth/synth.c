/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes synthetic stores of spans: messages are made on several threads and written in order. */
#include "format/otlp/synth/synth.h"
#include "base/error.h"
#include "base/io/output.h"
#include "base/memory/array.h"
#include "base/pool.h"
#include "base/progress.h"
#include <stdlib.h>

enum {
    MESSAGE_SPANS = 1024, /* of a message, about */
    SERVICES_MOST = 1000
};

struct making {
    const lode_synth_recording_options *options;
    struct otlp_world world;
    struct lode_progress progress;
    struct lode_output_file file;
    otlp_form_fn form;
    uint64_t traces; /* of a message */
    struct otlp_made_buffers *buffers;
    unsigned threads, window;
    struct lode_blob *messages; /* by item % window */
};

static bool reserve(struct otlp_made_buffers *buffers, uint64_t spans)
{
    return spans <= buffers->capacity || LODE_GROW(buffers->spans, buffers->capacity, (size_t)spans);
}

static lode_status make_message(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct making *self = context;
    const struct otlp_world *world = &self->world;
    struct otlp_made_buffers *buffers = &self->buffers[worker];
    struct lode_blob *message = &self->messages[item % self->window];
    uint64_t first = item * self->traces, left = world->traces - first;
    uint64_t end = first + (left < self->traces ? left : self->traces);
    size_t count = 0;
    for (uint64_t trace = first; trace < end; trace++) {
        uint64_t spans = lode_otlp_made_count(world, trace);
        LODE_TRY_ALLOC(reserve(buffers, count + spans), error);
        lode_otlp_make_trace(world, trace, buffers->spans + count, (uint32_t)spans);
        count += (size_t)spans;
    }
    message->size = 0;
    LODE_TRY_ALLOC(self->form(world, buffers->spans, count, buffers, message), error);
    return LODE_OK;
}

static lode_status write_message(void *context, uint64_t item, lode_error *error)
{
    struct making *self = context;
    const struct lode_blob *message = &self->messages[item % self->window];
    LODE_TRY(lode_output_write(&self->file, message->bytes, message->size, error));
    return lode_progress_add(&self->progress, 1, error);
}

static lode_status write_all(struct making *self, const char *path, uint64_t items, lode_error *error)
{
    struct lode_output output = LODE_OUTPUT_INIT;
    struct lode_job job = {.items = items,
                           .work = make_message,
                           .finish = write_message,
                           .context = self,
                           .window = self->window};
    lode_status status = lode_output_create_file(&output, path, self->options->force != 0, error);
    if (status == LODE_OK)
        status = lode_output_file_single(&self->file, &output, error);
    if (status == LODE_OK) {
        status = lode_pool_run(self->threads, &job, error);
        if (status == LODE_OK)
            status = lode_output_file_close(&self->file, error);
        else
            lode_output_file_abandon(&self->file);
    }
    if (status == LODE_OK)
        status = lode_output_commit(&output, error);
    lode_output_close(&output);
    return status;
}

static void free_buffers(struct making *self)
{
    for (unsigned i = 0; self->buffers && i < self->threads; i++) {
        struct otlp_made_buffers *buffers = &self->buffers[i];
        free(buffers->spans);
        lode_blob_free(&buffers->span);
        lode_blob_free(&buffers->scope);
        lode_blob_free(&buffers->service);
        lode_blob_free(&buffers->event);
        lode_blob_free(&buffers->pair);
        lode_blob_free(&buffers->value);
    }
    for (unsigned i = 0; self->messages && i < self->window; i++)
        lode_blob_free(&self->messages[i]);
    free(self->buffers);
    free(self->messages);
}

static lode_status make(const char *path, const lode_synth_recording_options *options, otlp_form_fn form,
                        lode_error *error)
{
    struct making self = {
        .options = options,
        .progress = {.report = options->on_progress, .user = options->user, .phase = "making requests"},
        .form = form};
    if (options->tasks > SERVICES_MOST)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "1 to %d services can be made",
                         SERVICES_MOST);
    bool has_memory = lode_otlp_world_make(&self.world, options);
    self.traces = self.world.usual < MESSAGE_SPANS ? MESSAGE_SPANS / self.world.usual : 1;
    uint64_t items = (self.world.traces + self.traces - 1) / self.traces;
    self.progress.total = items;
    self.threads = lode_pool_threads(options->threads, items);
    self.window = lode_pool_window(self.threads);
    self.buffers = calloc(self.threads, sizeof *self.buffers);
    self.messages = calloc(self.window, sizeof *self.messages);
    has_memory = has_memory && self.buffers && self.messages;
    lode_status status = has_memory ? write_all(&self, path, items, error) : lode_fail_memory(error);
    free_buffers(&self);
    lode_otlp_world_free(&self.world);
    return status;
}

lode_status lode_otlp_synth_framed(const char *path, const lode_synth_recording_options *options,
                                   lode_error *error)
{
    return make(path, options, lode_otlp_form_framed, error);
}

lode_status lode_otlp_synth_bare(const char *path, const lode_synth_recording_options *options,
                                 lode_error *error)
{
    return make(path, options, lode_otlp_form_bare, error);
}

lode_status lode_otlp_synth_json(const char *path, const lode_synth_recording_options *options,
                                 lode_error *error)
{
    return make(path, options, lode_otlp_form_json, error);
}
