/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/slice.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

struct frame {
    uint64_t begin;
    const lode_function *function;
    size_t queued; /* of a waiting call: index of its enter in the queue */
    uint32_t depth;
    uint8_t kind, flags; /* of the enter */
};

struct waiting {
    lode_event event;
    size_t offset; /* of its data in `bytes`, if it has any */
};

struct stored {
    size_t out, offset;
};

void lode_slicer_init(struct lode_slicer *slicer, const lode_slice *slice)
{
    uint32_t levels = slice && slice->depth ? slice->depth : UINT32_MAX;
    *slicer = (struct lode_slicer){.to = UINT64_MAX};
    if (slice) {
        slicer->from = slice->from;
        slicer->to = slice->to ? slice->to : UINT64_MAX;
        slicer->min_time = slice->min_time;
        slicer->no_sched = slice->no_sched != 0;
    }
    slicer->asks = slicer->from > 0 || slicer->to != UINT64_MAX || levels != UINT32_MAX ||
                   slicer->min_time > 0 || slicer->no_sched;
    open_calls_init(&slicer->frames, sizeof(struct frame), levels);
    lode_array_init(&slicer->queue, sizeof(struct waiting), SIZE_MAX);
    lode_array_init(&slicer->stored, sizeof(struct stored), SIZE_MAX);
    lode_slicer_reset(slicer);
}

void lode_slicer_reset(struct lode_slicer *slicer)
{
    slicer->begun = slicer->from == 0;
    slicer->ended = slicer->from >= slicer->to;
    slicer->last = 0;
    slicer->passed = slicer->head = 0;
    open_calls_reset(&slicer->frames);
    slicer->queue.count = slicer->stored.count = 0;
    slicer->bytes.count = slicer->out.count = 0;
}

void lode_slicer_free(struct lode_slicer *slicer)
{
    open_calls_free(&slicer->frames);
    lode_array_free(&slicer->queue);
    lode_array_free(&slicer->stored);
    free(slicer->bytes.items);
    free(slicer->out.items);
}

static struct frame *frame_at(const struct lode_slicer *self, size_t index)
{
    return OPEN_CALLS_AT(&self->frames, struct frame, index);
}

static struct waiting *waiting_at(const struct lode_slicer *self, size_t index)
{
    return LODE_ARRAY_AT(&self->queue, struct waiting, index);
}

/* ---- room ---- */

/* At most one output event per incoming event, waiting event and open call. */
static bool reserve_out(struct lode_slicer *self, size_t incoming)
{
    size_t needed = incoming + self->queue.count + open_calls_count(&self->frames);
    return needed <= self->out.capacity || LODE_GROW(self->out.items, self->out.capacity, 2 * needed);
}

static bool keep_bytes(struct lode_slicer *self, const void *data, size_t size)
{
    size_t needed = self->bytes.count + size;
    if (needed > self->bytes.capacity) {
        if (!LODE_GROW(self->bytes.items, self->bytes.capacity, 2 * needed))
            return false;
    }
    if (size > 0)
        memcpy(self->bytes.items + self->bytes.count, data, size);
    self->bytes.count = needed;
    return true;
}

/* Drops events that were passed on. Amortised: at most one move per dropped event. */
static void compact(struct lode_slicer *self)
{
    size_t left = self->queue.count - self->head;
    if (self->head == 0 || left > self->head)
        return;
    size_t offset = left > 0 ? waiting_at(self, self->head)->offset : self->bytes.count;
    if (self->bytes.count > offset)
        memmove(self->bytes.items, self->bytes.items + offset, self->bytes.count - offset);
    self->bytes.count -= offset;
    for (size_t i = 0; i < left; i++) {
        *waiting_at(self, i) = *waiting_at(self, self->head + i);
        waiting_at(self, i)->offset -= offset;
    }
    for (size_t i = self->passed; i < open_calls_count(&self->frames); i++)
        frame_at(self, i)->queued -= self->head;
    self->queue.count = left;
    self->head = 0;
}

