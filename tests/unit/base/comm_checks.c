/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMM_HOLDS(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return lode_fail(error, LODE_ERR_CORRUPT, "comm_checks.c", (uint64_t)__LINE__,                   \
                             "rank %u of %u, pieces of %zu: %s", comm->place.rank, comm->place.size,         \
                             comm->piece, #condition);                                                       \
    } while (0)

enum {
    MOST_MEMBERS = 64,
    LARGE = 100003
};

/* What byte `at` of the bytes that `from` has for `to` is. */
static unsigned char byte_of(uint32_t from, uint32_t to, size_t at)
{
    return (unsigned char)((at * 7 + at / 251 + from * 31 + to * 101 + 5) & 0xFF);
}

static void fill(unsigned char *bytes, size_t size, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_of(from, to, i);
}

static bool is_filled(const unsigned char *bytes, size_t size, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != byte_of(from, to, i))
            return false;
    return true;
}

/* More than MPI sends unasked; not in the smallest pieces, which would only take long. */
static size_t large_size(const struct lode_comm *comm)
{
    return comm->piece < 1000 ? 5003 : LARGE;
}

/* Unlike, and some are zero. */
static size_t odd_size(uint32_t from, uint32_t to)
{
    static const size_t sizes[] = {0, 1, 3, 64, 257, 1000, 5, 0, 33};
    return sizes[(from * 4 + to * 5) % 9];
}

static lode_status check_place(struct lode_comm *comm, lode_error *error)
{
    COMM_HOLDS(comm->place.size >= 1 && comm->place.size <= MOST_MEMBERS);
    COMM_HOLDS(comm->place.rank < comm->place.size);
    COMM_HOLDS(comm->place.local >= 1 && comm->place.local <= comm->place.size);
    return LODE_OK;
}

static lode_status check_broadcast(struct lode_comm *comm, lode_error *error)
{
    const size_t sizes[] = {0, 1, 7, 8, 1000, large_size(comm)};
    unsigned char *bytes = malloc(LARGE);
    lode_status status = LODE_OK;
    bool same = bytes != NULL;
    for (size_t i = 0; i < 6 && same && status == LODE_OK; i++) {
        fill(bytes, sizes[i], comm->place.rank ? MOST_MEMBERS : 0, 1);
        status = lode_comm_broadcast(comm, bytes, sizes[i], error);
        same = is_filled(bytes, sizes[i], 0, 1);
    }
    free(bytes);
    LODE_TRY(status);
    COMM_HOLDS(same);
    return LODE_OK;
}

static lode_status check_fold(struct lode_comm *comm, lode_error *error)
{
    enum {
        COUNT = 37
    };
    uint64_t rank = comm->place.rank, size = comm->place.size, sum[COUNT], least[COUNT], greatest[COUNT];
    for (uint64_t i = 0; i < COUNT; i++)
        sum[i] = least[i] = greatest[i] = ((rank + i) % size + 1) << 40;
    LODE_TRY(lode_comm_allreduce(comm, sum, COUNT, LODE_COMM_SUM, error));
    LODE_TRY(lode_comm_allreduce(comm, least, COUNT, LODE_COMM_MIN, error));
    LODE_TRY(lode_comm_allreduce(comm, greatest, COUNT, LODE_COMM_MAX, error));
    for (uint64_t i = 0; i < COUNT; i++) {
        COMM_HOLDS(sum[i] == (size * (size + 1) / 2) << 40);
        COMM_HOLDS(least[i] == UINT64_C(1) << 40);
        COMM_HOLDS(greatest[i] == size << 40);
    }
    /* Above 2^63: numbers have no sign. */
    uint64_t high = rank == 0 ? UINT64_MAX : 1, low = rank == size - 1 ? 1 : UINT64_MAX;
    LODE_TRY(lode_comm_allreduce(comm, &high, 1, LODE_COMM_MAX, error));
    LODE_TRY(lode_comm_allreduce(comm, &low, 1, LODE_COMM_MIN, error));
    COMM_HOLDS(high == UINT64_MAX && low == 1);
    return lode_comm_allreduce(comm, NULL, 0, LODE_COMM_SUM, error);
}

