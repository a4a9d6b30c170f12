/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording of traces, seen as one of threads: the traces of a thread (same process, same thread) are one track, read one after the other in
 * the order of time. Each moment of a thread belongs to one trace: one that does not begin after the end of the one before it, as time stamps are
 * coarse, is moved as a whole, and its events are marked so.
 */
#ifndef LODE_ANALYSIS_BY_THREAD_H
#define LODE_ANALYSIS_BY_THREAD_H

#include "model/recording.h"

/*
 * Takes `inner` over, and closes it on failure. One that has no traces is what comes out. Threads are in the order of their first trace in the
 * recording. Reads the spans of all traces; takes about 40 bytes for each.
 */
lode_status lode_by_thread(lode_recording **out, lode_recording *inner, lode_error *error);

#endif
