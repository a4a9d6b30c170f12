/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a track: its spans, each from its file, become calls with attributes and events. */
#include "base/compare.h"
#include "base/error.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"
#include <stdlib.h>

enum {
    EVENTS = 1024,         /* of a batch, unless one span has more */
    BATCH_BYTES = 1 << 20, /* of translated spans, in a batch */
    DATA_MOST = UINT16_MAX /* of an event; longer data is cut off */
};

/* The bytes of a span, and what of it is yet to come. */
struct page {
    struct page *next;
    struct lode_blob blob; /* of a translated span */
};

/* An open call. */
struct frame {
    const struct otlp_span *span;
    const lode_function *function;
    struct lode_range bytes;
    struct page *page;
    size_t begin;        /* of its events in `pending` */
    size_t first, count; /* those that are yet to come */
};

/* An event of an open call, until it is due. */
struct pending {
    uint64_t time;
    struct lode_range bytes;
    uint32_t order;
    bool is_link;
};

struct otlp_cursor {
    lode_cursor base;
    const struct otlp_recording *rec;
    const struct otlp_track *track;
    lode_error *error;
    uint64_t from, to; /* the time window */
    uint32_t next;     /* span of the track */
    bool is_done;
    struct lode_array frames;  /* struct frame */
    struct lode_array pending; /* struct pending, of all frames */
    struct lode_array events;  /* lode_event */
    struct page *pages, *retired;
    size_t retired_bytes;
};

/* ---- pages ---- */

static struct page *take_page(struct otlp_cursor *self)
{
    struct page *page = self->pages;
    if (page)
        self->pages = page->next;
    else
        page = calloc(1, sizeof *page);
    return page;
}

/* Events of the batch may still refer to it. */
static void retire_page(struct otlp_cursor *self, struct page *page)
{
    page->next = self->retired;
    self->retired = page;
    self->retired_bytes += page->blob.size;
}

static void recycle_pages(struct otlp_cursor *self)
{
    while (self->retired) {
        struct page *page = self->retired;
        self->retired = page->next;
        page->next = self->pages;
        self->pages = page;
    }
    self->retired_bytes = 0;
}

/* ---- events ---- */

static bool emit(struct otlp_cursor *self, lode_event event)
{
    event.time -= (uint64_t)self->rec->base.utc_offset;
    self->is_done |= event.time >= self->to;
    if (self->is_done || event.time < self->from)
        return true;
    lode_event *slot = lode_array_push(&self->events);
    if (slot)
        *slot = event;
    return slot != NULL;
}

static uint16_t size_of(struct lode_range bytes)
{
    return (uint16_t)(bytes.size < DATA_MOST ? bytes.size : DATA_MOST);
}

static bool emit_instant(struct otlp_cursor *self, uint64_t time, uint8_t flags, enum otlp_instant instant,
                         struct lode_range name, struct lode_range data)
{
    uint32_t number = lode_otlp_name(self->rec, name);
    return number != LODE_NO_NUMBER &&
           emit(self, (lode_event){.time = time,
                                   .id = otlp_instant_id(instant, number),
                                   .depth = (uint32_t)self->frames.count,
                                   .kind = LODE_EVENT_INSTANT,
                                   .flags = flags,
                                   .data = data.data ? (const void *)data.data : "",
                                   .data_size = size_of(data)});
}

/* Attributes of a call come right after its begin. */
static bool emit_pair(struct otlp_cursor *self, uint64_t time, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    struct lode_range key = {0}, value = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        key = field.number == PAIR_KEY ? field.bytes : key;
        value = field.number == PAIR_VALUE ? field.bytes : value;
    }
    return emit_instant(self, time, 0, OTLP_ATTRIBUTE, key, value);
}

static bool emit_status(struct otlp_cursor *self, uint64_t time, struct lode_range bytes)
{
    static const char key[] = "otel.status_description";
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    bool has_message = false;
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD)
        has_message |= field.number == STATUS_MESSAGE && field.bytes.size > 0;
    return !has_message || emit_instant(self, time, 0, OTLP_STATUS,
                                        (struct lode_range){(const uint8_t *)key, sizeof key - 1}, bytes);
}

/* All pairs of a message in one of its fields. */
static bool emit_pairs(struct otlp_cursor *self, uint64_t time, struct lode_range bytes, uint64_t number)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        if (field.number == number && !emit_pair(self, time, field.bytes))
            return false;
        if (number == SPAN_ATTRIBUTES && field.number == SPAN_STATUS && !emit_status(self, time, field.bytes))
            return false;
    }
    return true;
}

