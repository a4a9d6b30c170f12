/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker leaves of a piece of a track. */
#include "analysis/diagnose/calls/part.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

enum {
    LATE = 1 << (CALL_STEP_FIRST + CALL_STEPS - 1), /* numbers of the last step */
    CALLS_MAX = 1 << 30,                            /* of a piece: numbers have no more bits */
    RUN_BYTES_MAX = 1 << 26,                        /* of a piece */
    CODE_MAX = 32                                   /* bytes of three numbers */
};

static struct call_part *new_part(void)
{
    struct call_part *part = calloc(1, sizeof *part);
    if (part == NULL)
        return NULL;
    lode_array_init(&part->ends, sizeof(struct call_end), UINT32_MAX);
    lode_array_init(&part->held, sizeof(struct call_held), UINT32_MAX);
    lode_array_init(&part->numbers, sizeof(struct call_number), UINT32_MAX);
    lode_array_init(&part->runs, sizeof(struct call_run), UINT32_MAX - 1);
    lode_array_init(&part->firsts, sizeof(struct call_first), CALL_ARGUMENTS_MAX);
    lode_array_init(&part->drops, sizeof(struct call_drop), CALL_HOLDS_MAX);
    lode_array_init(&part->unsure, sizeof(struct call_unsure), UINT32_MAX);
    return part;
}

void lode_diagnose_call_part_free(struct call_part *part)
{
    if (part == NULL)
        return;
    for (size_t i = 0; i < part->runs.count; i++)
        free(LODE_ARRAY_AT(&part->runs, struct call_run, i)->bytes);
    lode_array_free(&part->ends);
    lode_array_free(&part->held);
    lode_array_free(&part->numbers);
    lode_array_free(&part->runs);
    lode_array_free(&part->firsts);
    lode_array_free(&part->drops);
    lode_array_free(&part->unsure);
    free(part->late_drops);
    free(part->frames);
    free(part->track.collectives);
    free(part->track.waits);
    free(part->track.spans);
    free(part);
}

/* ---- the begin ---- */

lode_status lode_diagnose_call_worker_resume(struct call_worker *w, const struct lode_cut *cut,
                                             lode_error *error)
{
    struct call_part *part = w->part = new_part();
    LODE_TRY_ALLOC(part, error);
    part->from = cut;
    part->late_drops = calloc(cut->count + 1, sizeof *part->late_drops);
    LODE_TRY_ALLOC(part->late_drops, error);
    for (size_t i = 0; i < cut->count; i++)
        if (lode_diagnose_call_open(w, cut->calls[i].function->index, cut->calls[i].begin) == NULL)
            return lode_fail_memory(error);
    w->carried = cut->count;
    w->seen.carried = w->seen.serial;
    w->base = CALL_HOLDS_MAX;
    w->last = cut->time;
    w->has_begun = true;
    return LODE_OK;
}

/* ---- the piece ---- */

static bool has_records(const struct call_worker *w)
{
    return w->seen.serial > w->seen.carried || w->part->ends.count > 0;
}

/* The end of a call that is the last record; NULL: none is. */
static struct call_end *last_end(const struct call_worker *w)
{
    const struct lode_array *ends = &w->part->ends;
    struct call_end *end = ends->count ? LODE_ARRAY_AT(ends, struct call_end, ends->count - 1) : NULL;
    return end && end->serial == w->seen.serial ? end : NULL;
}

void lode_diagnose_call_part_made(struct call_worker *w)
{
    struct call_end *end = last_end(w);
    if (end)
        end->is_unsettled = true;
    else if (!has_records(w))
        w->part->is_first_made = true;
}

bool lode_diagnose_call_part_leave(struct call_worker *w, const lode_event *event)
{
    struct call_part *part = w->part;
    const struct call_frame *frame = &w->frames[w->depth];
    struct call_end *end = lode_array_push(&part->ends);
    if (end == NULL)
        return false;
    *end = (struct call_end){.time = event->time,
                             .running = w->track.running,
                             .useful = w->track.useful,
                             .preempted = w->track.preempted,
                             .self = frame->self,
                             .serial = w->seen.serial,
                             .held = w->touched_count,
                             .callees = frame->callees,
                             .popped = part->popped,
                             .flags = event->flags,
                             .is_locked = w->hold_count > 0,
                             .may_be_locked = w->base > 0};
    w->carried = w->depth - 1;
    return lode_diagnose_call_end_here(w, event);
}

