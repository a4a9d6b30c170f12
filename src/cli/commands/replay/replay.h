/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares events for display: sets their level and, at the end of a call, its duration; drops
 * calls that are too deep or too short, with the events inside.
 */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include <lode/unstable.h>

typedef struct replay_event {
    lode_event event;
    uint32_t track; /* or LODE_NO_TRACK */
    uint32_t level; /* open calls around it */
    int has_duration;
    uint64_t duration; /* of LEAVE and IN, if their beginning was met */
} replay_event;

/* Takes what to show, in chronological order; valid during the call. */
typedef void (*replay_sink)(void *user, const replay_event *shown);

typedef struct replay_limits {
    uint64_t from, to; /* the window; 0 where it has no bound */
    uint32_t depth;    /* levels that are shown; 0: all */
    uint64_t min_time;
} replay_limits;

typedef struct replay replay;

replay *replay_open(uint32_t track_count, const replay_limits *settings, replay_sink sink, void *user);
/* Takes the next event; events are chronological. */
void replay_push(replay *r, const lode_event *event, uint32_t track);
/* Passes on what waits. */
void replay_finish(replay *r);
void replay_close(replay *r);

/* A copy that owns what the event carries. `to` starts as all zero; free() its bytes. */
typedef struct kept_event {
    replay_event shown;
    unsigned char *bytes;
    size_t capacity;
} kept_event;
void kept_event_set(kept_event *to, const replay_event *from);

#endif
