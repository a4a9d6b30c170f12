/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells of time while they are drawn, for pictures and timelines: lines in rows, time in columns. A
 * number stands for a function; its meaning is that of lines (raster_lines.c) or tracks.
 */
#ifndef LODE_ANALYSIS_RASTER_H
#define LODE_ANALYSIS_RASTER_H

#include "analysis/cost/window.h"
#include "base/progress.h"
#include <lode/unstable/picture.h>

__extension__ typedef unsigned __int128 lode_raster_wide;

/* Two cache lines, which CPUs prefetch together: avoids false sharing. */
#define LODE_RASTER_ALIGN 128

struct lode_picture {
    struct lode_window window; /* its lines, or tracks, from top to bottom */
    lode_picture_options options;
    uint32_t rows;
    uint64_t samples;
    uint32_t *cells; /* [row][column]: number + 1 while computing, then share + 1; 0: nothing */
    bool has_keys;   /* asks for the next two */
    uint8_t *fills, *keys;
    lode_picture_share *shares;
    size_t share_count;
    uint8_t *key_of; /* by number: what options.keys has; NULL: nothing */
    uint32_t key_count;
    struct lode_progress progress;
};

struct lode_raster_bin {
    uint64_t nanoseconds, samples;
};

/* Sums of a worker: by number, and in the current cell. */
struct lode_raster_tally {
    _Alignas(LODE_RASTER_ALIGN) struct lode_raster_bin *bins; /* of the current cell */
    struct lode_raster_bin *sums;                             /* of all cells before */
    uint8_t *is_idle;
    uint32_t *touched; /* in the current cell, in chronological order; and room for one more */
    uint32_t touched_count, capacity;
};

/* Makes space for numbers below `count`. False if out of memory. */
bool lode_raster_reserve(struct lode_raster_tally *tally, uint32_t count);

static inline void raster_add(struct lode_raster_tally *tally, uint32_t number, uint64_t nanoseconds,
                              unsigned begins)
{
    struct lode_raster_bin *bin = &tally->bins[number];
    /* Whether a number is new in a cell is unpredictable: no branch. */
    tally->touched[tally->touched_count] = number;
    tally->touched_count += (bin->nanoseconds | bin->samples) == 0;
    bin->nanoseconds += nanoseconds;
    bin->samples += begins;
}

/* When a column ends. */
static inline uint64_t raster_edge(const lode_picture *picture, unsigned column)
{
    lode_raster_wide span = picture->window.to - picture->window.from;
    return picture->window.from + (uint64_t)(span * (column + 1) / picture->options.columns);
}

static inline uint32_t raster_rows(const lode_picture_options *options, uint32_t lines)
{
    return options->rows == 0 || options->rows > lines ? lines : options->rows;
}

static inline uint32_t raster_row_begin(const lode_picture *picture, uint32_t row)
{
    return picture->rows ? (uint32_t)((uint64_t)picture->window.count * row / picture->rows) : 0;
}

/* Sets a cell: `number` has `nanoseconds` of it. */
void lode_raster_set(lode_picture *picture, uint32_t row, unsigned column, uint32_t number,
                     uint64_t nanoseconds);
/*
 * Sets a cell to what has most of the bins, and empties them. `is_by_number`: of equal ones the
 * lowest wins, not the first.
 */
void lode_raster_close(lode_picture *picture, struct lode_raster_tally *tally, uint32_t row, unsigned column,
                       bool is_by_number);
/* Empties the bins into the sums. */
void lode_raster_flush(struct lode_raster_tally *tally);

/* What the numbers mean, once all rows are drawn. */
struct lode_raster_meaning {
    lode_picture_share (*share_of)(void *user, uint32_t number);
    uint32_t (*rank_of)(void *user, uint32_t number); /* the order of equal shares */
    void *user;
};

/*
 * Takes the keys of options.keys over; `number_of` gives the number of a function or LODE_NO_INDEX.
 */
lode_status lode_raster_take_keys(lode_picture *picture, uint32_t count,
                                  uint32_t (*number_of)(void *user, const lode_picture_share *share),
                                  void *user, lode_error *error);
/* Allocates cells and tallies; the window is known. */
lode_status lode_raster_prepare(lode_picture *picture, unsigned workers, struct lode_raster_tally **tallies,
                                lode_error *error);
void lode_raster_tallies_free(struct lode_raster_tally *tallies, unsigned workers);
/* After each row, in order: progress and stripes. */
lode_status lode_raster_finish_row(lode_picture *picture, uint32_t row, lode_error *error);
/* Sums tallies up to shares, longest first, and replaces numbers in cells by shares. */
lode_status lode_raster_finish(lode_picture *picture, const struct lode_raster_tally *tallies,
                               unsigned workers, const struct lode_raster_meaning *meaning,
                               lode_error *error);

/* Draw and finish; what the options ask for is in `picture`. */
lode_status lode_raster_lines(lode_picture *picture, const lode_database *db, lode_error *error);
lode_status lode_raster_tracks(lode_picture *picture, const lode_recording *recording,
                               const lode_slice *slice, lode_error *error);

#endif