/* What is not sure depends on how many locks were released until now. */
static void note_unsure(struct call_worker *w)
{
    struct call_part *part = w->part;
    for (size_t i = 0; i < w->pairs.count; i++) {
        struct call_pair *pair = LODE_ARRAY_AT(&w->pairs, struct call_pair, i);
        if (pair->unsure == 0)
            continue;
        struct call_unsure *unsure = lode_array_push(&part->unsure);
        if (unsure)
            *unsure = (struct call_unsure){pair->holder, pair->entry, part->popped, pair->unsure};
        else
            part->has_failed = true;
        pair->unsure = 0;
    }
}

bool lode_diagnose_call_part_drop(struct call_worker *w, uint64_t time)
{
    struct call_part *part = w->part;
    const struct call_frame *caller = &w->frames[w->depth];
    const struct call_hold begin = {caller->enter, caller->paused};
    bool is_woken = w->woken.since > caller->enter;
    bool is_early = w->depth > 0 && w->depth <= w->carried && !is_woken;
    if (w->base == 0 && is_early) {
        part->late_drops[w->depth].count++;
        part->late_drops[w->depth].sum += time - w->track.preempted;
    }
    if (w->base == 0)
        return is_early;
    struct call_drop *drop = lode_array_push(&part->drops);
    if (drop)
        *drop = (struct call_drop){time, w->track.preempted, is_woken ? w->woken : begin,
                                   is_early ? w->depth : 0, w->depth > 0 && !is_early};
    else
        part->has_failed = true;
    note_unsure(w);
    part->popped++;
    w->base--;
    return true;
}

/* ---- calls with relative numbers ---- */

static uint8_t *put(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static struct call_run *run_of(struct call_worker *w, uint32_t function)
{
    struct call_memo *memo = &w->memos[function];
    if (memo->run == 0) {
        struct call_run *run = lode_array_push(&w->part->runs);
        if (run == NULL)
            return NULL;
        run->function = function;
        run->parent = (uint32_t)w->depth;
        memo->run = (uint32_t)w->part->runs.count;
    }
    return LODE_ARRAY_AT(&w->part->runs, struct call_run, memo->run - 1);
}

static bool has_room(struct call_part *part, struct call_run *run)
{
    if (run->capacity - run->size >= CODE_MAX)
        return true;
    size_t capacity = run->capacity ? run->capacity * 2 : (size_t)4 * CODE_MAX;
    part->run_bytes += capacity - run->capacity;
    return part->run_bytes <= RUN_BYTES_MAX && LODE_GROW(run->bytes, run->capacity, capacity);
}

bool lode_diagnose_call_part_growth(struct call_worker *w, const struct call_frame *frame, uint64_t took)
{
    struct call_run *run = run_of(w, frame->function - 1);
    uint32_t number = frame->number & ~CALL_RELATIVE;
    if (run == NULL)
        return false;
    if (number >= LATE) {
        run->late.calls++;
        run->late.numbers += number;
        run->late.callees += frame->callees;
        run->late.running += took;
        return true;
    }
    if (!has_room(w->part, run))
        return false;
    uint32_t left_out = number - run->next; /* calls whose ends were made up */
    uint8_t *end = put(run->bytes + run->size, (uint64_t)frame->callees << 1 | (left_out > 0));
    end = put(left_out ? put(end, left_out) : end, took);
    run->size = (size_t)(end - run->bytes);
    run->next = number + 1;
    return true;
}

bool lode_diagnose_call_part_first(struct call_worker *w, const struct call_frame *frame, uint64_t took)
{
    struct call_first *first = lode_array_push(&w->part->firsts);
    if (first == NULL)
        return false;
    *first = (struct call_first){frame->arguments, took, frame->function - 1};
    return true;
}

/* ---- the end ---- */

lode_status lode_diagnose_call_worker_stop(struct call_worker *w, const struct lode_cut *cut,
                                           lode_error *error)
{
    if (w->part == NULL && (w->part = new_part()) == NULL)
        return lode_fail_memory(error);
    w->part->to = cut;
    if (w->depth == cut->count && !w->is_off)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "the pieces of a track do not fit");
}

