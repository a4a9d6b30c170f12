/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one trace: its segments in order, each from a chunk that is unpacked on demand. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/zorka/idle.h"
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 1024,      /* in a batch */
    EVENTS_AT_ONCE = 4, /* that one item of a chunk can become */
    RUN_MAX = UINT16_MAX,
    RUNS = 4,         /* of maximal length, in a batch */
    RUNS_AT_ONCE = 2, /* that one item can become */
    NUMBER_SIZE = 9,
    /* Shorter runs are copied at this size, which is faster; all runs have space for that. */
    SHORT = 16,
    FLAG_ERROR_EARLY = 1 /* as in 2018 */
};

/* An open call. */
struct frame {
    const lode_function *function;
    uint64_t stop;
    bool has_stop, has_failed;
};

/* Keys and values since the last other item. */
struct run {
    uint8_t *bytes;
    size_t size, max;
};

struct zor_cursor {
    lode_cursor base;
    const struct zor_recording *rec;
    const struct zor_trace *trace;
    const struct zor_store *store;
    uint32_t store_index;
    lode_error *error;
    uint64_t begin;    /* of the trace */
    uint64_t from, to; /* the time window */

    const struct zor_segment *current, *next; /* NULL: none */
    uint64_t offset;                          /* of the current chunk, for findings */
    struct zor_payload *payload;              /* while events are being read */
    bool is_reading, is_ending, is_done;

    uint64_t too_deep; /* calls inside the deepest one that is kept */
    uint64_t now;      /* ticks */
    /* The innermost call, if its content has not begun: it is entered when that begins. */
    bool is_pending, has_start;
    uint64_t start, method;
    size_t event_count, data_size;

    /* What follows stays for the next track that is read with this memory. */
    struct zor_events reader;
    struct lode_report report;
    struct lode_array frames; /* struct frame */
    /* These arrays follow the cursor in the same allocation. */
    lode_event *events;
    size_t event_capacity;
    uint8_t *data; /* of events */
    size_t run_max;
    struct run before, after; /* data of the begin and of the end of the innermost call */
};

static lode_status complain(struct zor_cursor *self, unsigned rule, const char *text, uint64_t number)
{
    return lode_report_add(&self->report, rule, self->store->data_file, self->offset, "%s (%llu)", text,
                           (unsigned long long)number);
}

/* ---- events ---- */

static uint64_t time_of(const struct zor_cursor *self)
{
    return self->begin + ((self->now - self->trace->start) << ZOR_TICK_SHIFT);
}

/* Field by field: copying the whole struct right after it was written would stall the CPU. */
static inline void emit(struct zor_cursor *self, lode_event event)
{
    lode_event *slot = &self->events[self->event_count];
    uint64_t time = time_of(self);
    if (time >= self->to) {
        self->is_done = true;
        return;
    }
    slot->time = time;
    slot->id = event.id;
    slot->depth = event.depth;
    slot->kind = event.kind;
    slot->flags = event.flags;
    slot->data_size = event.data_size;
    slot->data = event.data;
    self->event_count += time >= self->from;
}

/* Copies bytes to memory that lives as long as the batch. */
static const void *keep(struct zor_cursor *self, const struct run *run, uint16_t *size)
{
    if (run->size == 0)
        return NULL;
    uint8_t *copy = self->data + self->data_size;
    if (run->size <= SHORT)
        memcpy(copy, run->bytes, SHORT);
    else
        memcpy(copy, run->bytes, run->size);
    self->data_size += run->size;
    *size = (uint16_t)run->size;
    return copy;
}

static inline void emit_with(struct zor_cursor *self, lode_event event, struct run *run)
{
    event.data = keep(self, run, &event.data_size);
    run->size = 0;
    emit(self, event);
}

static void emit_point(struct zor_cursor *self, uint64_t id, struct run *run)
{
    emit_with(self, (lode_event){.id = id, .depth = (uint32_t)self->frames.count, .kind = LODE_EVENT_INSTANT},
              run);
}

/* ---- attributes of a call ---- */

static bool append(struct run *run, struct lode_range bytes)
{
    if (bytes.size > run->max - run->size)
        return false;
    if (bytes.size > 0)
        memcpy(run->bytes + run->size, bytes.data, (size_t)bytes.size);
    run->size += (size_t)bytes.size;
    return true;
}

static bool append_number(struct run *run, uint64_t number)
{
    uint8_t bytes[NUMBER_SIZE] = {0x1b};
    put_u64be(bytes + 1, number);
    return append(run, (struct lode_range){bytes, sizeof bytes});
}

