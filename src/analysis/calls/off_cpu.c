/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/off_cpu.h"

#include "base/error.h"
#include "base/memory/array.h"
#include <stdlib.h>

void lode_off_cpu_reset(struct lode_off_cpu *self)
{
    self->is_out = false;
    self->since = self->stopped = self->inside = 0;
    self->depth = 0;
}

void lode_off_cpu_free(struct lode_off_cpu *self)
{
    free(self->items);
}

static bool reserve(struct lode_off_cpu *self, size_t count)
{
    return count <= self->capacity || LODE_GROW(self->items, self->capacity, count);
}

/* Follows the depth; whether there are events of scheduling. Without branches: most have none. */
static bool scan(const lode_event *events, size_t count, size_t *depth)
{
    size_t open = *depth, found = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = events[i].kind;
        open += (size_t)(kind == LODE_EVENT_ENTER) - (size_t)(kind == LODE_EVENT_LEAVE);
        found += (size_t)(kind == LODE_EVENT_SCHED_OUT) + (size_t)(kind == LODE_EVENT_SCHED_IN);
    }
    *depth = open;
    return found > 0;
}

/* Whether the event is one of scheduling. */
static bool note(struct lode_off_cpu *self, const lode_event *event, size_t depth)
{
    if (event->kind != LODE_EVENT_SCHED_OUT && event->kind != LODE_EVENT_SCHED_IN)
        return false;
    if (self->is_out) {
        self->stopped += event->time - self->since;
        self->inside += depth > 0 ? event->time - self->since : 0;
    }
    self->is_out = event->kind == LODE_EVENT_SCHED_OUT;
    self->since = event->time;
    return true;
}

lode_status lode_off_cpu_take(struct lode_off_cpu *self, const lode_event **events, size_t *count,
                              lode_error *error)
{
    size_t depth = self->depth, kept = 0;
    if (!self->is_asked ||
        (!scan(*events, *count, &self->depth) && (!self->stops || (!self->is_out && self->stopped == 0))))
        return LODE_OK;
    if (!reserve(self, *count))
        return lode_fail_memory(error);
    for (size_t i = 0; i < *count; i++) {
        const lode_event *event = &(*events)[i];
        if (note(self, event, depth))
            continue;
        depth += (size_t)(event->kind == LODE_EVENT_ENTER) - (size_t)(event->kind == LODE_EVENT_LEAVE);
        self->items[kept] = *event;
        if (self->stops)
            self->items[kept].time = (self->is_out ? self->since : event->time) - self->stopped;
        kept++;
    }
    *events = self->items;
    *count = kept;
    return LODE_OK;
}
