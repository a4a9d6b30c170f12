/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of a track, in order, become what one worker would have made of all of it. */
#include "analysis/calls/parts/pieces.h"
#include "analysis/diagnose/calls/part.h"
#include "base/error.h"

/* The clocks of the track when a piece began. */
struct clocks {
    uint64_t running, useful, preempted;
};

static struct clocks clocks_of(const struct call_worker *w)
{
    return (struct clocks){w->track.running, w->track.useful, w->track.preempted};
}

/* ---- numbers of calls ---- */

/* How many calls of a function the open call at this depth made, after it called no other way. */
static uint32_t base_of(const struct call_worker *w, uint32_t function, uint32_t parent)
{
    const struct call_memo *memo = &w->memos[function];
    return memo->serial == w->frames[parent].serial ? memo->number + 1 : 0;
}

static const uint8_t *get(const uint8_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0;; shift += 7) {
        *value |= (uint64_t)(*at & 0x7f) << shift;
        if ((*at++ & 0x80) == 0)
            return at;
    }
}

static bool join_run(struct call_worker *w, const struct call_run *run)
{
    const uint8_t *end = run->bytes + run->size;
    if (!lode_diagnose_call_know(w, run->function))
        return false;
    uint32_t base = base_of(w, run->function, run->parent), number = base;
    for (const uint8_t *at = run->bytes; at < end; number++) {
        uint64_t callees, left_out = 0, took;
        at = get(at, &callees);
        at = callees & 1 ? get(at, &left_out) : at;
        at = get(at, &took);
        number += (uint32_t)left_out;
        struct call_step step = {1, number, callees >> 1, took};
        if (!lode_diagnose_call_seen_growth(&w->seen, run->function, number, &step))
            return false;
    }
    struct call_step late = run->late;
    late.numbers += late.calls * base;
    return late.calls == 0 || lode_diagnose_call_seen_growth(&w->seen, run->function, UINT32_MAX, &late);
}

/* Relative numbers become those of the track. */
static bool join_numbers(struct call_worker *w, struct call_part *part)
{
    for (size_t i = 0; i < part->runs.count; i++)
        if (!join_run(w, LODE_ARRAY_AT(&part->runs, struct call_run, i)))
            return false;
    for (size_t i = part->carried + 1; i <= part->depth; i++) {
        struct call_frame *frame = &part->frames[i];
        if (!lode_diagnose_call_know(w, frame->function - 1))
            return false;
        if (frame->number & CALL_RELATIVE)
            frame->number =
                (frame->number & ~CALL_RELATIVE) + base_of(w, frame->function - 1, (uint32_t)i - 1);
    }
    for (size_t i = 0; i < part->numbers.count; i++) {
        struct call_number *number = LODE_ARRAY_AT(&part->numbers, struct call_number, i);
        if (!lode_diagnose_call_know(w, number->function))
            return false;
        if (number->number & CALL_RELATIVE && number->parent)
            number->number =
                (number->number & ~CALL_RELATIVE) + base_of(w, number->function, number->parent - 1);
    }
    return true;
}

/* Once the calls are open that are open after the piece. */
static void keep_numbers(struct call_worker *w, const struct call_part *part)
{
    for (size_t i = 0; i < part->numbers.count; i++) {
        const struct call_number *number = LODE_ARRAY_AT(&part->numbers, struct call_number, i);
        struct call_memo *memo = &w->memos[number->function];
        memo->number = number->number;
        memo->serial = number->parent ? w->frames[number->parent - 1].serial : 0;
    }
}

/* ---- locks ---- */

/* Since when a lock is held that was taken in a call, for all that is known. */
static struct call_hold hold_in(const struct call_worker *w, size_t caller)
{
    const struct call_frame *frame = &w->frames[caller];
    return w->woken.since > frame->enter ? w->woken : (struct call_hold){frame->enter, frame->paused};
}

static void join_drop(struct call_worker *w, const struct clocks *before, const struct call_drop *drop)
{
    struct call_hold hold = drop->hold;
    hold.paused += before->preempted;
    if (w->hold_count) {
        w->hold_count--;
        hold = w->holds[--w->hold_end % CALL_HOLDS_MAX];
    } else if (drop->caller)
        hold = hold_in(w, drop->caller);
    else if (!drop->has_hold)
        return;
    w->track.holding += drop->time - hold.since - (before->preempted + drop->preempted - hold.paused);
}

static void join_locks(struct call_worker *w, const struct clocks *before, const struct call_part *part)
{
    for (size_t i = 0; i < part->drops.count; i++)
        join_drop(w, before, LODE_ARRAY_AT(&part->drops, struct call_drop, i));
    size_t open = part->from ? part->from->count : 0;
    for (size_t i = 1; i <= open; i++) {
        const struct call_drops *drops = &part->late_drops[i];
        struct call_hold hold = hold_in(w, i);
        w->track.holding += drops->sum - drops->count * (before->preempted + hold.since - hold.paused);
    }
    w->hold_count = w->hold_count < part->base ? w->hold_count : part->base;
    for (uint32_t i = 0; i < part->hold_count; i++)
        w->holds[w->hold_end++ % CALL_HOLDS_MAX] =
            (struct call_hold){part->holds[i].since, part->holds[i].paused + before->preempted};
    w->hold_count += part->hold_count;
    if (part->woken.since)
        w->woken = (struct call_hold){part->woken.since, part->woken.paused + before->preempted};
}

