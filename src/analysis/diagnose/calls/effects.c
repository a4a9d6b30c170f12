/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls do beside taking time: they take and release locks, meet others, transfer bytes. */
#include "analysis/diagnose/calls/part.h"

static void take_lock(struct call_worker *w, uint64_t time)
{
    w->holds[w->hold_end++ % CALL_HOLDS_MAX] = (struct call_hold){time, w->track.preempted};
    w->hold_count += w->hold_count < CALL_HOLDS_MAX;
    if (w->base > CALL_HOLDS_MAX - w->hold_count)
        w->base = CALL_HOLDS_MAX - w->hold_count;
}

static void drop_lock(struct call_worker *w, uint64_t time)
{
    const struct call_frame *caller = &w->frames[w->depth];
    struct call_hold hold = {caller->enter, caller->paused};
    if (w->hold_count) {
        w->hold_count--;
        hold = w->holds[--w->hold_end % CALL_HOLDS_MAX];
    } else if ((w->part && lode_diagnose_call_part_drop(w, time)) || w->depth == 0)
        return;
    else if (w->woken.since > hold.since) /* recorders may miss calls that take locks */
        hold = w->woken;
    w->track.holding += time - hold.since - (w->track.preempted - hold.paused);
}

bool lode_diagnose_call_add_collective(struct call_worker *w, const struct call_collective *collective)
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
    track->collectives[track->collective_count++] = *collective;
    return true;
}

void lode_diagnose_call_enter_role(struct call_worker *w, enum call_role role, uint64_t time)
{
    if (role == ROLE_DROP || role == ROLE_COND)
        drop_lock(w, time);
}

void lode_diagnose_call_leave_wait(struct call_worker *w, enum call_role role, const struct call_frame *frame,
                                   uint64_t time)
{
    uint64_t took = time - frame->enter - (w->track.preempted - frame->paused);
    if (role == ROLE_JOIN || role == ROLE_FUTURE)
        w->track.joining += took;
    else if (role == ROLE_BARRIER)
        w->track.barriers += took;
}

bool lode_diagnose_call_leave_role(struct call_worker *w, enum call_role role, const struct call_frame *frame,
                                   uint64_t time)
{
    if (role == ROLE_TAKE || role == ROLE_COND)
        take_lock(w, time);
    else if (role == ROLE_PARALLEL && w->memos[frame->function - 1].active == 0)
        w->track.parallel += time - frame->enter;
    else if (role == ROLE_ALL)
        return lode_diagnose_call_add_collective(
            w, &(struct call_collective){frame->enter, time, frame->function - 1});
    return true;
}

/* The bytes that a call says that it transferred. */
void lode_diagnose_call_count_bytes(struct call_worker *w, const lode_event *event, struct call_pair *pair)
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
