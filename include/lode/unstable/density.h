/* SPDX-License-Identifier: BSD-3-Clause */
/* How many tracks that a search finds began when and took how long: cells to draw. */
#ifndef LODE_UNSTABLE_DENSITY_H
#define LODE_UNSTABLE_DENSITY_H

#include <lode/unstable/search.h>

LODE_BEGIN_DECLS

/* Tracks that begin in one interval of time, and have a duration of one range. */
typedef struct lode_density_cell {
    unsigned column; /* the interval, from 0 */
    unsigned row;    /* the range, from 0, which is that of a duration of 0 */
    /* Its bounds: nanoseconds; the second ones are exclusive. */
    uint64_t from, to;
    uint64_t min_duration, max_duration;
    uint64_t tracks;           /* at least 1 */
    uint64_t duration;         /* of all of them */
    uint64_t longest_duration; /* of the longest one */
    uint32_t longest;          /* which track that is; of equal ones the first */
} lode_density_cell;

typedef struct lode_density lode_density;

/*
 * Counts all tracks that meet the conditions of a search; `limit`, `sort` and `key` of the options
 * do not apply. The time window of the options, or that in which their tracks begin, has `columns`
 * intervals of equal length, at least 1; what began before it is in the first one. Durations have
 * ten ranges for each power of ten, which begin at 1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3 and 8
 * times that, rounded down; of those that begin alike, the last one counts. So there are at most
 * 194 times `columns` cells, and memory does not grow with tracks. The result does not depend on
 * the number of threads. `options` may be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_density_compute(lode_density **out, const lode_recording *recording,
                                                       const lode_search_options *options, unsigned columns,
                                                       lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_density_free(lode_density *density);

/* All of these: MT: any thread. The time window of the columns; without tracks, both are 0. */
LODE_API void lode_density_window(const lode_density *density, uint64_t *from, uint64_t *to);
LODE_API unsigned lode_density_columns(const lode_density *density);
/* Tracks that were found: the sum of all cells. */
LODE_API uint64_t lode_density_found(const lode_density *density);
/* Cells with tracks, by row and column. */
LODE_API size_t lode_density_count(const lode_density *density);
/* NULL if the index is out of range. */
LODE_API const lode_density_cell *lode_density_at(const lode_density *density, size_t index);

LODE_END_DECLS
#endif
