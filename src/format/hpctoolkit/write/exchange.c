/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/write/exchange.h"

#include <stdlib.h>

enum {
    EXCHANGE_MOST = 1 << 28, /* bytes sent at once: more is not faster */
    PIECE_PROFILE = 0,
    PIECE_GROUPS = 4,
    PIECE_VALUES = 8,
    PIECE_HEADER = 16
};

lode_status lode_exchange_begin(struct exchange *exchange, struct hpct_sink *sink, struct batch_piece *own,
                                uint32_t own_count, uint64_t memory, lode_error *error)
{
    uint32_t ranks = sink->base.options.comm->place.size, others = ranks > 1 ? ranks - 1 : 1;
    uint64_t least =
        PIECE_HEADER + WIRE_ContextIndex_SIZE + (uint64_t)sink->value_ids * WIRE_ProfileValue_SIZE;
    uint64_t room = (memory < EXCHANGE_MOST ? memory : EXCHANGE_MOST) / others;
    *exchange = (struct exchange){.comm = sink->base.options.comm,
                                  .own = own,
                                  .own_count = own_count,
                                  .room = room > least ? room : least,
                                  .traffic = &sink->traffic};
    lode_array_init(&exchange->arrived, sizeof(void *), SIZE_MAX);
    lode_array_init(&exchange->pieces, sizeof(struct batch_piece), SIZE_MAX);
    exchange->places = calloc(ranks, sizeof *exchange->places);
    exchange->out_sizes = calloc(ranks, sizeof *exchange->out_sizes);
    exchange->in_sizes = calloc(ranks, sizeof *exchange->in_sizes);
    if (exchange->places == NULL || exchange->out_sizes == NULL || exchange->in_sizes == NULL)
        return lode_fail_memory(error);
    return LODE_OK;
}

/* Frees the pieces of the last round. */
static void forget(struct exchange *exchange)
{
    for (size_t i = 0; i < exchange->arrived.count; i++)
        free(*LODE_ARRAY_AT(&exchange->arrived, void *, i));
    exchange->arrived.count = 0;
    exchange->pieces.count = 0;
}

void lode_exchange_end(struct exchange *exchange)
{
    forget(exchange);
    lode_array_free(&exchange->arrived);
    lode_array_free(&exchange->pieces);
    lode_blob_free(&exchange->outgoing);
    free(exchange->places);
    free(exchange->out_sizes);
    free(exchange->in_sizes);
}

/* ---- sending ---- */

static uint64_t bytes_of(const lode_block *block, uint32_t first, uint32_t end)
{
    return (uint64_t)(end - first) * WIRE_ContextIndex_SIZE +
           (batch_value(block, end) - batch_value(block, first)) * WIRE_ProfileValue_SIZE;
}

/* The end of the groups from `first` to `end` that fit into `room` bytes. */
static uint32_t fitting(const lode_block *block, uint32_t first, uint32_t end, uint64_t room)
{
    uint32_t low = first;
    while (low < end) {
        uint32_t middle = end - (end - low) / 2;
        if (bytes_of(block, first, middle) <= room)
            low = middle;
        else
            end = middle - 1;
    }
    return low;
}

