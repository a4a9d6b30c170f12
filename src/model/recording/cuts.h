/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts of a long track, so that several threads read its pieces at once. A quick look over the
 * records before a cut finds the calls that are open there: a piece begins inside of them, and
 * leaves those open that it does not see end.
 *
 * The quick look knows regular records only. So whoever reads a piece compares what is open at its
 * end with the next cut, and reads the track in one piece if they differ, or if a record was
 * repaired before the last cut: the result is that of one piece, at any cut.
 */
#ifndef LODE_MODEL_CUTS_H
#define LODE_MODEL_CUTS_H

#include "base/memory/arena.h"
#include <lode/pool.h>
#include <lode/recording.h>
#include <stdbool.h>

struct lode_cut_call {
    const lode_function *function;
    uint64_t begin;
    uint64_t address; /* of the record */
};

/* Records before `position` were read, and the last one has this time. */
struct lode_cut {
    uint64_t position, time;
    size_t count;
    const struct lode_cut_call *calls; /* open ones, the outermost first, at depth 0 */
};

/* What the records of [from, to) leave open: one call at each depth from `kept` on. */
struct lode_cut_survey {
    uint64_t from, to;
    uint64_t time; /* of the last record */
    size_t kept;   /* calls that began before `from` and still are open */
    struct lode_cut_call *calls;
    size_t count, capacity; /* the innermost first */
    bool is_regular;        /* else the rest means nothing */
};

struct lode_cuts {
    struct lode_arena arena;
    struct lode_cut *items;
    size_t count;
};

/* The smallest piece that pays off: a cursor is opened for each. */
#define LODE_PIECE_MIN (UINT64_C(1) << 20)

/* The size of pieces of tracks that have `total` bytes; 0: nothing is cut. */
uint64_t lode_cuts_size(const lode_recording *recording, uint64_t total, unsigned threads);
/*
 * Cuts a track into pieces of about this size, or does not: then there are no cuts. What cannot be
 * cut from some record on is one piece from there. Always free it.
 */
lode_status lode_cuts_make(struct lode_cuts *cuts, const lode_recording *recording, uint32_t track,
                           uint64_t piece, unsigned threads, lode_pool *pool, lode_error *error);
void lode_cuts_free(struct lode_cuts *cuts);

#endif
