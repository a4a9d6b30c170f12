/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the calls of a track. Each thread has three clocks: running time, useful running time,
 * and time that it was pre-empted. What a call took is a difference of clocks, so that off-CPU time
 * costs nothing per call.
 */
#include "analysis/diagnose/calls/pass.h"

#include "base/memory/hash.h"
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTIONS_FIRST = 256,
    DEPTH_FIRST = 256,
    LONG_CALL = 2000 /* nanoseconds; shorter ones mostly measure the recorder */
};

/* Waiting for other threads or ranks. */
#define MUTUAL (CALL_SET(MPI) | CALL_SET(MPI_STARTUP) | CALL_OPENMP | CALL_SET(LOCK))

/* ---- space ---- */

static bool grow_functions(struct call_worker *w, uint32_t index)
{
    uint32_t capacity = w->capacity ? w->capacity : FUNCTIONS_FIRST;
    while (capacity <= index)
        capacity *= 2; /* indices are below LODE_FUNCTIONS_MAX */
    if (!lode_grow(&w->functions, w->capacity, capacity, sizeof *w->functions, true) ||
        !lode_grow(&w->memos, w->capacity, capacity, sizeof *w->memos, true) ||
        !lode_grow(&w->touched, w->capacity, capacity, sizeof *w->touched, false) ||
        !lode_sketches_reserve(&w->sketches, capacity) || !lode_diagnose_call_seen_grow(&w->seen, capacity))
        return false;
    w->capacity = capacity;
    return true;
}

static bool grow_frames(struct call_worker *w)
{
    size_t depth = w->depth_max ? w->depth_max * 2 : DEPTH_FIRST;
    return LODE_GROW(w->frames, w->depth_max, depth);
}

lode_status lode_diagnose_call_worker_open(struct call_worker *w, const struct lode_diagnosis *d,
                                           size_t collectives_max, size_t waits_max, lode_error *error)
{
    *w = (struct call_worker){.kinds = d->options.kinds,
                              .recording = d->calls->recording,
                              .collectives_max = collectives_max,
                              .is_blocked_known = d->calls->has_sched};
    lode_sketches_init(&w->sketches);
    lode_diagnose_call_seen_open(&w->seen, waits_max);
    lode_map_init(&w->index);
    lode_array_init(&w->pairs, sizeof(struct call_pair), UINT32_MAX - 1);
    return grow_functions(w, 0) && grow_frames(w) ? LODE_OK : lode_fail_memory(error);
}

void lode_diagnose_call_worker_close(struct call_worker *w)
{
    lode_sketches_free(&w->sketches);
    lode_diagnose_call_seen_close(&w->seen);
    lode_map_free(&w->index);
    lode_array_free(&w->pairs);
    free(w->functions);
    free(w->memos);
    free(w->touched);
    free(w->frames);
    free(w->track.collectives);
}

/* ---- functions and pairs ---- */

/* Templates of the C++ library are compiled into the program: their time is that of callers. */
static bool is_of_library(const char *simple)
{
    return strncmp(simple, "std::", 5) == 0 || strncmp(simple, "__gnu_cxx::", 11) == 0;
}

static void learn(struct call_worker *w, const lode_function *function)
{
    char simple[LODE_NAME_COMPARED];
    struct call_function *known = &w->functions[function->index];
    struct lode_decision decision = lode_decide_call(w->kinds, function);
    enum call_role role = lode_diagnose_call_role(decision.activity, decision.effect);
    lode_function_label_as(function, LODE_NAME_SIMPLE, simple, sizeof simple);
    /* Of functions of the application, only the bodies of regions are known by name. */
    bool is_open = decision.decided != LODE_DECIDED_USER;
    if (is_open && lode_diagnose_call_is_body(function->name)) {
        decision = (struct lode_decision){.activity = LODE_ACTIVITY_OWN};
        role = ROLE_BODY;
    } else if (is_open && decision.activity == LODE_ACTIVITY_OWN && is_of_library(simple))
        decision.activity = LODE_ACTIVITY_LIB;
    known->activity = (unsigned char)decision.activity;
    known->effect = (unsigned char)decision.effect;
    known->role = (unsigned char)role;
    known->spins = decision.effect == LODE_EFFECT_YIELD || decision.effect == LODE_EFFECT_SPIN;
    known->is_known = true;
}

