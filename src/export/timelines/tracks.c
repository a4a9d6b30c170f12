/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/timelines/tracks.h"

#include "base/error.h"
#include "base/options.h"
#include "base/text/count.h"
#include "base/text/label.h"
#include "export/export.h"
#include "export/timelines/tracks_parts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_BYTES = 16 /* approximate size of an event in a recording */
};

/* What the options of an export mean for its timeline. */
static lode_status take_options(struct lode_tracks *self, const struct lode_export *job, lode_error *error)
{
    const lode_export_options *given = job->options;
    lode_slice *slice = &self->options.slice;
    *slice = (lode_slice)LODE_SLICE_INIT;
    self->options.db = job->db;
    self->options.recording = job->recording;
    self->options.selection = given->selection;
    self->options.names = given->names;
    self->options.threads = given->threads;
    self->options.pool = given->pool;
    self->options.strict = given->strict != 0;
    LODE_TRY(lode_options_take(slice, given->slice, error));
    if (job->db) {
        slice->from = given->from;
        slice->to = given->to;
    }
    if (given->depth > 0 && (slice->depth == 0 || given->depth < slice->depth))
        slice->depth = given->depth;
    return LODE_OK;
}

static void measure(struct lode_tracks *self)
{
    for (uint32_t i = 0; i < self->line_count; i++) {
        const struct lode_line *line = &self->lines[i];
        self->begin = i == 0 || line->begin < self->begin ? line->begin : self->begin;
        self->end = line->end > self->end ? line->end : self->end;
        self->bytes += line->bytes;
        self->window_bytes += line->window_bytes;
    }
}

lode_status lode_tracks_open(struct lode_tracks **out, const struct lode_export *job, lode_error *error)
{
    struct lode_tracks *self = calloc(1, sizeof *self);
    *out = self;
    LODE_TRY_ALLOC(self, error);
    self->job = job;
    pthread_mutex_init(&self->lock, NULL);
    lode_arena_init(&self->arena, SIZE_MAX);
    lode_array_init(&self->names, sizeof(const struct lode_frame_name *), SIZE_MAX);
    LODE_TRY(take_options(self, job, error));
    LODE_TRY(lode_tracks_find_lines(self, error));
    LODE_TRY(lode_tracks_number_lines(self, error));
    measure(self);
    return job->db ? lode_tracks_find_stacks(self, error) : LODE_OK;
}

void lode_tracks_close(struct lode_tracks *self)
{
    if (self == NULL)
        return;
    lode_window_free(&self->window);
    free(self->lines);
    free(self->processes);
    free(self->sources);
    free(self->stacks);
    free(self->stack_of);
    free(self->frames);
    free(self->by_rank);
    free(self->ranks);
    lode_array_free(&self->names);
    lode_arena_free(&self->arena);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

uint32_t lode_tracks_line_count(const struct lode_tracks *self)
{
    return self->line_count;
}

const struct lode_line *lode_tracks_line(const struct lode_tracks *self, uint32_t index)
{
    return &self->lines[index];
}

uint32_t lode_tracks_process_count(const struct lode_tracks *self)
{
    return self->process_count;
}

const struct lode_tracks_process *lode_tracks_process(const struct lode_tracks *self, uint32_t index)
{
    return &self->processes[index];
}

void lode_tracks_bounds(const struct lode_tracks *self, uint64_t *begin, uint64_t *end)
{
    *begin = self->begin;
    *end = self->end;
}

int64_t lode_tracks_utc_offset(const struct lode_tracks *self)
{
    return self->options.recording ? lode_recording_utc_offset(self->options.recording) : 0;
}

uint64_t lode_tracks_estimate(const struct lode_tracks *self)
{
    /* A sample changes a few levels of the stack. */
    return self->options.db ? self->window_bytes / TRACE_SAMPLE_SIZE * 5 : self->window_bytes / RECORD_BYTES;
}

/* ---- names ---- */

const char *lode_tracks_text(struct lode_tracks *self, const char *text)
{
    struct lode_label label = {NULL, 0, 0};
    lode_label_text(&label, text);
    size_t capacity = label.length + 1;
    char *copy = lode_arena_alloc(&self->arena, capacity, 1);
    if (copy == NULL)
        return NULL;
    label = (struct lode_label){copy, capacity, 0};
    lode_label_text(&label, text);
    lode_label_end(&label);
    return copy;
}

static size_t put_name(const struct lode_tracks *self, const lode_function *frame, char *buffer,
                       size_t capacity)
{
    if (self->options.db == NULL)
        return lode_function_label_as(frame, self->options.names, buffer, capacity);
    /* Frames of a database carry the name that is shown. */
    struct lode_label label = {buffer, capacity, 0};
    lode_label_text(&label, frame->name);
    return lode_label_end(&label);
}

static const struct lode_frame_name *make_name(struct lode_tracks *self, const lode_function *frame)
{
    size_t length = put_name(self, frame, NULL, 0);
    if (length >= UINT32_MAX)
        return NULL;
    struct lode_frame_name *name = lode_arena_alloc(&self->arena, 1, sizeof *name);
    char *text = lode_arena_alloc(&self->arena, length + 1, 1);
    if (name == NULL || text == NULL)
        return NULL;
    put_name(self, frame, text, length + 1);
    *name = (struct lode_frame_name){text, (uint32_t)length};
    return name;
}

const struct lode_frame_name *lode_tracks_name(struct lode_tracks *self, const lode_function *frame)
{
    const struct lode_frame_name *name = NULL;
    pthread_mutex_lock(&self->lock);
    bool done = true;
    while (done && self->names.count <= frame->index)
        done = lode_array_push(&self->names) != NULL;
    if (done) {
        const struct lode_frame_name **slot =
            LODE_ARRAY_AT(&self->names, const struct lode_frame_name *, frame->index);
        if (*slot == NULL)
            *slot = make_name(self, frame);
        name = *slot;
    }
    pthread_mutex_unlock(&self->lock);
    return name;
}

/* ---- reports ---- */

lode_status lode_tracks_report(struct lode_export *job, const struct lode_tracks_counts *counts,
                               lode_error *error)
{
    job->repairs += counts->repairs;
    if (counts->unlisted > 0)
        LODE_TRY(lode_export_lost(job, "unlisted", error, "%s contexts that the metadata does not list",
                                  LODE_COUNTED(counts->unlisted, "sample has", "samples have")));
    if (counts->moved > 0)
        LODE_TRY(lode_export_lost(job, "moved", error, "%s moved forward: their times go back",
                                  LODE_COUNTED(counts->moved, "sample was", "samples were")));
    return LODE_OK;
}

lode_status lode_tracks_report_cut(struct lode_export *job, uint64_t calls, unsigned levels,
                                   const char *reason, lode_error *error)
{
    if (calls == 0)
        return LODE_OK;
    return lode_export_lost(job, "depth", error, "%s left out below %u levels: %s",
                            LODE_COUNTED(calls, "call was", "calls were"), levels, reason);
}

lode_status lode_tracks_warn(const struct lode_tracks *self, struct lode_export *job, unsigned size,
                             uint64_t limit, const char *viewer, lode_error *error)
{
    uint64_t bytes = lode_tracks_estimate(self) * size;
    if (bytes <= limit)
        return LODE_OK;
    return lode_export_lost(job, "size", error,
                            "the file will have about %" PRIu64 " MB; %s reads up to %" PRIu64
                            " MB (--from, --to, --min-time and --depth make it smaller)",
                            bytes / 1000000, viewer, limit / 1000000);
}
