/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The course of a track: when it waited and for what, its long calls, who calls whom, and how calls
 * change with their number. Memory is limited: once there are too many, the shorter ones go.
 */
#include "analysis/diagnose/calls/part.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAIT_MIN = 2000,    /* nanoseconds; shorter ones mostly measure the recorder */
    SPAN_MIN = 100000,  /* nanoseconds */
    SPANS_MAX = 4096,   /* of a track */
    BEAT_MAX = 1 << 20, /* us; longer ones are cut */
    BETWEEN_LOG = 16,   /* so many times off-CPU between two records double the limit of waits */
    DOUBLINGS_MAX = 40
};

void lode_diagnose_call_seen_open(struct call_seen *seen, size_t waits_max)
{
    *seen = (struct call_seen){.waits_max = waits_max};
    lode_map_init(&seen->edge_index);
    lode_map_init(&seen->arguments);
    lode_array_init(&seen->edges, sizeof(struct call_edge), CALL_EDGES_MAX);
    lode_array_init(&seen->waits, sizeof(struct call_wait), UINT32_MAX);
    lode_array_init(&seen->spans, sizeof(struct call_span), SPANS_MAX + 1);
}

void lode_diagnose_call_seen_close(struct call_seen *seen)
{
    lode_map_free(&seen->edge_index);
    lode_map_free(&seen->arguments);
    lode_array_free(&seen->edges);
    lode_array_free(&seen->waits);
    lode_array_free(&seen->spans);
    for (uint32_t f = 0; f < seen->capacity; f++)
        free(seen->growths[f]);
    free(seen->growths);
}

bool lode_diagnose_call_seen_grow(struct call_seen *seen, uint32_t capacity)
{
    return LODE_GROW_ZEROED(seen->growths, seen->capacity, capacity);
}

void lode_diagnose_call_seen_begin(struct call_seen *seen)
{
    seen->waits.count = seen->spans.count = 0;
    lode_map_clear(&seen->arguments);
    seen->wait_min = WAIT_MIN;
    seen->span_min = SPAN_MIN;
    seen->last_sleep = seen->settled = seen->between = 0;
}

/* ---- waits and spans ---- */

/* Longer ones stay. */
static void raise_wait_min(struct call_seen *seen, uint64_t least)
{
    struct call_wait *items = seen->waits.items;
    size_t count = 0, settled = 0;
    seen->wait_min = least;
    for (size_t i = 0; i < seen->waits.count; i++)
        if (items[i].to - items[i].from >= least) {
            settled += i < seen->settled;
            items[count++] = items[i];
        }
    seen->waits.count = count;
    seen->settled = settled;
}

static void raise_span_min(struct call_seen *seen, uint64_t least)
{
    struct call_span *items = seen->spans.items;
    size_t count = 0;
    seen->span_min = least;
    for (size_t i = 0; i < seen->spans.count; i++)
        if (items[i].to - items[i].from >= least)
            items[count++] = items[i];
    seen->spans.count = count;
}

/*
 * If there are too many, those stay that are at least as long as the smallest limit at which there
 * is room for all, in whatever parts they come.
 */
void lode_diagnose_call_seen_settle(struct call_seen *seen, size_t unsettled)
{
    seen->settled = seen->waits.count - unsettled;
    while (seen->settled > seen->waits_max)
        raise_wait_min(seen, seen->wait_min * 2);
}

void lode_diagnose_call_seen_limit(struct call_seen *seen, uint64_t wait_min, uint64_t span_min)
{
    if (wait_min > seen->wait_min)
        raise_wait_min(seen, wait_min);
    if (span_min > seen->span_min)
        raise_span_min(seen, span_min);
}

static unsigned char why_of(const struct call_worker *w, const struct call_frame *frame, uint32_t entry)
{
    static const unsigned char by_role[ROLE_COUNT] = {
        [ROLE_TAKE] = WHY_LOCK + 1,   [ROLE_COND] = WHY_COND + 1,       [ROLE_JOIN] = WHY_JOIN + 1,
        [ROLE_FUTURE] = WHY_JOIN + 1, [ROLE_BARRIER] = WHY_BARRIER + 1, [ROLE_WORD] = WHY_COND + 1};
    unsigned char role = entry ? w->functions[entry - 1].role : ROLE_NONE;
    if (by_role[role])
        return (unsigned char)(by_role[role] - 1);
    if (CALL_SPINNING >> frame->path & 1)
        return WHY_SPINS;
    switch (frame->path) {
    case LODE_ACTIVITY_SLEEP:
        return WHY_SLEEP;
    case LODE_ACTIVITY_FILE:
        return WHY_FILE;
    case LODE_ACTIVITY_NET:
        return WHY_NET;
    case LODE_ACTIVITY_LOCK:
        return WHY_COND;
    case LODE_ACTIVITY_COUNT:
        return WHY_IDLE;
    default:
        return WHY_OTHER;
    }
}

