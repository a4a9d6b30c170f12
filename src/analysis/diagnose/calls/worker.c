/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the calls of a track. Each thread has three clocks: running time, useful running time,
 * and time that it was pre-empted. What a call took is a difference of clocks, so that off-CPU time
 * costs nothing per call.
 */
#include "analysis/diagnose/calls/part.h"

#include "base/memory/hash.h"
#include "model/recording/recording.h"
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum {
    FUNCTIONS_FIRST = 256,
    DEPTH_FIRST = 256,
    LONG_CALL = 2000 /* nanoseconds; shorter ones mostly measure the recorder */
};

/* Waiting for other threads or ranks. */
#define MUTUAL (CALL_SET(MPI) | CALL_SET(MPI_STARTUP) | CALL_OPENMP | CALL_SET(LOCK))

/* Roles of calls that do something when they begin, and when they end. */
#define BEGINS (1u << ROLE_DROP | 1u << ROLE_COND)
#define ENDS                                                                                                 \
    (1u << ROLE_TAKE | 1u << ROLE_COND | 1u << ROLE_JOIN | 1u << ROLE_FUTURE | 1u << ROLE_BARRIER |          \
     1u << ROLE_PARALLEL | 1u << ROLE_ALL)

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
    lode_diagnose_call_part_free(w->part);
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

struct call_pair *lode_diagnose_call_pair(struct call_worker *w, uint32_t holder, uint32_t entry)
{
    uint32_t number = find_pair(w, holder, entry);
    return number ? LODE_ARRAY_AT(&w->pairs, struct call_pair, number - 1) : NULL;
}

static struct call_pair *pair_at(const struct call_worker *w, uint32_t pair)
{
    return LODE_ARRAY_AT(&w->pairs, struct call_pair, pair - 1);
}

/* ---- calls ---- */

/* Only what is no function of the application, and not below another library function. */
static ALWAYS_INLINE bool place_call(struct call_worker *w, struct call_frame *frame,
                                     const struct call_frame *above, const struct call_function *known,
                                     uint32_t function)
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

/* Room for another call, and what its function is; NULL if out of memory. */
static ALWAYS_INLINE struct call_frame *find_room(struct call_worker *w, const lode_function *function)
{
    if ((function->index >= w->capacity && !grow_functions(w, function->index)) ||
        (w->depth + 1 >= w->depth_max && !grow_frames(w)))
        return NULL;
    if (!w->functions[function->index].is_known)
        learn(w, function);
    return &w->frames[w->depth + 1];
}

/* What a call is, by the calls that it is in. */
static ALWAYS_INLINE bool open_frame(struct call_worker *w, struct call_frame *frame, uint64_t time,
                                     uint32_t index)
{
    const struct call_function *known = &w->functions[index];
    const struct call_frame *above = frame - 1;
    begin_frame(frame, w, time, index + 1);
    frame->path = (unsigned char)lode_activity_below(above->path, known->activity);
    frame->is_useful = (CALL_NOT_USEFUL >> frame->path & 1) == 0;
    frame->in_body = above->in_body | (known->role == ROLE_BODY);
    frame->spins = CALL_SPINNING >> frame->path & 1 ||
                   (frame->path == LODE_ACTIVITY_LOCK && (known->spins || above->spins));
    uint32_t roles = known->activity == LODE_ACTIVITY_OWN ? 0 : above->roles;
    frame->is_nested = roles >> known->role & 1;
    frame->roles = roles | 1u << known->role;
    frame->serial = ++w->seen.serial;
    w->memos[index].active++;
    return place_call(w, frame, above, known, index + 1);
}

struct call_frame *lode_diagnose_call_open(struct call_worker *w, uint32_t index, uint64_t time)
{
    const lode_function *function = lode_function_table_at(recording_functions(w->recording), index);
    struct call_frame *frame = find_room(w, function);
    if (frame == NULL || !open_frame(w, frame, time, index))
        return NULL;
    w->depth++;
    return frame;
}

bool lode_diagnose_call_know(struct call_worker *w, uint32_t index)
{
    if (index >= w->capacity && !grow_functions(w, index))
        return false;
    if (!w->functions[index].is_known)
        learn(w, lode_function_table_at(recording_functions(w->recording), index));
    return true;
}

static bool enter(struct call_worker *w, const lode_event *event)
{
    const uint32_t index = event->function->index;
    struct call_frame *frame = find_room(w, event->function);
    if (frame == NULL || !open_frame(w, frame, event->time, index))
        return false;
    const struct call_function *known = &w->functions[index];
    if (w->track.entry == 0)
        w->track.entry = index + 1;
    frame[-1].callees++;
    if (known->activity == LODE_ACTIVITY_OWN && event->data_size)
        frame->arguments = lode_hash_pair(lode_hash_bytes(event->data, event->data_size), index + 1);
    if (known->activity == LODE_ACTIVITY_OWN && !lode_diagnose_call_seen_enter(w, frame, frame - 1))
        return false;
    if (BEGINS >> known->role & 1 && !frame->is_nested)
        lode_diagnose_call_enter_role(w, (enum call_role)known->role, event->time);
    w->depth++;
    return true;
}

/* Counters are in no cache: all of a batch are fetched before the first one is needed. */
bool lode_diagnose_call_flush(struct call_worker *w)
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

