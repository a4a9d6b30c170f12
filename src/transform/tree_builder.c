/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens for every event of a call. Which function is called cannot be foreseen, so a child is found without a branch that depends on
 * it. Whether a call begins or ends can be foreseen no better, but there a branch is right: it is known before the nodes have come from
 * memory, and the end of a call need not wait for them, as the stack is apart from the tree.
 */
#include "transform/tree_builder.h"

#include "base/bytes.h"
#include "model/context.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KNOWN_FIRST = 1024,
    CHUNK = 512 /* events for which room is made at once */
};

/* In the calls of a node: it stands for off-CPU time, which is no call. */
#define OFF_PROCESSOR (UINT64_C(1) << 63)

/* In `known`: a function that has not been met. It differs from that of every node. */
#define UNKNOWN (LODE_NONE - 1)

#define UNLIKELY(condition) __builtin_expect(condition, 0)
#define ALWAYS_INLINE       inline __attribute__((always_inline))

/* ---- beginning and end of a worker ---- */

static bool make_room(struct lode_build_tree_builder *self)
{
    if (self->touched_room > self->tree.capacity)
        return true;
    uint32_t room = self->tree.capacity + 1;
    uint32_t *touched = realloc(self->touched, room * sizeof *touched);
    if (touched == NULL)
        return false;
    self->touched = touched;
    self->touched_room = room;
    return true;
}

lode_status lode_build_tree_builder_open(struct lode_build_tree_builder *builder, uint32_t rank,
                                         unsigned number, int directory, uint64_t trace, lode_error *error)
{
    char name[64];
    *builder = (struct lode_build_tree_builder){.number = number,
                                                .trace = trace,
                                                .known_input = LODE_NONE,
                                                .rows = LODE_SPOOL_INIT,
                                                .samples = LODE_SPOOL_INIT};
    lode_build_changes_init(&builder->changes);
    LODE_TRY(lode_build_tree_open(&builder->tree, error));
    if (!make_room(builder))
        return lode_fail_memory(error);
    snprintf(name, sizeof name, "rows-%" PRIu32 "-%u", rank, number);
    LODE_TRY(lode_spool_open(&builder->rows, directory, name, error));
    snprintf(name, sizeof name, "samples-%" PRIu32 "-%u", rank, number);
    return trace == LODE_TRACE_NONE ? LODE_OK : lode_spool_open(&builder->samples, directory, name, error);
}

void lode_build_tree_builder_close(struct lode_build_tree_builder *builder)
{
    lode_build_tree_close(&builder->tree);
    lode_build_changes_free(&builder->changes);
    lode_spool_close(&builder->rows);
    lode_spool_close(&builder->samples);
    free(builder->known);
    free(builder->touched);
    free(builder->stack);
    builder->known = builder->touched = builder->stack = NULL;
}

/* ---- functions ---- */

static bool know(struct lode_build_tree_builder *self, uint32_t index)
{
    uint32_t count = self->known_count ? self->known_count : KNOWN_FIRST;
    while (count <= index)
        count *= 2; /* indices are below LODE_FUNCTIONS_MAX */
    if (count == self->known_count)
        return true;
    uint32_t *known = realloc(self->known, count * sizeof *known);
    if (known == NULL)
        return false;
    for (uint32_t i = self->known_count; i < count; i++)
        known[i] = UNKNOWN;
    self->known = known;
    self->known_count = count;
    return true;
}

/* The number of a function in the tree; LODE_NONE if there is no memory. */
static uint32_t identify(struct lode_build_tree_builder *self, const lode_function *function)
{
    if (!know(self, function->index))
        return LODE_NONE;
    uint32_t *known = &self->known[function->index];
    if (*known != UNKNOWN)
        return *known;
    struct lode_build_names *names = &self->tree.names;
    struct lode_build_function own = {.line = function->line, .offset = function->offset};
    own.name = lode_build_strings_add(&names->strings, function->name);
    own.module = lode_build_strings_add(&names->strings, function->module ? function->module->path : NULL);
    own.file = lode_build_strings_add(&names->strings, function->file ? function->file->path : NULL);
    if ((own.name == LODE_NONE && function->name) || (own.module == LODE_NONE && function->module) ||
        (own.file == LODE_NONE && function->file))
        return LODE_NONE;
    uint32_t number = lode_build_names_add(names, &own);
    if (number != LODE_NONE)
        *known = number;
    return number;
}

/* A child of the current node that it does not remember, and now does; 0 if there is no memory. */
static uint32_t call_other(struct lode_build_tree_builder *self, uint32_t current,
                           const lode_function *function)
{
    uint32_t number = identify(self, function);
    if (number == LODE_NONE)
        return 0;
    uint32_t child = lode_build_tree_child(&self->tree, current, number);
    if (child == 0 || !make_room(self))
        return 0;
    lode_build_tree_remember(&self->tree, current, child);
    return child;
}

/* ---- samples ---- */

