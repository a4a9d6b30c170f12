/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transpose between ranks: each has some profiles, and is to have some contexts of all. In a round, every rank has a range of
 * contexts, and sends to each other one what its own profiles have in the range of that one. What is sent at once is bounded; if a round has
 * more, there are more exchanges.
 *
 * Bytes that are sent are pieces, one behind the other: profile u32, number of groups u32, number of values u64, then groups and values as in
 * profile.db, the groups' numbers from the piece's first value. No group is cut.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_WRITE_EXCHANGE_H
#define LODE_FORMAT_HPCTOOLKIT_WRITE_EXCHANGE_H

#include "format/hpctoolkit/write_batch.h"

/* Where to go on with what is for a rank: at this context of this piece of one's own. */
struct exchange_place {
    uint32_t piece, context;
};

struct exchange {
    struct lode_comm *comm;
    struct batch_piece *own; /* this rank's blocks; `from` moves with the rounds */
    uint32_t own_count;
    uint64_t room;                 /* for one rank at once, in bytes */
    struct exchange_place *places; /* by rank */
    struct lode_blob outgoing;
    uint64_t *out_sizes, *in_sizes; /* by rank */
    struct lode_array arrived;      /* of void *: the bytes that pieces of others are in */
    struct lode_array
        pieces; /* of struct window_piece: what this rank has of the round, in the order of profiles */
    struct written_traffic *traffic;
};

/* `memory` is for sending, and at least one group can be sent. What is borrowed is the communicator, the blocks and the traffic. */
lode_status lode_exchange_begin(struct exchange *exchange, struct hpct_sink *sink, struct batch_piece *own,
                                uint32_t own_count, uint64_t memory, lode_error *error);
/* Collective. Ranges are by rank; they rise, from one to the next and from round to round. Gives new `pieces`. */
lode_status lode_exchange_round(struct exchange *exchange, const struct context_range *ranges,
                                lode_error *error);
void lode_exchange_end(struct exchange *exchange);

#endif
