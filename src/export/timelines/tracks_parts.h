/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of struct lode_tracks, which has a file each. */
#ifndef LODE_EXPORT_TRACKS_PARTS_H
#define LODE_EXPORT_TRACKS_PARTS_H

#include "analysis/cost/window.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "export/timelines/tracks.h"
#include "model/database/database.h"
#include "model/recording/recording.h"
#include <lode/pool.h>
#include <pthread.h>

/*
 * A call stack at function level: contexts that differ in lines and loops only share one. Stack 0
 * is empty: not running, or an entry point alone. Parents come before children.
 */
struct lode_track_stack {
    uint32_t parent, depth, frame;
};

struct lode_tracks {
    const struct lode_export *job;
    struct {
        const lode_database *db; /* or NULL: then it is */
        const lode_recording *recording;
        const lode_selection *selection; /* of a database */
        lode_slice slice;                /* its tracks are of a recording, the rest is of both */
        lode_name_form names;
        unsigned threads;
        lode_pool *pool;
        bool strict;
    } options;
    struct lode_window window; /* of a database */
    struct lode_line *lines;
    uint32_t line_count;
    struct lode_tracks_process *processes;
    uint32_t process_count;
    uint32_t *sources; /* of lines: trace lines or tracks */
    uint64_t begin, end;
    uint64_t bytes, window_bytes; /* of all lines */

    /* Of a database. */
    struct lode_track_stack *stacks;
    uint32_t stack_count;
    uint32_t *stack_of;    /* by index of context */
    uint32_t unlisted;     /* the stack of contexts that are not listed */
    lode_function *frames; /* their index is their position */
    uint32_t frame_count;

    pthread_mutex_t lock;    /* of the rest */
    struct lode_arena arena; /* of names */
    struct lode_array names; /* const struct lode_frame_name *, by index of the frame */
    const lode_function **by_rank;
    uint32_t *ranks; /* by index of the frame */
    uint32_t rank_count;
};

/* Finds the lines, and numbers and names them. */
lode_status lode_tracks_find_lines(struct lode_tracks *tracks, lode_error *error);

/* Gives numbers to lines and processes whose `tid` and `pid` are as recorded, or 0. */
lode_status lode_tracks_number_lines(struct lode_tracks *tracks, lode_error *error);

/* Makes frames and stacks of the contexts of a database. */
lode_status lode_tracks_find_stacks(struct lode_tracks *tracks, lode_error *error);

/* Text in the arena, with control characters replaced. NULL if out of memory. */
const char *lode_tracks_text(struct lode_tracks *tracks, const char *text);

#endif