/* Attributes of the process, where it is another than that of the caller. */
static bool emit_resource(struct otlp_cursor *self, const struct otlp_span *span)
{
    const struct otlp_recording *rec = self->rec;
    uint32_t resource = rec->origins[span->origin].resource;
    if (span->parent != OTLP_NO_SPAN && rec->origins[rec->spans[span->parent].origin].resource == resource)
        return true;
    return emit_pairs(self, span->begin, rec->resources[resource].attributes, RESOURCE_ATTRIBUTES);
}

/* ---- events of a span ---- */

static int compare_pending(const void *left, const void *right)
{
    const struct pending *a = left, *b = right;
    return a->time != b->time ? LODE_COMPARE(a->time, b->time) : LODE_COMPARE(a->order, b->order);
}

/* A time of the file, moved with its span. */
static uint64_t moved_time(const struct frame *frame, uint64_t time, uint64_t begin)
{
    const struct otlp_span *span = frame->span;
    int64_t shift = (int64_t)(span->begin - begin);
    time = time > 0 && time < (UINT64_C(1) << 62) ? time + (uint64_t)shift : span->begin;
    return time < span->begin ? span->begin : time > span->end ? span->end : time;
}

static bool list_pending(struct otlp_cursor *self, struct frame *frame)
{
    struct lode_pb_walk walk = lode_pb_walk_of(frame->bytes), inner;
    struct lode_pb_field field, part;
    uint64_t begin = frame->span->begin;
    frame->begin = frame->first = self->pending.count;
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        uint64_t time = 0;
        if (field.number == SPAN_BEGIN)
            begin = field.value;
        if (field.number != SPAN_EVENTS && field.number != SPAN_LINKS)
            continue;
        inner = lode_pb_walk_of(field.bytes);
        while (field.number == SPAN_EVENTS && lode_pb_next(&inner, &part) == LODE_PB_FIELD)
            time = part.number == EVENT_TIME ? part.value : time;
        struct pending *pending = lode_array_push(&self->pending);
        if (pending == NULL)
            return false;
        *pending =
            (struct pending){time, field.bytes, (uint32_t)self->pending.count, field.number == SPAN_LINKS};
    }
    frame->count = self->pending.count - frame->first;
    if (frame->count == 0)
        return true;
    struct pending *items = LODE_ARRAY_AT(&self->pending, struct pending, frame->first);
    for (size_t i = 0; i < frame->count; i++)
        items[i].time = moved_time(frame, items[i].time, begin);
    if (frame->count > 1)
        qsort(items, frame->count, sizeof *items, compare_pending);
    return true;
}

static struct lode_range event_name(struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    struct lode_range name = {(const uint8_t *)"event", sizeof "event" - 1};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD)
        name = field.number == EVENT_NAME && field.bytes.size > 0 ? field.bytes : name;
    return name;
}

static bool emit_pending(struct otlp_cursor *self, const struct pending *pending, uint64_t time)
{
    static const struct lode_range link = {(const uint8_t *)"link", sizeof "link" - 1};
    uint8_t flags = time != pending->time ? LODE_EVENT_MOVED : 0;
    if (pending->is_link)
        return emit_instant(self, time, 0, OTLP_LINK, link, pending->bytes);
    struct lode_range name = event_name(pending->bytes);
    return emit_instant(self, time, flags, lode_json_is(name, "exception") ? OTLP_EXCEPTION : OTLP_EVENT,
                        name, pending->bytes);
}

/*
 * Events of the innermost call until a time. Those that happened during a callee come after it, for
 * an event belongs to the innermost call; `from` is its end.
 */
static bool emit_until(struct otlp_cursor *self, uint64_t until, uint64_t from)
{
    struct frame *frame = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    for (; frame->count > 0; frame->first++, frame->count--) {
        const struct pending *pending = LODE_ARRAY_AT(&self->pending, struct pending, frame->first);
        if (pending->time > until)
            break;
        if (!emit_pending(self, pending, pending->time > from ? pending->time : from))
            return false;
    }
    return true;
}

/* ---- calls ---- */