static uint8_t *put_far(uint8_t *out, uint64_t passed, uint32_t end, uint32_t node)
{
    put_u16le(out, (uint16_t)(LODE_BUILD_FAR | (end ? LODE_BUILD_ENDED : 0)));
    put_u64le(out + 2, passed);
    put_u32le(out + 10, node);
    return out + (end ? LODE_BUILD_SAMPLE_MAX - 4 : LODE_BUILD_SAMPLE_MAX);
}

/* Writes to up to LODE_BUILD_SAMPLE_MAX bytes, whatever it needs. */
static inline uint8_t *put_sample(uint8_t *out, uint64_t passed, uint32_t end, uint32_t node)
{
    if (UNLIKELY(passed >= LODE_BUILD_FAR))
        return put_far(out, passed, end, node);
    put_u64le(out, (uint64_t)node << 16 | end << 15 | passed);
    return out + 6 - 4 * (size_t)end;
}

/* Writes the sample that waits, unless it only repeats that no call is open. */
static uint8_t *put_waiting(struct lode_build_tree_builder *self, uint8_t *out)
{
    bool is_idle = self->waiting == self->stack[0];
    if (self->waiting == LODE_NONE || (is_idle && self->is_idle))
        return out;
    self->is_idle = is_idle;
    out = put_sample(out, self->waiting_time - self->written, 0, self->waiting);
    self->written = self->waiting_time;
    self->track_result->sample_count++;
    return out;
}

/* Of each interval the last sample stays: what follows it may be long. */
static uint8_t *put_rarely(struct lode_build_tree_builder *self, uint8_t *out, uint64_t time, uint32_t node)
{
    if (time >= self->due) {
        out = put_waiting(self, out);
        uint64_t interval = time / self->trace + 1;
        if (__builtin_mul_overflow(interval, self->trace, &self->due))
            self->due = UINT64_MAX;
    }
    self->waiting_time = time;
    self->waiting = node;
    return out;
}

/* ---- events ---- */

enum tracing {
    TRACE_NONE,
    TRACE_ALL,
    TRACE_SOME
};

/* What is rare: off-CPU time, which is like a call, and points. Says whether it is like a call. */
static lode_status note_other(struct lode_build_tree_builder *self, uint32_t current, const lode_event *event,
                              uint32_t *end, lode_error *error)
{
    *end = LODE_EVENT_INSTANT;
    if (event->kind == LODE_EVENT_SCHED_IN && current >= LODE_BUILD_FIRST)
        self->tree.nodes[current].calls |= OFF_PROCESSOR;
    if (event->kind == LODE_EVENT_SCHED_OUT || event->kind == LODE_EVENT_SCHED_IN)
        *end = event->kind == LODE_EVENT_SCHED_IN;
    else if (event->kind == LODE_EVENT_INSTANT)
        return lode_build_changes_take(&self->changes, &self->tree, current, self->recording, self->track,
                                       event, error);
    return LODE_OK;
}

static uint8_t *room_for_samples(const struct lode_build_tree_builder *self)
{
    return self->samples.buffer + self->samples.used;
}

static void count_bytes(struct lode_build_tree_builder *self, ptrdiff_t size)
{
    self->samples.used += (size_t)size;
    self->samples.size += (size_t)size;
}

/* At most CHUNK events. */
static ALWAYS_INLINE lode_status take(struct lode_build_tree_builder *self, const lode_event *events,
                                      size_t count, const enum tracing tracing, lode_error *error)
{
    struct lode_build_node *nodes = self->tree.nodes;
    const uint32_t *known = self->known;
    uint32_t known_count = self->known_count, current = self->stack[self->depth];
    uint32_t *const stack = self->stack, *touched = self->touched, touched_count = self->touched_count;
    uint64_t last = self->time, written = self->written;
    size_t depth = self->depth, samples = 0;
    uint8_t *const begin = tracing == TRACE_NONE ? NULL : room_for_samples(self), *out = begin;
    for (const lode_event *event = events; event < events + count; event++) {
        uint32_t end = event->kind;
        if (UNLIKELY(end > LODE_EVENT_LEAVE)) {
            LODE_TRY(note_other(self, current, event, &end, error));
            if (end == LODE_EVENT_INSTANT)
                continue;
        }
        uint64_t time = event->time;
        nodes[current].self += time - last;
        last = time;
        if (end) {
            if (UNLIKELY(depth == 0))
                continue; /* nothing is open */
            if (UNLIKELY(event->flags & LODE_EVENT_FAILED))
                LODE_TRY(lode_build_changes_fail(&self->changes, current, error));
            current = stack[--depth];
        } else {
            uint32_t index = event->function->index;
            uint32_t function = index < known_count ? known[index] : UNKNOWN;
            uint32_t place = build_recall(&nodes[current], function);
            if (UNLIKELY(nodes[place].function != function)) {
                if ((place = call_other(self, current, event->function)) == 0)
                    return lode_fail_memory(error);
                nodes = self->tree.nodes;
                touched = self->touched;
                known = self->known;
                known_count = self->known_count;
            }
            touched[touched_count] = place;
            touched_count += nodes[place].calls++ == 0;
            current = stack[++depth] = place;
        }
        if (tracing == TRACE_ALL) {
            out = put_sample(out, time - written, end, current);
            written = time;
            samples++;
        }
        if (tracing == TRACE_SOME)
            out = put_rarely(self, out, time, current);
    }
    self->depth = depth;
    self->time = last;
    self->touched_count = touched_count;
    if (tracing == TRACE_ALL) {
        self->written = written;
        self->track_result->sample_count += samples;
    }
    if (tracing != TRACE_NONE)
        count_bytes(self, out - begin);
    return LODE_OK;
}

