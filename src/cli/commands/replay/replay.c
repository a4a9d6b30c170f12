/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/replay.h"

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

/*
 * An event that waits until it is known whether those before it are shown. The list is
 * chronological, and holds only open calls, events inside, and the long calls of the last
 * `min_time`.
 */
typedef struct held {
    kept_event event;
    struct held *before, *after;
    struct held *sibling; /* the point before it in the same call */
    int is_undecided;     /* a call that may be too short */
    size_t frame;         /* where such a call is among the open ones of its track */
} held;

typedef struct frame {
    uint64_t time;
    uint32_t level;
    held *waiting; /* the beginning of the call, as long as it waits */
    held *points;  /* inside the call, the last first; of use only while it waits */
} frame;

typedef struct track_state {
    frame *frames;
    size_t count, capacity;
    size_t visible; /* the first of them; those inside are hidden */
    uint32_t level; /* open calls, as far as known */
    int is_known;   /* some event has told the level */
} track_state;

struct replay {
    replay_limits settings;
    replay_sink sink;
    void *user;
    track_state *tracks;
    uint32_t track_count;
    held *first, *last, *spare;
    uint64_t now;
};

void kept_event_set(kept_event *to, const replay_event *from)
{
    size_t size = from->event.data_size;
    to->shown = *from;
    if (size == 0)
        return;
    to->bytes = alloc_grow(to->bytes, &to->capacity, size, 1);
    memcpy(to->bytes, from->event.data, size);
    to->shown.event.data = to->bytes;
}

replay *replay_open(uint32_t track_count, const replay_limits *settings, replay_sink sink, void *user)
{
    replay *r = alloc_array(1, sizeof *r);
    *r = (replay){.settings = *settings, .sink = sink, .user = user, .track_count = track_count};
    r->tracks = alloc_array(track_count, sizeof *r->tracks);
    return r;
}

static void free_list(held *item)
{
    while (item) {
        held *next = item->after;
        free(item->event.bytes);
        free(item);
        item = next;
    }
}

void replay_close(replay *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->track_count; i++)
        free(r->tracks[i].frames);
    free_list(r->first);
    free_list(r->spare);
    free(r->tracks);
    free(r);
}

static held *append(replay *r, const replay_event *shown)
{
    held *item = r->spare;
    if (item)
        r->spare = item->after;
    else
        item = alloc_array(1, sizeof *item);
    kept_event_set(&item->event, shown);
    item->is_undecided = 0;
    item->sibling = NULL;
    item->before = r->last;
    item->after = NULL;
    *(r->last ? &r->last->after : &r->first) = item;
    r->last = item;
    return item;
}

static void take_out(replay *r, held *item)
{
    *(item->before ? &item->before->after : &r->first) = item->after;
    *(item->after ? &item->after->before : &r->last) = item->before;
    item->after = r->spare;
    r->spare = item;
}

/* The beginning of an open call is passed on: it waits no more. */
static void forget_waiting(replay *r, const held *item)
{
    frame *f = &r->tracks[item->event.shown.track].frames[item->frame];
    f->waiting = f->points = NULL;
}

/* Passes on what is decided, up to the first call that may still be too short. */
static void flush(replay *r)
{
    while (r->first) {
        held *item = r->first;
        int is_long = r->now - item->event.shown.event.time >= r->settings.min_time;
        if (item->is_undecided && !is_long)
            return;
        if (item->is_undecided)
            forget_waiting(r, item);
        r->sink(r->user, &item->event.shown);
        take_out(r, item);
    }
}

static void leave_out(replay *r, frame *f)
{
    for (held *point = f->points; point;) {
        held *before = point->sibling;
        take_out(r, point);
        point = before;
    }
    take_out(r, f->waiting);
}

static void show(replay *r, const replay_event *shown)
{
    if (r->settings.min_time)
        append(r, shown);
    else
        r->sink(r->user, shown);
}

/* The calls around a new one: the open ones or, in a time window, as many as were recorded. */
static int is_too_deep(const replay *r, const track_state *t, uint32_t level)
{
    int is_inside_hidden = t->visible < t->count;
    return is_inside_hidden ||
           (r->settings.depth && (r->settings.from ? level : t->count) >= r->settings.depth);
}

