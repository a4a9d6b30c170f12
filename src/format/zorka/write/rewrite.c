/* SPDX-License-Identifier: BSD-3-Clause */
/* The sinks that write trace stores. They read all events twice: to note strings, then to write. */
#include "base/error.h"
#include "base/pool.h"
#include "base/text/count.h"
#include "format/zorka/write/origin.h"
#include "format/zorka/zorka.h"
#include "model/recording/recording_sink.h"
#include <stdio.h>
#include <stdlib.h>

struct zor_sink {
    struct lode_recording_sink base;
    struct zor_writer writer;
    struct zor_origin *sources;
    /* Of the recording that is being read. */
    struct zor_origin *source;
    uint32_t *tracks; /* current track of each worker */
    uint64_t order;   /* tracks in earlier recordings */
};

static struct zor_sink *sink_of(struct lode_recording_sink *base)
{
    return (struct zor_sink *)base;
}

static lode_status create(struct lode_recording_sink *base, const char *path, enum zor_layout layout,
                          lode_error *error)
{
    struct zor_sink *self = sink_of(base);
    const lode_rewrite_options *options = base->options;
    uint64_t tracks = 0;
    self->writer = (struct zor_writer)ZOR_WRITER_INIT;
    self->sources = calloc(base->count, sizeof *self->sources);
    if (self->sources == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < base->count; i++)
        tracks += base->recordings[i]->track_count;
    unsigned threads = lode_pool_threads(options->threads, tracks);
    LODE_TRY(lode_zor_writer_create(&self->writer, path, layout, options->force, threads, error));
    for (size_t i = 0; i < base->count; i++)
        LODE_TRY(lode_zor_origin_open(&self->sources[i], base->recordings[i], &self->writer.strings, threads,
                                      error));
    return LODE_OK;
}

static lode_status create_page(struct lode_recording_sink *base, const char *path, lode_error *error)
{
    return create(base, path, ZOR_LAYOUT_PAGE, error);
}

static lode_status create_zico(struct lode_recording_sink *base, const char *path, lode_error *error)
{
    return create(base, path, ZOR_LAYOUT_ZICO, error);
}

/* The offset between clocks if both recordings have one from UTC, else 0. */
static int64_t clock_of(const struct lode_recording_sink *base, size_t index)
{
    int64_t clock, own = base->recordings[index]->utc_offset, first = base->recordings[0]->utc_offset;
    bool is_known = own != 0 && first != 0;
    return is_known && !__builtin_sub_overflow(own, first, &clock) ? clock : 0;
}

static lode_status begin(struct lode_recording_sink *base, size_t index, const lode_slice *slice,
                         unsigned workers, lode_error *error)
{
    struct zor_sink *self = sink_of(base);
    (void)slice;
    self->source = &self->sources[index];
    self->order = 0;
    for (size_t i = 0; i < index; i++)
        self->order += base->recordings[i]->track_count;
    self->tracks = calloc(workers, sizeof *self->tracks);
    return self->tracks ? LODE_OK : lode_fail_memory(error);
}

static void end(struct lode_recording_sink *base)
{
    free(sink_of(base)->tracks);
    sink_of(base)->tracks = NULL;
}

static lode_status begin_track(struct lode_recording_sink *base, unsigned worker, uint32_t track,
                               lode_error *error)
{
    struct zor_sink *self = sink_of(base);
    (void)error;
    self->tracks[worker] = track;
    lode_zor_begin_track(&self->writer.encoders[worker], self->order + track);
    return LODE_OK;
}

static lode_status take(struct lode_recording_sink *base, unsigned worker, const lode_event *events,
                        size_t count, lode_error *error)
{
    struct zor_sink *self = sink_of(base);
    for (size_t i = 0; i < count; i++)
        LODE_TRY(lode_zor_origin_take(self->source, &self->writer.encoders[worker], self->tracks[worker],
                                      &events[i], error));
    return LODE_OK;
}