/* The pair of two functions (index + 1) + 1; 0 if out of memory. */
static uint32_t find_pair(struct call_worker *w, uint32_t holder, uint32_t entry)
{
    bool added;
    uint32_t *place = lode_map_add(&w->index, (uint64_t)holder << 32 | entry, 0, &added);
    if (place == NULL || !added)
        return place ? *place : 0;
    struct call_pair *pair = lode_array_push(&w->pairs);
    if (pair == NULL)
        return 0;
    pair->holder = holder;
    pair->entry = entry;
    return *place = (uint32_t)w->pairs.count;
}

static struct call_pair *pair_at(const struct call_worker *w, uint32_t pair)
{
    return LODE_ARRAY_AT(&w->pairs, struct call_pair, pair - 1);
}

/* ---- roles ---- */

static void take_lock(struct call_worker *w, uint64_t time)
{
    w->holds[w->hold_end++ % CALL_HOLDS_MAX] = (struct call_hold){time, w->track.preempted};
    w->hold_count += w->hold_count < CALL_HOLDS_MAX;
}

static void drop_lock(struct call_worker *w, uint64_t time)
{
    const struct call_frame *caller = &w->frames[w->depth];
    struct call_hold hold = {caller->enter, caller->paused};
    if (w->hold_count) {
        w->hold_count--;
        hold = w->holds[--w->hold_end % CALL_HOLDS_MAX];
    } else if (w->depth == 0)
        return;
    else if (w->woken.since > hold.since) /* recorders may miss calls that take locks */
        hold = w->woken;
    w->track.holding += time - hold.since - (w->track.preempted - hold.paused);
}

static bool add_collective(struct call_worker *w, const struct call_frame *frame, uint64_t time)
{
    struct call_track *track = &w->track;
    if (track->collective_count >= w->collectives_max) {
        track->are_all = false;
        return true;
    }
    if (track->collective_count == track->collective_capacity) {
        if (!LODE_GROW(track->collectives, track->collective_capacity,
                       track->collective_capacity ? track->collective_capacity * 2 : 64))
            return false;
    }
    track->collectives[track->collective_count++] =
        (struct call_collective){frame->enter, time, frame->function - 1};
    return true;
}

static void enter_role(struct call_worker *w, enum call_role role, uint64_t time)
{
    if (role == ROLE_DROP || role == ROLE_COND)
        drop_lock(w, time);
}

static bool leave_role(struct call_worker *w, enum call_role role, const struct call_frame *frame,
                       uint64_t time)
{
    uint64_t took = time - frame->enter - (w->track.preempted - frame->paused);
    if (role == ROLE_TAKE || role == ROLE_COND)
        take_lock(w, time);
    else if (role == ROLE_JOIN || role == ROLE_FUTURE)
        w->track.joining += took;
    else if (role == ROLE_BARRIER)
        w->track.barriers += took;
    else if (role == ROLE_PARALLEL && w->memos[frame->function - 1].active == 0)
        w->track.parallel += time - frame->enter;
    else if (role == ROLE_ALL)
        return add_collective(w, frame, time);
    return true;
}

/* The bytes that a call says that it transferred. */
static void count_bytes(struct call_worker *w, const lode_event *event, struct call_pair *pair)
{
    lode_argument result;
    size_t count = 0;
    lode_error ignored = {0};
    if (lode_event_arguments(w->recording, w->track.track, event, &result, 1, &count, &ignored) != LODE_OK ||
        count == 0)
        return;
    bool is_signed = result.kind == LODE_VALUE_SIGNED || result.kind == LODE_VALUE_AUTO;
    if (!is_signed || result.signed_value < 0 || result.signed_value > INT64_MAX / 2)
        return;
    pair->bytes += (uint64_t)result.signed_value;
    pair->sized++;
}

/* ---- calls ---- */

/* Only what is no function of the application, and not below another library function. */
static bool place_call(struct call_worker *w, struct call_frame *frame, const struct call_frame *above,
                       const struct call_function *known, uint32_t function)
{
    frame->holder = above->holder;
    frame->pair = above->pair;
    if (known->activity == LODE_ACTIVITY_OWN) {
        frame->holder = function;
        frame->pair = 0;
        return true;
    }
    if ((known->activity == LODE_ACTIVITY_LIB && known->role == ROLE_NONE) || above->pair)
        return true;
    struct call_memo *memo = &w->memos[function - 1];
    if (memo->pair == 0 || memo->holder != frame->holder) {
        memo->holder = frame->holder;
        memo->pair = find_pair(w, frame->holder, function);
    }
    frame->pair = memo->pair;
    return frame->pair != 0;
}

