/* SPDX-License-Identifier: BSD-3-Clause */
/* Common start of commands on recordings: the open recording and the requested slice. */
#ifndef CLI_REC_SESSION_H
#define CLI_REC_SESSION_H

#include "options/option.h"
#include "output/out.h"
#include "output/progress.h"
#include "stores/tally.h"

#include <lode/unstable.h>

typedef struct rec_session {
    const char *path;
    const shared_options *shared;
    int shows_notes; /* whatever the options are */
    lode_recording *recording;
    int is_borrowed; /* the host has it open */
    lode_slice slice;
    uint32_t *tracks; /* of the slice; NULL: all */
    /* Times of the first and last event of all tracks; 0 without events. Set by rec_find_span. */
    uint64_t begin, end;
    int has_interval;
    tally opening, reading; /* findings */
    int is_running;         /* times of calls are without off-CPU time */
    /* Results: the tree of time and of running time, calls, the diagnosis. NULL: not yet. */
    struct rec_result *tree[2], *calls, *diagnosed;
    const lode_calls_sample *estimate; /* what they were estimated from; NULL: they are exact */
    progress progress;
} rec_session;

/* Both: EXIT_DONE, or EXIT_TROUBLE after a message; rec_close is due in every case. */
int rec_open(rec_session *s, const char *path, const shared_options *shared);
/* The same, and the slice that the options name. */
int rec_open_slice(rec_session *s, const char *path, const shared_options *shared);
/*
 * The same for a command that needs nothing but the requests of --id. If all of them are whole ids,
 * an index in the user's cache is used, or written (doc/formats/otlp.md).
 */
int rec_open_requests(rec_session *s, const char *path, const shared_options *shared);
void rec_close(rec_session *s);

/* Says what the library said about this recording. */
int rec_error(rec_session *s, const lode_error *error);

/* Finds the first and the last event: a few pages of each track. */
int rec_find_interval(rec_session *s);
/* Says so if there is no running time. */
int rec_needs_sched(const rec_session *s);
/* Nanoseconds since the epoch at a time of the recording; 0 if that is not known. */
int rec_utc(const rec_session *s, uint64_t time, uint64_t *utc);
/* How many tracks the slice has. */
uint32_t rec_track_count(const rec_session *s);
/* What a track is to people: "task" or "trace". */
const char *rec_track_word(const rec_session *s);
/* So many of them, in words. Returns the buffer. */
const char *rec_count_tracks(char buffer[COUNTED_SIZE], const rec_session *s, uint64_t count);
/* How many of them the slice has, in words, such as "3 tasks". */
void rec_say_tracks(char *text, size_t capacity, const rec_session *s);

/* Callbacks whose `user` is a rec_session. */
int rec_on_finding(void *user, const lode_finding *finding);
int rec_on_progress(void *user, const char *phase, uint64_t done, uint64_t total);

/* Threads to work with, from --threads. */
unsigned rec_threads(const rec_session *s);
/* What was asked for, with the callbacks above. */
lode_calls_options rec_calls_options(rec_session *s);

/*
 * The call tree of the slice, until rec_close; a host may have it already. NULL after a message.
 * The findings of the pass are those of the session then.
 */
const lode_calltree *rec_calltree(rec_session *s);
/* rec_close does it. */
void rec_free_calltree(rec_session *s);

/* Rows of calls: indices in an order. */
typedef struct rec_rows {
    const lode_calls *calls; /* until rec_close */
    uint32_t *order;
    size_t count, hidden;
} rec_rows;

/*
 * The calls of the slice, as `options` ask for; a host may have them already, in any order and
 * without a filter. EXIT_DONE, or EXIT_TROUBLE after a message; rec_free_rows is due in both cases.
 */
int rec_compute_calls(rec_session *s, const lode_calls_options *options, rec_rows *rows);
void rec_free_rows(rec_rows *rows);
/* rec_close does it. */
void rec_free_calls(rec_session *s);
/* All that a pass over the slice depends on, after a word; NULL: there is no host to keep it. */
char *rec_key(const rec_session *s, const char *word);

/* What opening found that is damage, for a diagnosis. */
uint64_t rec_damage(const rec_session *s);
/*
 * The diagnosis that a host has beside calls, until rec_close; *found is NULL if there is none, and
 * the caller makes it. EXIT_DONE, or EXIT_TROUBLE after a message.
 */
int rec_find_diagnosis(rec_session *s, const lode_diagnosis **found);
/* rec_close does it. */
void rec_free_diagnosis(rec_session *s);

/* JSON: members for the slice, and for what an estimate read; rec_say_estimate says it. */
void rec_write_slice(out *o, const rec_session *s);
void rec_say_estimate(out *o, const rec_session *s);
/*
 * Restricts the slice to tasks "TID,pid=PID,NAME" and traces "NUMBER,ID" of the options. EXIT_DONE,
 * or EXIT_TROUBLE after a message.
 */
int rec_choose_tracks(rec_session *s);

#endif
