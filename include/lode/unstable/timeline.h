/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: what each thread did in a time window. */
#ifndef LODE_UNSTABLE_TIMELINE_H
#define LODE_UNSTABLE_TIMELINE_H

#include <lode/context.h>
#include <lode/pool.h>
#include <lode/recording.h>
#include <lode/selection.h>
#include <lode/trace.h>

LODE_BEGIN_DECLS

typedef struct lode_timeline_options {
    size_t size;
    /* nanoseconds since the epoch; `to` is exclusive; both 0: the bounds that the file states */
    uint64_t from, to;
    unsigned columns; /* intervals of the time window, at least 1 */
    unsigned depth;   /* show the function at this call depth; 0: the innermost */
    const lode_selection *selection;
    unsigned threads;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
} lode_timeline_options;
#define LODE_TIMELINE_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        sizeof(lode_timeline_options), 0, 0, 60, 0, NULL, 0, NULL, NULL, NULL                                \
    }

/* A function's share of the time window, summed over the selected trace lines. */
typedef struct lode_timeline_share {
    /* of the function; the global context: not running; NULL: unlisted ones */
    const lode_context *context;
    uint64_t nanoseconds;
    uint64_t samples; /* that begin in the time window */
    /* the function, if it is known; for recordings, NULL is outside of all calls */
    const lode_function *function;
    int is_idle; /* the thread did not run */
} lode_timeline_share;

typedef struct lode_timeline lode_timeline;

/*
 * A sample lasts until the next sample of its line; the last one has no length. The cost is
 * proportional to the window, after a binary search in every line. LODE_ABSENT if the database has
 * no traces. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_timeline_compute(lode_timeline **out, const lode_database *db,
                                                        const lode_timeline_options *options,
                                                        lode_error *error);
/*
 * The same for the tracks of a slice of a recording, of which only the tracks count: what
 * lode_timeline_compute finds in the database that lode_build makes with LODE_TRACE_FULL. Each
 * event of a call begins a sample. `selection` does not apply; times are those of events, and the
 * time window begins with the first event of the tracks if both are 0. Off-CPU time is idle, and
 * so is time outside of all calls. Of functions with equal time in a bin, the first one shows. A
 * track is read from its beginning to the end of the time window; memory grows with functions,
 * rows and columns. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_timeline_compute_recording(lode_timeline **out,
                                                                  const lode_recording *recording,
                                                                  const lode_slice *slice,
                                                                  const lode_timeline_options *options,
                                                                  lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_timeline_free(lode_timeline *timeline);

/* The time window, and what was found in it. All of these: MT: any thread. */
LODE_API void lode_timeline_window(const lode_timeline *timeline, uint64_t *from, uint64_t *to);
LODE_API uint64_t lode_timeline_samples(const lode_timeline *timeline);
/* Shares, longest first. */
LODE_API size_t lode_timeline_share_count(const lode_timeline *timeline);
LODE_API const lode_timeline_share *lode_timeline_share_at(const lode_timeline *timeline, size_t index);
/* Rows: one per selected trace line or track, in the order of the file; its profile or track. */
LODE_API uint32_t lode_timeline_row_count(const lode_timeline *timeline);
LODE_API uint32_t lode_timeline_row_profile(const lode_timeline *timeline, uint32_t row);
/*
 * The share (an index into the shares) that fills most of a bin; -1 where the line has no sample
 * yet, or has ended.
 */
LODE_API int lode_timeline_cell(const lode_timeline *timeline, uint32_t row, unsigned column);

LODE_END_DECLS
#endif
