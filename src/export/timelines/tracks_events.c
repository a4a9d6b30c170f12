/* SPDX-License-Identifier: BSD-3-Clause */
/* What encoders share that write events one by one. */
#include "base/error.h"
#include "export/export.h"
#include "export/timelines/tracks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lode_status lode_timeline_open(struct lode_timeline *self, struct lode_export *job, lode_error *error)
{
    self->job = job;
    self->has_requests = job->recording && lode_recording_has_requests(job->recording);
    self->has_values = job->recording && !job->options->no_arguments;
    LODE_TRY(lode_tracks_open(&self->tracks, job, error));
    lode_tracks_bounds(self->tracks, &self->base, &self->last);
    return LODE_OK;
}

lode_status lode_timeline_report(const struct lode_timeline *self, const struct lode_tracks_counts *counts,
                                 unsigned levels, const char *reason, lode_error *error)
{
    LODE_TRY(lode_tracks_report_cut(self->job, self->cut, levels, reason, error));
    return lode_tracks_report(self->job, counts, error);
}

static lode_status arguments_of(const struct lode_timeline *self, struct lode_timeline_thread *thread,
                                uint32_t track, const lode_event *event, lode_error *error)
{
    thread->arguments.count = 0;
    if (!self->has_values || event->data_size == 0)
        return LODE_OK;
    return lode_tracks_arguments(self->tracks, track, event, &thread->arguments, error);
}

/* A name and a value, or a key and a value under a name. */
static bool hold_attribute(const struct lode_timeline *self, struct lode_timeline_thread *thread,
                           const char *name)
{
    const struct lode_arguments *arguments = &thread->arguments;
    if (arguments->count == 0)
        return true;
    if (arguments->count == 1) {
        self->calls->hold(thread, name, strlen(name), &arguments->items[0]);
        return true;
    }
    thread->key.count = 0;
    lode_wire_argument(&thread->key, &arguments->items[0]);
    if (!thread->key.failed)
        self->calls->hold(thread, (const char *)thread->key.bytes, thread->key.count, &arguments->items[1]);
    return !thread->key.failed;
}

static lode_status put_happening(struct lode_timeline *self, struct lode_timeline_thread *thread,
                                 const struct lode_timeline_event *given, lode_error *error)
{
    struct lode_timeline_event event = *given;
    bool is_loss = event.event->kind == LODE_EVENT_LOST;
    thread->arguments.count = 0;
    if (is_loss || self->job->recording == NULL)
        return self->calls->happens(self, thread, &event, error);
    event.name = lode_event_name(self->job->recording, event.event);
    event.instant = lode_event_instant(self->job->recording, event.event);
    LODE_TRY(arguments_of(self, thread, event.track, event.event, error));
    if (!lode_timeline_is_in_call(thread) || event.instant != LODE_INSTANT_ATTRIBUTE)
        return self->calls->happens(self, thread, &event, error);
    return hold_attribute(self, thread, event.name) ? LODE_OK : lode_fail_memory(error);
}

lode_status lode_timeline_put(struct lode_timeline *self, struct lode_timeline_thread *thread,
                              const struct lode_timeline_event *event, lode_error *error)
{
    enum lode_call_step step = open_calls_take(&thread->open, event->event);
    if (step == LODE_CALL_BEGINS || step == LODE_CALL_ENDS)
        LODE_TRY(arguments_of(self, thread, event->track, event->event, error));
    switch (step) {
    case LODE_CALL_BEGINS:
        return self->calls->begins(self, thread, event, error);
    case LODE_CALL_ENDS:
        return self->calls->ends(self, thread, event, error);
    case LODE_CALL_HIDES:
        thread->cut++;
        return LODE_OK;
    case LODE_CALL_NONE:
        break;
    }
    return lode_event_ends(event->event) ? LODE_OK : put_happening(self, thread, event, error);
}

void lode_timeline_forget(struct lode_timeline *self, struct lode_timeline_thread *thread)
{
    open_calls_reset(&thread->open);
    atomic_fetch_add(&self->cut, thread->cut);
    thread->cut = 0;
}

void lode_timeline_close(struct lode_timeline_thread *thread)
{
    open_calls_free(&thread->open);
    wire_free(&thread->key);
    free(thread->arguments.items);
}

const char *lode_argument_key(const struct lode_arguments *arguments, size_t index, const char *unnamed,
                              bool is_numbered, char *text, size_t size)
{
    const char *key = arguments->items[index].name;
    if (key[0])
        return key;
    snprintf(text, size, is_numbered ? "%s%zu" : "%s", unnamed, index + 1);
    return text;
}