/* Time of calls while a lock was held that was taken before the piece. */
static bool join_unsure(struct call_worker *w, const struct call_part *part, uint32_t held)
{
    for (size_t i = 0; i < part->unsure.count; i++) {
        const struct call_unsure *unsure = LODE_ARRAY_AT(&part->unsure, struct call_unsure, i);
        if (held <= unsure->popped)
            continue;
        struct call_pair *pair = lode_diagnose_call_pair(w, unsure->holder, unsure->entry);
        if (pair == NULL)
            return false;
        pair->locked += unsure->locked;
    }
    return true;
}

/* ---- calls that end in the piece ---- */

/* What the piece has until a time: waits and spans are in the order of their ends. */
struct place {
    size_t held, waits, spans;
};

static bool join_until(struct call_worker *w, const struct call_part *part, struct place *at, uint64_t time,
                       size_t held)
{
    const struct call_track *track = &part->track;
    for (; at->held < held; at->held++) {
        const struct call_held *more = LODE_ARRAY_AT(&part->held, struct call_held, at->held);
        if (!lode_diagnose_call_know(w, more->function))
            return false;
        struct call_memo *memo = &w->memos[more->function];
        if (memo->held == 0)
            w->touched[w->touched_count++] = more->function;
        memo->held += more->held;
        memo->alone += more->alone;
    }
    for (; at->waits < track->wait_count && track->waits[at->waits].to <= time; at->waits++)
        if (!lode_diagnose_call_seen_push(&w->seen, &track->waits[at->waits]))
            return false;
    for (; at->spans < track->span_count && track->spans[at->spans].to <= time; at->spans++)
        if (!lode_diagnose_call_seen_span(&w->seen, &track->spans[at->spans]))
            return false;
    return true;
}

/* The innermost open call ends. `held`: locks that were held before the piece. */
static bool join_end(struct call_worker *w, const struct clocks *before, const struct call_end *end,
                     uint32_t held)
{
    struct call_frame *frame = &w->frames[w->depth];
    const lode_event event = {.time = end->time, .kind = LODE_EVENT_LEAVE, .flags = end->flags};
    uint32_t hold_count = w->hold_count;
    size_t waits = w->seen.waits.count;
    frame->self += end->self;
    frame->callees += end->callees;
    w->track.running = before->running + end->running;
    w->track.useful = before->useful + end->useful;
    w->track.preempted = before->preempted + end->preempted;
    w->hold_count = end->is_locked || (end->may_be_locked && held > end->popped);
    bool has_memory = lode_diagnose_call_end_joined(w, &event);
    w->hold_count = hold_count;
    if (end->is_unsettled)
        w->seen.waits.count = waits;
    return has_memory;
}

/* Of the waits after the last record of the piece, those that are long enough. */
static size_t count_unsettled(const struct call_worker *w, const struct call_part *part)
{
    const struct call_track *track = &part->track;
    size_t count = 0;
    for (size_t i = track->wait_count - part->unsettled; i < track->wait_count; i++)
        count += track->waits[i].to - track->waits[i].from >= w->seen.wait_min;
    return count;
}

static bool join_ends(struct call_worker *w, const struct clocks *before, const struct call_part *part,
                      uint32_t held)
{
    const struct lode_array *ends = &part->ends;
    struct place at = {0};
    if (part->has_records)
        lode_diagnose_call_seen_record(&w->seen, part->is_first_made);
    lode_diagnose_call_seen_limit(&w->seen, part->wait_min, part->span_min);
    size_t unsettled = count_unsettled(w, part);
    for (size_t i = 0; i < ends->count; i++) {
        const struct call_end *end = LODE_ARRAY_AT(ends, struct call_end, i);
        if (!join_until(w, part, &at, end->time, end->held))
            return false;
        size_t waits = w->seen.waits.count;
        if (!join_end(w, before, end, held))
            return false;
        unsettled += i + 1 == ends->count && part->ends_last ? w->seen.waits.count - waits : 0;
    }
    if (!join_until(w, part, &at, UINT64_MAX, part->held.count))
        return false;
    if (part->has_records)
        lode_diagnose_call_seen_settle(&w->seen, unsettled);
    return true;
}

/* ---- what is open after the piece ---- */

