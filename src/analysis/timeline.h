/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines while they are drawn: sums and bins by key. A key is a number of a function. */
#ifndef LODE_ANALYSIS_TIMELINE_H
#define LODE_ANALYSIS_TIMELINE_H

#include "analysis/window.h"
#include <lode/timeline.h>

struct lode_timeline {
    struct lode_window window; /* its lines, or tracks, are the rows */
    uint64_t samples;
    lode_timeline_share *shares;
    size_t share_count;
    unsigned columns;
    int32_t *cells; /* [row][column]: key + 1 while computing, then the share or -1 */
};

/* Two cache lines, which CPUs prefetch together: avoids false sharing. */
#define LODE_TIMELINE_ALIGN 128

/* Sums of a worker: by key, and in the current bin. */
struct lode_timeline_tally {
    _Alignas(LODE_TIMELINE_ALIGN) uint64_t *nanoseconds, *samples, *in_bin;
    uint32_t *touched; /* keys in the current bin, in chronological order */
    uint32_t touched_count, capacity;
    uint64_t sample_count;
};

/* Allocates `columns` cells for each row of the window, and tallies for all workers. */
lode_status lode_timeline_prepare(lode_timeline *timeline, unsigned columns, unsigned workers,
                                  struct lode_timeline_tally **tallies, lode_error *error);
/* Makes space for keys below `keys`. False if out of memory. */
bool lode_timeline_reserve(struct lode_timeline_tally *tally, uint32_t keys);
void lode_timeline_tallies_free(struct lode_timeline_tally *tallies, unsigned workers);

/* A row being drawn, and its current bin. */
struct lode_pen {
    const lode_timeline *timeline;
    struct lode_timeline_tally *tally;
    int32_t *cells;
    bool is_by_key; /* of equal keys in a bin the lowest wins, not the first */
    unsigned column;
    uint64_t edge; /* where the column ends */
};

struct lode_pen lode_pen_begin(const lode_timeline *timeline, struct lode_timeline_tally *tally,
                               uint32_t row);
/* A sample that begins in the window, if `begins`, and the part of it that is inside. */
void lode_pen_draw(struct lode_pen *pen, uint32_t key, const struct lode_window_sample *sample);
void lode_pen_end(struct lode_pen *pen);

/* What a key is, when all rows are drawn. */
typedef lode_timeline_share (*lode_key_share)(void *user, uint32_t key);
/* The order of equal shares. */
typedef uint32_t (*lode_key_rank)(void *user, uint32_t key);
/* Sums tallies up to shares, longest first, and replaces keys in cells by shares. */
lode_status lode_timeline_finish(lode_timeline *timeline, const struct lode_timeline_tally *tallies,
                                 unsigned workers, lode_key_share share_of, lode_key_rank rank_of, void *user,
                                 lode_error *error);

#endif
