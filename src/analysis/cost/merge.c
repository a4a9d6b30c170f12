/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges tracks chronologically with a heap. A track is opened when its first event is due and
 * closed after its last one, so that few of many consecutive tracks are open at once.
 */
#include "analysis/calls/slice.h"
#include "base/error.h"
#include "base/options.h"
#include "model/recording/recording.h"
#include <stdlib.h>

enum {
    SOME_TRACKS = 16,
    MANY_TRACKS = 1024
};

/*
 * The sort key of the next event of a track. At equal times messages, which have no track, come
 * first, and scheduler events come last: they were recorded elsewhere.
 */
struct entry {
    uint64_t time;
    bool is_scheduling;
    uint64_t order; /* 0: messages; else the track index plus 1 */
    uint32_t stream;
};

struct stream {
    lode_cursor *cursor; /* NULL: not opened, or messages */
    const lode_event *events;
    size_t next, count;
};

struct lode_merge {
    const lode_recording *recording;
    lode_cursor_options options;
    struct stream *streams;
    uint32_t stream_count;
    struct entry *heap; /* the next event is at 0 */
    uint32_t heap_size;
    bool is_given; /* that event was returned */
};

/* ---- the heap ---- */

static bool is_before(const struct entry *a, const struct entry *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->is_scheduling != b->is_scheduling)
        return b->is_scheduling;
    return a->order < b->order;
}

static void sink(lode_merge *merge, uint32_t at)
{
    struct entry *heap = merge->heap, entry = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= merge->heap_size)
            break;
        if (child + 1 < merge->heap_size && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &entry))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void drop_first(lode_merge *merge)
{
    merge->heap[0] = merge->heap[--merge->heap_size];
    if (merge->heap_size > 0)
        sink(merge, 0);
}

/* ---- streams ---- */

/* The read-ahead buffer of a cursor, limited so that all tracks together stay small. */
static size_t buffer_for(uint32_t tracks)
{
    if (tracks <= SOME_TRACKS)
        return 0;
    return tracks <= MANY_TRACKS ? 16 << 10 : 4 << 10;
}

static lode_status open_stream(lode_merge *merge, struct stream *stream, uint32_t track, lode_error *error)
{
    return lode_cursor_open(&stream->cursor, merge->recording, track, &merge->options, error);
}

/* Advances the first stream of the heap by one event, or opens it. */
static lode_status advance(lode_merge *merge, lode_error *error)
{
    struct entry *entry = &merge->heap[0];
    struct stream *stream = &merge->streams[entry->stream];
    if (stream->next < stream->count)
        stream->next++;
    if (stream->next == stream->count) {
        bool is_track = entry->order > 0;
        if (is_track && stream->cursor == NULL)
            LODE_TRY(open_stream(merge, stream, (uint32_t)(entry->order - 1), error));
        lode_status status =
            is_track ? lode_cursor_next(stream->cursor, &stream->events, &stream->count, error) : LODE_END;
        if (status == LODE_END) {
            lode_cursor_close(stream->cursor);
            stream->cursor = NULL;
            drop_first(merge);
            return LODE_OK;
        }
        LODE_TRY(status);
        stream->next = 0;
    }
    const lode_event *event = &stream->events[stream->next];
    entry->time = event->time;
    entry->is_scheduling = event->kind == LODE_EVENT_SCHED_OUT || event->kind == LODE_EVENT_SCHED_IN;
    sink(merge, 0);
    return LODE_OK;
}

/* ---- opening ---- */

static void add_source(lode_merge *merge, uint64_t time, uint64_t order)
{
    merge->heap[merge->heap_size++] = (struct entry){time, false, order, merge->stream_count++};
}

/* The messages of the time window as a stream. */
static void add_messages(lode_merge *merge)
{
    const lode_event *messages = merge->recording->messages;
    size_t first = 0, end = merge->recording->message_count;
    uint64_t from = merge->options.from, to = merge->options.to;
    while (first < end && messages[first].time < from)
        first++;
    while (end > first && to != 0 && messages[end - 1].time >= to)
        end--;
    if (first == end)
        return;
    merge->streams[merge->stream_count] = (struct stream){NULL, messages + first, 0, end - first};
    add_source(merge, messages[first].time, 0);
}

static lode_status add_track(lode_merge *merge, uint32_t track, lode_error *error)
{
    lode_slice window = LODE_SLICE_INIT;
    uint64_t begin, end;
    window.from = merge->options.from;
    window.to = merge->options.to;
    lode_status status = lode_track_interval(merge->recording, track, &begin, &end, error);
    if (status == LODE_ABSENT || (status == LODE_OK && !lode_slice_meets(&window, begin, end)))
        return LODE_OK;
    LODE_TRY(status);
    add_source(merge, begin > window.from ? begin : window.from, track + UINT64_C(1));
    return LODE_OK;
}

static lode_status open_merge(lode_merge *merge, const lode_slice *slice, lode_error *error)
{
    uint32_t count;
    LODE_TRY(lode_slice_tracks(slice, merge->recording, &count, error));
    if (slice) {
        merge->options.from = slice->from;
        merge->options.to = slice->to;
    }
    merge->streams = calloc((size_t)count + 1, sizeof *merge->streams);
    merge->heap = calloc((size_t)count + 1, sizeof *merge->heap);
    LODE_TRY_ALLOC(merge->streams && merge->heap, error);
    add_messages(merge);
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(add_track(merge, lode_slice_track(slice, i), error));
    if (merge->options.buffer == 0)
        merge->options.buffer = buffer_for(merge->stream_count);
    for (uint32_t i = merge->heap_size / 2; i-- > 0;)
        sink(merge, i);
    return LODE_OK;
}

/* ---- public API ---- */

lode_status lode_merge_open(lode_merge **out, const lode_recording *recording, const lode_slice *slice,
                            const lode_cursor_options *given, lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_slice taken = LODE_SLICE_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(lode_options_take(&taken, slice, error));
    lode_merge *merge = calloc(1, sizeof *merge);
    LODE_TRY_ALLOC(merge, error);
    merge->recording = recording;
    merge->options = options;
    lode_status status = open_merge(merge, slice ? &taken : NULL, error);
    if (status == LODE_OK)
        *out = merge;
    else
        lode_merge_close(merge);
    return status;
}

lode_status lode_merge_next(lode_merge *merge, const lode_event **event, uint32_t *track, lode_error *error)
{
    /* The returned event was valid until now: its cursor advances here. */
    if (merge->is_given) {
        merge->is_given = false;
        LODE_TRY(advance(merge, error));
    }
    while (merge->heap_size > 0) {
        const struct entry *entry = &merge->heap[0];
        const struct stream *stream = &merge->streams[entry->stream];
        if (stream->next < stream->count) {
            *event = &stream->events[stream->next];
            *track = entry->order > 0 ? (uint32_t)(entry->order - 1) : LODE_NO_TRACK;
            merge->is_given = true;
            return LODE_OK;
        }
        LODE_TRY(advance(merge, error));
    }
    return LODE_END;
}

void lode_merge_close(lode_merge *merge)
{
    if (merge == NULL)
        return;
    for (uint32_t i = 0; i < merge->stream_count; i++)
        lode_cursor_close(merge->streams[i].cursor);
    free(merge->streams);
    free(merge->heap);
    free(merge);
}
