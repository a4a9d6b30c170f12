/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums calls: runs for every event. Whether a call begins or ends is unpredictable, and a branch
 * miss costs more than all other work per event. So the loops avoid such branches: one loop over
 * the stack handles enter and leave alike and keeps ended calls, two more process those.
 */
#include "analysis/calls/calls.h"
#include "analysis/calls/elapsed.h"
#include "analysis/calls/names.h"
#include "base/checked.h"
#include "base/error.h"
#include "model/names/functions.h"
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_FIRST = 1024,
    FUNCTIONS_FIRST = 256,
    LINE = 64,
    CHUNK = 256, /* events at a time: their data stays in the L1 cache */
    OUTSIDE = 1  /* depth outside of all calls */
};

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/*
 * Ended calls: duration and, in one number to save stores, function, whether it is an outermost
 * call, and function of the caller plus 1.
 */
struct ended {
    uint64_t took[CHUNK + 1];
    uint64_t what[CHUNK + 1];
    uint32_t place[CHUNK + 1]; /* of the counter in the sketch */
    size_t count;
};

#define OUTERMOST (UINT32_C(1) << 31)
_Static_assert(LODE_FUNCTIONS_MAX <= OUTERMOST, "functions and the flag share 32 bits");

static inline uint32_t function_of(uint64_t what)
{
    return (uint32_t)what & ~OUTERMOST;
}

/* ---- room ---- */

/* Resizes and zeroes new items. Unlike realloc, aligns to cache lines. */
static bool resize(void *array, size_t from, size_t count, size_t size)
{
    void *old, *items;
    size_t bytes;
    memcpy(&old, array, sizeof old);
    if (!checked_mul_size(count, size, &bytes) || bytes > SIZE_MAX - LINE)
        return false;
    items = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
    if (items == NULL)
        return false;
    if (from > 0)
        memcpy(items, old, from * size);
    memset((unsigned char *)items + from * size, 0, bytes - from * size);
    free(old);
    memcpy(array, &items, sizeof items);
    return true;
}

static bool grow_stack(struct lode_tallies *self)
{
    size_t from = self->depth_max, depth = from ? from * 2 : DEPTH_FIRST;
    if (!resize(&self->begins, from, depth, sizeof *self->begins) ||
        !resize(&self->functions, from, depth, sizeof *self->functions))
        return false;
    self->depth_max = depth;
    return true;
}

static bool grow_functions(struct lode_tallies *self, uint32_t index)
{
    uint32_t from = self->capacity, capacity = from ? from : FUNCTIONS_FIRST;
    while (capacity <= index)
        capacity *= 2; /* indices are below LODE_FUNCTIONS_MAX */
    if (!lode_sketches_reserve(&self->sketches, capacity) ||
        !resize(&self->items, from, capacity, sizeof *self->items) ||
        !resize(&self->active, from, capacity, sizeof *self->active) ||
        !resize(&self->inside, from ? from + 1 : 0, (size_t)capacity + 1, sizeof *self->inside))
        return false;
    for (uint32_t i = from; i < capacity; i++)
        self->items[i].min = UINT64_MAX;
    self->capacity = capacity;
    return true;
}

lode_status lode_tallies_open(struct lode_tallies *tallies, struct lode_call_names *names, lode_error *error)
{
    *tallies = (struct lode_tallies){.names = names};
    lode_sketches_init(&tallies->sketches);
    if (!grow_stack(tallies) || !grow_functions(tallies, 0))
        return lode_fail_memory(error);
    tallies->depth = OUTSIDE;
    return LODE_OK;
}

void lode_tallies_close(struct lode_tallies *tallies)
{
    lode_sketches_free(&tallies->sketches);
    free(tallies->items);
    free(tallies->inside);
    free(tallies->active);
    free(tallies->begins);
    free(tallies->functions);
    free(tallies->groups);
    *tallies = (struct lode_tallies){0};
}

