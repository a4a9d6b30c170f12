/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/comm/tree.h"

#include <stdlib.h>

lode_status lode_comm_send_blob(struct lode_comm *comm, uint32_t to, const struct lode_blob *blob,
                                lode_error *error)
{
    uint64_t size = blob->size;
    LODE_TRY(lode_comm_send(comm, to, &size, sizeof size, error));
    return lode_comm_send(comm, to, blob->bytes, blob->size, error);
}

lode_status lode_comm_receive_blob(struct lode_comm *comm, uint32_t from, unsigned char **bytes,
                                   uint64_t *size, lode_error *error)
{
    *bytes = NULL;
    LODE_TRY(lode_comm_receive(comm, from, size, sizeof *size, error));
    *bytes = malloc((size_t)*size + 1);
    LODE_TRY_ALLOC(*bytes, error);
    return lode_comm_receive(comm, from, *bytes, (size_t)*size, error);
}

static lode_status take(struct lode_comm *comm, const struct lode_comm_reduction *reduction, unsigned level,
                        lode_error *error)
{
    unsigned char *bytes;
    uint64_t size;
    uint32_t from = comm->place.rank + (UINT32_C(1) << level);
    lode_status status = lode_comm_receive_blob(comm, from, &bytes, &size, error);
    if (status == LODE_OK)
        status = reduction->take(reduction->user, level, bytes, error);
    free(bytes);
    return status;
}

static lode_status give(struct lode_comm *comm, const struct lode_comm_reduction *reduction,
                        lode_error *error)
{
    struct lode_blob blob = {0};
    lode_status status = reduction->pack(reduction->user, &blob)
                             ? lode_comm_send_blob(comm, lode_comm_parent(comm), &blob, error)
                             : lode_fail_memory(error);
    lode_blob_free(&blob);
    return status;
}

lode_status lode_comm_reduce(struct lode_comm *comm, const struct lode_comm_reduction *reduction,
                             lode_error *error)
{
    uint32_t rank = comm->place.rank, size = comm->place.size;
    for (unsigned level = 0; level < LODE_COMM_LEVELS && !(rank >> level & 1); level++)
        if (rank + (UINT64_C(1) << level) < size)
            LODE_TRY(take(comm, reduction, level, error));
    return rank > 0 ? give(comm, reduction, error) : LODE_OK;
}

lode_status lode_comm_broadcast_blob(struct lode_comm *comm, struct lode_blob *blob, lode_error *error)
{
    uint64_t size = blob->size;
    LODE_TRY(lode_comm_broadcast(comm, &size, sizeof size, error));
    if (comm->place.rank > 0) {
        blob->size = 0;
        LODE_TRY_ALLOC(lode_blob_reserve(blob, (size_t)size, 1) != LODE_BLOB_FULL, error);
    }
    return lode_comm_broadcast(comm, blob->bytes, (size_t)size, error);
}
