/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces what ranks have to what rank 0 has, pairwise in a binomial tree: rank i gives to i
 * without its lowest bit.
 */
#ifndef LODE_BASE_COMM_TREE_H
#define LODE_BASE_COMM_TREE_H

#include "base/comm/comm.h"
#include "base/memory/blob.h"

enum {
    LODE_COMM_LEVELS = 32 /* of the tree */
};

struct lode_comm_reduction {
    /* What rank + 2^level has packed. Called for rising levels. */
    lode_status (*take)(void *user, unsigned level, const unsigned char *bytes, lode_error *error);
    /* Packs what this rank has, with all that it took. False if out of memory. */
    bool (*pack)(void *user, struct lode_blob *blob);
    void *user;
};

lode_status lode_comm_reduce(struct lode_comm *comm, const struct lode_comm_reduction *reduction,
                             lode_error *error);
/* The rank that this one gives to; not for rank 0. */
static inline uint32_t lode_comm_parent(const struct lode_comm *comm)
{
    return comm->place.rank & (comm->place.rank - 1);
}
/* Sends bytes and before them their number; the other rank receives both, and frees the bytes. */
lode_status lode_comm_send_blob(struct lode_comm *comm, uint32_t to, const struct lode_blob *blob,
                                lode_error *error);
lode_status lode_comm_receive_blob(struct lode_comm *comm, uint32_t from, unsigned char **bytes,
                                   uint64_t *size, lode_error *error);
/* Rank 0 has the bytes; the others get them. */
lode_status lode_comm_broadcast_blob(struct lode_comm *comm, struct lode_blob *blob, lode_error *error);

#endif
