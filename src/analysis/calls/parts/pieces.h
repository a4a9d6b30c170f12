/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of the long tracks of a pass: no item of work is larger than a thread's share. */
#ifndef LODE_ANALYSIS_PIECES_H
#define LODE_ANALYSIS_PIECES_H

#include "analysis/calls/calls.h"

struct lode_piece {
    uint32_t row;
    uint64_t bytes;
    const struct lode_cut *from, *to; /* NULL: the begin and the end of the track */
};

struct lode_pieces {
    struct lode_piece *items; /* in the order of rows and tracks; none of a row that is not cut */
    size_t count, capacity;
    struct lode_cuts *cuts; /* by row; NULL: none is cut */
    uint32_t row_count;
};

/* `total`: the bytes of all rows. Always free it. */
lode_status lode_pieces_make(struct lode_pieces *pieces, const struct lode_pass *pass, uint64_t total,
                             lode_error *error);
void lode_pieces_free(struct lode_pieces *pieces);
/* Adds what a piece has to its row. */
void lode_piece_add(lode_track_row *row, const lode_track_row *part);

#endif