/* Not as one value, which is zeroed first: that costs as much as all that follows. */
static void begin_frame(struct call_frame *frame, const struct call_worker *w, uint64_t time,
                        uint32_t function)
{
    frame->enter = time;
    frame->self = 0;
    frame->running = w->track.running;
    frame->useful = w->track.useful;
    frame->paused = w->track.preempted;
    frame->function = function;
    frame->edge = frame->number = frame->callees = 0;
    frame->arguments = 0;
}

static bool enter(struct call_worker *w, const lode_event *event)
{
    uint32_t index = event->function->index;
    if ((index >= w->capacity && !grow_functions(w, index)) ||
        (w->depth + 1 >= w->depth_max && !grow_frames(w)))
        return false;
    struct call_function *known = &w->functions[index];
    if (!known->is_known)
        learn(w, event->function);
    const struct call_frame *above = &w->frames[w->depth];
    struct call_frame *frame = &w->frames[w->depth + 1];
    begin_frame(frame, w, event->time, index + 1);
    frame->path = (unsigned char)lode_activity_below(above->path, known->activity);
    frame->is_useful = (CALL_NOT_USEFUL >> frame->path & 1) == 0;
    frame->in_body = above->in_body | (known->role == ROLE_BODY);
    frame->spins = CALL_SPINNING >> frame->path & 1 ||
                   (frame->path == LODE_ACTIVITY_LOCK && (known->spins || above->spins));
    if (!place_call(w, frame, above, known, index + 1))
        return false;
    if (w->track.entry == 0)
        w->track.entry = index + 1;
    w->memos[index].active++;
    uint32_t roles = known->activity == LODE_ACTIVITY_OWN ? 0 : above->roles;
    frame->is_nested = roles >> known->role & 1;
    frame->roles = roles | 1u << known->role;
    frame->serial = ++w->seen.serial;
    w->frames[w->depth].callees++;
    if (known->activity == LODE_ACTIVITY_OWN && event->data_size)
        frame->arguments = lode_hash_pair(lode_hash_bytes(event->data, event->data_size), index + 1);
    if (known->activity == LODE_ACTIVITY_OWN && !lode_diagnose_call_seen_enter(w, frame, above))
        return false;
    if (known->role != ROLE_NONE && !frame->is_nested)
        enter_role(w, (enum call_role)known->role, event->time);
    w->depth++;
    return true;
}

/* Counters are in no cache: all of a batch are fetched before the first one is needed. */
static bool add_to_sketches(struct call_worker *w)
{
    uint32_t places[CALL_BATCH];
    const size_t count = w->taken_count;
    for (size_t i = 0; i < count; i++) {
        const struct call_taken *taken = &w->taken[i];
        uint32_t place = sketch_place(&w->sketches, taken->function, taken->took);
        if (place == 0) {
            if (!lode_sketches_add_page(&w->sketches, taken->function, taken->took))
                return false;
            place = sketch_place(&w->sketches, taken->function, taken->took);
        }
        places[i] = place;
        __builtin_prefetch(&w->sketches.counters[place], 1);
    }
    for (size_t i = 0; i < count; i++)
        if (++w->sketches.counters[places[i]] == 0 && !lode_sketches_carry(&w->sketches, places[i]))
            return false;
    w->taken_count = 0;
    return true;
}

/* A library function that was called by the application ends. */
static bool leave_pair(struct call_worker *w, const struct call_frame *frame, const lode_event *event)
{
    struct call_pair *pair = pair_at(w, frame->pair);
    uint64_t took = event->time - frame->enter - (w->track.preempted - frame->paused);
    pair->calls++;
    pair->running += w->track.running - frame->running;
    if (took >= LONG_CALL) {
        pair->waiting += took;
        pair->long_calls++;
    }
    pair->locked += w->hold_count ? took : 0;
    if (event->data_size && frame->path == LODE_ACTIVITY_FILE)
        count_bytes(w, event, pair);
    if (frame->path == LODE_ACTIVITY_SLEEP)
        lode_diagnose_call_seen_sleep(w, pair, frame->enter, event->time);
    bool is_wait = CALL_WAITING >> frame->path & 1 && (frame->spins || !w->is_blocked_known);
    return !is_wait || w->track.useful - frame->useful > took / 2 ||
           lode_diagnose_call_seen_wait(w, frame, frame->enter, event->time);
}

