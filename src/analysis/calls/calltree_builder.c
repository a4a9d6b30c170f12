/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The called function is unpredictable, so a child is found without a branch that depends on it.
 * Enter or leave is as unpredictable, but a branch is better there: it resolves before nodes are
 * loaded from memory, and a leave need not wait for them, as the stack is separate from the tree.
 */
#include "analysis/calls/calltree_builder.h"

#include "base/io/bytes.h"
#include "model/database/context.h"
#include <lode/build.h>
#include <stdlib.h>

enum {
    FUNCTIONS_FIRST = 1024,
    CHUNK = 512 /* events per reservation */
};

/* For a new function: differs from the frame of every node. */
#define UNKNOWN (LODE_NO_NUMBER - 1)

#define UNLIKELY(condition) __builtin_expect(condition, 0)
#define ALWAYS_INLINE       inline __attribute__((always_inline))

/* ---- space ---- */

/* Each node is touched once, and one more may be written. */
static bool reserve_touched(struct lode_calltree_builder *self)
{
    if (self->touched_capacity > self->tree.capacity)
        return true;
    return LODE_GROW(self->touched, self->touched_capacity, self->tree.capacity + 1);
}

/* Space for CHUNK more calls, and one above the top that may be written. */
static bool reserve_stack(struct lode_calltree_builder *self)
{
    if (self->stack_capacity > self->depth + CHUNK + 1)
        return true;
    return LODE_GROW(self->stack, self->stack_capacity, (self->depth + CHUNK) * 2);
}

static bool reserve_function(struct lode_calltree_builder *self, uint32_t index)
{
    uint32_t count = self->function_count ? self->function_count : FUNCTIONS_FIRST;
    while (count <= index)
        count *= 2; /* indices are below LODE_FUNCTIONS_MAX */
    if (count == self->function_count)
        return true;
    uint32_t *frames = realloc(self->frames, count * sizeof *frames);
    if (frames == NULL)
        return false;
    for (uint32_t i = self->function_count; i < count; i++)
        frames[i] = UNKNOWN;
    self->frames = frames;
    self->function_count = count;
    return true;
}

lode_status lode_calltree_builder_open(struct lode_calltree_builder *builder,
                                       const struct lode_calltree_hooks *hooks, uint64_t trace,
                                       lode_error *error)
{
    *builder = (struct lode_calltree_builder){.hooks = *hooks, .trace = trace, .samples = LODE_SPOOL_INIT};
    if (!lode_content_tree_open(&builder->tree, sizeof(struct lode_calltree_node)) ||
        !reserve_touched(builder) || !reserve_function(builder, 0))
        return lode_fail_memory(error);
    return LODE_OK;
}

void lode_calltree_builder_close(struct lode_calltree_builder *builder)
{
    lode_content_tree_close(&builder->tree);
    lode_spool_close(&builder->samples);
    free(builder->frames);
    free(builder->touched);
    free(builder->stack);
    builder->frames = builder->touched = builder->stack = NULL;
}

void lode_calltree_builder_forget(struct lode_calltree_builder *builder)
{
    for (uint32_t i = 0; i < builder->function_count; i++)
        builder->frames[i] = UNKNOWN;
}

/* ---- children ---- */

void lode_calltree_remember(const struct lode_content_tree *tree, uint32_t node, uint32_t child)
{
    struct lode_calltree_node *from = &calltree_nodes(tree)[node];
    uint8_t tag = calltree_tag(calltree_nodes(tree)[child].counts.base.frame);
    unsigned place = 0;
    /* Replaces an entry with the same tag, which would hide it; else a free one; else any. */
    while (place < LODE_CALLTREE_RECENT && (uint8_t)(from->tags >> place * 8) != tag)
        place++;
    for (unsigned i = LODE_CALLTREE_RECENT; place == LODE_CALLTREE_RECENT && i-- > 0;)
        place = from->children[i] == 0 ? i : place;
    place = place == LODE_CALLTREE_RECENT ? child % LODE_CALLTREE_RECENT : place;
    from->tags = (from->tags & ~(UINT64_C(0xff) << place * 8)) | (uint64_t)tag << place * 8;
    from->children[place] = child;
}

/* The frame of a function; LODE_NO_NUMBER if out of memory. */
static uint32_t identify(struct lode_calltree_builder *self, const lode_function *function)
{
    if (!reserve_function(self, function->index))
        return LODE_NO_NUMBER;
    uint32_t frame = self->frames[function->index];
    if (frame == UNKNOWN)
        frame = self->hooks.identify(self->hooks.user, function);
    if (frame != LODE_NO_NUMBER)
        self->frames[function->index] = frame;
    return frame;
}

