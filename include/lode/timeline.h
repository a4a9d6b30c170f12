/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: what each thread was doing in a window of time. */
#ifndef LODE_TIMELINE_H
#define LODE_TIMELINE_H

#include <lode/context.h>
#include <lode/pool.h>
#include <lode/selection.h>
#include <lode/trace.h>

LODE_BEGIN_DECLS

typedef struct lode_timeline_options {
    size_t size;
    uint64_t from,
        to; /* nanoseconds since the epoch; `to` is exclusive; both 0: from the first sample to the last */
    unsigned columns; /* bins that the window is cut into, at least 1 */
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

/* A function's share of the window, added up over the selected trace lines. */
typedef struct lode_timeline_share {
    const lode_context *context; /* of the function; the global context: not running; NULL: unlisted ones */
    uint64_t nanoseconds;
    uint64_t samples; /* that begin inside the window */
} lode_timeline_share;

typedef struct lode_timeline lode_timeline;

/*
 * A sample holds from its time until the next sample of its line; the last one of a line has no length. Costs what the
 * window holds, after a binary search in every line. LODE_ABSENT if the database has no traces. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_timeline_compute(lode_timeline **out, const lode_database *db,
                                                        const lode_timeline_options *options,
                                                        lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_timeline_free(lode_timeline *timeline);

/* The window, and what was found in it. All of these: MT: any thread. */
LODE_API void lode_timeline_window(const lode_timeline *timeline, uint64_t *from, uint64_t *to);
LODE_API uint64_t lode_timeline_samples(const lode_timeline *timeline);
/* Shares, longest first. */
LODE_API size_t lode_timeline_share_count(const lode_timeline *timeline);
LODE_API const lode_timeline_share *lode_timeline_share_at(const lode_timeline *timeline, size_t index);
/* Rows: one per selected trace line, in the order of the file. */
LODE_API uint32_t lode_timeline_row_count(const lode_timeline *timeline);
LODE_API uint32_t lode_timeline_row_profile(const lode_timeline *timeline, uint32_t row);
/*
 * The share (an index into the shares) that fills most of a bin; -1 where the line has no sample yet, or has ended.
 */
LODE_API int lode_timeline_cell(const lode_timeline *timeline, uint32_t row, unsigned column);

LODE_END_DECLS
#endif