static bool append_pair(struct run *run, const struct zor_event *event)
{
    size_t size = run->size;
    /* The value follows its key. */
    struct lode_range pair = {event->key_bytes.data, event->key_bytes.size + event->value_bytes.size};
    bool fits = event->key_bytes.size > 0
                    ? append(run, pair)
                    : append_number(run, event->key) && append_number(run, event->value.value);
    if (!fits)
        run->size = size;
    return fits;
}

static bool is_of_end(uint64_t key)
{
    return key == ZOR_KEY_CALLS || key == ZOR_KEY_ERRORS || key == ZOR_KEY_FLAGS || key == ZOR_KEY_RECORDS ||
           key == ZOR_KEY_DURATION || key == ZOR_KEY_CLEARED;
}

/* Advances to a tick; false if it is earlier or invalid. */
static bool advance(struct zor_cursor *self, uint64_t tick)
{
    if (tick < self->now || tick >= ZOR_TICKS_END)
        return false;
    self->now = tick;
    return true;
}

/* Enters the pending innermost call. */
static lode_status enter(struct zor_cursor *self)
{
    bool is_known;
    uint8_t flags = 0;
    if (!self->is_pending)
        return LODE_OK;
    self->is_pending = false;
    struct frame *frame = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    if (!self->has_start || self->method == 0)
        LODE_TRY(complain(self, ZOR_CALL_START, "a call has no start or no method", self->method));
    if (self->has_start && !advance(self, self->start)) {
        flags = LODE_EVENT_MOVED;
        LODE_TRY(complain(self, ZOR_CALL_TIME, "a call starts before what came before it", self->start));
    }
    frame->function = lode_zor_function(self->rec, self->store_index, self->method, &is_known);
    LODE_TRY_ALLOC(frame->function, self->error);
    if (!is_known && self->method != 0)
        LODE_TRY(complain(self, ZOR_METHOD_UNKNOWN, "a method is not in the string index", self->method));
    emit_with(self,
              (lode_event){.function = frame->function,
                           .depth = (uint32_t)self->frames.count - 1,
                           .kind = LODE_EVENT_ENTER,
                           .flags = flags},
              &self->before);
    return LODE_OK;
}

/* Numbers in the middle of a call become an event of their own. */
static lode_status interrupt(struct zor_cursor *self)
{
    LODE_TRY(enter(self));
    if (self->after.size > 0)
        emit_point(self, ZOR_POINT_SPECIAL | zor_point_id(self->store_index, ZOR_POINT_INFO), &self->after);
    return LODE_OK;
}

static void leave(struct zor_cursor *self, uint8_t flags)
{
    const struct frame *frame = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    emit_with(self,
              (lode_event){.function = frame->function,
                           .depth = (uint32_t)self->frames.count - 1,
                           .kind = LODE_EVENT_LEAVE,
                           .flags = flags | (frame->has_failed ? LODE_EVENT_FAILED : 0)},
              &self->after);
    lode_array_pop(&self->frames);
}

/* ---- items of a chunk ---- */

static lode_status take_call(struct zor_cursor *self)
{
    LODE_TRY(interrupt(self));
    if (self->frames.count == ZOR_DEPTH_MAX) {
        if (self->too_deep++ > 0)
            return LODE_OK;
        return complain(self, ZOR_TRACE_DEPTH, "calls exceed the depth limit", ZOR_DEPTH_MAX);
    }
    if (lode_array_push(&self->frames) == NULL)
        return lode_fail_memory(self->error);
    self->is_pending = true;
    self->has_start = zor_take_number(&self->reader, ZOR_KEY_START, &self->start);
    self->method = 0;
    (void)zor_take_number(&self->reader, ZOR_KEY_METHOD, &self->method);
    return LODE_OK;
}

static lode_status take_return(struct zor_cursor *self)
{
    uint8_t flags = 0;
    if (self->too_deep > 0) {
        self->too_deep--;
        return LODE_OK;
    }
    if (self->frames.count == 0)
        return complain(self, ZOR_CALL_STRAY, "a call ends that never began", self->reader.in.at);
    LODE_TRY(enter(self));
    const struct frame *frame = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    if (!frame->has_stop) {
        LODE_TRY(complain(self, ZOR_CALL_STOP, "a call has no end time", self->reader.in.at));
    } else if (!advance(self, frame->stop)) {
        flags = LODE_EVENT_MOVED;
        LODE_TRY(complain(self, ZOR_CALL_TIME, "a call ends before what came before it", frame->stop));
    }
    leave(self, flags);
    return LODE_OK;
}