static lode_status end_track(struct lode_recording_sink *base, unsigned worker, lode_error *error)
{
    (void)base;
    (void)worker;
    (void)error;
    return LODE_OK;
}

static lode_status name_functions(struct lode_recording_sink *base, lode_error *error)
{
    struct zor_sink *self = sink_of(base);
    for (size_t i = 0; i < base->count; i++)
        LODE_TRY(lode_zor_origin_name(&self->sources[i], error));
    return lode_zor_writer_number(&self->writer, error);
}

/* Events outside of tracks, in the slice. */
static uint64_t count_messages(const struct lode_recording_sink *base, size_t index)
{
    const lode_recording *recording = base->recordings[index];
    lode_slice slice;
    uint64_t count = 0;
    if (!lode_recording_sink_slice(base, index, &slice))
        return 0;
    for (size_t i = 0; i < recording->message_count; i++) {
        uint64_t time = recording->messages[i].time;
        count += time >= slice.from && (slice.to == 0 || time < slice.to);
    }
    return count;
}

static lode_status say(const lode_rewrite_options *options, const char *rule, const char *text,
                       lode_error *error)
{
    lode_finding finding = {rule, LODE_WARNING, "", LODE_NO_OFFSET, text};
    if (options->on_finding(options->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

/* A Zorka store has no concurrent calls. */
static lode_status say_tracks(const struct zor_sink *self, lode_error *error)
{
    uint64_t count = 0;
    char text[128];
    for (size_t i = 0; i < self->base.count; i++)
        for (uint32_t k = 0; k < self->base.recordings[i]->track_count; k++)
            count += recording_main(self->base.recordings[i], k) != k;
    if (count == 0 || self->base.options->on_finding == NULL)
        return LODE_OK;
    snprintf(text, sizeof text, "%s of their own",
             LODE_COUNTED(count, "track of concurrent calls is a request",
                          "tracks of concurrent calls are requests"));
    return say(self->base.options, "merge-tracks", text, error);
}

/* Reports what could not be copied, as one finding. */
static lode_status say_left_out(struct zor_sink *self, lode_error *error)
{
    const lode_rewrite_options *options = self->base.options;
    uint64_t count = 0;
    char text[128];
    LODE_TRY(say_tracks(self, error));
    for (uint32_t i = 0; i < self->writer.encoder_count; i++)
        count += self->writer.encoders[i].left_out;
    for (size_t i = 0; i < self->base.count; i++)
        count += count_messages(&self->base, i);
    if (count == 0 || options->on_finding == NULL)
        return LODE_OK;
    snprintf(text, sizeof text, "%s omitted",
             LODE_COUNTED(count, "event has no equivalent in a Zorka store and is",
                          "events have no equivalent in a Zorka store and are"));
    return say(options, "merge-events", text, error);
}

static lode_status finish(struct lode_recording_sink *base, lode_error *error)
{
    LODE_TRY(say_left_out(sink_of(base), error));
    return lode_zor_writer_finish(&sink_of(base)->writer, error);
}

static void close_sink(struct lode_recording_sink *base)
{
    struct zor_sink *self = sink_of(base);
    for (size_t i = 0; self->sources && i < base->count; i++)
        lode_zor_origin_close(&self->sources[i]);
    free(self->sources);
    lode_zor_writer_close(&self->writer);
}

#define ZOR_SINK(create_function)                                                                            \
    {                                                                                                        \
        .size = sizeof(struct zor_sink), .passes = 2, .create = (create_function), .clock = clock_of,        \
        .begin = begin, .begin_track = begin_track, .take = take, .end_track = end_track, .end = end,        \
        .end_pass = name_functions, .finish = finish, .close = close_sink                                    \
    }

const struct lode_recording_sink_ops lode_zor_page_sink = ZOR_SINK(create_page);
const struct lode_recording_sink_ops lode_zor_zico_sink = ZOR_SINK(create_zico);
