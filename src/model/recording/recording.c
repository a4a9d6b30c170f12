/* SPDX-License-Identifier: BSD-3-Clause */
/* The public API of recordings. */
#include "model/recording/recording.h"

#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <lode/unstable/guard.h>
#include <lode/unstable/search.h>
#include <stdlib.h>

void lode_recording_close(lode_recording *recording)
{
    if (recording == NULL)
        return;
    struct lode_watch *watch = recording->watch;
    recording->ops->close(recording);
    lode_watch_release(watch);
}

lode_status lode_recording_intact(const lode_recording *recording, lode_error *error)
{
    const lode_recording *owner = recording->functions_of ? recording->functions_of : recording;
    return lode_watch_check(owner->watch, error);
}

LODE_GETTER(const char *, lode_recording_format, lode_recording, format);
LODE_GETTER(int64_t, lode_recording_utc_offset, lode_recording, utc_offset);
LODE_GETTER(size_t, lode_recording_fact_count, lode_recording, fact_count);

const lode_fact *lode_recording_fact(const lode_recording *recording, size_t index)
{
    return index < recording->fact_count ? &recording->facts[index] : NULL;
}

LODE_GETTER(int, lode_recording_has_requests, lode_recording, has_requests);
LODE_GETTER(int, lode_recording_has_sched, lode_recording, has_sched);
LODE_GETTER(uint32_t, lode_recording_track_count, lode_recording, track_count);
LODE_GETTER_AT(lode_track, lode_recording_track, lode_recording, tracks, track_count);
LODE_GETTER(uint32_t, lode_recording_module_count, lode_recording, module_count);
LODE_GETTER_AT(lode_module, lode_recording_module, lode_recording, modules, module_count);

static lode_status check_track(const lode_recording *recording, uint32_t track, lode_error *error)
{
    if (track < recording->track_count)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no track %u; there are %u",
                     track, recording->track_count);
}

lode_status lode_track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                uint64_t *end, lode_error *error)
{
    LODE_TRY(check_track(recording, track, error));
    lode_status status = recording->ops->track_interval(recording, track, begin, end, error);
    if (status == LODE_ABSENT)
        lode_describe(error, status, NULL, LODE_NO_OFFSET, "track %u has no events", track);
    return status;
}

lode_status lode_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                             const lode_cursor_options *given, lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_track(recording, track, error));
    return recording->ops->cursor_open(out, recording, track, &options, error);
}

lode_status lode_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count, lode_error *error)
{
    return cursor->recording->ops->cursor_next(cursor, events, count, error);
}

void lode_cursor_close(lode_cursor *cursor)
{
    if (cursor)
        cursor->recording->ops->cursor_close(cursor);
}

const char *lode_event_name(const lode_recording *recording, const lode_event *event)
{
    return recording->ops->event_name(recording, event->id);
}

lode_instant lode_event_instant(const lode_recording *recording, const lode_event *event)
{
    if (event->kind != LODE_EVENT_INSTANT || recording->ops->point == NULL)
        return LODE_INSTANT_OTHER;
    return recording->ops->point(recording, event->id);
}

lode_status lode_event_arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                                 lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    *count = 0;
    if (event->data == NULL)
        return LODE_OK;
    return recording->ops->arguments(recording, track, event, arguments, capacity, count, error);
}

uint32_t lode_track_main(const lode_recording *recording, uint32_t track)
{
    return track < recording->track_count ? recording_main(recording, track) : track;
}

uint32_t lode_track_number(const lode_recording *recording, uint32_t track)
{
    return recording->numbers && track < recording->track_count ? recording->numbers[track] : track;
}

int lode_recording_is_part(const lode_recording *recording, uint64_t *end)
{
    *end = recording->numbers ? recording->whole_end : 0;
    return recording->numbers != NULL;
}

uint32_t lode_recording_request_count(const lode_recording *recording)
{
    uint32_t count = 0;
    if (recording->mains == NULL)
        return recording->track_count;
    for (uint32_t i = 0; i < recording->track_count; i++)
        count += recording->mains[i] == i;
    return count;
}

lode_status lode_track_callers(const lode_recording *recording, uint32_t track,
                               const lode_function **functions, size_t capacity, size_t *count,
                               lode_error *error)
{
    *count = 0;
    LODE_TRY(check_track(recording, track, error));
    if (recording->ops->callers == NULL || recording_main(recording, track) == track)
        return LODE_OK;
    return recording->ops->callers(recording, track, functions, capacity, count, error);
}
