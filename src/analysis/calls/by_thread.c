/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/by_thread.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/memory/intern.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_SIZE = 24 /* of a thread */
};

/* A request on its thread. */
struct slot {
    uint64_t begin, end; /* in the time of the request */
    uint64_t shift;      /* added to its times */
    uint32_t track;
};

struct by_thread {
    lode_recording base;
    lode_recording *inner;
    struct slot *slots; /* by thread, chronological */
    size_t *first;      /* by thread: its first slot; one more for the end */
};

struct thread_cursor {
    lode_cursor base;
    lode_cursor_options options;
    const struct slot *slot, *past;
    lode_cursor *inner; /* of the slot; NULL: not opened */
    uint64_t repairs;   /* of finished slots */
    lode_event *events;
    size_t capacity;
};

static const struct by_thread *threads_of(const lode_recording *recording)
{
    return (const struct by_thread *)recording;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t begin_of(const struct slot *slot)
{
    return add(slot->begin, slot->shift);
}

static uint64_t end_of(const struct slot *slot)
{
    return add(slot->end, slot->shift);
}

/* ---- reading ---- */

static lode_status cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                               const lode_cursor_options *options, lode_error *error)
{
    const struct by_thread *self = threads_of(recording);
    struct thread_cursor *cursor = calloc(1, sizeof *cursor);
    LODE_TRY_ALLOC(cursor, error);
    cursor->base.recording = recording;
    cursor->options = *options;
    cursor->slot = self->slots + self->first[track];
    cursor->past = self->slots + self->first[track + 1];
    while (cursor->slot < cursor->past && end_of(cursor->slot) < options->from)
        cursor->slot++;
    *out = &cursor->base;
    return LODE_OK;
}

static void cursor_close(lode_cursor *base)
{
    struct thread_cursor *cursor = (struct thread_cursor *)base;
    lode_cursor_close(cursor->inner);
    free(cursor->events);
    free(cursor);
}

/* LODE_END if it is after the time window. */
static lode_status open_slot(struct thread_cursor *cursor, lode_error *error)
{
    const struct slot *slot = cursor->slot;
    lode_cursor_options options = cursor->options;
    if (slot == cursor->past || (options.to != 0 && begin_of(slot) >= options.to))
        return LODE_END;
    options.from = options.from > slot->shift ? options.from - slot->shift : 0;
    options.to = options.to != 0 ? options.to - slot->shift : 0;
    return lode_cursor_open(&cursor->inner, threads_of(cursor->base.recording)->inner, slot->track, &options,
                            error);
}

static void close_slot(struct thread_cursor *cursor)
{
    cursor->repairs = cursor->base.repairs;
    lode_cursor_close(cursor->inner);
    cursor->inner = NULL;
    cursor->slot++;
}

/* Shifts events to the time of the thread, and clamps them to the declared interval. */
static lode_status move(struct thread_cursor *cursor, const lode_event **events, size_t count,
                        lode_error *error)
{
    const struct slot *slot = cursor->slot;
    bool is_inside = (*events)[0].time >= slot->begin && (*events)[count - 1].time <= slot->end;
    if (is_inside && slot->shift == 0)
        return LODE_OK;
    if (count > cursor->capacity) {
        LODE_TRY_ALLOC(LODE_GROW(cursor->events, cursor->capacity, count), error);
    }
    memcpy(cursor->events, *events, count * sizeof **events);
    for (size_t i = 0; i < count; i++) {
        lode_event *event = &cursor->events[i];
        uint64_t time = event->time < slot->begin ? slot->begin : event->time;
        event->time = add(time > slot->end ? slot->end : time, slot->shift);
        event->flags |= LODE_EVENT_MOVED;
    }
    *events = cursor->events;
    return LODE_OK;
}

static lode_status cursor_next(lode_cursor *base, const lode_event **events, size_t *count, lode_error *error)
{
    struct thread_cursor *cursor = (struct thread_cursor *)base;
    for (;;) {
        lode_status status = cursor->inner ? LODE_OK : open_slot(cursor, error);
        if (status != LODE_OK)
            return status;
        status = lode_cursor_next(cursor->inner, events, count, error);
        base->repairs = cursor->repairs + cursor->inner->repairs;
        if (status == LODE_OK)
            return move(cursor, events, *count, error);
        if (status != LODE_END)
            return status;
        close_slot(cursor);
    }
}