/* Asks for the function that stands for a name; LODE_FUNCTIONS_MAX if out of memory. */
static uint32_t ask_group(struct lode_tallies *self, const lode_function *function)
{
    uint32_t count = self->group_count ? self->group_count : FUNCTIONS_FIRST;
    while (count <= function->index)
        count *= 2;
    if (count > self->group_count && !resize(&self->groups, self->group_count, count, sizeof *self->groups))
        return LODE_FUNCTIONS_MAX;
    self->group_count = count;
    self->groups[function->index] = lode_call_names_group(self->names, function);
    return self->groups[function->index] ? self->groups[function->index] - 1 : LODE_FUNCTIONS_MAX;
}

static inline uint32_t group_of(struct lode_tallies *self, const lode_function *function)
{
    uint32_t index = function->index;
    if (UNLIKELY(index >= self->group_count || self->groups[index] == 0))
        return ask_group(self, function);
    return self->groups[index] - 1;
}

bool lode_tallies_note(struct lode_tallies *self, struct lode_elapsed *elapsed, const lode_event *events,
                       size_t count)
{
    for (const lode_event *event = events; event < events + count; event++) {
        bool done = true;
        if (event->kind == LODE_EVENT_LEAVE || event->kind == LODE_EVENT_SCHED_IN) {
            done = lode_elapsed_leave(elapsed, event->time);
        } else if (event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT) {
            uint32_t group = self->names ? group_of(self, event->function) : event->function->index;
            done = group != LODE_FUNCTIONS_MAX && lode_elapsed_enter(elapsed, group, event->time);
        }
        if (!done)
            return false;
    }
    return true;
}

/* ---- the loops ---- */

/* Rare events: off-CPU time, which counts as a call, and others. Whether it counts as a call. */
static bool note_other(struct lode_tallies *self, const lode_event *event, size_t depth, size_t *end)
{
    *end = event->kind == LODE_EVENT_SCHED_IN;
    if (event->kind != LODE_EVENT_SCHED_IN && event->kind != LODE_EVENT_SCHED_OUT)
        return false;
    if (*end && depth > OUTSIDE) {
        self->out += event->time - self->begins[depth];
        self->calls--; /* compensates for counting it as an ended call */
    }
    return true;
}

/* Updates the stack, which has space for `count` more calls, and records ended calls. */
static bool match(struct lode_tallies *self, const lode_event *events, size_t count, struct ended *ended)
{
    uint64_t *const begins = self->begins;
    uint32_t *const functions = self->functions, *active = self->active, capacity = self->capacity;
    size_t depth = self->depth, n = 0;
    const bool has_names = self->names != NULL;
    for (const lode_event *event = events; event < events + count; event++) {
        size_t end = event->kind;
        if (UNLIKELY(end > LODE_EVENT_LEAVE) && !note_other(self, event, depth, &end))
            continue;
        if (UNLIKELY(depth == end))
            continue; /* nothing is open: OUTSIDE is 1 */
        uint32_t function = has_names ? group_of(self, event->function) : event->function->index;
        if (UNLIKELY(function >= capacity)) {
            if (function == LODE_FUNCTIONS_MAX || !grow_functions(self, function))
                return false;
            active = self->active;
            capacity = self->capacity;
        }
        if (UNLIKELY(event->flags & LODE_EVENT_FAILED)) {
            self->items[function].errors++;
            self->errors++;
        }
        uint64_t time = event->time;
        size_t step = 1 - 2 * end;
        uint32_t open = active[function] += (uint32_t)step;
        ended->took[n] = time - begins[depth];
        /* If none is open, minus one sets the highest bit. */
        ended->what[n] = (uint64_t)functions[depth - 1] << 32 | ((open - 1) & OUTERMOST) | function;
        n += end;
        begins[depth + 1] = time;
        functions[depth + 1] = function + 1;
        depth += step;
    }
    self->depth = depth;
    ended->count = n;
    return true;
}

