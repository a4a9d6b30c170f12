/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of time: trace lines or tracks in rows, time in columns, a function in each cell. */
#ifndef LODE_UNSTABLE_PICTURE_H
#define LODE_UNSTABLE_PICTURE_H

#include <lode/context.h>
#include <lode/pool.h>
#include <lode/recording.h>
#include <lode/selection.h>
#include <lode/trace.h>

LODE_BEGIN_DECLS

typedef struct lode_picture lode_picture;

typedef enum lode_picture_quality {
    LODE_PICTURE_EXACT, /* all samples of the time window are added up */
    LODE_PICTURE_PROBES /* one line for each row, one look for each cell: quick, and an estimate */
} lode_picture_quality;

typedef enum lode_picture_idle {
    LODE_PICTURE_IDLE_DOMINANT, /* idle time counts like any function */
    LODE_PICTURE_IDLE_LAST      /* a cell shows it only where nothing ran */
} lode_picture_idle;

/* Keys of cells; those between are functions. */
enum {
    LODE_PICTURE_NOTHING = 0, /* no sample yet, or no more */
    LODE_PICTURE_NOT_RUNNING = 1,
    LODE_PICTURE_FUNCTION = 2, /* the first */
    LODE_PICTURE_OTHERS = 255  /* functions that have no key of their own */
};

/*
 * Rows `first_row` and up are complete, for all others to be drawn meanwhile. Called in the order
 * of rows, by one thread at a time. A result other than 0 cancels.
 */
typedef int (*lode_picture_stripe_fn)(void *user, const lode_picture *picture, uint32_t first_row,
                                      uint32_t row_count);

typedef struct lode_picture_options {
    size_t size;
    /*
     * Nanoseconds, as in samples or events; `to` is exclusive. Both 0: what the file states, or all
     * tracks. Columns are equally wide: those of 2^k ns come from a time window of
     * as many times that.
     */
    uint64_t from, to;
    unsigned columns;                /* at least 1 */
    unsigned rows;                   /* at most, and not more than lines; 0: one for each line */
    unsigned depth;                  /* show the function at this call depth; 0: the innermost */
    const lode_selection *selection; /* of a database; NULL: all */
    /* Trace lines or tracks by index, from top to bottom; NULL: selected ones as in the file. */
    const uint32_t *lines;
    uint32_t line_count;
    lode_picture_quality quality; /* pictures of recordings are exact */
    lode_picture_idle idle;
    /*
     * A picture of the same store and call depth that has given functions their keys, so that they
     * keep them in other time windows. NULL: keys follow the shares of this time
     * window.
     */
    const lode_picture *keys;
    lode_picture_stripe_fn on_stripe; /* needs `keys` */
    unsigned threads;                 /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
} lode_picture_options;
#define LODE_PICTURE_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_picture_options), 0, 0, 1000, 0, 0, NULL, NULL, 0, LODE_PICTURE_EXACT,                   \
            LODE_PICTURE_IDLE_DOMINANT, NULL, NULL, 0, NULL, NULL, NULL                                      \
    }

/* What a function has of the time window, summed over all lines. */
typedef struct lode_picture_share {
    const lode_context *context;   /* the first of the function; NULL: unlisted, or a recording */
    const lode_function *function; /* NULL if it is not known */
    uint64_t nanoseconds;          /* probes: an estimate */
    uint64_t samples;              /* that begin in the time window; probes: 0 */
    int is_idle;                   /* the thread did not run, or was outside of all calls */
    int key;                       /* LODE_PICTURE_... */
} lode_picture_share;

/*
 * Draws the trace lines of a database. A sample lasts until the next one of its line; the last one
 * has no length. Lines of one row are added up, and the function with the most time shows; of equal
 * ones the first in the tree. Memory grows with contexts, lines, and rows times columns; the result
 * does not depend on threads. LODE_ABSENT if the database has no traces. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_picture_compute(lode_picture **out, const lode_database *db,
                                                       const lode_picture_options *options,
                                                       lode_error *error);
/*
 * The same for tracks of a recording; see lode_timeline_compute_recording. Of `slice`, only the
 * tracks count. `options.lines` replaces them. Of equal functions, the first one shows. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_picture_compute_recording(lode_picture **out,
                                                                 const lode_recording *recording,
                                                                 const lode_slice *slice,
                                                                 const lode_picture_options *options,
                                                                 lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_picture_free(lode_picture *picture);

/* The time window, and what was found in it. All of these: MT: any thread. */
LODE_API void lode_picture_window(const lode_picture *picture, uint64_t *from, uint64_t *to);
LODE_API unsigned lode_picture_columns(const lode_picture *picture);
LODE_API uint32_t lode_picture_rows(const lode_picture *picture);
LODE_API uint64_t lode_picture_samples(const lode_picture *picture);
LODE_API uint32_t lode_picture_line_count(const lode_picture *picture);
/* The trace line or track at a position from the top; LODE_PICTURE_NO_LINE below the last. */
#define LODE_PICTURE_NO_LINE UINT32_MAX
LODE_API uint32_t lode_picture_line(const lode_picture *picture, uint32_t position);
/* The position of the first line of a row; past the last row, the number of lines. */
LODE_API uint32_t lode_picture_row_begin(const lode_picture *picture, uint32_t row);
/* Keys of all cells, row by row. */
LODE_API const uint8_t *lode_picture_keys(const lode_picture *picture);
/*
 * How much of a cell, the time of all its lines, its key has: 1 to 255, for all of it; 0 where it
 * is empty. Probes: 255.
 */
LODE_API const uint8_t *lode_picture_fills(const lode_picture *picture);
/* Shares of all functions, longest first. */
LODE_API size_t lode_picture_share_count(const lode_picture *picture);
LODE_API const lode_picture_share *lode_picture_share_at(const lode_picture *picture, size_t index);

LODE_END_DECLS
#endif