static lode_status check_scan(struct lode_comm *comm, lode_error *error)
{
    enum {
        COUNT = 21
    };
    uint64_t rank = comm->place.rank, size = comm->place.size, numbers[COUNT], totals[COUNT], again[COUNT];
    for (uint64_t i = 0; i < COUNT; i++)
        numbers[i] = again[i] = (rank + 1) * (i + 1);
    LODE_TRY(lode_comm_exscan(comm, numbers, totals, COUNT, error));
    LODE_TRY(lode_comm_exscan(comm, again, NULL, COUNT, error));
    for (uint64_t i = 0; i < COUNT; i++) {
        COMM_HOLDS(numbers[i] == rank * (rank + 1) / 2 * (i + 1));
        COMM_HOLDS(totals[i] == size * (size + 1) / 2 * (i + 1));
        COMM_HOLDS(again[i] == numbers[i]);
    }
    return lode_comm_exscan(comm, NULL, NULL, 0, error);
}

/* Any number of elements, also fewer than ranks. Nobody sends more than all of them. */
static lode_status check_reduce_scatter(struct lode_comm *comm, lode_error *error)
{
    static const size_t counts[] = {0, 1, 2, 13, 64, 1000};
    uint64_t size = comm->place.size, numbers[1000];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t first = lode_comm_part(comm, counts[i], comm->place.rank);
        size_t end = lode_comm_part(comm, counts[i], comm->place.rank + 1);
        uint64_t before = comm->traffic.bytes;
        for (size_t k = 0; k < counts[i]; k++)
            numbers[k] = (comm->place.rank + 1) * (k + 1) + ((uint64_t)k << 40);
        LODE_TRY(lode_comm_reduce_scatter(comm, numbers, counts[i], error));
        for (size_t k = first; k < end; k++)
            COMM_HOLDS(numbers[k] == size * (size + 1) / 2 * (k + 1) + size * ((uint64_t)k << 40));
        COMM_HOLDS(comm->traffic.bytes - before <= counts[i] * sizeof(uint64_t));
        /* Parts are contiguous, and as large as each other but for one element. */
        COMM_HOLDS(end - first == counts[i] / size || end - first == counts[i] / size + 1);
        COMM_HOLDS(comm->place.rank > 0 || first == 0);
        COMM_HOLDS(comm->place.rank + 1 < size || end == counts[i]);
    }
    return LODE_OK;
}

/* ---- gather ---- */

static lode_status look_at_gathered(struct lode_comm *comm, const unsigned char *out, uint64_t out_size,
                                    const uint64_t *sizes, size_t times, lode_error *error)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < comm->place.size; i++) {
        COMM_HOLDS(sizes[i] == odd_size(i, 2) * times);
        COMM_HOLDS(out == NULL || is_filled(out + at, sizes[i], i, 2));
        at += sizes[i];
    }
    COMM_HOLDS(at == out_size);
    return LODE_OK;
}

static lode_status gather_times(struct lode_comm *comm, size_t times, bool to_all, lode_error *error)
{
    size_t size = odd_size(comm->place.rank, 2) * times;
    unsigned char *bytes = size ? malloc(size) : NULL;
    uint64_t sizes[MOST_MEMBERS], out_size = 1;
    void *out = NULL;
    if (bytes)
        fill(bytes, size, comm->place.rank, 2);
    lode_status status = lode_comm_gather(comm, bytes, size, to_all, &out, &out_size, sizes, error);
    if (status == LODE_OK)
        status = look_at_gathered(comm, out, out_size, sizes, times, error);
    bool got = out != NULL;
    free(bytes);
    free(out);
    LODE_TRY(status);
    COMM_HOLDS(got == (to_all || comm->place.rank == 0));
    return LODE_OK;
}

