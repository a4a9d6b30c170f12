/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of tracks that are requests: if the thread was not recorded, a track is assigned the
 * lowest synthetic thread of its process that is free when it begins.
 */
#ifndef LODE_MODEL_THREADS_H
#define LODE_MODEL_THREADS_H

#include <lode/recording.h>

/* When a track begins and ends. */
typedef void (*lode_track_interval_fn)(const void *user, uint32_t track, uint64_t *begin, uint64_t *end);

/* Sets the thread of tracks whose tid is 0: not recorded. Each has its process. */
lode_status lode_tracks_assign(lode_track *tracks, uint32_t count, lode_track_interval_fn interval,
                               const void *user, lode_error *error);

#endif
