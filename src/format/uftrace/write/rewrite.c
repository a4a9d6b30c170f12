/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink that writes uftrace recordings: tracks are written by the worker that reads them. */
#include "base/error.h"
#include "format/uftrace/uftrace.h"
#include "format/uftrace/write/merge.h"
#include "model/recording/recording_sink.h"
#include <stdlib.h>
#include <string.h>

struct uft_sink {
    struct lode_recording_sink base;
    struct uft_merge merge;
    struct uft_writer writer;
    /* Of the recording that is being read. */
    struct uft_origin *source;
    struct uft_event_writer *writers; /* by worker */
    unsigned writer_count;
};

static struct uft_sink *sink_of(struct lode_recording_sink *base)
{
    return (struct uft_sink *)base;
}

static lode_status create(struct lode_recording_sink *base, const char *path, lode_error *error)
{
    struct uft_sink *self = sink_of(base);
    self->writer.output = (struct lode_output)LODE_OUTPUT_INIT;
    for (size_t i = 0; i < base->count; i++)
        if (strncmp(base->recordings[i]->format, "uftrace", 7) != 0)
            return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                             "a recording in the format %s cannot be converted to uftrace",
                             base->recordings[i]->format);
    LODE_TRY(lode_uft_merge_open(&self->merge, base->recordings, base->count, base->options->on_finding,
                                 base->options->user, error));
    return lode_uft_writer_create(&self->writer, path, base->options->force, error);
}

static int64_t clock_of(const struct lode_recording_sink *base, size_t index)
{
    return ((const struct uft_sink *)base)->merge.sources[index].clock;
}

static lode_status begin(struct lode_recording_sink *base, size_t index, const lode_slice *slice,
                         unsigned workers, lode_error *error)
{
    struct uft_sink *self = sink_of(base);
    struct uft_event_changes rules = lode_uft_merge_changes(&self->merge, index);
    rules.from = slice->from;
    rules.to = slice->to ? slice->to : UINT64_MAX;
    rules.keeps_empty = slice->from == 0 && slice->to == 0;
    self->source = &self->merge.sources[index];
    self->writers = calloc(workers, sizeof *self->writers);
    if (self->writers == NULL)
        return lode_fail_memory(error);
    self->writer_count = workers;
    for (unsigned i = 0; i < workers; i++)
        LODE_TRY(lode_uft_events_init(&self->writers[i], &self->writer, &rules, error));
    return LODE_OK;
}

static void end(struct lode_recording_sink *base)
{
    struct uft_sink *self = sink_of(base);
    for (unsigned i = 0; self->writers && i < self->writer_count; i++)
        lode_uft_events_free(&self->writers[i]);
    free(self->writers);
    self->writers = NULL;
}

static lode_status begin_track(struct lode_recording_sink *base, unsigned worker, uint32_t track,
                               lode_error *error)
{
    struct uft_sink *self = sink_of(base);
    return lode_uft_events_begin(&self->writers[worker], &self->source->rec->base.tracks[track],
                                 &self->source->tracks[track], error);
}

static lode_status take(struct lode_recording_sink *base, unsigned worker, const lode_event *events,
                        size_t count, lode_error *error)
{
    return lode_uft_events_take(&sink_of(base)->writers[worker], events, count, error);
}

static lode_status end_track(struct lode_recording_sink *base, unsigned worker, lode_error *error)
{
    return lode_uft_events_end(&sink_of(base)->writers[worker], error);
}

static lode_status finish(struct lode_recording_sink *base, lode_error *error)
{
    struct uft_sink *self = sink_of(base);
    uint64_t to = base->slice.to ? base->slice.to : UINT64_MAX;
    return lode_uft_merge_finish(&self->merge, &self->writer, base->slice.from, to, error);
}

static void close_sink(struct lode_recording_sink *base)
{
    lode_uft_writer_close(&sink_of(base)->writer);
    lode_uft_merge_close(&sink_of(base)->merge);
}

const struct lode_recording_sink_ops lode_uft_sink = {
    .size = sizeof(struct uft_sink),
    .passes = 1,
    .create = create,
    .clock = clock_of,
    .begin = begin,
    .begin_track = begin_track,
    .take = take,
    .end_track = end_track,
    .end = end,
    .finish = finish,
    .close = close_sink,
};