static bool is_failure(const struct zor_cursor *self, const struct zor_event *event)
{
    unsigned errors = ZOR_FLAG_ERROR | (self->trace->first.has_error ? FLAG_ERROR_EARLY : 0);
    return event->key == ZOR_KEY_FLAGS && event->value.major == ZOR_UNSIGNED && (event->value.value & errors);
}

static lode_status take_info(struct zor_cursor *self, const struct zor_event *event)
{
    bool is_number = event->value.major == ZOR_UNSIGNED;
    if (self->frames.count == 0)
        return complain(self, ZOR_CALL_STRAY, "something is outside of all calls", event->at);
    struct frame *frame = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    if (event->key == ZOR_KEY_START && is_number && self->is_pending && !self->has_start) {
        self->has_start = true;
        self->start = event->value.value;
        return LODE_OK;
    }
    if (event->key == ZOR_KEY_METHOD && is_number && self->is_pending && self->method == 0) {
        self->method = event->value.value;
        return LODE_OK;
    }
    if (event->key == ZOR_KEY_STOP && is_number && !frame->has_stop) {
        frame->has_stop = true;
        frame->stop = event->value.value;
        return LODE_OK;
    }
    frame->has_failed = frame->has_failed || is_failure(self, event);
    bool is_before = self->is_pending && !is_of_end(event->key);
    if (append_pair(is_before ? &self->before : &self->after, event))
        return LODE_OK;
    return complain(self, ZOR_VALUE_SIZE, "a call carries more than 64 KiB", event->at);
}

static bool is_in_index(const struct zor_cursor *self, uint64_t id)
{
    return id == 0 || lode_zor_text(&self->store->strings, id) != NULL;
}

/* Checks all references in a value; reports the first unknown one. */
static lode_status check_references(struct zor_cursor *self, const struct zor_event *event)
{
    struct zor_input in = zor_input(event->value_bytes);
    struct zor_item item;
    struct lode_range content;
    bool is_reference = event->is_page;
    while (lode_zor_head(&in, &item)) {
        if (is_reference && item.major == ZOR_UNSIGNED && !is_in_index(self, item.value))
            return complain(self, ZOR_STRING_UNKNOWN, "a string is not in the string index", item.value);
        is_reference = event->is_page || (item.major == ZOR_TAG && item.value == ZOR_TAG_STRING);
        if ((item.major == ZOR_BYTES || item.major == ZOR_TEXT) && !item.is_open &&
            !lode_zor_content(&in, &item, &content))
            break;
    }
    return LODE_OK;
}

static lode_status take_attribute(struct zor_cursor *self, const struct zor_event *event)
{
    bool is_named = event->key > 0 && event->key <= UINT32_MAX;
    uint64_t id = is_named ? zor_point_id(self->store_index, (uint32_t)event->key)
                           : ZOR_POINT_SPECIAL | zor_point_id(self->store_index, ZOR_POINT_NAMELESS);
    LODE_TRY(interrupt(self));
    if (!is_named && !append(&self->after, event->key_bytes))
        return complain(self, ZOR_VALUE_SIZE, "a key is longer than 64 KiB", event->at);
    if (!append(&self->after, event->value_bytes)) {
        self->after.size = 0;
        return complain(self, ZOR_VALUE_SIZE, "an attribute is longer than 64 KiB", event->at);
    }
    if (is_named && !is_in_index(self, event->key))
        LODE_TRY(complain(self, ZOR_STRING_UNKNOWN, "a string is not in the string index", event->key));
    LODE_TRY(check_references(self, event));
    emit_point(self, id | (event->is_page ? ZOR_POINT_PAGE : 0), &self->after);
    return LODE_OK;
}

static lode_status take_thrown(struct zor_cursor *self, const struct zor_event *event)
{
    LODE_TRY(interrupt(self));
    LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1)->has_failed = true;
    if (!is_in_index(self, event->value.value))
        LODE_TRY(complain(self, ZOR_STRING_UNKNOWN, "an exception is not in the string index",
                          event->value.value));
    (void)append_number(&self->after, event->value.value);
    emit_point(self, ZOR_POINT_SPECIAL | zor_point_id(self->store_index, ZOR_POINT_THROWN), &self->after);
    return LODE_OK;
}

