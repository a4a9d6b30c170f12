/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding up calls: what happens for every event. */
#include "analysis/calls.h"
#include "base/checked.h"
#include "base/error.h"
#include <stdlib.h>

enum {
    FRAMES_FIRST = 1024,
    FUNCTIONS_FIRST = 256
};

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* ---- room ---- */

static bool grow_frames(struct lode_tallies *self)
{
    size_t used = self->frames ? (size_t)(self->top - self->frames) : 0;
    size_t capacity = self->frames ? (size_t)(self->last - self->frames + 1) * 2 : FRAMES_FIRST, bytes;
    if (!checked_mul_size(capacity, sizeof *self->frames, &bytes))
        return false;
    struct lode_tally_frame *frames = realloc(self->frames, bytes);
    if (frames == NULL)
        return false;
    self->frames = frames;
    self->top = frames + used;
    self->last = frames + capacity - 1;
    return true;
}

static bool grow_functions(struct lode_tallies *self, uint32_t index)
{
    uint32_t capacity = self->capacity ? self->capacity : FUNCTIONS_FIRST;
    while (capacity <= index)
        capacity *= 2; /* indices are below LODE_FUNCTIONS_MAX */
    if (!lode_sketches_reserve(&self->sketches, capacity))
        return false;
    struct lode_tally *items = realloc(self->items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    for (uint32_t i = self->capacity; i < capacity; i++)
        items[i] = (struct lode_tally){.min = UINT64_MAX};
    self->items = items;
    self->capacity = capacity;
    return true;
}

lode_status lode_tallies_open(struct lode_tallies *tallies, lode_error *error)
{
    *tallies = (struct lode_tallies){0};
    lode_sketches_init(&tallies->sketches);
    if (!grow_frames(tallies) || !grow_functions(tallies, 0))
        return lode_fail_memory(error);
    tallies->frames[0] = (struct lode_tally_frame){0};
    return LODE_OK;
}

void lode_tallies_close(struct lode_tallies *tallies)
{
    lode_sketches_free(&tallies->sketches);
    free(tallies->items);
    free(tallies->frames);
    *tallies = (struct lode_tallies){0};
}

/* ---- events ---- */

/* What the loop over events keeps in registers: copies, as stores through pointers would else make them be read again. */
struct loop {
    struct lode_tally_frame *top;
    struct lode_tally *items;
    uint64_t calls;
};

/* Begins a call. There is room for it. */
static inline void enter(struct loop *loop, const lode_event *event)
{
    struct lode_tally_frame *frame = ++loop->top;
    uint32_t function = event->function->index;
    frame->begin = event->time;
    frame->inside = 0;
    frame->function = function;
    loop->items[function].active++;
}

/* Ends the innermost call, and returns how long it took. There is one. */
static inline uint64_t leave(struct loop *loop, uint64_t time)
{
    struct lode_tally_frame *frame = loop->top--;
    struct lode_tally *tally = &loop->items[frame->function];
    uint64_t took = time - frame->begin;
    frame[-1].inside += took;
    tally->self += took - frame->inside;
    tally->sum += took;
    tally->squares += (lode_square)took * took;
    tally->min = took < tally->min ? took : tally->min;
    tally->max = took > tally->max ? took : tally->max;
    tally->total += --tally->active == 0 ? took : 0;
    return took;
}

/* Makes room for one more call of the function, and has the loop see where things are now. */
static bool make_room(struct lode_tallies *self, struct loop *loop, uint32_t function)
{
    self->top = loop->top;
    if (self->top == self->last && !grow_frames(self))
        return false;
    if (function >= self->capacity && !grow_functions(self, function))
        return false;
    loop->top = self->top;
    loop->items = self->items;
    return true;
}

lode_status lode_tallies_take(struct lode_tallies *self, const lode_event *events, size_t count,
                              lode_error *error)
{
    struct loop loop = {self->top, self->items, 0};
    uint64_t out = 0;
    bool done = true;
    for (const lode_event *event = events; event < events + count && done; event++) {
        switch (event->kind) {
        case LODE_EVENT_ENTER:
        case LODE_EVENT_OUT:
            if (UNLIKELY(loop.top == self->last || event->function->index >= self->capacity))
                done = make_room(self, &loop, event->function->index);
            if (done)
                enter(&loop, event);
            break;
        case LODE_EVENT_LEAVE:
        case LODE_EVENT_IN:
            if (UNLIKELY(loop.top == self->frames))
                break;
            uint32_t function = loop.top->function;
            uint64_t took = leave(&loop, event->time);
            done = sketch_add(&self->sketches, function, took);
            out += event->kind == LODE_EVENT_IN ? took : 0;
            loop.calls += event->kind == LODE_EVENT_LEAVE;
            break;
        default:
            break;
        }
    }
    self->top = loop.top;
    self->calls += loop.calls;
    self->out += out;
    self->time = events[count - 1].time;
    return done ? LODE_OK : lode_fail_memory(error);
}

lode_status lode_tallies_end(struct lode_tallies *self, lode_track_row *row, lode_error *error)
{
    /* Tracks are balanced; were one not, its open calls would end with it. */
    while (self->top > self->frames) {
        const lode_event end = {.time = self->time, .kind = LODE_EVENT_LEAVE};
        LODE_TRY(lode_tallies_take(self, &end, 1, error));
    }
    row->calls = self->calls;
    row->total = self->frames[0].inside;
    row->out = self->out;
    self->calls = self->out = self->time = 0;
    self->frames[0] = (struct lode_tally_frame){0};
    return LODE_OK;
}