/* How long an outermost call of a function took. */
static bool add_outer(struct call_worker *w, struct call_function *known, const struct call_frame *frame,
                      uint64_t time)
{
    uint64_t took = known->activity == LODE_ACTIVITY_OWN ? w->track.useful - frame->useful
                                                         : w->track.running - frame->running;
    known->outer++;
    known->spent += time - frame->enter - (w->track.preempted - frame->paused);
    known->total += took;
    known->most = took > known->most ? took : known->most;
    __builtin_prefetch(&w->sketches.tables[frame->function - 1][sketch_shift(took)]);
    w->taken[w->taken_count++] = (struct call_taken){took, frame->function - 1};
    return w->taken_count < CALL_BATCH || add_to_sketches(w);
}

/* Work of library functions is work of the function of the application that calls them. */
static void add_held(struct call_worker *w, const struct call_frame *frame)
{
    struct call_memo *memo = &w->memos[frame->holder - 1];
    if (memo->held == 0)
        w->touched[w->touched_count++] = frame->holder - 1;
    memo->held += frame->self;
    memo->alone += frame->in_body ? 0 : frame->self;
    w->functions[frame->holder - 1].held += frame->self;
}

/* A call ends. If a repair says so, how long it took is not known. */
static bool leave(struct call_worker *w, const lode_event *event)
{
    bool has_ended = !(event->flags & LODE_EVENT_MADE);
    if (w->depth == 0)
        return true; /* nothing is open */
    const struct call_frame *frame = &w->frames[w->depth--];
    uint32_t index = frame->function - 1;
    struct call_function *known = &w->functions[index];
    struct call_memo *memo = &w->memos[index];
    known->calls++;
    known->own += frame->self;
    if (frame->is_useful && frame->holder && frame->self)
        add_held(w, frame);
    w->track.time[frame->path] += frame->self;
    w->track.calls++;
    memo->active -= memo->active > 0;
    if (has_ended && memo->active == 0 && !add_outer(w, known, frame, event->time))
        return false;
    if (known->activity == LODE_ACTIVITY_OWN && has_ended &&
        !lode_diagnose_call_seen_leave(w, frame, event->time, memo->active == 0))
        return false;
    if (has_ended && frame->pair && w->frames[w->depth].pair == 0 && !leave_pair(w, frame, event))
        return false;
    return known->role == ROLE_NONE || frame->is_nested ||
           leave_role(w, (enum call_role)known->role, frame, event->time);
}

/* ---- off-CPU time ---- */

void lode_diagnose_call_pair_note(struct call_pair *pair, uint64_t from, uint64_t to, uint32_t track)
{
    uint64_t took = to - from;
    bool is_first = from != pair->from ? from < pair->from : track < pair->track;
    if (took < pair->longest || (took == pair->longest && !is_first))
        return;
    pair->longest = took;
    pair->from = from;
    pair->to = to;
    pair->track = track;
}

static bool end_off(struct call_worker *w, const lode_event *event)
{
    const struct call_frame *frame = &w->frames[w->depth];
    uint64_t took = event->time - w->off_since;
    bool is_waiting = CALL_WAITING >> frame->path & 1 || frame->path == LODE_ACTIVITY_FILE;
    w->is_off = false;
    if (w->is_preempted) {
        w->track.preempted += took;
        w->track.yielded += frame->path == LODE_ACTIVITY_MPI ? took : 0;
        w->track.stolen += w->depth && !frame->spins ? took : 0;
        w->track.time[frame->spins ? frame->path : LODE_ACTIVITY_OFF_CPU] += took;
        return true;
    }
    w->track.blocked += took;
    w->track.mutual += w->depth == 0 || MUTUAL >> frame->path & 1 ? took : 0;
    w->woken = (struct call_hold){event->time, w->track.preempted};
    w->track.time[w->depth == 0 ? LODE_ACTIVITY_COUNT
                  : is_waiting  ? frame->path
                                : LODE_ACTIVITY_OFF_CPU] += took;
    if (!frame->spins && !lode_diagnose_call_seen_wait(w, frame, w->off_since, event->time))
        return false;
    if (w->depth == 0)
        return true;
    uint32_t number = frame->pair ? frame->pair : find_pair(w, frame->holder, 0);
    if (number == 0)
        return false;
    struct call_pending *pending = &w->pending;
    if (pending->pair == 0)
        *pending = (struct call_pending){number, 0, w->off_since, w->off_since};
    pending->blocked += took;
    if (took > pending->to - pending->from) {
        pending->from = w->off_since;
        pending->to = event->time;
    }
    return true;
}

