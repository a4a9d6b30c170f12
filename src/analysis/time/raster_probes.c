/* SPDX-License-Identifier: BSD-3-Clause */
/* What a track does at some times, without reading it from the beginning. */
#include "analysis/time/raster_tracks.h"
#include "base/error.h"
#include "model/recording/recording.h"
#include <lode/private/call_events.h>

/* A call that is open at the time ends within so many events, or is not found. */
#define EVENTS_MAX 4096

bool lode_probes_fit(const lode_recording *recording, const lode_picture_options *options)
{
    return options->quality == LODE_PICTURE_PROBES && options->depth == 0 &&
           recording->ops->cursor_seek != NULL;
}

/*
 * Calls that begin after the time end before those that were open at it: the first end without a
 * begin is that of the innermost open call. False: not yet.
 */
static bool find_open(const lode_event *events, size_t count, size_t *level, struct lode_probe *out)
{
    for (size_t i = 0; i < count; i++) {
        const lode_event *event = &events[i];
        bool begins = lode_event_begins(event), ends = lode_event_ends(event);
        if (ends && *level == 0) {
            *out = (struct lode_probe){LODE_PROBE_CALL, event->function, event->kind == LODE_EVENT_SCHED_IN};
            return true;
        }
        if (begins && *level == 0 && event->depth == 0) {
            *out = (struct lode_probe){.kind = LODE_PROBE_OUTSIDE};
            return true;
        }
        *level += begins;
        *level -= ends;
    }
    return false;
}

lode_status lode_probe_track(lode_cursor *cursor, uint64_t time, struct lode_probe *out, lode_error *error)
{
    const lode_event *events;
    size_t count = 0, level = 0;
    *out = (struct lode_probe){.kind = LODE_PROBE_UNKNOWN};
    /* What happens at the time has happened. */
    LODE_TRY(cursor->recording->ops->cursor_seek(cursor, time < UINT64_MAX ? time + 1 : time, error));
    for (size_t seen = 0; seen < EVENTS_MAX; seen += count) {
        lode_status status = lode_cursor_next(cursor, &events, &count, error);
        if (status == LODE_END) {
            out->kind = level == 0 ? LODE_PROBE_OUTSIDE : LODE_PROBE_UNKNOWN;
            return LODE_OK;
        }
        LODE_TRY(status);
        if (find_open(events, count, &level, out))
            return LODE_OK;
    }
    return LODE_OK;
}
