/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a trace that is shown as a call tree. */
#ifndef CLI_REPLAY_LINES_H
#define CLI_REPLAY_LINES_H

#include "commands/replay/words.h"
#include "output/out.h"
#include "text/line.h"

typedef struct replay_lines {
    out *out;
    replay_words *words;
    uint64_t origin; /* of times in front of lines; LODE_NO_OFFSET: there are none */
    uint64_t limit;  /* of lines; 0: none */
    uint64_t count;  /* so far */
    line line;
} replay_lines;

/* What stands above the calls of a trace. */
typedef struct trace_heading {
    const lode_track *track;
    int has_utc;
    uint64_t utc; /* nanoseconds since the epoch, if they are known */
    uint64_t begin, duration, calls, errors;
    uint32_t request; /* its number in the store */
    /* Of a side track: when it begins in its request, and who called; or NULL. */
    const char *caller;
    uint64_t after;
} trace_heading;

/* A call, or several that are folded into one line. */
typedef struct trace_call {
    uint64_t time;
    uint32_t level;
    int has_duration;
    uint64_t duration, self;
    double share; /* of the trace */
    int has_failed, is_made;
} trace_call;

typedef struct trace_fold {
    uint64_t time, duration, calls, errors;
    uint32_t level;
    double share;
} trace_fold;

int replay_lines_are_full(const replay_lines *t);
void replay_lines_heading(replay_lines *t, const trace_heading *heading);
/* `begin` is the event that the call begins with. */
void replay_lines_call(replay_lines *t, const trace_call *call, const replay_event *begin);
/* The end of a call that began before the window. */
void replay_lines_early(replay_lines *t, const replay_event *end);
void replay_lines_fold(replay_lines *t, const trace_fold *fold);
/* An attribute, an exception, a loss, or what else happened. */
void replay_lines_point(replay_lines *t, const replay_event *shown);
void replay_lines_free(replay_lines *t);

#endif