/* What a call of a library function by the application took. */
static ALWAYS_INLINE bool leave_pair(struct call_worker *w, const struct call_frame *frame, uint64_t time)
{
    struct call_pair *pair = pair_at(w, frame->pair);
    uint64_t took = time - frame->enter - (w->track.preempted - frame->paused);
    pair->calls++;
    pair->running += w->track.running - frame->running;
    if (took >= LONG_CALL) {
        pair->waiting += took;
        pair->long_calls++;
    }
    if (w->hold_count)
        pair->locked += took;
    else if (w->base)
        pair->unsure += took;
    bool is_wait = CALL_WAITING >> frame->path & 1 && (frame->spins || !w->is_blocked_known);
    return !is_wait || w->track.useful - frame->useful > took / 2 ||
           lode_diagnose_call_seen_wait(w, frame, frame->enter, time);
}

/* What it did, whatever it took. */
static void note_pair(struct call_worker *w, const struct call_frame *frame, const lode_event *event)
{
    struct call_pair *pair = pair_at(w, frame->pair);
    if (event->data_size && frame->path == LODE_ACTIVITY_FILE)
        lode_diagnose_call_count_bytes(w, event, pair);
    if (frame->path == LODE_ACTIVITY_SLEEP)
        lode_diagnose_call_seen_sleep(w, pair, frame->enter, event->time);
}

/* How long an outermost call of a function took. */
static ALWAYS_INLINE bool add_outer(struct call_worker *w, struct call_function *known,
                                    const struct call_frame *frame, uint64_t time)
{
    uint64_t took = known->activity == LODE_ACTIVITY_OWN ? w->track.useful - frame->useful
                                                         : w->track.running - frame->running;
    known->outer++;
    known->spent += time - frame->enter - (w->track.preempted - frame->paused);
    known->total += took;
    known->most = took > known->most ? took : known->most;
    __builtin_prefetch(&w->sketches.tables[frame->function - 1][sketch_shift(took)]);
    w->taken[w->taken_count++] = (struct call_taken){took, frame->function - 1};
    return w->taken_count < CALL_BATCH || lode_diagnose_call_flush(w);
}

/* Work of library functions is work of the function of the application that calls them. */
static ALWAYS_INLINE void add_held(struct call_worker *w, const struct call_frame *frame)
{
    struct call_memo *memo = &w->memos[frame->holder - 1];
    if (memo->held == 0)
        w->touched[w->touched_count++] = frame->holder - 1;
    memo->held += frame->self;
    memo->alone += frame->in_body ? 0 : frame->self;
    w->functions[frame->holder - 1].held += frame->self;
}

/*
 * A call ends. If a repair says so, how long it took is not known. Of a call that began before the
 * piece, only what its events say is known here (`is_here`), and the rest where pieces are joined.
 */
static ALWAYS_INLINE bool end_call(struct call_worker *w, const lode_event *event, bool is_here,
                                   bool is_joined)
{
    bool has_ended = !(event->flags & LODE_EVENT_MADE);
    const struct call_frame *frame = &w->frames[w->depth--];
    uint32_t index = frame->function - 1;
    struct call_function *known = &w->functions[index];
    struct call_memo *memo = &w->memos[index];
    bool is_paired = has_ended && frame->pair && w->frames[w->depth].pair == 0;
    memo->active -= memo->active > 0;
    if (is_joined) {
        known->calls++;
        known->own += frame->self;
        if (frame->is_useful && frame->holder && frame->self)
            add_held(w, frame);
        w->track.time[frame->path] += frame->self;
        w->track.calls++;
        if (has_ended && memo->active == 0 && !add_outer(w, known, frame, event->time))
            return false;
        if (known->activity == LODE_ACTIVITY_OWN && has_ended &&
            !lode_diagnose_call_seen_leave(w, frame, event->time, memo->active == 0))
            return false;
        if (is_paired && !leave_pair(w, frame, event->time))
            return false;
    }
    if (is_here && is_paired)
        note_pair(w, frame, event);
    if ((ENDS >> known->role & 1) == 0 || frame->is_nested)
        return true;
    if (is_joined)
        lode_diagnose_call_leave_wait(w, (enum call_role)known->role, frame, event->time);
    return !is_here || lode_diagnose_call_leave_role(w, (enum call_role)known->role, frame, event->time);
}

bool lode_diagnose_call_end_here(struct call_worker *w, const lode_event *event)
{
    return end_call(w, event, true, false);
}

bool lode_diagnose_call_end_joined(struct call_worker *w, const lode_event *event)
{
    return end_call(w, event, false, true);
}

static bool leave(struct call_worker *w, const lode_event *event)
{
    if (w->depth > w->carried)
        return end_call(w, event, true, true);
    return w->depth == 0 || lode_diagnose_call_part_leave(w, event);
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
    if (!frame->spins && !lode_diagnose_call_seen_off(w, frame, w->off_since, event->time))
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
    if (is_made && w->part)
        lode_diagnose_call_part_made(w);
    if (pending->pair && !is_made) {
        struct call_pair *pair = pair_at(w, pending->pair);
        pair->blocked += pending->blocked;
        lode_diagnose_call_pair_note(pair, pending->from, pending->to, w->track.track);
    }
    w->pending.pair = 0;
    w->seen.between = 0;
    if (w->seen.waits.count != w->seen.settled)
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
    w->seen.first = w->seen.serial;
    w->seen.carried = 0;
    w->hold_count = w->base = 0;
    w->carried = 0;
    lode_diagnose_call_part_free(w->part);
    w->part = NULL;
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
    bool has_memory = lode_diagnose_call_seen_end(&w->seen, &w->track) && lode_diagnose_call_flush(w);
    *track = w->track;
    w->track = (struct call_track){0};
    LODE_TRY_ALLOC(has_memory, error);
    return LODE_OK;
}