/* Room for CHUNK more calls, and one above the top that may be written to. */
static bool make_stack(struct lode_build_tree_builder *self)
{
    if (self->stack_room > self->depth + CHUNK + 1)
        return true;
    size_t room = (self->depth + CHUNK) * 2;
    uint32_t *stack = realloc(self->stack, room * sizeof *stack);
    if (stack == NULL)
        return false;
    self->stack = stack;
    self->stack_room = room;
    return true;
}

lode_status lode_build_tree_builder_take(struct lode_build_tree_builder *self, const lode_event *events,
                                         size_t count, lode_error *error)
{
    if (self->track_result->events == 0 && count > 0)
        self->time = events[0].time;
    self->track_result->events += count;
    for (size_t done = 0, chunk; done < count; done += chunk) {
        chunk = count - done < CHUNK ? count - done : CHUNK;
        if (!make_stack(self))
            return lode_fail_memory(error);
        if (self->trace == LODE_TRACE_NONE) {
            LODE_TRY(take(self, events + done, chunk, TRACE_NONE, error));
            continue;
        }
        LODE_TRY(lode_spool_reserve(&self->samples, (size_t)(CHUNK + 1) * LODE_BUILD_SAMPLE_MAX, error));
        if (self->trace == LODE_TRACE_FULL)
            LODE_TRY(take(self, events + done, chunk, TRACE_ALL, error));
        else
            LODE_TRY(take(self, events + done, chunk, TRACE_SOME, error));
    }
    return LODE_OK;
}

/* ---- tracks ---- */

lode_status lode_build_tree_builder_begin(struct lode_build_tree_builder *self, uint32_t input,
                                          const lode_recording *recording, uint32_t track, uint32_t entry,
                                          struct lode_track_result *track_result, lode_error *error)
{
    if (!know(self, 0) || !make_stack(self))
        return lode_fail_memory(error);
    if (self->known_input != input)
        for (uint32_t i = 0; i < self->known_count; i++)
            self->known[i] = UNKNOWN;
    self->known_input = input;
    self->recording = recording;
    self->track = track;
    self->track_result = track_result;
    self->depth = 0;
    self->stack[0] = entry;
    self->time = self->written = self->due = 0;
    self->touched_count = 0;
    self->waiting = LODE_NONE;
    self->is_idle = false;
    lode_build_changes_begin(&self->changes);
    *track_result = (struct lode_track_result){
        .worker = self->number, .rows_at = self->rows.size, .samples_at = self->samples.size};
    return LODE_OK;
}

static lode_status end_samples(struct lode_build_tree_builder *self, lode_error *error)
{
    if (self->trace == LODE_TRACE_NONE)
        return LODE_OK;
    LODE_TRY(lode_spool_reserve(&self->samples, LODE_BUILD_SAMPLE_MAX, error));
    uint8_t *begin = room_for_samples(self);
    count_bytes(self, put_waiting(self, begin) - begin);
    struct lode_track_result *track_result = self->track_result;
    track_result->samples_size = self->samples.size - track_result->samples_at;
    return LODE_OK;
}

lode_status lode_build_tree_builder_end(struct lode_build_tree_builder *self, lode_error *error)
{
    struct lode_track_result *track_result = self->track_result;
    struct lode_build_node *nodes = self->tree.nodes;
    const struct lode_array *changes = &self->changes.items;
    for (uint32_t i = 0; i < self->touched_count; i++) {
        struct lode_build_node *node = &nodes[self->touched[i]];
        struct lode_build_row row = {.calls = node->calls & OFF_PROCESSOR ? 0 : node->calls,
                                     .self = node->self,
                                     .node = self->touched[i]};
        node->calls = node->self = 0;
        LODE_TRY(lode_spool_write(&self->rows, &row, sizeof row, error));
    }
    nodes[LODE_BUILD_MAIN].self = nodes[LODE_BUILD_THREAD].self = 0;
    track_result->row_count = self->touched_count;
    track_result->change_count = changes->count;
    LODE_TRY(lode_spool_write(&self->rows, changes->items, changes->count * changes->item_size, error));
    return end_samples(self, error);
}