static lode_status take_event(struct zor_cursor *self, const struct zor_event *event)
{
    if (self->too_deep > 0 && event->kind != ZOR_CALL && event->kind != ZOR_RETURN)
        return LODE_OK;
    switch (event->kind) {
    case ZOR_CALL:
        return take_call(self);
    case ZOR_RETURN:
        return take_return(self);
    case ZOR_INFO:
        return take_info(self, event);
    case ZOR_OTHER:
        return complain(self, ZOR_ITEM_UNKNOWN, "an item has an unknown kind", event->at);
    case ZOR_ATTRIBUTE:
    case ZOR_THROWN:
        break;
    }
    if (self->frames.count == 0)
        return complain(self, ZOR_CALL_STRAY, "something is outside of all calls", event->at);
    return event->kind == ZOR_ATTRIBUTE ? take_attribute(self, event) : take_thrown(self, event);
}

/* ---- segments ---- */

static void let_go(struct zor_cursor *self)
{
    lode_zor_payload_give(self->rec->payloads, self->payload);
    self->payload = NULL;
}

/* Unpacks the chunk of the current segment. */
static lode_status take_chunk(struct zor_cursor *self)
{
    const struct zor_chunk *chunk = LODE_ARRAY_AT(&self->rec->chunks, struct zor_chunk, self->current->chunk);
    let_go(self);
    self->offset = chunk->offset;
    self->payload =
        lode_zor_payload_take(self->rec->payloads, &self->store->data, chunk, self->current->chunk);
    LODE_TRY_ALLOC(self->payload, self->error);
    /* It was valid when the store was opened. */
    if (self->payload->bytes.size < self->current->end || !zor_can_be_read(&self->payload->damage))
        return lode_fail(self->error, LODE_ERR_IO, self->store->data_file, chunk->offset,
                         "the file changed while it was read");
    self->reader.in.data = self->payload->bytes.data;
    return LODE_OK;
}

/* Begins the next segment; step has flushed the data of the innermost call. */
static lode_status begin_segment(struct zor_cursor *self)
{
    self->current = self->next;
    self->next = self->current->next > 0 ? LODE_ARRAY_AT(&self->rec->segments, struct zor_segment,
                                                         (size_t)self->current->next - 1)
                                         : NULL;
    LODE_TRY(take_chunk(self));
    zor_events_begin(&self->reader, (struct lode_range){self->payload->bytes.data, self->current->end});
    self->reader.in.at = self->current->begin;
    self->is_reading = true;
    if (!self->current->is_behind_loss)
        return LODE_OK;
    LODE_TRY(complain(self, ZOR_TRACE_LOST, "a damaged chunk may be a part of this request", 0));
    emit(self, (lode_event){.depth = (uint32_t)self->frames.count, .kind = LODE_EVENT_LOST});
    return LODE_OK;
}

/* A call without an end may still have a stop time. */
static void leave_open(struct zor_cursor *self)
{
    const struct frame *frame = LODE_ARRAY_AT(&self->frames, struct frame, self->frames.count - 1);
    if (frame->has_stop)
        (void)advance(self, frame->stop);
    leave(self, LODE_EVENT_MADE);
}

/* Ends all open calls. */
static lode_status end_trace(struct zor_cursor *self)
{
    if (self->frames.count > 0 && !self->is_ending) {
        LODE_TRY(complain(self, ZOR_TRACE_OPEN, "calls are open when the request ends", self->frames.count));
        self->is_ending = true;
    }
    while (self->frames.count > 0 && self->event_count < self->event_capacity - EVENTS_AT_ONCE)
        leave_open(self);
    self->is_done = self->is_done || self->frames.count == 0;
    return LODE_OK;
}

static lode_status step(struct zor_cursor *self)
{
    struct zor_event event;
    if (!self->is_reading)
        return self->next ? begin_segment(self) : end_trace(self);
    if (zor_next_event(&self->reader, &event))
        return take_event(self, &event);
    self->is_reading = false;
    return interrupt(self);
}

static lode_status fill(struct zor_cursor *self)
{
    self->event_count = self->data_size = 0;
    if (self->is_reading)
        LODE_TRY(take_chunk(self));
    while (!self->is_done && self->event_count < self->event_capacity - EVENTS_AT_ONCE &&
           self->data_size <= (RUNS - RUNS_AT_ONCE) * self->run_max)
        LODE_TRY(step(self));
    return LODE_OK;
}

/* ---- the cursor ---- */

lode_status lode_zor_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count,
                                 lode_error *error)
{
    struct zor_cursor *self = (struct zor_cursor *)cursor;
    self->error = self->report.error = error;
    *count = 0;
    lode_status status = fill(self);
    let_go(self);
    LODE_TRY(status);
    cursor->repairs = report_count(&self->report);
    if (self->event_count == 0)
        return LODE_END;
    *events = self->events;
    *count = self->event_count;
    return LODE_OK;
}

