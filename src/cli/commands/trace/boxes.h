/* SPDX-License-Identifier: BSD-3-Clause */
/* What lines did over time, by call depth: boxes. */
#ifndef CLI_TRACE_BOXES_H
#define CLI_TRACE_BOXES_H

#include "commands/trace/draw.h"

typedef struct trace_boxes {
    uint64_t from, to; /* `to` is exclusive and after `from` */
    uint64_t rows;     /* lines at most; 0: all */
    unsigned depth;    /* levels at most; 0: all */
    lode_progress_fn on_progress;
    void *user;
} trace_boxes;

/*
 * A row for each call that is in the time window, by line, depth and time. Calls that begin and end
 * in one of `d->columns` are one row for each column and depth, so that an answer is bounded by
 * columns.
 */
lode_status trace_write_boxes(out *o, const trace_drawing *d, const trace_boxes *wanted, lode_error *error);

#endif