/* Finds and prefetches the counters. */
static bool find_places(struct lode_tallies *self, struct ended *ended)
{
    struct lode_sketches sketches = self->sketches;
    for (size_t i = 0; i < ended->count; i++) {
        uint32_t function = function_of(ended->what[i]);
        uint32_t place = sketch_place(&sketches, function, ended->took[i]);
        if (UNLIKELY(place == 0)) {
            if (!lode_sketches_add_page(&self->sketches, function, ended->took[i]))
                return false;
            sketches = self->sketches;
            place = sketch_place(&sketches, function, ended->took[i]);
        }
        ended->place[i] = place;
        __builtin_prefetch(&sketches.counters[place], 1);
    }
    return true;
}

/* Adds to a 128-bit sum. The square of less than 4 seconds has 64 bits. */
static inline void add_square(struct lode_tally *tally, uint64_t took)
{
    uint64_t square = took * took;
    tally->squares_low += square;
    bool carries = tally->squares_low < square;
    if (UNLIKELY(carries || took > UINT32_MAX))
        tally->squares_high += (uint64_t)((lode_square)took * took >> 64) + carries;
}

/* All branches are rare or predictable: recursive functions mostly recurse. */
static bool add_up(struct lode_tallies *self, const struct ended *ended)
{
    struct lode_tally *const items = self->items;
    uint64_t *const inside = self->inside;
    uint8_t *const counters = self->sketches.counters;
    for (size_t i = 0; i < ended->count; i++) {
        uint64_t what = ended->what[i], took = ended->took[i];
        struct lode_tally *tally = &items[function_of(what)];
        uint32_t place = ended->place[i];
        inside[what >> 32] += took;
        tally->sum += took;
        add_square(tally, took);
        if (UNLIKELY(took < tally->min))
            tally->min = took;
        if (UNLIKELY(took > tally->max))
            tally->max = took;
        if (UNLIKELY((what & OUTERMOST) == 0))
            tally->nested += took;
        if (UNLIKELY(++counters[place] == 0) && !lode_sketches_carry(&self->sketches, place))
            return false;
    }
    return true;
}

lode_status lode_tallies_take(struct lode_tallies *self, const lode_event *events, size_t count,
                              lode_error *error)
{
    struct ended ended;
    for (size_t done = 0; done < count;) {
        size_t chunk = count - done < CHUNK ? count - done : CHUNK;
        if (self->depth_max - self->depth < CHUNK + 2 && !grow_stack(self))
            return lode_fail_memory(error);
        if (!match(self, events + done, chunk, &ended) || !find_places(self, &ended) || !add_up(self, &ended))
            return lode_fail_memory(error);
        self->calls += ended.count;
        done += chunk;
    }
    return LODE_OK;
}

lode_status lode_tallies_resume(struct lode_tallies *self, const struct lode_cut *cut, uint64_t from,
                                lode_error *error)
{
    for (size_t i = 0; i < cut->count; i++) {
        const struct lode_cut_call *call = &cut->calls[i];
        lode_event event = {.time = call->begin > from ? call->begin : from,
                            .function = call->function,
                            .kind = LODE_EVENT_ENTER};
        LODE_TRY(lode_tallies_take(self, &event, 1, error));
    }
    return LODE_OK;
}

void lode_tallies_pause(struct lode_tallies *self, const struct lode_cut *cut)
{
    for (size_t depth = self->depth; depth > OUTSIDE; depth--) {
        uint32_t function = self->functions[depth] - 1;
        uint64_t took = cut->time - self->begins[depth];
        self->inside[self->functions[depth - 1]] += took;
        self->items[function].sum += took;
        if (--self->active[function] > 0)
            self->items[function].nested += took;
    }
    self->depth = OUTSIDE;
}

void lode_tallies_end(struct lode_tallies *self, lode_track_row *row)
{
    /* Tracks are balanced, but pieces leave calls open: those count where they end. */
    if (self->depth > OUTSIDE)
        memset(self->active, 0, self->capacity * sizeof *self->active);
    row->calls = self->calls;
    row->errors = self->errors;
    row->total = self->inside[0];
    row->out = self->out;
    self->calls = self->errors = self->out = self->inside[0] = 0;
    self->depth = OUTSIDE;
}