/* Those of a piece are all firsts of the track so far, if it is the first one. */
static void take_arguments(struct call_worker *w)
{
    const struct lode_map *map = &w->seen.arguments;
    w->part->has_failed |= map->count >= CALL_ARGUMENTS_MAX;
    for (size_t i = 0; w->part->from == NULL && !w->part->has_failed && i < map->capacity; i++) {
        if (!map->slots[i].used)
            continue;
        struct call_first *first = lode_array_push(&w->part->firsts);
        if (first)
            first->arguments = map->slots[i].key;
        else
            w->part->has_failed = true;
    }
}

static void take_held(struct call_worker *w)
{
    for (size_t i = 0; i < w->touched_count; i++) {
        struct call_memo *memo = &w->memos[w->touched[i]];
        struct call_held *held = lode_array_push(&w->part->held);
        if (held)
            *held = (struct call_held){w->touched[i], memo->held, memo->alone};
        else
            w->part->has_failed = true;
        memo->held = memo->alone = 0;
    }
    w->touched_count = 0;
}

/* The depth of an open call, whose serials rise with it, + 1; 0: it has ended. */
static uint32_t find_open(const struct call_worker *w, uint64_t serial)
{
    size_t low = 0, high = w->depth + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(w->frames[middle].serial <= serial ? &low : &high) = middle;
    }
    return w->frames[low].serial == serial ? (uint32_t)low + 1 : 0;
}

static void take_numbers(struct call_worker *w)
{
    for (uint32_t f = 0; f < w->capacity; f++) {
        const struct call_memo *memo = &w->memos[f];
        if (memo->serial < w->seen.first)
            continue;
        struct call_number *number = lode_array_push(&w->part->numbers);
        if (number)
            *number = (struct call_number){f, memo->number, find_open(w, memo->serial)};
        else
            w->part->has_failed = true;
    }
    for (size_t i = 0; i < w->part->runs.count; i++)
        w->memos[LODE_ARRAY_AT(&w->part->runs, struct call_run, i)->function].run = 0;
}

static void take_frames(struct call_worker *w)
{
    struct call_part *part = w->part;
    part->frames = calloc(w->depth + 1, sizeof *part->frames);
    part->has_failed |= part->frames == NULL;
    if (part->frames)
        memcpy(part->frames, w->frames, (w->depth + 1) * sizeof *part->frames);
    part->depth = w->depth;
    part->carried = w->carried;
    w->track.time[LODE_ACTIVITY_COUNT] += w->frames[0].self;
    while (w->depth)
        w->memos[w->frames[w->depth--].function - 1].active = 0;
}

static void take_locks(struct call_worker *w)
{
    struct call_part *part = w->part;
    note_unsure(w);
    for (uint32_t i = 0; i < w->hold_count; i++)
        part->holds[i] = w->holds[(w->hold_end - w->hold_count + i) % CALL_HOLDS_MAX];
    part->hold_count = w->hold_count;
    part->base = w->base;
    part->woken = w->woken;
}

lode_status lode_diagnose_call_worker_leave(struct call_worker *w, struct call_part **out, lode_error *error)
{
    struct call_part *part = w->part;
    part->has_failed |= w->seen.serial - w->seen.first >= CALLS_MAX;
    part->has_records = has_records(w);
    part->ends_last = last_end(w) != NULL;
    part->unsettled = w->seen.waits.count - w->seen.settled;
    part->wait_min = w->seen.wait_min;
    part->span_min = w->seen.span_min;
    part->last_sleep = w->seen.last_sleep;
    take_arguments(w);
    take_held(w);
    take_numbers(w);
    take_frames(w);
    take_locks(w);
    part->has_failed |= !lode_diagnose_call_seen_copy(&w->seen, &w->track) || !lode_diagnose_call_flush(w);
    part->track = w->track;
    w->track = (struct call_track){0};
    w->part = NULL;
    *out = part;
    return part->has_failed ? lode_fail_memory(error) : LODE_OK;
}