/* ---- queue ---- */

static void emit(struct lode_slicer *self, const lode_event *event)
{
    self->out.items[self->out.count++] = *event;
}

static bool enqueue(struct lode_slicer *self, const lode_event *event)
{
    size_t offset = self->bytes.count;
    struct waiting *waiting = lode_array_push(&self->queue);
    if (waiting == NULL || !keep_bytes(self, event->data, event->data_size))
        return false;
    *waiting = (struct waiting){*event, offset};
    return true;
}

/* Passes on waiting events before `end`. Sets data addresses last, as the data may still move. */
static bool release(struct lode_slicer *self, size_t end)
{
    for (; self->head < end; self->head++) {
        const struct waiting *waiting = waiting_at(self, self->head);
        if (waiting->event.data_size > 0) {
            struct stored *stored = lode_array_push(&self->stored);
            if (stored == NULL)
                return false;
            *stored = (struct stored){self->out.count, waiting->offset};
        }
        emit(self, &waiting->event);
    }
    return true;
}

static bool release_all(struct lode_slicer *self)
{
    self->passed = open_calls_count(&self->frames);
    return release(self, self->queue.count);
}

/* Passes on calls that are now long enough; enclosing calls began earlier. */
static bool release_until(struct lode_slicer *self, uint64_t now)
{
    size_t passed = self->passed;
    while (passed < open_calls_count(&self->frames) && now - frame_at(self, passed)->begin >= self->min_time)
        passed++;
    if (passed == self->passed)
        return true;
    self->passed = passed;
    return release(self, passed < open_calls_count(&self->frames) ? frame_at(self, passed)->queued
                                                                  : self->queue.count);
}

static void put_addresses(struct lode_slicer *self)
{
    for (size_t i = 0; i < self->stored.count; i++) {
        const struct stored *stored = LODE_ARRAY_AT(&self->stored, struct stored, i);
        self->out.items[stored->out].data = self->bytes.items + stored->offset;
    }
}

/* ---- events ---- */

/* The time window begins: open calls begin with it. */
static bool begin_window(struct lode_slicer *self)
{
    self->begun = true;
    for (size_t i = 0; i < open_calls_count(&self->frames); i++) {
        lode_event *event = &waiting_at(self, frame_at(self, i)->queued)->event;
        event->time = frame_at(self, i)->begin = self->from;
        event->flags |= LODE_EVENT_MADE;
    }
    return self->min_time > 0 || release_all(self);
}

static bool open_call(struct lode_slicer *self, const lode_event *event)
{
    struct frame *frame = open_calls_push(&self->frames);
    if (frame == NULL)
        return false;
    *frame = (struct frame){event->time,  event->function, self->queue.count,
                            event->depth, event->kind,     event->flags};
    if (!self->begun || self->min_time > 0)
        return enqueue(self, event);
    emit(self, event);
    self->passed = open_calls_count(&self->frames);
    return true;
}

static void close_call(struct lode_slicer *self, const lode_event *event)
{
    const struct frame *frame = open_calls_pop(&self->frames);
    if (open_calls_count(&self->frames) >= self->passed) {
        self->bytes.count = waiting_at(self, frame->queued)->offset;
        self->queue.count = frame->queued;
    } else {
        emit(self, event);
        self->passed--;
    }
}

static bool put_point(struct lode_slicer *self, const lode_event *event)
{
    if (self->frames.hidden > 0)
        return true;
    if (self->head < self->queue.count)
        return enqueue(self, event);
    emit(self, event);
    return true;
}

static bool put_loss(struct lode_slicer *self, const lode_event *event)
{
    if (!release_all(self))
        return false;
    emit(self, event);
    return true;
}

