/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: cells of time with a key for each. */
#include "analysis/time/raster.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <stdlib.h>

static lode_status begin(lode_picture **out, const lode_picture_options *given, const char *phase,
                         lode_error *error)
{
    lode_picture *picture = calloc(1, sizeof *picture);
    *out = picture;
    LODE_TRY_ALLOC(picture, error);
    picture->options = (lode_picture_options)LODE_PICTURE_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&picture->options, given, error));
    const lode_picture_options *options = &picture->options;
    picture->options.columns = options->columns ? options->columns : 1;
    if (options->on_stripe && options->keys == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "stripes of a picture need the keys of another one");
    picture->progress =
        (struct lode_progress){.report = options->on_progress, .user = options->user, .phase = phase};
    return LODE_OK;
}

static lode_status end(lode_picture **picture, lode_status status)
{
    if (status != LODE_OK) {
        lode_picture_free(*picture);
        *picture = NULL;
    } else {
        /* What the caller owns may end before the picture does. */
        (*picture)->options.keys = NULL;
        (*picture)->options.lines = NULL;
    }
    return status;
}

lode_status lode_picture_compute(lode_picture **out, const lode_database *db,
                                 const lode_picture_options *options, lode_error *error)
{
    lode_status status = begin(out, options, "reading traces", error);
    if (status == LODE_OK) {
        (*out)->has_keys = true;
        status = lode_raster_lines(*out, db, error);
    }
    return end(out, status);
}

lode_status lode_picture_compute_recording(lode_picture **out, const lode_recording *recording,
                                           const lode_slice *slice, const lode_picture_options *options,
                                           lode_error *error)
{
    lode_slice part = LODE_SLICE_INIT;
    lode_status status = begin(out, options, "reading", error);
    if (status == LODE_OK)
        status = lode_options_take(&part, slice, error);
    if (status == LODE_OK) {
        (*out)->has_keys = true;
        status = lode_raster_tracks(*out, recording, &part, error);
    }
    return end(out, status);
}

void lode_picture_free(lode_picture *picture)
{
    if (picture == NULL)
        return;
    lode_window_free(&picture->window);
    free(picture->shares);
    free(picture->cells);
    free(picture->fills);
    free(picture->keys);
    free(picture->key_of);
    free(picture);
}

void lode_picture_window(const lode_picture *picture, uint64_t *from, uint64_t *to)
{
    *from = picture->window.from;
    *to = picture->window.to;
}

LODE_GETTER(unsigned, lode_picture_columns, lode_picture, options.columns);
LODE_GETTER(uint32_t, lode_picture_rows, lode_picture, rows);
LODE_GETTER(uint64_t, lode_picture_samples, lode_picture, samples);
LODE_GETTER(uint32_t, lode_picture_line_count, lode_picture, window.count);
LODE_GETTER(const uint8_t *, lode_picture_keys, lode_picture, keys);
LODE_GETTER(const uint8_t *, lode_picture_fills, lode_picture, fills);
LODE_GETTER(size_t, lode_picture_share_count, lode_picture, share_count);

uint32_t lode_picture_line(const lode_picture *picture, uint32_t position)
{
    if (position >= picture->window.count)
        return LODE_PICTURE_NO_LINE;
    return picture->window.lines ? picture->window.lines[position] : picture->window.profiles[position];
}

uint32_t lode_picture_row_begin(const lode_picture *picture, uint32_t row)
{
    return row < picture->rows ? raster_row_begin(picture, row) : picture->window.count;
}

const lode_picture_share *lode_picture_share_at(const lode_picture *picture, size_t index)
{
    return index < picture->share_count ? &picture->shares[index] : NULL;
}