static lode_status check_gather(struct lode_comm *comm, lode_error *error)
{
    static const size_t times[] = {0, 1, 3};
    for (size_t i = 0; i < 3; i++) {
        LODE_TRY(gather_times(comm, times[i], false, error));
        LODE_TRY(gather_times(comm, times[i], true, error));
    }
    /* Sizes need not be wanted. */
    void *out;
    uint64_t out_size;
    LODE_TRY(lode_comm_gather(comm, "ab", 2, true, &out, &out_size, NULL, error));
    bool same = out_size == 2 * (uint64_t)comm->place.size && memcmp(out, "ab", 2) == 0;
    free(out);
    COMM_HOLDS(same);
    return LODE_OK;
}

/* ---- exchange ---- */

typedef size_t (*size_fn)(uint32_t from, uint32_t to);

static size_t nothing(uint32_t from, uint32_t to)
{
    (void)from;
    (void)to;
    return 0;
}

static size_t none_from_first(uint32_t from, uint32_t to)
{
    return from > 0 ? 10 + to : 0;
}

static size_t all_to_first(uint32_t from, uint32_t to)
{
    return to == 0 ? 100 * (size_t)from + 1 : 0;
}

static size_t one_is_large(uint32_t from, uint32_t to)
{
    return from == 1 && to == 0 ? 20000 : from + to;
}

struct buffer {
    void *bytes;
    size_t room;
};

static lode_status exchange_once(struct lode_comm *comm, size_fn size_of, struct buffer *out,
                                 lode_error *error)
{
    uint32_t rank = comm->place.rank, ranks = comm->place.size;
    uint64_t sizes[MOST_MEMBERS], out_sizes[MOST_MEMBERS], total = 0;
    for (uint32_t i = 0; i < ranks; i++)
        total += sizes[i] = size_of(rank, i);
    unsigned char *bytes = total ? malloc(total) : NULL, *at = bytes;
    for (uint32_t i = 0; i < ranks && bytes; i++) {
        fill(at, sizes[i], rank, i);
        at += sizes[i];
    }
    lode_status status = lode_comm_alltoallv(comm, bytes, sizes, &out->bytes, &out->room, out_sizes, error);
    free(bytes);
    LODE_TRY(status);
    at = out->bytes;
    for (uint32_t i = 0; i < ranks; i++) {
        COMM_HOLDS(out_sizes[i] == size_of(i, rank));
        COMM_HOLDS(is_filled(at, out_sizes[i], i, rank));
        at += out_sizes[i];
    }
    COMM_HOLDS((size_t)(at - (unsigned char *)out->bytes) <= out->room);
    return LODE_OK;
}

static lode_status check_exchange(struct lode_comm *comm, lode_error *error)
{
    static const size_fn kinds[] = {nothing, odd_size, none_from_first, all_to_first, odd_size, one_is_large};
    struct buffer out = {0};
    lode_status status = LODE_OK;
    uint64_t before = 0;
    for (size_t i = 0; i < 6 && status == LODE_OK; i++) {
        before = comm->traffic.messages;
        status = exchange_once(comm, kinds[i], &out, error);
    }
    free(out.bytes);
    LODE_TRY(status);
    /* The last was cut into pieces. */
    COMM_HOLDS(comm->place.rank != 1 || comm->traffic.messages - before >= 20000 / comm->piece);
    return LODE_OK;
}

/* ---- one to one ---- */