static bool join_frames(struct call_worker *w, const struct clocks *before, const struct call_part *part)
{
    for (size_t i = 1; i <= part->carried; i++) {
        w->frames[i].self += part->frames[i].self;
        w->frames[i].callees += part->frames[i].callees;
    }
    for (size_t i = part->carried + 1; i <= part->depth; i++) {
        const struct call_frame *more = &part->frames[i];
        struct call_frame *frame = lode_diagnose_call_open(w, more->function - 1, more->enter);
        if (frame == NULL)
            return false;
        frame->self = more->self;
        frame->running = before->running + more->running;
        frame->useful = before->useful + more->useful;
        frame->paused = before->preempted + more->paused;
        frame->number = more->number;
        frame->callees = more->callees;
        frame->arguments = more->arguments;
        bool is_own = w->functions[more->function - 1].activity == LODE_ACTIVITY_OWN;
        frame->edge = is_own ? lode_diagnose_call_seen_edge(&w->seen, frame[-1].holder, more->function) : 0;
        if (is_own && frame->edge == 0 && w->seen.edges.count < CALL_EDGES_MAX)
            return false;
    }
    return true;
}

/* ---- sums ---- */

static bool join_track(struct call_worker *w, const struct clocks *before, const struct call_part *part)
{
    struct call_track *sum = &w->track;
    const struct call_track *more = &part->track;
    sum->running = before->running + more->running;
    sum->useful = before->useful + more->useful;
    sum->preempted = before->preempted + more->preempted;
    sum->calls += more->calls;
    sum->blocked += more->blocked;
    sum->mutual += more->mutual;
    sum->stolen += more->stolen;
    sum->yielded += more->yielded;
    for (int a = 0; a < ACTIVITIES; a++)
        sum->time[a] += more->time[a];
    sum->joining += more->joining;
    sum->barriers += more->barriers;
    sum->holding += more->holding;
    sum->parallel += more->parallel;
    sum->region += more->region;
    sum->unended = part->has_records ? more->unended : sum->unended;
    sum->entry = sum->entry ? sum->entry : more->entry;
    sum->are_all = sum->are_all && more->are_all;
    for (size_t i = 0; i < more->collective_count; i++)
        if (!lode_diagnose_call_add_collective(w, &more->collectives[i]))
            return false;
    return true;
}

static bool join_sleeps(struct call_worker *w, const struct call_part *part)
{
    const struct call_sleep *first = &part->first_sleep;
    if (first->to) {
        struct call_pair *pair = lode_diagnose_call_pair(w, first->holder, first->entry);
        if (pair == NULL)
            return false;
        lode_diagnose_call_seen_sleep(w, pair, first->from, first->to);
    }
    w->seen.last_sleep = part->last_sleep ? part->last_sleep : w->seen.last_sleep;
    return true;
}

/* Calls that were the first ones with their arguments in the piece, but not in the track. */
static bool join_arguments(struct call_worker *w, const struct call_part *part)
{
    struct lode_map *known = &w->seen.arguments;
    for (size_t i = 0; i < part->firsts.count; i++) {
        const struct call_first *first = LODE_ARRAY_AT(&part->firsts, struct call_first, i);
        bool added;
        if (lode_map_add(known, first->arguments, 0, &added) == NULL ||
            (!added && !lode_diagnose_call_know(w, first->function)))
            return false;
        if (added)
            continue;
        w->functions[first->function].repeated++;
        w->functions[first->function].repeated_time += first->took;
    }
    return known->count < CALL_ARGUMENTS_MAX;
}

/* ---- pieces ---- */

static bool join(struct call_worker *w, struct call_part *part)
{
    const struct clocks before = clocks_of(w);
    uint32_t held = w->hold_count;
    if (!join_numbers(w, part) || !join_unsure(w, part, held))
        return false;
    join_locks(w, &before, part);
    if (!join_ends(w, &before, part, held) || w->depth != part->carried || !join_track(w, &before, part) ||
        !join_sleeps(w, part) || !join_frames(w, &before, part) || !join_arguments(w, part))
        return false;
    keep_numbers(w, part);
    return true;
}

/* Removes the part that begins at a cut from the list; NULL: it is not there. */
static struct call_part *find_part(struct call_join *self)
{
    struct call_part **at = &self->waiting, *part;
    while (*at && (*at)->from != self->next)
        at = &(*at)->next;
    part = *at;
    if (part)
        *at = part->next;
    return part;
}

lode_status lode_diagnose_call_join(struct call_join *self, struct call_part *part, struct call_track *track,
                                    lode_error *error)
{
    struct call_worker *w = &self->w;
    part->next = self->waiting;
    self->waiting = part;
    while ((part = find_part(self)) != NULL) {
        size_t open = part->from ? part->from->count : 0;
        bool is_last = part->to == NULL;
        bool fits = w->depth == open && part->carried <= open && join(w, part);
        self->next = part->to;
        lode_piece_add(&self->row, &part->row);
        lode_diagnose_call_part_free(part);
        if (!fits)
            return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                             "the pieces of a track do not fit");
        if (is_last)
            return lode_diagnose_call_worker_end(w, track, error);
    }
    return LODE_OK;
}

void lode_diagnose_call_join_close(struct call_join *self)
{
    while (self->waiting) {
        struct call_part *part = self->waiting;
        self->waiting = part->next;
        lode_diagnose_call_part_free(part);
    }
    if (self->is_open)
        lode_diagnose_call_worker_close(&self->w);
}