struct lode_report *lode_zor_cursor_report(lode_cursor *cursor)
{
    return &((struct zor_cursor *)cursor)->report;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sizes buffers for a batch, but not beyond what the trace can fill: many cursors may be open. */
static struct zor_cursor *allocate(size_t run_max, size_t events)
{
    struct zor_cursor *self =
        malloc(sizeof *self + events * sizeof *self->events + (RUNS + 2) * run_max + 3 * (size_t)SHORT);
    if (self == NULL)
        return NULL;
    self->report = (struct lode_report){0};
    lode_array_init(&self->frames, sizeof(struct frame), ZOR_DEPTH_MAX);
    self->event_capacity = events;
    self->run_max = run_max;
    self->events = (lode_event *)(self + 1);
    self->data = (uint8_t *)(self->events + events);
    self->before = (struct run){self->data + RUNS * run_max + SHORT, 0, run_max};
    self->after = (struct run){self->before.bytes + run_max + SHORT, 0, run_max};
    return self;
}

static void destroy(struct zor_cursor *self)
{
    lode_report_close(&self->report);
    lode_array_free(&self->frames);
    free(self);
}

void lode_zor_cursors_free(struct zor_cursors *cursors)
{
    for (struct zor_cursor *self; cursors && (self = lode_zor_cursors_take(cursors)) != NULL;)
        destroy(self);
    lode_zor_cursors_end(cursors);
}

void lode_zor_cursor_close(lode_cursor *cursor)
{
    struct zor_cursor *self = (struct zor_cursor *)cursor;
    if (!lode_zor_cursors_keep(self->rec->cursors, self))
        destroy(self);
}

/* One that was closed, if it is large enough. With a small buffer, many are open. */
static struct zor_cursor *prepare(const struct zor_recording *rec, uint64_t bytes, size_t buffer)
{
    /* Each byte of a chunk yields at most a number, or one event. */
    size_t run_max = smaller((size_t)bytes * NUMBER_SIZE, RUN_MAX);
    size_t events = smaller((size_t)bytes, EVENTS - 2 * EVENTS_AT_ONCE);
    if (buffer > 0)
        events = smaller(events, buffer / sizeof(lode_event));
    events += (size_t)2 * EVENTS_AT_ONCE;
    struct zor_cursor *self = buffer > 0 ? NULL : lode_zor_cursors_take(rec->cursors);
    if (self && self->event_capacity >= events && self->run_max >= run_max)
        return self;
    if (self)
        destroy(self);
    return allocate(run_max, events);
}

static struct zor_cursor *new_cursor(const lode_recording *recording, uint32_t track, size_t buffer,
                                     lode_error *error)
{
    const struct zor_recording *rec = zor_of(recording);
    const struct zor_trace *trace = zor_trace_at(rec, track);
    struct zor_cursor *self = prepare(rec, recording->tracks[track].bytes, buffer);
    if (self == NULL)
        return NULL;
    memset(self, 0, offsetof(struct zor_cursor, reader));
    self->frames.count = self->before.size = self->after.size = 0;
    self->base.recording = recording;
    self->rec = rec;
    self->trace = trace;
    self->store_index = zor_store_of(rec, trace);
    self->store = &rec->stores[self->store_index];
    self->begin = zor_begin_of(rec, trace);
    self->next = &trace->first;
    self->now = trace->start;
    self->to = UINT64_MAX;
    self->error = error;
    return self;
}

lode_status lode_zor_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                 const lode_cursor_options *options, lode_error *error)
{
    struct zor_cursor *self = new_cursor(recording, track, options->buffer, error);
    LODE_TRY_ALLOC(self, error);
    self->from = options->from;
    if (options->to > 0)
        self->to = options->to;
    lode_status status = lode_report_again(&self->report, recording->rules, recording->rule_count,
                                           options->strict, options->on_finding, options->user, error);
    if (status == LODE_OK)
        *out = &self->base;
    else
        destroy(self);
    return status;
}

lode_status lode_zor_cursor_open_kept(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                      const struct lode_report *model, lode_error *error)
{
    struct zor_cursor *self = new_cursor(recording, track, 0, error);
    LODE_TRY_ALLOC(self, error);
    lode_report_close(&self->report);
    lode_status status = lode_report_keep(&self->report, model, error);
    if (status == LODE_OK)
        *out = &self->base;
    else
        destroy(self);
    return status;
}