/* Finds or adds a child that the node does not remember, and remembers it; 0 if out of memory. */
static uint32_t call_other(struct lode_calltree_builder *self, uint32_t current,
                           const lode_function *function)
{
    uint32_t frame = identify(self, function);
    if (frame == LODE_NO_NUMBER)
        return 0;
    uint32_t child = lode_content_tree_child(&self->tree, current, frame);
    if (child == 0 || !reserve_touched(self))
        return 0;
    lode_calltree_remember(&self->tree, current, child);
    return child;
}

/* ---- samples ---- */

static uint8_t *put_far(uint8_t *out, uint64_t passed, uint32_t end, uint32_t node)
{
    put_u16le(out, (uint16_t)(LODE_SAMPLE_FAR | (end ? LODE_SAMPLE_ENDED : 0)));
    put_u64le(out + 2, passed);
    put_u32le(out + 10, node);
    return out + (end ? LODE_SAMPLE_MAX - 4 : LODE_SAMPLE_MAX);
}

/* Writes up to LODE_SAMPLE_MAX bytes, whatever the sample needs. */
static inline uint8_t *put_sample(uint8_t *out, uint64_t passed, uint32_t end, uint32_t node)
{
    if (UNLIKELY(passed >= LODE_SAMPLE_FAR))
        return put_far(out, passed, end, node);
    put_u64le(out, (uint64_t)node << 16 | end << 15 | passed);
    return out + 6 - 4 * (size_t)end;
}

/* Writes the pending sample, unless it only repeats that no call is open. */
static uint8_t *put_waiting(struct lode_calltree_builder *self, uint8_t *out)
{
    bool is_idle = self->waiting == self->stack[0];
    if (self->waiting == LODE_NO_NUMBER || (is_idle && self->is_idle))
        return out;
    self->is_idle = is_idle;
    out = put_sample(out, self->waiting_time - self->written, 0, self->waiting);
    self->written = self->waiting_time;
    self->sample_count++;
    return out;
}

/* Keeps the last sample of each interval: what follows it may be long. */
static uint8_t *put_rarely(struct lode_calltree_builder *self, uint8_t *out, uint64_t time, uint32_t node)
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

static uint8_t *room_for_samples(const struct lode_calltree_builder *self)
{
    return self->samples.buffer + self->samples.used;
}

static void count_bytes(struct lode_calltree_builder *self, ptrdiff_t size)
{
    self->samples.used += (size_t)size;
    self->samples.size += (size_t)size;
}

/* ---- events ---- */

enum tracing {
    TRACE_NONE,
    TRACE_ALL,
    TRACE_SOME
};

static lode_status note(const struct lode_calltree_builder *self, const lode_event *event, uint32_t node,
                        size_t depth, lode_error *error)
{
    const struct lode_calltree_hooks *hooks = &self->hooks;
    return hooks->note ? hooks->note(hooks->user, event, node, depth, error) : LODE_OK;
}

/* Rare events: off-CPU time, which counts as a call, and instant events. True for off-CPU. */
static lode_status note_other(struct lode_calltree_builder *self, const lode_event *event, uint32_t current,
                              size_t depth, uint32_t *end, lode_error *error)
{
    *end = LODE_EVENT_INSTANT;
    if (event->kind == LODE_EVENT_INSTANT)
        return note(self, event, current, depth, error);
    if (event->kind == LODE_EVENT_SCHED_IN && depth > 0)
        calltree_nodes(&self->tree)[current].counts.calls |= LODE_CALLTREE_OFF_CPU;
    if (event->kind == LODE_EVENT_SCHED_OUT || event->kind == LODE_EVENT_SCHED_IN)
        *end = event->kind == LODE_EVENT_SCHED_IN;
    return LODE_OK;
}

