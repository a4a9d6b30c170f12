/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a result, calls by function. */
#ifndef LODE_ANALYSIS_ROWS_H
#define LODE_ANALYSIS_ROWS_H

#include "analysis/calls/calls.h"
#include "base/memory/arena.h"

/* A row with its sort keys. */
struct ranked {
    lode_call_row row;
    lode_call_margin margin; /* of an estimate */
    struct lode_sketch *sketch;
    uint32_t index; /* of the function */
    uint32_t rank;
    uint32_t member; /* the first of its functions, if rows have several */
};

struct lode_calls {
    struct ranked *rows;
    size_t count, hidden;
    const lode_function **members; /* by row; NULL: each row has one function */
    lode_track_row *tracks;
    uint32_t track_count;
    struct lode_sampling sample;
    struct lode_arena arena; /* for the sketches */
};

/* Ranks rows by name, and puts them in order. */
lode_status lode_calls_sort_rows(lode_calls *calls, lode_calls_sort sort, lode_error *error);

#endif
