/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of tracks that are requests: if the thread was not recorded, a track is assigned the
 * lowest synthetic thread of its process that is free when it begins.
 */
#ifndef LODE_MODEL_THREADS_H
#define LODE_MODEL_THREADS_H

#include <lode/recording.h>

/* A track and its thread. */
struct lode_track_place {
    uint64_t begin, end;
    uint32_t track;
    int32_t pid, tid; /* tid 0: not recorded */
};

/* Sets pid and tid of the tracks; reorders the places. */
lode_status lode_track_places_assign(struct lode_track_place *places, size_t count, lode_track *tracks,
                                     lode_error *error);

#endif
