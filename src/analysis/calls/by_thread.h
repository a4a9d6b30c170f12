/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording of requests viewed by thread: the requests of a thread (equal process and thread ids)
 * are one track, in chronological order. Requests must not overlap: as time stamps are coarse, one
 * that begins before the end of the previous one is shifted as a whole, and its events are marked.
 */
#ifndef LODE_ANALYSIS_BY_THREAD_H
#define LODE_ANALYSIS_BY_THREAD_H

#include "model/recording/recording.h"

/*
 * Takes ownership of `inner` and closes it on failure; returns it unchanged if it has no requests.
 * Threads are in the order of their first request. Reads the intervals of all requests; takes about
 * 40 bytes for each.
 */
lode_status lode_by_thread(lode_recording **out, lode_recording *inner, lode_error *error);

#endif
