/* SPDX-License-Identifier: BSD-3-Clause */
/* A time window of trace lines: which lines, and which part of each sample is inside. */
#ifndef LODE_ANALYSIS_WINDOW_H
#define LODE_ANALYSIS_WINDOW_H

#include "model/database/database.h"
#include "model/database/trace.h"
#include <lode/selection.h>

/* Selected trace lines in the order of the file. */
struct lode_window {
    uint64_t from, to; /* `to` is exclusive */
    uint32_t *lines, *profiles;
    uint32_t count;
};

/*
 * `from` and `to` both 0: from the first sample to the last. lode_window_free is due in every case.
 * LODE_ABSENT if the database has no traces.
 */
lode_status lode_window_init(struct lode_window *window, const lode_database *db,
                             const lode_selection *selection, uint64_t from, uint64_t to, lode_error *error);
void lode_window_free(struct lode_window *window);

/* A sample that begins in the window or lasts into it. */
struct lode_window_sample {
    uint32_t context_id;
    bool begins;       /* in the window */
    uint64_t from, to; /* the part of it that is inside; empty if from >= to */
};

/* Where a walk over the samples of a line is. */
struct lode_window_walk {
    const lode_trace_line *line;
    uint64_t from, to, next;
};

static inline struct lode_window_walk window_walk(const struct lode_window *window,
                                                  const lode_trace_line *line)
{
    uint64_t next = lode_trace_line_seek(line, window->from);
    /* The sample before the window lasts into it. */
    next -= next > 0 && (next == line->sample_count || trace_time(line, next) > window->from);
    return (struct lode_window_walk){line, window->from, window->to, next};
}

/* A sample lasts until the next one of its line; the last one has no length. */
static inline bool window_next(struct lode_window_walk *walk, struct lode_window_sample *sample)
{
    const lode_trace_line *line = walk->line;
    uint64_t i = walk->next;
    if (i >= line->sample_count || trace_time(line, i) >= walk->to)
        return false;
    uint64_t time = trace_time(line, i);
    uint64_t end = i + 1 < line->sample_count ? trace_time(line, i + 1) : time;
    sample->context_id = trace_context(line, i);
    sample->begins = time >= walk->from;
    sample->from = time > walk->from ? time : walk->from;
    sample->to = end < walk->to ? end : walk->to;
    walk->next++;
    return true;
}

#endif
