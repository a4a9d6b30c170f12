/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the tracks of a slice, a worker for each, and the order of functions: what calls and call trees share. */
#ifndef LODE_ANALYSIS_CALLS_H
#define LODE_ANALYSIS_CALLS_H

#include "analysis/sketch.h"
#include "model/recording.h"
#include <lode/calls.h>

struct lode_pass {
    const lode_recording *recording;
    lode_slice slice;
    lode_calls_options options;
    unsigned threads; /* workers */
    /* The tracks of the slice in their order. The pass fills in all but calls, total and out. */
    lode_track_row *rows;
    uint32_t row_count;
    /* A worker begins with a track; may be NULL. */
    lode_status (*begin)(void *user, unsigned worker, const lode_track_row *row, lode_error *error);
    /* The next events of the track that a worker is at: balanced and nested from its first to its last. */
    lode_status (*take)(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error);
    /* They were all. */
    lode_status (*end)(void *user, unsigned worker, lode_track_row *row, lode_error *error);
    void *user;
};

/* Finds out which tracks there are, and how many workers. Slice and options may be NULL. */
lode_status lode_pass_open(struct lode_pass *pass, const lode_recording *recording, const lode_slice *slice,
                           const lode_calls_options *options, lode_error *error);
/* Reads the tracks, large ones first, so that the workers end at about the same time. Then passes findings on in the order of tracks. */
lode_status lode_pass_run(struct lode_pass *pass, lode_error *error);
void lode_pass_close(struct lode_pass *pass);

/*
 * An array with an item of `size` bytes for each worker, zeroed; free() gives it back. Items must be LODE_WORKER_ALIGN bytes apart: what one
 * worker writes to all the time must not lie in a line of the cache that another reads.
 */
#define LODE_WORKER_ALIGN 128
void *lode_pass_workers(const struct lode_pass *pass, size_t size);

__extension__ typedef unsigned __int128 lode_square;

/* What the calls of one function took, on the tracks of one worker. The number of calls is that of its sketch. */
struct lode_tally {
    uint64_t squares_low, squares_high; /* of the times of all calls */
    uint64_t sum;                       /* of the same */
    uint64_t nested;                    /* of those inside others of the same function */
    uint64_t min, max;
    uint64_t errors; /* calls that ended with one */
    uint64_t unused; /* a line of the cache in all */
};

/* A worker: tallies and sketches by index of function, and the calls that are open. */
struct lode_tallies {
    _Alignas(LODE_WORKER_ALIGN) struct lode_tally *items;
    /* Time of what a function called, by its index and 1; at 0, of the outermost calls of this track. */
    uint64_t *inside;
    uint32_t *active; /* calls that are open by index of function: 0 between tracks */
    uint32_t capacity;
    struct lode_sketches sketches;
    /* The calls that are open, outermost first. Below them is what is outside of all calls, with 0 for the function. */
    uint64_t *begins;
    uint32_t *functions; /* index and 1 */
    size_t depth, depth_max;
    uint64_t calls, errors, out; /* of this track */
};

lode_status lode_tallies_open(struct lode_tallies *tallies, lode_error *error);
void lode_tallies_close(struct lode_tallies *tallies);
/* As take and end of struct lode_pass, for one worker. */
lode_status lode_tallies_take(struct lode_tallies *tallies, const lode_event *events, size_t count,
                              lode_error *error);
void lode_tallies_end(struct lode_tallies *tallies, lode_track_row *row);

/*
 * The canonical order of functions: by label, path of the module, offset. `ranks` is by index of function; those of `functions`, of
 * which none is there twice, are set. It does not depend on which function was met first.
 */
lode_status lode_rank_functions(const lode_function *const *functions, size_t count, uint32_t *ranks,
                                lode_error *error);

#endif