static void begin_call(replay *r, track_state *t, replay_event *shown)
{
    int is_call = shown->event.kind == LODE_EVENT_ENTER;
    uint32_t level = is_call || !t->is_known ? shown->event.depth : t->level;
    int is_hidden = is_too_deep(r, t, level);
    t->frames = alloc_grow(t->frames, &t->capacity, t->count, sizeof *t->frames);
    frame *f = &t->frames[t->count++];
    *f = (frame){.time = shown->event.time, .level = level};
    shown->level = level;
    t->level = is_call ? level + 1 : level;
    t->is_known = 1;
    if (is_hidden)
        return;
    t->visible = t->count;
    show(r, shown);
    if (r->settings.min_time) {
        f->waiting = r->last;
        f->waiting->is_undecided = 1;
        f->waiting->frame = t->count - 1;
    }
}

/* A call that began before the window is as long as what of it lies inside. */
static void end_early_call(replay *r, track_state *t, replay_event *shown)
{
    shown->level = shown->event.kind == LODE_EVENT_LEAVE || !t->is_known ? shown->event.depth : t->level;
    t->level = shown->level;
    t->is_known = 1;
    int is_hidden = r->settings.depth && shown->level >= r->settings.depth;
    if (!is_hidden && shown->event.time - r->settings.from >= r->settings.min_time)
        show(r, shown);
}

static void end_call(replay *r, track_state *t, replay_event *shown)
{
    if (t->count == 0) {
        end_early_call(r, t, shown);
        return;
    }
    frame *f = &t->frames[--t->count];
    shown->level = t->level = f->level;
    shown->has_duration = 1;
    shown->duration = shown->event.time - f->time;
    if (t->visible > t->count)
        t->visible = t->count;
    else
        return;
    if (f->waiting && shown->duration < r->settings.min_time) {
        leave_out(r, f);
        return;
    }
    if (f->waiting)
        f->waiting->is_undecided = 0;
    show(r, shown);
}

static void point(replay *r, track_state *t, replay_event *shown)
{
    frame *f = t->count ? &t->frames[t->count - 1] : NULL;
    shown->level = t->is_known ? t->level : shown->event.depth;
    if (f ? t->visible < t->count : r->settings.depth && shown->level > r->settings.depth)
        return;
    show(r, shown);
    if (f && f->waiting) {
        r->last->sibling = f->points;
        f->points = r->last;
    }
}

/* The duration of calls around a loss is unknown: they are shown. Waiting ones are innermost. */
static void loss(replay *r, track_state *t, replay_event *shown)
{
    shown->level = t->level;
    for (size_t i = t->visible; i-- > 0 && t->frames[i].waiting;) {
        t->frames[i].waiting->is_undecided = 0;
        t->frames[i].waiting = t->frames[i].points = NULL;
    }
    show(r, shown);
}

void replay_push(replay *r, const lode_event *event, uint32_t track)
{
    replay_event shown = {.event = *event, .track = track};
    r->now = event->time;
    if (track >= r->track_count) {
        show(r, &shown);
        flush(r);
        return;
    }
    track_state *t = &r->tracks[track];
    switch ((lode_event_kind)event->kind) {
    case LODE_EVENT_ENTER:
    case LODE_EVENT_SCHED_OUT:
        begin_call(r, t, &shown);
        break;
    case LODE_EVENT_LEAVE:
    case LODE_EVENT_SCHED_IN:
        end_call(r, t, &shown);
        break;
    case LODE_EVENT_INSTANT:
        point(r, t, &shown);
        break;
    case LODE_EVENT_LOST:
        loss(r, t, &shown);
        break;
    }
    flush(r);
}

void replay_finish(replay *r)
{
    uint64_t end = r->settings.to ? r->settings.to : r->now;
    for (uint32_t i = 0; i < r->track_count; i++) {
        track_state *t = &r->tracks[i];
        while (t->count > 0) {
            frame *f = &t->frames[--t->count];
            if (!f->waiting)
                continue;
            if (end - f->time < r->settings.min_time)
                leave_out(r, f);
            else
                f->waiting->is_undecided = 0;
        }
    }
    flush(r);
}