static lode_status put_piece(struct exchange *exchange, const struct batch_piece *piece, uint32_t first,
                             uint32_t end, lode_error *error)
{
    const lode_block *block = &piece->block;
    uint64_t start = batch_value(block, first), values = batch_value(block, end) - start;
    size_t at = lode_blob_reserve(&exchange->outgoing, PIECE_HEADER + (size_t)bytes_of(block, first, end), 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    uint8_t *out = exchange->outgoing.bytes + at;
    put_u32le(out + PIECE_PROFILE, piece->profile);
    put_u32le(out + PIECE_GROUPS, end - first);
    put_u64le(out + PIECE_VALUES, values);
    out += PIECE_HEADER;
    for (uint32_t group = first; group < end; group++) {
        put_u32le(out, block_group_key(block, group));
        put_u64le(out + WIRE_ContextIndex_startIndex, block_group_start(block, group) - start);
        out += WIRE_ContextIndex_SIZE;
    }
    memcpy(out, block->values + start * WIRE_ProfileValue_SIZE, (size_t)values * WIRE_ProfileValue_SIZE);
    return LODE_OK;
}

/* Adds the groups in a rank's range that fit; sets `more` if some do not. */
static lode_status put_pieces(struct exchange *exchange, struct exchange_place *place,
                              const struct context_range *range, uint64_t *more, lode_error *error)
{
    uint64_t limit = exchange->outgoing.size + exchange->room;
    for (; place->piece < exchange->own_count; place->piece++, place->context = range->first) {
        const struct batch_piece *piece = &exchange->own[place->piece];
        const lode_block *block = &piece->block;
        uint32_t first = lode_block_seek(block, piece->from, place->context);
        uint32_t end = lode_block_seek(block, first, range->end);
        if (first == end)
            continue;
        uint64_t left = limit - exchange->outgoing.size;
        uint32_t cut = left > PIECE_HEADER ? fitting(block, first, end, left - PIECE_HEADER) : first;
        if (cut > first)
            LODE_TRY(put_piece(exchange, piece, first, cut, error));
        if (cut < end) {
            place->context = block_group_key(block, cut);
            *more = 1;
            return LODE_OK;
        }
    }
    return LODE_OK;
}

static lode_status put_all(struct exchange *exchange, const struct context_range *ranges, uint64_t *more,
                           lode_error *error)
{
    exchange->outgoing.size = 0;
    for (uint32_t rank = 0; rank < exchange->comm->place.size; rank++) {
        size_t before = exchange->outgoing.size;
        if (rank != exchange->comm->place.rank)
            LODE_TRY(put_pieces(exchange, &exchange->places[rank], &ranges[rank], more, error));
        exchange->out_sizes[rank] = exchange->outgoing.size - before;
    }
    return LODE_OK;
}

/* ---- receiving ---- */

static lode_status take_piece(struct exchange *exchange, const uint8_t **bytes, lode_error *error)
{
    struct batch_piece *piece = lode_array_push(&exchange->pieces);
    if (piece == NULL)
        return lode_fail_memory(error);
    const uint8_t *at = *bytes;
    piece->profile = get_u32le(at + PIECE_PROFILE);
    piece->block = (lode_block){.value_count = get_u64le(at + PIECE_VALUES),
                                .group_count = get_u32le(at + PIECE_GROUPS),
                                .group_key_size = sizeof(uint32_t),
                                .value_key_size = sizeof(uint16_t)};
    piece->block.groups = at + PIECE_HEADER;
    piece->block.values = piece->block.groups + (size_t)piece->block.group_count * WIRE_ContextIndex_SIZE;
    *bytes = piece->block.values + piece->block.value_count * WIRE_ProfileValue_SIZE;
    return LODE_OK;
}

/* Sends and receives. */
static lode_status swap(struct exchange *exchange, lode_error *error)
{
    size_t room = 0;
    uint64_t size = 0;
    void **slot = lode_array_push(&exchange->arrived);
    if (slot == NULL)
        return lode_fail_memory(error);
    LODE_TRY(lode_comm_alltoallv(exchange->comm, exchange->outgoing.bytes, exchange->out_sizes, slot, &room,
                                 exchange->in_sizes, error));
    for (uint32_t rank = 0; rank < exchange->comm->place.size; rank++)
        size += exchange->in_sizes[rank];
    exchange->traffic->exchanges++;
    exchange->traffic->sent_bytes += exchange->outgoing.size;
    exchange->traffic->received_bytes += size;
    const uint8_t *at = *slot;
    for (const uint8_t *end = at + size; at < end;)
        LODE_TRY(take_piece(exchange, &at, error));
    return LODE_OK;
}

/* This rank's own pieces are not copied. */
static lode_status take_own(struct exchange *exchange, const struct context_range *range, lode_error *error)
{
    for (uint32_t i = 0; i < exchange->own_count; i++) {
        const struct batch_piece *own = &exchange->own[i];
        uint32_t from = lode_block_seek(&own->block, own->from, range->first);
        if (from == own->block.group_count || block_group_key(&own->block, from) >= range->end)
            continue;
        struct batch_piece *piece = lode_array_push(&exchange->pieces);
        if (piece == NULL)
            return lode_fail_memory(error);
        *piece = *own;
        piece->from = from;
    }
    return LODE_OK;
}

/* ---- rounds ---- */

static int compare_pieces(const void *left, const void *right)
{
    const struct batch_piece *a = left, *b = right;
    if (a->profile != b->profile)
        return a->profile < b->profile ? -1 : 1;
    uint32_t x = block_group_key(&a->block, a->from), y = block_group_key(&b->block, b->from);
    return x < y ? -1 : x > y;
}

lode_status lode_exchange_round(struct exchange *exchange, const struct context_range *ranges,
                                lode_error *error)
{
    uint64_t more;
    forget(exchange);
    for (uint32_t i = 0; i < exchange->own_count; i++)
        exchange->own[i].from =
            lode_block_seek(&exchange->own[i].block, exchange->own[i].from, ranges[0].first);
    for (uint32_t rank = 0; rank < exchange->comm->place.size; rank++)
        exchange->places[rank] = (struct exchange_place){0, ranges[rank].first};
    do {
        more = 0;
        LODE_TRY(put_all(exchange, ranges, &more, error));
        LODE_TRY(swap(exchange, error));
        LODE_TRY(lode_comm_allreduce(exchange->comm, &more, 1, LODE_COMM_MAX, error));
    } while (more);
    LODE_TRY(take_own(exchange, &ranges[exchange->comm->place.rank], error));
    if (exchange->pieces.count > 1)
        qsort(exchange->pieces.items, exchange->pieces.count, sizeof(struct batch_piece), compare_pieces);
    return LODE_OK;
}
