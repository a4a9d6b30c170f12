/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/comm/comm.h"

#include <stdlib.h>
#include <string.h>

enum {
    COMM_FEW = 1 << 11,   /* bytes up to which latency dominates an allreduce */
    COMM_PACKED = 1 << 26 /* bytes per round of an all-to-all that exceeds one call */
};

static size_t smaller(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

static uint64_t sum_of(const uint64_t *sizes, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += sizes[i];
    return sum;
}

/* ---- traffic ---- */

static void count_traffic(struct lode_comm *comm, uint64_t messages, uint64_t bytes)
{
    comm->traffic.messages += messages;
    comm->traffic.bytes += bytes;
}

/* The height of a binary tree of all ranks. */
static uint32_t height(const struct lode_comm *comm)
{
    uint32_t levels = 0;
    while (((uint64_t)1 << levels) < comm->place.size)
        levels++;
    return levels;
}

/* Small arrays use recursive doubling; large ones use reduce-scatter and allgather. */
static void count_fold(struct lode_comm *comm, uint32_t levels, uint64_t bytes)
{
    bool is_scattered = bytes > COMM_FEW && levels > 2;
    count_traffic(comm, is_scattered ? 2 * levels : levels, (is_scattered ? 2 : levels) * bytes);
}

static void count_gather(struct lode_comm *comm, const uint64_t *sizes, bool to_all)
{
    uint64_t own = sizes[comm->place.rank];
    if (to_all)
        count_traffic(comm, comm->place.size - 1, sum_of(sizes, comm->place.size) - own);
    else if (comm->place.rank > 0)
        count_traffic(comm, 1, own);
}

static void count_exchange(struct lode_comm *comm, const uint64_t *sizes)
{
    for (uint32_t i = 0; i < comm->place.size; i++)
        if (i != comm->place.rank && sizes[i] > 0)
            count_traffic(comm, 1, sizes[i]);
}

/* ---- broadcast, reductions ---- */

lode_status lode_comm_broadcast(struct lode_comm *comm, void *bytes, size_t size, lode_error *error)
{
    uint32_t levels = height(comm);
    for (size_t done = 0; done < size;) {
        size_t piece = smaller(size - done, comm->piece);
        LODE_TRY(comm->ops->broadcast(comm->self, (char *)bytes + done, piece, error));
        count_traffic(comm, levels, levels ? piece : 0);
        done += piece;
    }
    return LODE_OK;
}

/* Numbers per call. */
static size_t numbers_in_piece(const struct lode_comm *comm)
{
    return comm->piece >= sizeof(uint64_t) ? comm->piece / sizeof(uint64_t) : 1;
}

lode_status lode_comm_allreduce(struct lode_comm *comm, uint64_t *numbers, size_t count,
                                enum lode_comm_op fold, lode_error *error)
{
    uint32_t levels = height(comm);
    for (size_t done = 0; done < count;) {
        size_t piece = smaller(count - done, numbers_in_piece(comm));
        LODE_TRY(comm->ops->fold(comm->self, numbers + done, piece, fold, error));
        count_fold(comm, levels, piece * sizeof *numbers);
        done += piece;
    }
    return LODE_OK;
}

/* Receives numbers of another rank and adds them. */
static lode_status add_from(struct lode_comm *comm, uint32_t rank, uint64_t *numbers, size_t count,
                            uint64_t *other, lode_error *error)
{
    LODE_TRY(lode_comm_receive(comm, rank, other, count * sizeof *other, error));
    for (size_t i = 0; i < count; i++)
        numbers[i] += other[i];
    return LODE_OK;
}

/*
 * A step of recursive halving. Ranks from `low` to `high` need the sums of their parts: each of the
 * upper half gives one of the lower half what it has of the parts of that, and the other way
 * round. Who has no partner in the smaller half gives to the last one there. One side sends first,
 * as sending may wait.
 */
static lode_status halve(struct lode_comm *comm, uint64_t *numbers, size_t count, uint32_t low, uint32_t high,
                         uint64_t *other, lode_error *error)
{
    uint32_t middle = low + (high - low + 1) / 2, rank = comm->place.rank, uppers = high - middle;
    size_t begin = lode_comm_part(comm, count, low), cut = lode_comm_part(comm, count, middle);
    uint64_t *lower = numbers + begin, *upper = numbers + cut;
    size_t lower_count = cut - begin, upper_count = lode_comm_part(comm, count, high) - cut;
    if (rank < middle) {
        uint32_t partner = rank - low < uppers ? middle + rank - low : high - 1;
        LODE_TRY(lode_comm_send(comm, partner, upper, upper_count * sizeof *upper, error));
        return rank - low < uppers ? add_from(comm, partner, lower, lower_count, other, error) : LODE_OK;
    }
    uint32_t partner = low + rank - middle;
    LODE_TRY(add_from(comm, partner, upper, upper_count, other, error));
    if (rank == high - 1 && middle - low > uppers)
        LODE_TRY(add_from(comm, middle - 1, upper, upper_count, other, error));
    return lode_comm_send(comm, partner, lower, lower_count * sizeof *lower, error);
}

lode_status lode_comm_reduce_scatter(struct lode_comm *comm, uint64_t *numbers, size_t count,
                                     lode_error *error)
{
    uint32_t low = 0, high = comm->place.size;
    /* Lower halves have the larger parts; nothing is larger than that of the first. */
    uint64_t *other = calloc(lode_comm_part(comm, count, (high + 1) / 2) + 1, sizeof *other);
    lode_status status = other ? LODE_OK : lode_fail_memory(error);
    while (high - low > 1 && status == LODE_OK) {
        uint32_t middle = low + (high - low + 1) / 2;
        status = halve(comm, numbers, count, low, high, other, error);
        low = comm->place.rank < middle ? low : middle;
        high = comm->place.rank < middle ? middle : high;
    }
    free(other);
    return status;
}

lode_status lode_comm_exscan(struct lode_comm *comm, uint64_t *numbers, uint64_t *totals, size_t count,
                             lode_error *error)
{
    uint32_t levels = height(comm);
    if (totals && count > 0) {
        memcpy(totals, numbers, count * sizeof *numbers);
        LODE_TRY(lode_comm_allreduce(comm, totals, count, LODE_COMM_SUM, error));
    }
    for (size_t done = 0; done < count;) {
        size_t piece = smaller(count - done, numbers_in_piece(comm));
        LODE_TRY(comm->ops->scan(comm->self, numbers + done, piece, error));
        count_traffic(comm, levels, levels * piece * sizeof *numbers);
        done += piece;
    }
    return LODE_OK;
}

lode_status lode_comm_barrier(struct lode_comm *comm, lode_error *error)
{
    uint64_t nothing = 0;
    return lode_comm_allreduce(comm, &nothing, 1, LODE_COMM_SUM, error);
}

/* ---- gather ---- */

/* The part of this rank within bytes [first, first + size) of all; `now` gets the sizes within. */
static uint64_t cut_window(const struct lode_comm *comm, const uint64_t *sizes, uint64_t first, size_t size,
                           uint64_t *now)
{
    uint64_t begin = 0, own = 0;
    for (uint32_t i = 0; i < comm->place.size; i++) {
        uint64_t end = begin + sizes[i];
        uint64_t from = begin > first ? begin : first;
        uint64_t to = end < first + size ? end : first + size;
        now[i] = to > from ? to - from : 0;
        if (i == comm->place.rank && now[i] > 0)
            own = from - begin;
        begin = end;
    }
    return own;
}

/* One piece is a sliding window over the gathered bytes. */
static lode_status gather_pieces(struct lode_comm *comm, const void *bytes, const uint64_t *sizes,
                                 uint64_t *now, bool to_all, char *out, lode_error *error)
{
    uint64_t total = sum_of(sizes, comm->place.size);
    for (uint64_t done = 0; done < total;) {
        size_t piece = smaller(total - done, comm->piece);
        uint64_t own = cut_window(comm, sizes, done, piece, now);
        LODE_TRY(comm->ops->gather(comm->self, bytes ? (const char *)bytes + own : NULL, now,
                                   out ? out + done : NULL, to_all, error));
        count_gather(comm, now, to_all);
        done += piece;
    }
    return LODE_OK;
}

static lode_status gather_all(struct lode_comm *comm, const void *bytes, size_t size, bool to_all, void **out,
                              uint64_t *sizes, uint64_t *now, lode_error *error)
{
    const uint64_t own = size;
    for (uint32_t i = 0; i < comm->place.size; i++)
        now[i] = sizeof own;
    LODE_TRY(comm->ops->gather(comm->self, &own, now, sizes, true, error));
    count_gather(comm, now, true);
    if (to_all || comm->place.rank == 0) {
        uint64_t total = sum_of(sizes, comm->place.size);
        *out = malloc(total ? total : 1);
        if (*out == NULL)
            return lode_fail_memory(error);
    }
    return gather_pieces(comm, bytes, sizes, now, to_all, *out, error);
}

lode_status lode_comm_gather(struct lode_comm *comm, const void *bytes, size_t size, bool to_all, void **out,
                             uint64_t *out_size, uint64_t *sizes, lode_error *error)
{
    uint32_t ranks = comm->place.size;
    *out = NULL;
    *out_size = 0;
    uint64_t *work = calloc((size_t)ranks * 2, sizeof *work);
    LODE_TRY_ALLOC(work, error);
    lode_status status = gather_all(comm, bytes, size, to_all, out, work, work + ranks, error);
    if (status == LODE_OK) {
        *out_size = sum_of(work, ranks);
        if (sizes)
            memcpy(sizes, work, ranks * sizeof *sizes);
    } else {
        free(*out);
        *out = NULL;
    }
    free(work);
    return status;
}

/* ---- all-to-all ---- */

/* One side of an all-to-all: sizes by rank, and the packed bytes of one round. */
struct side {
    const uint64_t *sizes;
    uint64_t *now;
    char *packed;
};

struct exchange {
    struct lode_comm *comm;
    const char *bytes;
    char *out;
    struct side from, to;
    size_t share; /* bytes per pair of ranks and round */
};

static uint64_t within(const struct exchange *exchange, uint64_t size, uint64_t done)
{
    return size > done ? smaller(size - done, exchange->share) : 0;
}

static void pack(struct exchange *exchange, uint64_t done)
{
    const struct side *from = &exchange->from;
    char *packed = from->packed;
    uint64_t at = 0; /* `bytes` may be NULL where there is nothing to send */
    for (uint32_t i = 0; i < exchange->comm->place.size; i++) {
        from->now[i] = within(exchange, from->sizes[i], done);
        if (from->now[i] > 0)
            memcpy(packed, exchange->bytes + at + done, from->now[i]);
        packed += from->now[i];
        at += from->sizes[i];
        exchange->to.now[i] = within(exchange, exchange->to.sizes[i], done);
    }
}

static void unpack(const struct exchange *exchange, uint64_t done)
{
    const struct side *to = &exchange->to;
    const char *packed = to->packed;
    char *out = exchange->out;
    for (uint32_t i = 0; i < exchange->comm->place.size; i++) {
        if (to->now[i] > 0)
            memcpy(out + done, packed, to->now[i]);
        packed += to->now[i];
        out += to->sizes[i];
    }
}

/* Each round moves an equal share per pair of ranks, which bounds memory for any distribution. */
static lode_status exchange_rounds(struct exchange *exchange, uint64_t largest, lode_error *error)
{
    struct lode_comm *comm = exchange->comm;
    for (uint64_t done = 0; done < largest; done += exchange->share) {
        pack(exchange, done);
        LODE_TRY(comm->ops->exchange(comm->self, exchange->from.packed, exchange->from.now,
                                     exchange->to.packed, exchange->to.now, error));
        count_exchange(comm, exchange->from.now);
        unpack(exchange, done);
    }
    return LODE_OK;
}

static lode_status exchange_packed(struct exchange *exchange, uint64_t largest, lode_error *error)
{
    struct lode_comm *comm = exchange->comm;
    uint32_t ranks = comm->place.size;
    size_t share = smaller(COMM_PACKED, comm->piece) / ranks;
    exchange->share = share ? share : 1;
    size_t packed = exchange->share * ranks;
    uint64_t *now = calloc((size_t)ranks * 2, sizeof *now);
    char *buffer = malloc(packed * 2);
    lode_status status;
    if (now == NULL || buffer == NULL) {
        status = lode_fail_memory(error);
    } else {
        exchange->from.now = now;
        exchange->to.now = now + ranks;
        exchange->from.packed = buffer;
        exchange->to.packed = buffer + packed;
        status = exchange_rounds(exchange, largest, error);
    }
    free(now);
    free(buffer);
    return status;
}

static lode_status exchange_sizes(struct lode_comm *comm, const uint64_t *sizes, uint64_t *out_sizes,
                                  lode_error *error)
{
    uint32_t ranks = comm->place.size;
    uint64_t *each = calloc(ranks, sizeof *each);
    LODE_TRY_ALLOC(each, error);
    for (uint32_t i = 0; i < ranks; i++)
        each[i] = sizeof *sizes;
    lode_status status = comm->ops->exchange(comm->self, sizes, each, out_sizes, each, error);
    if (status == LODE_OK)
        count_exchange(comm, each);
    free(each);
    return status;
}

static lode_status make_room(void **out, size_t *room, uint64_t size, lode_error *error)
{
    if (*out && *room >= size)
        return LODE_OK;
    free(*out);
    *room = 0;
    *out = malloc(size ? size : 1);
    if (*out == NULL)
        return lode_fail_memory(error);
    *room = size;
    return LODE_OK;
}

lode_status lode_comm_alltoallv(struct lode_comm *comm, const void *bytes, const uint64_t *sizes, void **out,
                                size_t *room, uint64_t *out_sizes, lode_error *error)
{
    uint32_t ranks = comm->place.size;
    /* The most that any rank sends or receives in total, and the most for one pair. */
    uint64_t most[2];
    LODE_TRY(exchange_sizes(comm, sizes, out_sizes, error));
    uint64_t sent = sum_of(sizes, ranks), received = sum_of(out_sizes, ranks);
    LODE_TRY(make_room(out, room, received, error));
    most[0] = sent > received ? sent : received;
    most[1] = 0;
    for (uint32_t i = 0; i < ranks; i++)
        most[1] = sizes[i] > most[1] ? sizes[i] : most[1];
    LODE_TRY(lode_comm_allreduce(comm, most, 2, LODE_COMM_MAX, error));
    if (most[0] > comm->piece) {
        struct exchange exchange = {comm, bytes, *out, {.sizes = sizes}, {.sizes = out_sizes}, 0};
        return exchange_packed(&exchange, most[1], error);
    }
    LODE_TRY(comm->ops->exchange(comm->self, bytes, sizes, *out, out_sizes, error));
    count_exchange(comm, sizes);
    return LODE_OK;
}

/* ---- point to point ---- */

lode_status lode_comm_send(struct lode_comm *comm, uint32_t to, const void *bytes, size_t size,
                           lode_error *error)
{
    for (size_t done = 0; done < size;) {
        size_t piece = smaller(size - done, comm->piece);
        LODE_TRY(comm->ops->send(comm->self, to, (const char *)bytes + done, piece, error));
        count_traffic(comm, 1, piece);
        done += piece;
    }
    return LODE_OK;
}

lode_status lode_comm_receive(struct lode_comm *comm, uint32_t from, void *bytes, size_t size,
                              lode_error *error)
{
    for (size_t done = 0; done < size;) {
        size_t piece = smaller(size - done, comm->piece);
        LODE_TRY(comm->ops->receive(comm->self, from, (char *)bytes + done, piece, error));
        done += piece;
    }
    return LODE_OK;
}

/* ---- files ---- */

lode_status lode_comm_open_file(struct lode_comm *comm, void **file, const char *path, lode_error *error)
{
    *file = NULL;
    return comm->ops->open_file ? comm->ops->open_file(comm->self, file, path, error) : LODE_ABSENT;
}

lode_status lode_comm_write_file(struct lode_comm *comm, void *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error)
{
    /* As many rounds as the rank with most pieces needs. */
    uint64_t most = size;
    LODE_TRY(lode_comm_allreduce(comm, &most, 1, LODE_COMM_MAX, error));
    for (uint64_t done = 0; done < most; done += comm->piece) {
        size_t piece = done < size ? smaller(size - done, comm->piece) : 0;
        LODE_TRY(comm->ops->write_file(comm->self, file, offset + done,
                                       piece ? (const char *)bytes + done : NULL, piece, error));
    }
    return LODE_OK;
}

lode_status lode_comm_close_file(struct lode_comm *comm, void *file, lode_error *error)
{
    return comm->ops->close_file(comm->self, file, error);
}

/* ---- errors ---- */

void lode_comm_raise(struct lode_comm *comm, lode_status status, const lode_error *error)
{
    /* The communicator's own LODE_ERR_CANCELLED is harmless: the first error is kept. */
    lode_error raised = {0};
    if (status == LODE_OK)
        return;
    if (error)
        raised = *error;
    raised.status = status;
    comm->ops->raise(comm->self, &raised);
}

lode_status lode_comm_poll(struct lode_comm *comm, lode_error *error)
{
    return comm->ops->poll(comm->self, error);
}

void lode_comm_watch(struct lode_comm *comm, int (*is_cancelled)(void *user), void *user)
{
    if (comm->ops->watch)
        comm->ops->watch(comm->self, is_cancelled, user);
}
