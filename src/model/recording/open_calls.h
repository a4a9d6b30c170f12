/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the calls of a track: what is open after each event. Every reader of events uses it but
 * the loops that add up each call: src/analysis/calls/tally.c, calltree_builder.c, and that of the
 * diagnosis (src/analysis/diagnose/calls/worker.c), which also has a frame outside of all calls.
 *
 * Cursors repair recordings: their events are balanced and nested, so an end is that of the
 * innermost open call. What a consumer may still meet is handled here: the end of a call that began
 * before the first event is ignored, and calls below the deepest level that a consumer bears are
 * hidden, with their ends.
 */
#ifndef LODE_MODEL_OPEN_CALLS_H
#define LODE_MODEL_OPEN_CALLS_H

#include "base/memory/array.h"
#include <lode/private/call_events.h>

enum lode_call_step {
    LODE_CALL_NONE,   /* nothing begins or ends, or what ends was not open */
    LODE_CALL_BEGINS, /* the consumer pushes its item */
    LODE_CALL_ENDS,   /* the consumer pops it */
    LODE_CALL_HIDES   /* a call begins below the deepest level */
};

struct lode_open_calls {
    struct lode_array items; /* of the consumer's type, the outermost call first */
    uint64_t hidden;         /* open calls below the deepest level */
};

/* `levels`: how many calls may be open; deeper ones are hidden. */
static inline void open_calls_init(struct lode_open_calls *self, size_t item_size, size_t levels)
{
    lode_array_init(&self->items, item_size, levels);
    self->hidden = 0;
}

static inline void open_calls_free(struct lode_open_calls *self)
{
    lode_array_free(&self->items);
}

/* A track begins. */
static inline void open_calls_reset(struct lode_open_calls *self)
{
    self->items.count = 0;
    self->hidden = 0;
}

static inline size_t open_calls_count(const struct lode_open_calls *self)
{
    return self->items.count;
}

/* What a begin or an end does, of an event or not. */
static inline enum lode_call_step open_calls_begin(struct lode_open_calls *self)
{
    if (self->hidden == 0 && self->items.count < self->items.max)
        return LODE_CALL_BEGINS;
    self->hidden++;
    return LODE_CALL_HIDES;
}

static inline enum lode_call_step open_calls_end(struct lode_open_calls *self)
{
    if (self->hidden == 0)
        return self->items.count > 0 ? LODE_CALL_ENDS : LODE_CALL_NONE;
    self->hidden--;
    return LODE_CALL_NONE;
}

/* What an event does; off-CPU time is a call. */
static inline enum lode_call_step open_calls_take(struct lode_open_calls *self, const lode_event *event)
{
    if (lode_event_begins(event))
        return open_calls_begin(self);
    return lode_event_ends(event) ? open_calls_end(self) : LODE_CALL_NONE;
}

/* The item of a call that begins, with any content; NULL if out of memory. Others may move. */
static inline void *open_calls_push(struct lode_open_calls *self)
{
    struct lode_array *items = &self->items;
    if (items->count < items->capacity)
        return (unsigned char *)items->items + items->count++ * items->item_size;
    return lode_array_push(items);
}

/* The item of a call that ends, valid until the next push. There must be one. */
static inline void *open_calls_pop(struct lode_open_calls *self)
{
    self->items.count--;
    return (unsigned char *)self->items.items + self->items.count * self->items.item_size;
}

/* The item at a level, as a pointer to `type`; and that of the innermost call. */
#define OPEN_CALLS_AT(self, type, level) LODE_ARRAY_AT(&(self)->items, type, level)
#define OPEN_CALLS_TOP(self, type)       LODE_ARRAY_AT(&(self)->items, type, (self)->items.count - 1)

#endif