static bool take(struct lode_slicer *self, const lode_event *event)
{
    if (self->no_sched && (event->kind == LODE_EVENT_SCHED_OUT || event->kind == LODE_EVENT_SCHED_IN))
        return true;
    /* A call that ends when the window begins is outside. */
    if (!self->begun && (event->time > self->from || (event->time == self->from && !lode_event_ends(event))))
        if (!begin_window(self))
            return false;
    if (self->begun && self->min_time > 0 && !release_until(self, event->time))
        return false;
    enum lode_call_step step = open_calls_take(&self->frames, event);
    if (step == LODE_CALL_BEGINS)
        return open_call(self, event);
    if (step == LODE_CALL_ENDS)
        close_call(self, event);
    else if (self->begun && event->kind == LODE_EVENT_LOST)
        return put_loss(self, event);
    else if (self->begun && event->kind == LODE_EVENT_INSTANT)
        return put_point(self, event);
    return true;
}

static void begin_output(struct lode_slicer *self)
{
    self->out.count = 0;
    self->stored.count = 0;
    compact(self);
}

static lode_status give_output(struct lode_slicer *self, const lode_event **out, size_t *out_count)
{
    put_addresses(self);
    *out = self->out.items;
    *out_count = self->out.count;
    return LODE_OK;
}

lode_status lode_slicer_push(struct lode_slicer *self, const lode_event *events, size_t count,
                             const lode_event **out, size_t *out_count, lode_error *error)
{
    if (!self->asks) {
        *out = events;
        *out_count = count;
        return LODE_OK;
    }
    begin_output(self);
    if (!reserve_out(self, count))
        return lode_fail_memory(error);
    for (size_t i = 0; i < count && !self->ended; i++) {
        if (events[i].time >= self->to)
            self->ended = true;
        else if (!take(self, &events[i]))
            return lode_fail_memory(error);
        else
            self->last = events[i].time;
    }
    return give_output(self, out, out_count);
}

lode_status lode_slicer_finish(struct lode_slicer *self, const lode_event **out, size_t *out_count,
                               lode_error *error)
{
    *out = NULL;
    *out_count = 0;
    if (!self->asks)
        return LODE_OK;
    begin_output(self);
    if (!reserve_out(self, 0))
        return lode_fail_memory(error);
    bool has_window = self->from < self->to && (self->begun || self->to != UINT64_MAX);
    uint64_t end = self->to != UINT64_MAX ? self->to : self->last;
    bool done = true;
    if (has_window && !self->begun)
        done = begin_window(self);
    if (done && has_window)
        done = release_until(self, end);
    if (!done)
        return lode_fail_memory(error);
    self->frames.hidden = 0;
    while (has_window && open_calls_count(&self->frames) > 0) {
        const struct frame *frame = OPEN_CALLS_TOP(&self->frames, struct frame);
        lode_event event = {.time = end,
                            .function = frame->function,
                            .depth = frame->depth,
                            .kind =
                                frame->kind == LODE_EVENT_SCHED_OUT ? LODE_EVENT_SCHED_IN : LODE_EVENT_LEAVE,
                            .flags = (uint8_t)(LODE_EVENT_MADE | (frame->flags & LODE_EVENT_PREEMPTED))};
        close_call(self, &event);
    }
    return give_output(self, out, out_count);
}

/* ---- contents of a slice ---- */

bool lode_slice_meets(const lode_slice *slice, uint64_t begin, uint64_t end)
{
    if (slice == NULL)
        return true;
    return end >= slice->from && (slice->to == 0 || (begin < slice->to && slice->from < slice->to));
}

lode_status lode_slice_tracks(const lode_slice *slice, const lode_recording *recording, uint32_t *count,
                              lode_error *error)
{
    uint32_t known = lode_recording_track_count(recording);
    *count = known;
    if (slice == NULL || slice->tracks == NULL)
        return LODE_OK;
    *count = slice->track_count;
    for (uint32_t i = 0; i < slice->track_count; i++) {
        if (slice->tracks[i] >= known)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "there is no track %u; there are %u", slice->tracks[i], known);
        if (i > 0 && slice->tracks[i] <= slice->tracks[i - 1])
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "the tracks of a slice must be in ascending order; %u follows %u",
                             slice->tracks[i], slice->tracks[i - 1]);
    }
    return LODE_OK;
}
