/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/parts/pieces.h"

#include "base/error.h"
#include "base/memory/array.h"
#include "base/pool.h"
#include <stdlib.h>

static const lode_track *track_of(const struct lode_pass *pass, uint32_t row)
{
    return &pass->recording->tracks[pass->rows[row].track];
}

bool lode_pass_is_whole(const struct lode_pass *pass)
{
    const lode_slice *slice = &pass->slice;
    return slice->from == 0 && slice->to == 0 && slice->depth == 0 && slice->min_time == 0 &&
           !pass->options.is_running;
}

void lode_pass_cut(struct lode_pass *pass)
{
    uint64_t items = 0;
    pass->cuts = lode_pass_is_whole(pass) && pass->recording->ops->survey;
    if (!pass->cuts)
        return;
    for (uint32_t i = 0; i < pass->row_count; i++)
        items += 1 + track_of(pass, i)->bytes / LODE_PIECE_MIN;
    pass->threads = lode_pool_threads(lode_pool_asked(pass->options.threads, pass->options.pool), items);
}

static lode_status add(struct lode_pieces *self, struct lode_piece piece, lode_error *error)
{
    if (self->count == self->capacity && !LODE_GROW(self->items, self->capacity, self->capacity * 2 + 64))
        return lode_fail_memory(error);
    self->items[self->count++] = piece;
    return LODE_OK;
}

static lode_status cut_row(struct lode_pieces *self, const struct lode_pass *pass, uint32_t row,
                           uint64_t size, lode_error *error)
{
    struct lode_cuts *cuts = &self->cuts[row];
    uint64_t bytes = track_of(pass, row)->bytes, at = 0;
    LODE_TRY(lode_cuts_make(cuts, pass->recording, pass->rows[row].track, size, pass->threads,
                            pass->options.pool, error));
    for (size_t i = 0; cuts->count > 0 && i <= cuts->count; i++) {
        struct lode_piece piece = {row, 0, i > 0 ? &cuts->items[i - 1] : NULL,
                                   i < cuts->count ? &cuts->items[i] : NULL};
        uint64_t end = piece.to ? piece.to->position : bytes;
        piece.bytes = end > at ? end - at : 0;
        LODE_TRY(add(self, piece, error));
        at = end;
    }
    return LODE_OK;
}

lode_status lode_pieces_make(struct lode_pieces *pieces, const struct lode_pass *pass, uint64_t total,
                             lode_error *error)
{
    uint64_t size = pass->cuts ? lode_cuts_size(pass->recording, total, pass->threads) : 0;
    if (pass->cuts && pass->sample.piece > 0)
        size = pass->sample.piece;
    *pieces = (struct lode_pieces){.row_count = pass->row_count};
    if (size == 0)
        return LODE_OK;
    pieces->cuts = calloc((size_t)pass->row_count + 1, sizeof *pieces->cuts);
    LODE_TRY_ALLOC(pieces->cuts, error);
    for (uint32_t i = 0; i < pass->row_count; i++)
        LODE_TRY(cut_row(pieces, pass, i, size, error));
    return LODE_OK;
}

void lode_pieces_free(struct lode_pieces *pieces)
{
    for (uint32_t i = 0; pieces->cuts && i < pieces->row_count; i++)
        lode_cuts_free(&pieces->cuts[i]);
    free(pieces->cuts);
    free(pieces->items);
    *pieces = (struct lode_pieces){0};
}

void lode_piece_add(lode_track_row *row, const lode_track_row *part)
{
    row->calls += part->calls;
    row->errors += part->errors;
    row->total += part->total;
    row->out += part->out;
    row->repairs += part->repairs;
    if (part->events == 0)
        return;
    row->begin = (row->events == 0 && row->end == 0) || part->begin < row->begin ? part->begin : row->begin;
    row->end = part->end > row->end ? part->end : row->end;
    row->events += part->events;
}