static lode_status track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                  uint64_t *end, lode_error *error)
{
    const struct by_thread *self = threads_of(recording);
    const struct slot *first = self->slots + self->first[track], *past = self->slots + self->first[track + 1];
    (void)error;
    /* Requests without events come last. */
    while (past > first && past[-1].begin == UINT64_MAX)
        past--;
    if (past == first)
        return LODE_ABSENT;
    *begin = begin_of(first);
    *end = end_of(past - 1);
    return LODE_OK;
}

/* ---- contents of events ---- */

/* The slot at a time of a thread: the last one that begins by then. */
static const struct slot *slot_at(const struct by_thread *self, uint32_t track, uint64_t time)
{
    size_t low = self->first[track], high = self->first[track + 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (begin_of(&self->slots[middle]) <= time)
            low = middle;
        else
            high = middle;
    }
    return &self->slots[low];
}

static lode_status arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                             lode_argument *values, size_t capacity, size_t *count, lode_error *error)
{
    const struct by_thread *self = threads_of(recording);
    const struct slot *slot = slot_at(self, track, event->time);
    lode_event own = *event;
    own.time -= slot->shift;
    return lode_event_arguments(self->inner, slot->track, &own, values, capacity, count, error);
}

static const char *event_name(const lode_recording *recording, uint64_t id)
{
    const lode_recording *inner = threads_of(recording)->inner;
    return inner->ops->event_name(inner, id);
}

static lode_instant point(const lode_recording *recording, uint64_t id)
{
    const lode_recording *inner = threads_of(recording)->inner;
    return inner->ops->point ? inner->ops->point(inner, id) : LODE_INSTANT_OTHER;
}

static void close_threads(lode_recording *recording)
{
    struct by_thread *self = (struct by_thread *)recording;
    lode_recording_close(self->inner);
    lode_function_table_free(&self->base.functions);
    lode_arena_free(&self->base.arena);
    free(self->slots);
    free(self->first);
    free(self);
}

static const struct lode_recording_ops ops = {.track_interval = track_interval,
                                              .cursor_open = cursor_open,
                                              .cursor_next = cursor_next,
                                              .cursor_close = cursor_close,
                                              .arguments = arguments,
                                              .event_name = event_name,
                                              .point = point,
                                              .close = close_threads};

/* ---- threads ---- */

/* Numbers threads by track of `inner`. Returns their count; LODE_NO_INDEX if out of memory. */
static uint32_t number_threads(const lode_recording *inner, uint32_t *numbers)
{
    struct lode_interner threads;
    uint32_t count = 0;
    lode_interner_init(&threads, 2 * sizeof(int32_t));
    for (uint32_t i = 0; i < inner->track_count && count != LODE_NO_INDEX; i++) {
        int32_t thread[] = {inner->tracks[i].pid, inner->tracks[i].tid};
        numbers[i] = lode_interner_add(&threads, thread, NULL);
        count = numbers[i] == LODE_NO_NUMBER ? LODE_NO_INDEX : (uint32_t)threads.items.count;
    }
    lode_interner_free(&threads);
    return count;
}

/* A thread is described by the first request of the recording on it. */
static bool describe_thread(struct by_thread *self, uint32_t thread, const lode_track *from)
{
    lode_track *track = &self->base.tracks[thread];
    if (track->name == NULL) {
        char *name = lode_arena_alloc(&self->base.arena, NAME_SIZE, 1);
        if (name == NULL)
            return false;
        snprintf(name, NAME_SIZE, "thread %d", (int)from->tid);
        *track = (lode_track){.index = thread,
                              .pid = from->pid,
                              .tid = from->tid,
                              .parent = from->parent,
                              .name = name,
                              .program = from->program,
                              .id = ""};
    }
    track->bytes += from->bytes;
    return true;
}

static lode_status describe_threads(struct by_thread *self, const uint32_t *numbers, uint32_t count,
                                    lode_error *error)
{
    self->base.tracks = lode_arena_alloc(&self->base.arena, (size_t)count + 1, sizeof *self->base.tracks);
    LODE_TRY_ALLOC(self->base.tracks, error);
    memset(self->base.tracks, 0, ((size_t)count + 1) * sizeof *self->base.tracks);
    self->base.track_count = count;
    for (uint32_t i = 0; i < self->inner->track_count; i++)
        if (!describe_thread(self, numbers[i], &self->inner->tracks[i]))
            return lode_fail_memory(error);
    return LODE_OK;
}

