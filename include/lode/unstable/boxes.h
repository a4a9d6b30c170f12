/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of one trace line or track over time, by call depth: boxes to draw. */
#ifndef LODE_UNSTABLE_BOXES_H
#define LODE_UNSTABLE_BOXES_H

#include <lode/context.h>
#include <lode/recording.h>
#include <lode/trace.h>

LODE_BEGIN_DECLS

typedef struct lode_boxes_options {
    size_t size;
    /*
     * Nanoseconds, as in samples or events; `to` is exclusive. Both 0: what the file states, or all
     * of the track.
     */
    uint64_t from, to;
    unsigned columns; /* calls that begin and end in the same one are one box; at least 1 */
    unsigned depth;   /* levels at most; 0: all */
    lode_progress_fn on_progress;
    void *user;
} lode_boxes_options;
#define LODE_BOXES_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_boxes_options), 0, 0, 1000, 0, NULL, NULL                                                \
    }

/* A call, or the calls of one depth that begin and end in one column. */
typedef struct lode_box {
    uint64_t begin, end;           /* of the first and of the last, within the time window */
    uint64_t duration;             /* of all calls in it */
    uint64_t calls;                /* at least 1 */
    uint32_t depth;                /* 1: the outermost */
    const lode_context *context;   /* of the longest call; NULL for recordings */
    const lode_function *function; /* of the longest call; NULL for databases */
} lode_box;

typedef struct lode_boxes lode_boxes;

/*
 * Boxes of a trace line, by depth and time. A context goes on while the next sample is in it, too;
 * the last sample has no length. Reads the samples of the time window; a sample costs the contexts
 * that it does not share with the sample before. Memory grows with depth times columns.
 * LODE_NOT_FOUND past the last line. `options` may be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_boxes_compute(lode_boxes **out, const lode_database *db, uint32_t line,
                                                     const lode_boxes_options *options, lode_error *error);
/*
 * The same of a track of a recording. Off-CPU time is a call. What has no end goes on to the last
 * event. LODE_ERR_ARGUMENT past the last track. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_boxes_compute_recording(lode_boxes **out,
                                                               const lode_recording *recording,
                                                               uint32_t track,
                                                               const lode_boxes_options *options,
                                                               lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_boxes_free(lode_boxes *boxes);

/* All of these: MT: any thread. */
LODE_API size_t lode_boxes_count(const lode_boxes *boxes);
/* NULL if the index is out of range. */
LODE_API const lode_box *lode_boxes_at(const lode_boxes *boxes, size_t index);

LODE_END_DECLS
#endif