bool lode_diagnose_call_seen_wait(struct call_worker *w, const struct call_frame *frame, uint64_t from,
                                  uint64_t to)
{
    if (to - from < w->seen.wait_min)
        return true;
    uint32_t entry = frame->pair ? LODE_ARRAY_AT(&w->pairs, struct call_pair, frame->pair - 1)->entry : 0;
    struct call_wait wait = {from, to, frame->holder, entry, why_of(w, frame, entry)};
    return lode_diagnose_call_seen_push(&w->seen, &wait);
}

/*
 * Waits count when a record follows. Until then, the limit grows with the number of times off-CPU,
 * the same in a piece as in the track: no cut is between them and the record.
 */
bool lode_diagnose_call_seen_off(struct call_worker *w, const struct call_frame *frame, uint64_t from,
                                 uint64_t to)
{
    uint64_t doublings = ++w->seen.between >> BETWEEN_LOG;
    if (doublings > 0)
        lode_diagnose_call_seen_limit(
            &w->seen, (uint64_t)WAIT_MIN << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX), 0);
    return lode_diagnose_call_seen_wait(w, frame, from, to);
}

bool lode_diagnose_call_seen_push(struct call_seen *seen, const struct call_wait *wait)
{
    if (wait->to - wait->from < seen->wait_min)
        return true;
    struct call_wait *copy = lode_array_push(&seen->waits);
    if (copy)
        *copy = *wait;
    return copy != NULL;
}

void lode_diagnose_call_seen_record(struct call_seen *seen, bool is_made)
{
    if (is_made)
        seen->waits.count = seen->settled;
    lode_diagnose_call_seen_settle(seen, 0);
}

bool lode_diagnose_call_seen_span(struct call_seen *seen, const struct call_span *span)
{
    if (span->to - span->from < seen->span_min)
        return true;
    struct call_span *copy = lode_array_push(&seen->spans);
    if (copy == NULL)
        return false;
    *copy = *span;
    while (seen->spans.count > SPANS_MAX)
        raise_span_min(seen, seen->span_min * 2);
    return true;
}

static inline bool add_span(struct call_seen *seen, const struct call_frame *frame, uint64_t to, size_t depth)
{
    if (to - frame->enter < seen->span_min)
        return true;
    struct call_span span = {frame->enter, to, frame->function - 1, (uint32_t)depth};
    return lode_diagnose_call_seen_span(seen, &span);
}

void lode_diagnose_call_seen_sleep(struct call_worker *w, struct call_pair *pair, uint64_t from, uint64_t to)
{
    uint64_t last = w->seen.last_sleep, slept = (to - from) / 1000, worked = (from - last) / 1000;
    w->seen.last_sleep = to;
    if (last == 0 && w->part)
        w->part->first_sleep = (struct call_sleep){pair->holder, pair->entry, from, to};
    if (last == 0)
        return;
    slept = slept < BEAT_MAX ? slept : BEAT_MAX;
    worked = worked < BEAT_MAX ? worked : BEAT_MAX;
    pair->beat.count++;
    pair->beat.slept += slept;
    pair->beat.worked += worked;
    pair->beat.slept2 += slept * slept;
    pair->beat.worked2 += worked * worked;
    pair->beat.both += slept * worked;
}

/* ---- callers, and growth ---- */

uint32_t lode_diagnose_call_seen_edge(struct call_seen *seen, uint32_t caller, uint32_t callee)
{
    bool added;
    if (seen->edges.count >= CALL_EDGES_MAX)
        return 0;
    uint32_t *place = lode_map_add(&seen->edge_index, (uint64_t)caller << 32 | callee, 0, &added);
    if (place == NULL || !added)
        return place ? *place : 0;
    struct call_edge *edge = lode_array_push(&seen->edges);
    if (edge == NULL)
        return 0;
    edge->caller = caller;
    edge->callee = callee;
    return *place = (uint32_t)seen->edges.count;
}

