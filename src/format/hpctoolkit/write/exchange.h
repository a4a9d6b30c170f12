/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transpose between ranks, from profiles of one to contexts of all. In a round, every rank has
 * a range of contexts, and sends each other rank the values of its profiles in the range of that
 * rank. The size of a message is bounded; a larger round takes several exchanges.
 *
 * Messages are contiguous pieces: profile u32, number of groups u32, number of values u64, then
 * groups and values as in profile.db, relative to the piece. No group is split.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_WRITE_EXCHANGE_H
#define LODE_FORMAT_HPCTOOLKIT_WRITE_EXCHANGE_H

#include "format/hpctoolkit/write/batch.h"

/* Where to continue for a rank: a context of one of this rank's pieces. */
struct exchange_place {
    uint32_t piece, context;
};

struct exchange {
    struct lode_comm *comm;
    struct batch_piece *own; /* this rank's blocks; `from` advances with the rounds */
    uint32_t own_count;
    uint64_t room;                 /* for one rank at once, in bytes */
    struct exchange_place *places; /* by rank */
    struct lode_blob outgoing;
    uint64_t *out_sizes, *in_sizes; /* by rank */
    struct lode_array arrived;      /* of void *: buffers of received pieces */
    struct lode_array pieces;       /* of struct batch_piece: of this round, by profile */
    struct written_traffic *traffic;
};

/* `memory` is for sending; a group always fits. Borrows the communicator, blocks and traffic. */
lode_status lode_exchange_begin(struct exchange *exchange, struct hpct_sink *sink, struct batch_piece *own,
                                uint32_t own_count, uint64_t memory, lode_error *error);
/* Collective. Ranges rise by rank and from round to round. Sets new `pieces`. */
lode_status lode_exchange_round(struct exchange *exchange, const struct context_range *ranges,
                                lode_error *error);
void lode_exchange_end(struct exchange *exchange);

#endif