static lode_status enter(struct otlp_cursor *self, uint32_t index)
{
    const struct otlp_span *span = &self->rec->spans[index];
    struct frame *frame = lode_array_push(&self->frames);
    LODE_TRY_ALLOC(frame, self->error);
    frame->span = span;
    frame->page = take_page(self);
    if (frame->page == NULL) {
        lode_array_pop(&self->frames);
        return lode_fail_memory(self->error);
    }
    LODE_TRY(lode_otlp_read(self->rec, span, &frame->page->blob, &frame->bytes, self->error));
    frame->function = lode_otlp_function(self->rec, span, frame->bytes);
    LODE_TRY_ALLOC(frame->function, self->error);
    bool done = list_pending(self, frame) &&
                emit(self, (lode_event){.time = span->begin,
                                        .function = frame->function,
                                        .depth = (uint32_t)self->frames.count - 1,
                                        .kind = LODE_EVENT_ENTER,
                                        .flags = span->flags & OTLP_SPAN_MOVED ? LODE_EVENT_MOVED : 0,
                                        .data = frame->bytes.data,
                                        .data_size = size_of(frame->bytes)}) &&
                emit_resource(self, span) && emit_pairs(self, span->begin, frame->bytes, SPAN_ATTRIBUTES);
    LODE_TRY_ALLOC(done, self->error);
    return LODE_OK;
}

/* Leaves the innermost call; `from` is the end of its last callee. */
static lode_status leave(struct otlp_cursor *self, uint64_t from)
{
    struct frame frame = *LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    uint8_t flags = (uint8_t)((frame.span->flags & OTLP_SPAN_MOVED ? LODE_EVENT_MOVED : 0) |
                              (frame.span->flags & OTLP_SPAN_NO_END ? LODE_EVENT_MADE : 0) |
                              (frame.span->flags & OTLP_SPAN_FAILED ? LODE_EVENT_FAILED : 0));
    bool done = emit_until(self, UINT64_MAX, from) &&
                emit(self, (lode_event){.time = frame.span->end,
                                        .function = frame.function,
                                        .depth = (uint32_t)self->frames.count - 1,
                                        .kind = LODE_EVENT_LEAVE,
                                        .flags = flags,
                                        .data = frame.bytes.data,
                                        .data_size = size_of(frame.bytes)});
    self->pending.count = frame.begin;
    retire_page(self, frame.page);
    lode_array_pop(&self->frames);
    LODE_TRY_ALLOC(done, self->error);
    return LODE_OK;
}

/* Leaves calls until the next span can be entered, then enters it. */
static lode_status step(struct otlp_cursor *self)
{
    bool is_last = self->next == self->track->count;
    const struct otlp_span *span = is_last ? NULL : &self->rec->spans[self->track->first + self->next];
    uint32_t depth = is_last ? 0 : span->depth;
    uint64_t from = 0;
    while (self->frames.count > depth) {
        uint64_t end = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1)->span->end;
        LODE_TRY(leave(self, from));
        from = end;
    }
    if (is_last) {
        self->is_done = true;
        return LODE_OK;
    }
    if (self->frames.count > 0)
        LODE_TRY_ALLOC(emit_until(self, span->begin, from), self->error);
    return enter(self, self->track->first + self->next++);
}

/* ---- the cursor ---- */

lode_status lode_otlp_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                  const lode_cursor_options *options, lode_error *error)
{
    struct otlp_cursor *self = calloc(1, sizeof *self);
    LODE_TRY_ALLOC(self, error);
    self->base.recording = recording;
    self->rec = otlp_of(recording);
    self->track = LODE_ARRAY_AT(&self->rec->tracks, struct otlp_track, track);
    self->from = options->from;
    self->to = options->to ? options->to : UINT64_MAX;
    lode_array_init(&self->frames, sizeof(struct frame), SIZE_MAX);
    lode_array_init(&self->pending, sizeof(struct pending), SIZE_MAX);
    lode_array_init(&self->events, sizeof(lode_event), SIZE_MAX);
    *out = &self->base;
    return LODE_OK;
}

lode_status lode_otlp_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count,
                                  lode_error *error)
{
    struct otlp_cursor *self = (struct otlp_cursor *)cursor;
    self->error = error;
    self->events.count = 0;
    /* Before the time window, there are spans and no events. */
    while (!self->is_done && self->events.count == 0) {
        recycle_pages(self);
        while (!self->is_done && self->events.count < EVENTS && self->retired_bytes < BATCH_BYTES)
            LODE_TRY(step(self));
    }
    *events = self->events.items;
    *count = self->events.count;
    return self->events.count > 0 ? LODE_OK : LODE_END;
}

void lode_otlp_cursor_close(lode_cursor *cursor)
{
    struct otlp_cursor *self = (struct otlp_cursor *)cursor;
    for (size_t i = 0; i < self->frames.count; i++)
        retire_page(self, LODE_ARRAY_AT(&self->frames, struct frame, i)->page);
    recycle_pages(self);
    while (self->pages) {
        struct page *page = self->pages;
        self->pages = page->next;
        lode_blob_free(&page->blob);
        free(page);
    }
    lode_array_free(&self->frames);
    lode_array_free(&self->pending);
    lode_array_free(&self->events);
    free(self);
}