/* At most CHUNK events. */
static ALWAYS_INLINE lode_status take(struct lode_calltree_builder *self, const lode_event *events,
                                      size_t count, const enum tracing tracing, lode_error *error)
{
    struct lode_calltree_node *nodes = calltree_nodes(&self->tree);
    const uint32_t *frames = self->frames;
    uint32_t function_count = self->function_count, current = self->stack[self->depth];
    uint32_t *const stack = self->stack, *touched = self->touched, touched_count = self->touched_count;
    uint64_t last = self->time, written = self->written;
    size_t depth = self->depth, samples = 0;
    uint8_t *const begin = tracing == TRACE_NONE ? NULL : room_for_samples(self), *out = begin;
    for (const lode_event *event = events; event < events + count; event++) {
        uint32_t end = event->kind;
        if (UNLIKELY(end > LODE_EVENT_LEAVE)) {
            LODE_TRY(note_other(self, event, current, depth, &end, error));
            if (end == LODE_EVENT_INSTANT)
                continue;
        }
        uint64_t time = event->time;
        nodes[current].counts.self += time - last;
        last = time;
        if (end) {
            if (UNLIKELY(depth == 0))
                continue; /* nothing is open */
            if (UNLIKELY(event->flags & LODE_EVENT_FAILED))
                LODE_TRY(note(self, event, current, depth, error));
            current = stack[--depth];
        } else {
            uint32_t index = event->function->index;
            uint32_t frame = index < function_count ? frames[index] : UNKNOWN;
            uint32_t place = calltree_recall(&nodes[current], frame);
            if (UNLIKELY(nodes[place].counts.base.frame != frame)) {
                if ((place = call_other(self, current, event->function)) == 0)
                    return lode_fail_memory(error);
                nodes = calltree_nodes(&self->tree);
                touched = self->touched;
                frames = self->frames;
                function_count = self->function_count;
            }
            touched[touched_count] = place;
            touched_count += nodes[place].counts.calls++ == 0;
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
        self->sample_count += samples;
    }
    if (tracing != TRACE_NONE)
        count_bytes(self, out - begin);
    return LODE_OK;
}

lode_status lode_calltree_builder_take(struct lode_calltree_builder *self, const lode_event *events,
                                       size_t count, lode_error *error)
{
    if (!self->has_begun && count > 0)
        self->time = events[0].time;
    self->has_begun = self->has_begun || count > 0;
    for (size_t done = 0, chunk; done < count; done += chunk) {
        chunk = count - done < CHUNK ? count - done : CHUNK;
        if (!reserve_stack(self))
            return lode_fail_memory(error);
        if (self->trace == LODE_TRACE_NONE) {
            LODE_TRY(take(self, events + done, chunk, TRACE_NONE, error));
            continue;
        }
        LODE_TRY(lode_spool_reserve(&self->samples, (size_t)(CHUNK + 1) * LODE_SAMPLE_MAX, error));
        if (self->trace == LODE_TRACE_FULL)
            LODE_TRY(take(self, events + done, chunk, TRACE_ALL, error));
        else
            LODE_TRY(take(self, events + done, chunk, TRACE_SOME, error));
    }
    return LODE_OK;
}

/* ---- tracks ---- */

lode_status lode_calltree_builder_begin(struct lode_calltree_builder *self, uint32_t entry, lode_error *error)
{
    self->depth = 0;
    if (!reserve_stack(self))
        return lode_fail_memory(error);
    self->stack[0] = entry;
    self->time = self->written = self->due = 0;
    self->has_begun = false;
    self->sample_count = 0;
    self->waiting = LODE_NO_NUMBER;
    self->is_idle = false;
    self->is_below = false;
    return LODE_OK;
}

lode_status lode_calltree_builder_below(struct lode_calltree_builder *self,
                                        const lode_function *const *callers, size_t count, lode_error *error)
{
    uint32_t node = self->stack[0];
    for (size_t i = 0; i < count; i++)
        if ((node = call_other(self, node, callers[i])) == 0)
            return lode_fail_memory(error);
    self->stack[0] = node;
    self->is_below = true;
    self->outer_self = calltree_nodes(&self->tree)[node].counts.self;
    return LODE_OK;
}

lode_status lode_calltree_builder_resume(struct lode_calltree_builder *self, const struct lode_cut *cut,
                                         lode_error *error)
{
    uint32_t node = self->stack[0];
    for (size_t i = 0; i < cut->count; i++) {
        if (!reserve_stack(self) || (node = call_other(self, node, cut->calls[i].function)) == 0)
            return lode_fail_memory(error);
        self->stack[++self->depth] = node;
    }
    self->time = cut->time;
    self->has_begun = true;
    return LODE_OK;
}

lode_status lode_calltree_builder_end(struct lode_calltree_builder *self, lode_error *error)
{
    /* What passes between calls of a side track is no time of their caller. */
    if (self->is_below)
        calltree_nodes(&self->tree)[self->stack[0]].counts.self = self->outer_self;
    if (self->trace == LODE_TRACE_NONE)
        return LODE_OK;
    LODE_TRY(lode_spool_reserve(&self->samples, LODE_SAMPLE_MAX, error));
    uint8_t *begin = room_for_samples(self);
    count_bytes(self, put_waiting(self, begin) - begin);
    return LODE_OK;
}
