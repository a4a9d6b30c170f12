/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing a call tree: what happens for every event. */
#include "analysis/calltree.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include <stdlib.h>

enum {
    FRAMES_FIRST = 1024,
    SPROUTS_FIRST = 1024,
    SPROUTS_MAX = 1 << 30
};

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* ---- room ---- */

static bool grow_frames(struct lode_calltree_builder *self)
{
    size_t used = self->frames ? (size_t)(self->top - self->frames) : 0;
    size_t capacity = self->frames ? (size_t)(self->last - self->frames + 1) * 2 : FRAMES_FIRST, bytes;
    if (!checked_mul_size(capacity, sizeof *self->frames, &bytes))
        return false;
    struct lode_calltree_frame *frames = realloc(self->frames, bytes);
    if (frames == NULL)
        return false;
    self->frames = frames;
    self->top = frames + used;
    self->last = frames + capacity - 1;
    return true;
}

static uint32_t first_slot(const struct lode_calltree_builder *self, uint32_t parent, uint32_t function)
{
    return (uint32_t)lode_hash_number((uint64_t)parent << 32 | function) & (self->slot_count - 1);
}

static bool grow_nodes(struct lode_calltree_builder *self)
{
    uint32_t capacity = self->capacity ? self->capacity * 2 : SPROUTS_FIRST;
    if (capacity > SPROUTS_MAX)
        return false;
    struct lode_calltree_node *nodes = realloc(self->nodes, capacity * sizeof *nodes);
    if (nodes == NULL)
        return false;
    self->nodes = nodes;
    uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (slots == NULL)
        return false;
    free(self->slots);
    self->slots = slots;
    self->slot_count = capacity * 2;
    self->capacity = capacity;
    for (uint32_t i = 1; i < self->count; i++) {
        uint32_t slot = first_slot(self, nodes[i].parent, nodes[i].function);
        while (slots[slot] != 0)
            slot = (slot + 1) & (self->slot_count - 1);
        slots[slot] = i;
    }
    return true;
}

lode_status lode_calltree_builder_open(struct lode_calltree_builder *builder, lode_error *error)
{
    *builder = (struct lode_calltree_builder){.count = 1};
    if (!grow_frames(builder) || !grow_nodes(builder))
        return lode_fail_memory(error);
    builder->nodes[0] = (struct lode_calltree_node){0};
    builder->frames[0] = (struct lode_calltree_frame){0};
    return LODE_OK;
}

void lode_calltree_builder_close(struct lode_calltree_builder *builder)
{
    free(builder->nodes);
    free(builder->slots);
    free(builder->frames);
    *builder = (struct lode_calltree_builder){0};
}

/* ---- children ---- */

/* The child of a node by hash, added if it is not there; 0 if there is no memory. */
static uint32_t find_child(struct lode_calltree_builder *self, uint32_t parent, uint32_t function)
{
    if (self->count == self->capacity && !grow_nodes(self))
        return 0;
    uint32_t slot = first_slot(self, parent, function), mask = self->slot_count - 1;
    for (uint32_t i; (i = self->slots[slot]) != 0; slot = (slot + 1) & mask)
        if (self->nodes[i].parent == parent && self->nodes[i].function == function)
            return i;
    self->nodes[self->count] = (struct lode_calltree_node){.parent = parent, .function = function};
    self->slots[slot] = self->count;
    return self->count++;
}

/*
 * The same for one that is called now. Programs repeat themselves: it is mostly the child that was called last, or the one that came
 * after that one the last time.
 */
static inline uint32_t call_child(struct lode_calltree_builder *self, uint32_t parent, uint32_t function)
{
    uint32_t last = self->nodes[parent].last;
    if (last != 0 && self->nodes[last].function == function)
        return last;
    uint32_t child = last != 0 ? self->nodes[last].successor : 0;
    if (child == 0 || self->nodes[child].function != function) {
        child = find_child(self, parent, function);
        if (last != 0)
            self->nodes[last].successor = child;
    }
    self->nodes[parent].last = child;
    return child;
}

/* ---- events ---- */

static bool enter(struct lode_calltree_builder *self, const lode_event *event)
{
    uint32_t child = call_child(self, self->top->node, event->function->index);
    if (UNLIKELY(self->top == self->last) && !grow_frames(self))
        return false;
    *++self->top = (struct lode_calltree_frame){event->time, child};
    return child != 0;
}

static void leave(struct lode_calltree_builder *self, uint64_t time)
{
    const struct lode_calltree_frame *frame = self->top--;
    struct lode_calltree_node *node = &self->nodes[frame->node];
    node->calls++;
    node->total += time - frame->begin;
}

lode_status lode_calltree_builder_take(struct lode_calltree_builder *self, const lode_event *events,
                                       size_t count, lode_error *error)
{
    for (const lode_event *event = events; event < events + count; event++) {
        bool begins = event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT;
        bool ends = event->kind == LODE_EVENT_LEAVE || event->kind == LODE_EVENT_SCHED_IN;
        if (begins && UNLIKELY(!enter(self, event)))
            return lode_fail_memory(error);
        if (ends && self->top > self->frames)
            leave(self, event->time);
    }
    self->time = events[count - 1].time;
    return LODE_OK;
}

void lode_calltree_builder_end(struct lode_calltree_builder *self)
{
    /* Tracks are balanced; were one not, its open calls would end with it. */
    while (self->top > self->frames)
        leave(self, self->time);
}

/* ---- sums ---- */

lode_status lode_calltree_builder_add(struct lode_calltree_builder *self,
                                      const struct lode_calltree_builder *from, lode_error *error)
{
    uint32_t *place = calloc(from->count, sizeof *place);
    if (place == NULL)
        return lode_fail_memory(error);
    bool done = true;
    for (uint32_t i = 1; i < from->count && done; i++) {
        const struct lode_calltree_node *node = &from->nodes[i];
        place[i] = find_child(self, place[node->parent], node->function);
        done = place[i] != 0;
        self->nodes[place[i]].calls += node->calls;
        self->nodes[place[i]].total += node->total;
    }
    free(place);
    return done ? LODE_OK : lode_fail_memory(error);
}