static lode_status pass_on(struct lode_comm *comm, unsigned char *bytes, size_t size, lode_error *error)
{
    uint32_t rank = comm->place.rank, ranks = comm->place.size;
    uint32_t next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    if (rank == 0) {
        fill(bytes, size, 3, 4);
        LODE_TRY(lode_comm_send(comm, next, bytes, size, error));
        memset(bytes, 0, size);
    }
    LODE_TRY(lode_comm_receive(comm, before, bytes, size, error));
    COMM_HOLDS(is_filled(bytes, size, 3, 4));
    if (rank > 0)
        LODE_TRY(lode_comm_send(comm, next, bytes, size, error));
    return LODE_OK;
}

static lode_status check_around_the_ring(struct lode_comm *comm, lode_error *error)
{
    const size_t sizes[] = {0, 1, 1000, large_size(comm)};
    unsigned char *bytes = malloc(LARGE);
    lode_status status = bytes ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; i < 4 && comm->place.size > 1 && status == LODE_OK; i++)
        status = pass_on(comm, bytes, sizes[i], error);
    free(bytes);
    return status;
}

/* As trees are merged: each has its own sum, and rank 0 gets all. */
static lode_status check_up_a_tree(struct lode_comm *comm, lode_error *error)
{
    uint32_t rank = comm->place.rank, ranks = comm->place.size;
    uint64_t sum = rank + 1;
    for (uint32_t step = 1; step < ranks; step *= 2) {
        if (rank & step) {
            LODE_TRY(lode_comm_send(comm, rank - step, &sum, sizeof sum, error));
            break;
        }
        if (rank + step < ranks) {
            uint64_t other = 0;
            LODE_TRY(lode_comm_receive(comm, rank + step, &other, sizeof other, error));
            sum += other;
        }
    }
    COMM_HOLDS(rank > 0 || sum == (uint64_t)ranks * (ranks + 1) / 2);
    return lode_comm_barrier(comm, error);
}

/* ---- the rest ---- */

static uint64_t levels_of(uint32_t ranks)
{
    static const uint64_t levels[] = {0, 0, 1, 2, 2, 3};
    return ranks <= 5 ? levels[ranks] : ranks <= 8 ? 3 : ranks <= 16 ? 4 : ranks <= 32 ? 5 : 6;
}

static lode_status check_traffic(struct lode_comm *comm, lode_error *error)
{
    const size_t piece = comm->piece;
    uint64_t levels = levels_of(comm->place.size), others = comm->place.size - 1, numbers[3] = {0};
    static const size_t many = 1000;
    unsigned char bytes[10] = {0};
    void *out;
    uint64_t out_size;
    comm->piece = 8; /* 10 bytes are two pieces */
    comm->traffic = (struct lode_comm_traffic){0, 0};
    LODE_TRY(lode_comm_broadcast(comm, bytes, sizeof bytes, error));
    COMM_HOLDS(comm->traffic.messages == levels * 2 && comm->traffic.bytes == (levels ? 10 : 0));
    LODE_TRY(lode_comm_allreduce(comm, numbers, 3, LODE_COMM_SUM, error));
    COMM_HOLDS(comm->traffic.messages == levels * 5 &&
               comm->traffic.bytes == (levels ? 10 : 0) + levels * 24);
    comm->piece = LODE_COMM_PIECE;
    comm->traffic = (struct lode_comm_traffic){0, 0};
    LODE_TRY(lode_comm_exscan(comm, numbers, NULL, 3, error));
    LODE_TRY(lode_comm_barrier(comm, error));
    COMM_HOLDS(comm->traffic.messages == levels * 2 && comm->traffic.bytes == levels * 32);
    comm->traffic = (struct lode_comm_traffic){0, 0};
    uint64_t *more = calloc(many, sizeof *more);
    lode_status status =
        more ? lode_comm_allreduce(comm, more, many, LODE_COMM_MAX, error) : lode_fail_memory(error);
    free(more);
    LODE_TRY(status);
    COMM_HOLDS(comm->traffic.messages == (levels > 2 ? 2 * levels : levels) &&
               comm->traffic.bytes == (levels > 2 ? 2 : levels) * many * sizeof *more);
    comm->traffic = (struct lode_comm_traffic){0, 0};
    LODE_TRY(lode_comm_gather(comm, bytes, sizeof bytes, true, &out, &out_size, NULL, error));
    free(out);
    COMM_HOLDS(comm->traffic.messages == others * 2 && comm->traffic.bytes == others * 18);
    comm->traffic = (struct lode_comm_traffic){0, 0};
    LODE_TRY(lode_comm_gather(comm, bytes, sizeof bytes, false, &out, &out_size, NULL, error));
    free(out);
    uint64_t own = comm->place.rank ? 1 : 0;
    COMM_HOLDS(comm->traffic.messages == others + own && comm->traffic.bytes == others * 8 + own * 10);
    comm->piece = piece;
    return LODE_OK;
}

