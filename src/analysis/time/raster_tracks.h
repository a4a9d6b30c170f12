/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at tracks of a recording, for pictures that must be quick. */
#ifndef LODE_ANALYSIS_RASTER_TRACKS_H
#define LODE_ANALYSIS_RASTER_TRACKS_H

#include <lode/event.h>
#include <lode/unstable/picture.h>
#include <stdbool.h>

/* What a track does at a time. */
struct lode_probe {
    enum {
        LODE_PROBE_UNKNOWN, /* it would take too long to find out */
        LODE_PROBE_OUTSIDE, /* outside of all calls */
        LODE_PROBE_CALL     /* in a call, or off-CPU */
    } kind;
    const lode_function *function;
    bool is_idle;
};

/* Whether a picture can be made of probes: the format has them, for innermost functions. */
bool lode_probes_fit(const lode_recording *recording, const lode_picture_options *options);
/* Looks at the track of a cursor. Cheap if times rise. */
lode_status lode_probe_track(lode_cursor *cursor, uint64_t time, struct lode_probe *out, lode_error *error);

#endif