/* ---- times ---- */

LODE_COMPARE_BY_2(compare_slots, struct slot, begin, track);

/* Requests without events sort last, where they shift nothing. */
static lode_status read_interval(const lode_recording *inner, uint32_t track, struct slot *slot,
                                 lode_error *error)
{
    *slot = (struct slot){.track = track};
    lode_status status = lode_track_interval(inner, track, &slot->begin, &slot->end, error);
    if (status != LODE_ABSENT)
        return status;
    slot->begin = slot->end = UINT64_MAX;
    return LODE_OK;
}

static lode_status list_slots(struct by_thread *self, const uint32_t *numbers, lode_error *error)
{
    const lode_recording *inner = self->inner;
    uint32_t threads = self->base.track_count;
    self->slots = calloc((size_t)inner->track_count + 1, sizeof *self->slots);
    self->first = calloc((size_t)threads + 2, sizeof *self->first);
    LODE_TRY_ALLOC(self->slots && self->first, error);
    /* While slots are listed, first[thread + 1] is the next slot of the thread. */
    for (uint32_t i = 0; i < inner->track_count; i++)
        if (numbers[i] + 1 < threads)
            self->first[numbers[i] + 2]++;
    for (uint32_t i = 2; i <= threads; i++)
        self->first[i] += self->first[i - 1];
    for (uint32_t i = 0; i < inner->track_count; i++)
        LODE_TRY(read_interval(inner, i, &self->slots[self->first[numbers[i] + 1]++], error));
    return LODE_OK;
}

static void order_slots(struct by_thread *self)
{
    for (uint32_t i = 0; i < self->base.track_count; i++) {
        struct slot *slots = self->slots + self->first[i];
        size_t count = self->first[i + 1] - self->first[i];
        qsort(slots, count, sizeof *slots, compare_slots);
        for (size_t k = 1; k < count; k++) {
            uint64_t free_from = add(end_of(&slots[k - 1]), 1);
            if (slots[k].begin < free_from)
                slots[k].shift = free_from - slots[k].begin;
        }
    }
}

/* ---- opening ---- */

static lode_status arrange(struct by_thread *self, lode_error *error)
{
    uint32_t *numbers = calloc((size_t)self->inner->track_count + 1, sizeof *numbers);
    uint32_t count = numbers ? number_threads(self->inner, numbers) : LODE_NO_INDEX;
    lode_status status = count == LODE_NO_INDEX ? lode_fail_memory(error) : LODE_OK;
    if (status == LODE_OK)
        status = describe_threads(self, numbers, count, error);
    if (status == LODE_OK)
        status = list_slots(self, numbers, error);
    if (status == LODE_OK)
        order_slots(self);
    free(numbers);
    return status;
}

/* What does not depend on tracks is forwarded to the inner recording. */
static void share(struct by_thread *self)
{
    const lode_recording *inner = self->inner;
    lode_recording *base = &self->base;
    base->ops = &ops;
    base->format = inner->format;
    base->utc_offset = inner->utc_offset;
    base->facts = inner->facts;
    base->fact_count = inner->fact_count;
    base->modules = inner->modules;
    base->module_count = inner->module_count;
    base->messages = inner->messages;
    base->message_count = inner->message_count;
    base->functions_of = inner;
    base->rules = inner->rules;
    base->rule_count = inner->rule_count;
    lode_arena_init(&base->arena, SIZE_MAX);
    lode_function_table_init(&base->functions, sizeof(struct lode_function));
}

lode_status lode_by_thread(lode_recording **out, lode_recording *inner, lode_error *error)
{
    *out = inner;
    if (!inner->has_requests)
        return LODE_OK;
    *out = NULL;
    struct by_thread *self = calloc(1, sizeof *self);
    if (self == NULL) {
        lode_recording_close(inner);
        return lode_fail_memory(error);
    }
    self->inner = inner;
    share(self);
    lode_status status = arrange(self, error);
    if (status == LODE_OK)
        *out = &self->base;
    else
        close_threads(&self->base);
    return status;
}