/* Back to back: no data of one call leaks into the next. */
static lode_status check_many_in_a_row(struct lode_comm *comm, lode_error *error)
{
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t one = 1, sum = i, total;
        LODE_TRY(lode_comm_broadcast(comm, &sum, sizeof sum, error));
        COMM_HOLDS(sum == i);
        LODE_TRY(lode_comm_exscan(comm, &one, &total, 1, error));
        COMM_HOLDS(one == comm->place.rank && total == comm->place.size);
        sum = i + comm->place.rank;
        LODE_TRY(lode_comm_allreduce(comm, &sum, 1, LODE_COMM_MIN, error));
        COMM_HOLDS(sum == i);
    }
    return LODE_OK;
}

static lode_status check_poll(struct lode_comm *comm, lode_error *error)
{
    COMM_HOLDS(lode_comm_poll(comm, NULL) == LODE_OK);
    return LODE_OK;
}

const struct comm_check comm_checks[] = {
    {"place", check_place},
    {"broadcast", check_broadcast},
    {"fold", check_fold},
    {"scan", check_scan},
    {"reduce-scatter", check_reduce_scatter},
    {"gather", check_gather},
    {"exchange", check_exchange},
    {"around the ring", check_around_the_ring},
    {"up a tree", check_up_a_tree},
    {"traffic", check_traffic},
    {"many in a row", check_many_in_a_row},
    {"poll", check_poll},
};
const size_t comm_check_count = sizeof comm_checks / sizeof comm_checks[0];

lode_status comm_check_all(struct lode_comm *comm, unsigned *count, lode_error *error)
{
    static const size_t pieces[] = {LODE_COMM_PIECE, 1000, 61};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        comm->piece = pieces[i];
        for (size_t k = 0; k < comm_check_count; k++) {
            LODE_TRY(comm_checks[k].run(comm, error));
            ++*count;
        }
    }
    comm->piece = LODE_COMM_PIECE;
    return LODE_OK;
}

/* ---- waiting ---- */

static lode_status wait_broadcast(struct lode_comm *comm, lode_error *error)
{
    char bytes[100] = "";
    /* Rank 0 may be done before others come. */
    LODE_TRY(lode_comm_broadcast(comm, bytes, sizeof bytes, error));
    return lode_comm_barrier(comm, error);
}

static lode_status wait_fold(struct lode_comm *comm, lode_error *error)
{
    uint64_t number = 1;
    return lode_comm_allreduce(comm, &number, 1, LODE_COMM_SUM, error);
}

static lode_status wait_scan(struct lode_comm *comm, lode_error *error)
{
    uint64_t number = 1, total;
    return lode_comm_exscan(comm, &number, &total, 1, error);
}

static lode_status wait_reduce_scatter(struct lode_comm *comm, lode_error *error)
{
    uint64_t numbers[100] = {0};
    LODE_TRY(lode_comm_reduce_scatter(comm, numbers, 100, error));
    return lode_comm_barrier(comm, error);
}

static lode_status wait_gather(struct lode_comm *comm, lode_error *error)
{
    void *out;
    uint64_t out_size;
    lode_status status = lode_comm_gather(comm, "abc", 3, false, &out, &out_size, NULL, error);
    free(out);
    return status;
}