/* Between two records, all off-CPU time is that of one pair. */
static void take_record(struct call_worker *w, const lode_event *event)
{
    const struct call_pending *pending = &w->pending;
    bool is_made = event->flags & LODE_EVENT_MADE;
    if (pending->pair && !is_made) {
        struct call_pair *pair = pair_at(w, pending->pair);
        pair->blocked += pending->blocked;
        lode_diagnose_call_pair_note(pair, pending->from, pending->to, w->track.track);
    }
    w->pending.pair = 0;
    lode_diagnose_call_seen_record(&w->seen, is_made);
    w->track.unended = is_made ? w->track.running - w->recorded : 0;
    w->recorded = is_made ? w->recorded : w->track.running;
}

static bool take_other(struct call_worker *w, const lode_event *event)
{
    if (event->kind == LODE_EVENT_SCHED_OUT) {
        w->has_sched = true;
        w->is_off = true;
        w->is_preempted = event->flags & LODE_EVENT_PREEMPTED;
        w->off_since = event->time;
    } else if (event->kind == LODE_EVENT_SCHED_IN && w->is_off) {
        return end_off(w, event);
    }
    return true;
}

/* ---- events ---- */

lode_status lode_diagnose_call_worker_take(struct call_worker *w, const lode_event *events, size_t count,
                                           lode_error *error)
{
    if (!w->has_begun && count) {
        w->last = events[0].time;
        w->has_begun = true;
    }
    for (const lode_event *event = events; event < events + count; event++) {
        if (!w->is_off) {
            struct call_frame *frame = &w->frames[w->depth];
            uint64_t passed = event->time - w->last, useful = frame->is_useful ? passed : 0;
            frame->self += passed;
            w->track.running += passed;
            w->track.useful += useful;
            w->track.region += frame->in_body ? useful : 0;
        }
        w->last = event->time;
        if (event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_LEAVE)
            take_record(w, event);
        bool is_done = event->kind == LODE_EVENT_ENTER   ? enter(w, event)
                       : event->kind == LODE_EVENT_LEAVE ? leave(w, event)
                                                         : take_other(w, event);
        if (!is_done)
            return lode_fail_memory(error);
    }
    return LODE_OK;
}

void lode_diagnose_call_worker_begin(struct call_worker *w, const lode_track_row *row)
{
    const lode_track *track = lode_recording_track(w->recording, row->track);
    w->track =
        (struct call_track){.track = row->track, .pid = track->pid, .tid = track->tid, .are_all = true};
    w->depth = 0;
    w->frames[0] = (struct call_frame){.path = LODE_ACTIVITY_COUNT, .serial = ++w->seen.serial};
    w->hold_count = 0;
    w->woken = (struct call_hold){0};
    w->pending.pair = 0;
    w->recorded = 0;
    w->is_off = w->has_begun = false;
    lode_diagnose_call_seen_begin(&w->seen);
}

/* Of equal times, the function that was called first goes first. */
static void note_busy(struct call_busy *busy, size_t count, uint32_t function, uint64_t time)
{
    if (time <= busy[count - 1].time)
        return;
    size_t at = count - 1;
    for (; at > 0 && busy[at - 1].time < time; at--)
        busy[at] = busy[at - 1];
    busy[at] = (struct call_busy){function + 1, time};
}

lode_status lode_diagnose_call_worker_end(struct call_worker *w, struct call_track *track, lode_error *error)
{
    w->track.time[LODE_ACTIVITY_COUNT] += w->frames[0].self;
    while (w->depth) /* tracks are balanced; otherwise open calls would stay */
        w->memos[w->frames[w->depth--].function - 1].active = 0;
    for (size_t i = 0; i < w->touched_count; i++) {
        struct call_memo *memo = &w->memos[w->touched[i]];
        note_busy(w->track.busy, CALL_BUSY, w->touched[i], memo->held);
        note_busy(&w->track.alone, 1, w->touched[i], memo->alone);
        memo->held = memo->alone = 0;
    }
    w->touched_count = 0;
    bool has_memory = lode_diagnose_call_seen_end(&w->seen, &w->track) && add_to_sketches(w);
    *track = w->track;
    w->track = (struct call_track){0};
    LODE_TRY_ALLOC(has_memory, error);
    return LODE_OK;
}
