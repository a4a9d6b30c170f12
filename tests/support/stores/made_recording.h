/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording made by tests: arrays of events with their own lode_recording_ops, to test analyses
 * without files. Its cursors return few events at a time and overwrite them at the next call.
 */
#ifndef LODE_TESTS_MADE_RECORDING_H
#define LODE_TESTS_MADE_RECORDING_H

#include "base/memory/array.h"
#include "model/recording/recording.h"

/* A recording with `tracks` tracks (at most 4096) without events. Process 100, threads 100... */
lode_recording *made_recording(uint32_t tracks);
/* How many events a cursor gives at once; 3 unless it is set. */
void made_batch(lode_recording *recording, size_t events);
/* How many cursors have been opened so far, and how many are open. */
uint32_t made_opened(const lode_recording *recording);
uint32_t made_open_now(const lode_recording *recording);

/* The function of a name; its offset is made from the name. `module` may be NULL: none. */
const lode_function *made_function(lode_recording *recording, const char *module, const char *name);

/* Adds an event to a track. Functions are in no module. */
void made_enter(lode_recording *recording, uint32_t track, uint64_t time, const char *name);
void made_leave(lode_recording *recording, uint32_t track, uint64_t time, const char *name);
/* The name of the function is "off". */
void made_out(lode_recording *recording, uint32_t track, uint64_t time);
void made_in(lode_recording *recording, uint32_t track, uint64_t time);
void made_event(lode_recording *recording, uint32_t track, const lode_event *event);
/* An attribute of the call that is open; a value of digits is a number. */
void made_attribute(lode_recording *recording, uint32_t track, uint64_t time, const char *key,
                    const char *value);
/* A message of no track. */
void made_message(lode_recording *recording, uint64_t time, uint64_t id);
/* Has cursors report a finding when they reach the next event of this track. */
void made_finding(lode_recording *recording, uint32_t track, const char *text);

/*
 * Parses events such as "main( 10 work( 20 ) [ 5 ] ! 1 )". "name(" enters at the current time, ")"
 * leaves the innermost call, a number advances time, "[" and "]" are scheduled out and in, "!" is
 * an instant event, "?" a loss. "key=value" is an attribute, "^Class:message" an exception,
 * followed by its causes "^Class:message"; "!)" leaves a failed call. Words are separated by
 * spaces.
 */
void made_track(lode_recording *recording, uint32_t track, uint64_t time, const char *text);
/* The inverse, beginning with the time of the first event. "*" marks an event as synthesised. */
void made_text(char *text, size_t capacity, const lode_event *events, size_t count);

/* The next random number; the seed must not be 0. */
uint64_t made_random(uint64_t *seed);
/* A track of random calls of 40 functions: deep and flat parts, recursion, off-CPU time. */
void made_random_track(lode_recording *recording, uint32_t track, uint64_t *seed, unsigned events);

#endif