static lode_status wait_exchange(struct lode_comm *comm, lode_error *error)
{
    struct buffer out = {0};
    lode_status status = exchange_once(comm, odd_size, &out, error);
    free(out.bytes);
    return status;
}

/* Sends that nobody receives, receives that nobody sends; then all wait. */
static lode_status wait_one_to_one(struct lode_comm *comm, lode_error *error)
{
    static char large[LARGE];
    char *bytes = calloc(1, LARGE);
    lode_status status = bytes ? LODE_OK : lode_fail_memory(error);
    uint32_t other = comm->place.rank ? 0 : comm->place.size - 1;
    if (status == LODE_OK)
        status = comm->place.rank % 2 ? lode_comm_send(comm, other, large, LARGE, error)
                                      : lode_comm_receive(comm, other, bytes, LARGE, error);
    if (status == LODE_OK)
        status = lode_comm_barrier(comm, error);
    free(bytes);
    return status;
}

static lode_status wait_poll(struct lode_comm *comm, lode_error *error)
{
    lode_status status;
    do {
        status = lode_comm_poll(comm, error);
    } while (status == LODE_OK);
    return status;
}

const struct comm_check comm_waits[] = {
    {"broadcast", wait_broadcast},           {"fold", wait_fold},         {"scan", wait_scan},
    {"reduce-scatter", wait_reduce_scatter}, {"gather", wait_gather},     {"exchange", wait_exchange},
    {"one-to-one", wait_one_to_one},         {"meet", lode_comm_barrier}, {"poll", wait_poll},
};
const size_t comm_wait_count = sizeof comm_waits / sizeof comm_waits[0];

/* ---- files ---- */

enum {
    FILE_PART = 1000 /* of a rank, in a round; rank 1 has nothing */
};

static size_t part_of(uint32_t rank)
{
    return rank == 1 ? 0 : FILE_PART;
}

static lode_status make_file(struct lode_comm *comm, const char *path, lode_error *error)
{
    if (comm->place.rank == 0) {
        FILE *file = fopen(path, "wb");
        COMM_HOLDS(file != NULL);
        fclose(file);
    }
    return lode_comm_barrier(comm, error);
}

static lode_status read_file_back(struct lode_comm *comm, const char *path, uint64_t rounds,
                                  lode_error *error)
{
    unsigned char bytes[FILE_PART];
    FILE *file = fopen(path, "rb");
    COMM_HOLDS(file != NULL);
    bool same = true;
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < comm->place.size; i++) {
            size_t got = fread(bytes, 1, FILE_PART, file);
            /* Unwritten ranges are holes, unless nothing follows. */
            if (part_of(i) > 0)
                same = same && got == FILE_PART && is_filled(bytes, FILE_PART, i, (uint32_t)round);
        }
    }
    same = same && fgetc(file) == EOF;
    fclose(file);
    COMM_HOLDS(same);
    return LODE_OK;
}

lode_status comm_check_file(struct lode_comm *comm, const char *path, lode_error *error)
{
    enum {
        ROUNDS = 3
    };
    unsigned char bytes[FILE_PART];
    uint64_t rank = comm->place.rank, size = comm->place.size;
    void *file;
    LODE_TRY(make_file(comm, path, error));
    LODE_TRY(comm->ops->open_file(comm->self, &file, path, error));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        fill(bytes, sizeof bytes, (uint32_t)rank, (uint32_t)round);
        LODE_TRY(comm->ops->write_file(comm->self, file, (round * size + rank) * FILE_PART, bytes,
                                       part_of((uint32_t)rank), error));
    }
    LODE_TRY(comm->ops->close_file(comm->self, file, error));
    if (rank == 0)
        LODE_TRY(read_file_back(comm, path, ROUNDS, error));
    return lode_comm_barrier(comm, error);
}
