/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: cells of time with a row for each line. */
#include "analysis/time/raster.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <lode/unstable/timeline.h>
#include <stdlib.h>

struct lode_timeline {
    lode_picture *picture;
    lode_timeline_share *shares;
};

static lode_status begin(lode_timeline **out, const lode_timeline_options *given, const char *phase,
                         lode_error *error)
{
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    *out = calloc(1, sizeof **out);
    LODE_TRY_ALLOC(*out, error);
    lode_picture *picture = (*out)->picture = calloc(1, sizeof *picture);
    LODE_TRY_ALLOC(picture, error);
    picture->options = (lode_picture_options)LODE_PICTURE_OPTIONS_INIT;
    picture->options.from = options.from;
    picture->options.to = options.to;
    picture->options.columns = options.columns ? options.columns : 1;
    picture->options.depth = options.depth;
    picture->options.selection = options.selection;
    picture->options.threads = options.threads;
    picture->options.pool = options.pool;
    picture->progress =
        (struct lode_progress){.report = options.on_progress, .user = options.user, .phase = phase};
    return LODE_OK;
}

static lode_status end(lode_timeline **out, lode_status status, lode_error *error)
{
    const lode_picture *picture = *out ? (*out)->picture : NULL;
    if (status == LODE_OK) {
        (*out)->shares = calloc(picture->share_count + 1, sizeof *(*out)->shares);
        status = (*out)->shares ? LODE_OK : lode_fail_memory(error);
    }
    for (size_t i = 0; status == LODE_OK && i < picture->share_count; i++)
        (*out)->shares[i] = (lode_timeline_share){.context = picture->shares[i].context,
                                                  .nanoseconds = picture->shares[i].nanoseconds,
                                                  .samples = picture->shares[i].samples,
                                                  .function = picture->shares[i].function,
                                                  .is_idle = picture->shares[i].is_idle};
    if (status != LODE_OK) {
        lode_timeline_free(*out);
        *out = NULL;
    }
    return status;
}

lode_status lode_timeline_compute(lode_timeline **out, const lode_database *db,
                                  const lode_timeline_options *options, lode_error *error)
{
    lode_status status = begin(out, options, "reading traces", error);
    if (status == LODE_OK)
        status = lode_raster_lines((*out)->picture, db, error);
    return end(out, status, error);
}

lode_status lode_timeline_compute_recording(lode_timeline **out, const lode_recording *recording,
                                            const lode_slice *slice, const lode_timeline_options *options,
                                            lode_error *error)
{
    lode_slice part = LODE_SLICE_INIT;
    lode_status status = begin(out, options, "reading", error);
    if (status == LODE_OK)
        status = lode_options_take(&part, slice, error);
    if (status == LODE_OK)
        status = lode_raster_tracks((*out)->picture, recording, &part, error);
    return end(out, status, error);
}

void lode_timeline_free(lode_timeline *timeline)
{
    if (timeline == NULL)
        return;
    lode_picture_free(timeline->picture);
    free(timeline->shares);
    free(timeline);
}

void lode_timeline_window(const lode_timeline *timeline, uint64_t *from, uint64_t *to)
{
    lode_picture_window(timeline->picture, from, to);
}

LODE_GETTER(uint64_t, lode_timeline_samples, lode_timeline, picture->samples);
LODE_GETTER(size_t, lode_timeline_share_count, lode_timeline, picture->share_count);
LODE_GETTER(uint32_t, lode_timeline_row_count, lode_timeline, picture->window.count);

const lode_timeline_share *lode_timeline_share_at(const lode_timeline *timeline, size_t index)
{
    return index < timeline->picture->share_count ? &timeline->shares[index] : NULL;
}

uint32_t lode_timeline_row_profile(const lode_timeline *timeline, uint32_t row)
{
    const struct lode_window *window = &timeline->picture->window;
    return row < window->count ? window->profiles[row] : 0;
}

int lode_timeline_cell(const lode_timeline *timeline, uint32_t row, unsigned column)
{
    const lode_picture *picture = timeline->picture;
    if (row >= picture->rows || column >= picture->options.columns)
        return -1;
    return (int)picture->cells[(size_t)row * picture->options.columns + column] - 1;
}