bool lode_diagnose_call_seen_enter(struct call_worker *w, struct call_frame *frame,
                                   const struct call_frame *above)
{
    struct call_memo *memo = &w->memos[frame->function - 1];
    if (memo->edge == 0 || memo->caller != above->holder) {
        memo->caller = above->holder;
        memo->edge = lode_diagnose_call_seen_edge(&w->seen, above->holder, frame->function);
    }
    frame->edge = memo->edge;
    if (memo->serial == above->serial)
        memo->number++;
    else /* calls before the piece were perhaps below the same call */
        memo->number = above->serial <= w->seen.carried && memo->serial < w->seen.first ? CALL_RELATIVE : 0;
    memo->serial = above->serial;
    frame->number = memo->number;
    return frame->edge != 0 || w->seen.edges.count >= CALL_EDGES_MAX;
}

static inline bool add_step(struct call_seen *seen, uint32_t function, uint32_t number,
                            const struct call_step *step)
{
    struct call_growth **growth = &seen->growths[function];
    unsigned i = 0;
    if (number >> CALL_STEP_FIRST == 0)
        return true;
    while (i + 1 < CALL_STEPS && number >> (CALL_STEP_FIRST + 1 + i))
        i++;
    if (*growth == NULL && (*growth = calloc(1, sizeof **growth)) == NULL)
        return false;
    struct call_step *at = &(*growth)->steps[i];
    at->calls += step->calls;
    at->numbers += step->numbers;
    at->callees += step->callees;
    at->running += step->running;
    return true;
}

bool lode_diagnose_call_seen_growth(struct call_seen *seen, uint32_t function, uint32_t number,
                                    const struct call_step *step)
{
    return add_step(seen, function, number, step);
}

static inline bool add_growth(struct call_worker *w, const struct call_frame *frame, uint64_t took)
{
    if (frame->number >> CALL_STEP_FIRST == 0)
        return true;
    if (frame->number & CALL_RELATIVE && w->part)
        return lode_diagnose_call_part_growth(w, frame, took);
    struct call_step step = {1, frame->number, frame->callees, took};
    return add_step(&w->seen, frame->function - 1, frame->number, &step);
}

/* Whether a call has the arguments of one before. */
static bool add_arguments(struct call_worker *w, const struct call_frame *frame, uint64_t took)
{
    struct call_function *function = &w->functions[frame->function - 1];
    struct lode_map *known = &w->seen.arguments;
    bool added = true;
    if (known->count >= CALL_ARGUMENTS_MAX)
        added = lode_map_get(known, frame->arguments) == NULL;
    else if (lode_map_add(known, frame->arguments, 0, &added) == NULL)
        return false;
    if (added && w->part && !lode_diagnose_call_part_first(w, frame, took))
        return false;
    function->argued++;
    function->repeated += !added;
    function->repeated_time += added ? 0 : took;
    return true;
}

bool lode_diagnose_call_seen_leave(struct call_worker *w, const struct call_frame *frame, uint64_t time,
                                   bool is_outer)
{
    uint64_t took = w->track.running - frame->running;
    if (frame->edge) {
        struct call_edge *edge = LODE_ARRAY_AT(&w->seen.edges, struct call_edge, frame->edge - 1);
        edge->calls++;
        edge->running += is_outer ? took : 0;
    }
    if (is_outer && !add_growth(w, frame, took))
        return false;
    if (is_outer && frame->arguments && !add_arguments(w, frame, took))
        return false;
    return add_span(&w->seen, frame, time, w->depth);
}

/* ---- the end ---- */

/* False if out of memory. */
static bool copy_items(const struct lode_array *array, void **copy, size_t *count)
{
    size_t size = array->count * array->item_size;
    *copy = size ? malloc(size) : NULL;
    *count = *copy ? array->count : 0;
    if (*copy)
        memcpy(*copy, array->items, size);
    return *copy || size == 0;
}

bool lode_diagnose_call_seen_copy(const struct call_seen *seen, struct call_track *track)
{
    void *waits, *spans;
    bool has_memory = copy_items(&seen->waits, &waits, &track->wait_count);
    has_memory &= copy_items(&seen->spans, &spans, &track->span_count);
    track->waits = waits;
    track->spans = spans;
    return has_memory;
}

bool lode_diagnose_call_seen_end(struct call_seen *seen, struct call_track *track)
{
    lode_diagnose_call_seen_settle(seen, 0);
    track->wait_min = seen->wait_min > WAIT_MIN ? seen->wait_min : 0;
    return lode_diagnose_call_seen_copy(seen, track);
}
