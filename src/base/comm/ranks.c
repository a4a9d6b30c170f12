/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/comm/ranks.h"

#include "base/error.h"
#include <stdatomic.h>
#include <string.h>

/* The callback of rank 0, which may wait for a rank that was killed. */
static int is_cancelled(void *user)
{
    const struct lode_ranks *ranks = user;
    return ranks->on_progress(ranks->user, "waiting for other ranks", 0, 0);
}

lode_status lode_ranks_run(const struct lode_ranks *ranks,
                           lode_status (*work)(void *context, struct lode_comm *comm, lode_error *error),
                           void *context, lode_error *error)
{
    struct lode_comm alone = LODE_COMM_SELF;
    struct lode_comm *comm = ranks->comm ? ranks->comm : &alone;
    struct lode_ranks watched = *ranks;
    lode_error own = {0};
    if (ranks->comm == NULL && ranks->local > 1)
        return lode_comm_run(ranks->local, work, context, error);
    bool watches = comm->place.rank == 0 && ranks->on_progress;
    if (watches)
        lode_comm_watch(comm, is_cancelled, &watched);
    lode_status status = work(context, comm, &own);
    lode_comm_raise(comm, status, &own);
    if (watches)
        lode_comm_watch(comm, NULL, NULL);
    /* What ended the job is what some rank has raised. */
    if (status != LODE_OK && error && lode_comm_poll(comm, error) == LODE_OK)
        *error = own;
    return status;
}

unsigned lode_ranks_threads(const struct lode_comm *comm, unsigned asked)
{
    unsigned local = comm ? comm->place.local : 1;
    if (asked > 0 || local < 2)
        return lode_pool_threads(asked, UINT32_MAX);
    unsigned processors = lode_pool_processors();
    return processors > local ? processors / local : 1;
}

lode_status lode_ranks_agree(struct lode_comm *comm, const uint64_t *numbers, size_t count, const char *step,
                             lode_error *error)
{
    uint64_t least[2 * LODE_AGREED_MAX];
    bool is_same = true;
    for (size_t i = 0; i < count; i++) {
        least[i] = numbers[i];
        least[count + i] = ~numbers[i];
    }
    LODE_TRY(lode_comm_allreduce(comm, least, 2 * count, LODE_COMM_MIN, error));
    for (size_t i = 0; i < count; i++)
        is_same &= least[i] == ~least[count + i];
    return is_same ? LODE_OK
                   : lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                               "the ranks do not see the same files: %s", step);
}

static uint64_t weigh(uint64_t (*weight)(const void *context, uint64_t item), const void *context,
                      uint64_t item)
{
    return weight ? weight(context, item) : 1;
}

struct lode_share lode_ranks_share(const struct lode_comm *comm, uint64_t items,
                                   uint64_t (*weight)(const void *context, uint64_t item),
                                   const void *context)
{
    struct lode_share share = {0, comm ? 0 : items, 1};
    uint64_t total = 0, before = 0;
    for (uint64_t i = 0; comm && i < items; i++)
        total += weigh(weight, context, i);
    for (uint64_t i = 0; comm && i < items; i++) {
        uint64_t own = weigh(weight, context, i);
        uint32_t owner = ranks_owner(before, own, total, comm->place.size);
        share.first += owner < comm->place.rank;
        share.count += owner == comm->place.rank;
        before += own;
    }
    return share;
}

struct lode_share lode_ranks_turns(const struct lode_comm *comm, uint64_t items)
{
    uint64_t rank = comm ? comm->place.rank : 0, size = comm ? comm->place.size : 1;
    return (struct lode_share){rank, rank < items ? (items - rank + size - 1) / size : 0, size};
}

/* ---- jobs ---- */

struct shared_job {
    const struct lode_job *job;
    const struct lode_share *share;
    _Atomic uint64_t failed; /* the first item that failed; UINT64_MAX: none */
};

static uint64_t item_of(const struct shared_job *shared, uint64_t number)
{
    return shared->share->first + number * shared->share->step;
}

static void note_failure(struct shared_job *shared, uint64_t item)
{
    uint64_t failed = atomic_load(&shared->failed);
    while (item < failed && !atomic_compare_exchange_weak(&shared->failed, &failed, item))
        continue;
}

static lode_status work_on_item(void *context, uint64_t number, unsigned worker, lode_error *error)
{
    struct shared_job *shared = context;
    uint64_t item = item_of(shared, number);
    lode_status status = shared->job->work(shared->job->context, item, worker, error);
    if (status != LODE_OK)
        note_failure(shared, item);
    return status;
}

static lode_status finish_item(void *context, uint64_t number, lode_error *error)
{
    struct shared_job *shared = context;
    uint64_t item = item_of(shared, number);
    lode_status status = shared->job->finish(shared->job->context, item, error);
    if (status != LODE_OK)
        note_failure(shared, item);
    return status;
}

/* The error of the first item is raised by its rank; the others wait for that. */
static lode_status settle(struct shared_job *shared, struct lode_comm *comm, lode_status status,
                          lode_error *error)
{
    uint64_t failed = atomic_load(&shared->failed), first = failed;
    LODE_TRY(lode_comm_allreduce(comm, &first, 1, LODE_COMM_MIN, error));
    if (first == failed)
        return status;
    LODE_TRY(lode_comm_barrier(comm, error));
    return LODE_ERR_CANCELLED;
}

lode_status lode_ranks_job(struct lode_comm *comm, unsigned threads, const struct lode_job *job,
                           const struct lode_share *share, lode_error *error)
{
    struct shared_job shared = {job, share, UINT64_MAX};
    struct lode_job own = *job;
    own.items = share->count;
    own.work = work_on_item;
    own.finish = job->finish ? finish_item : NULL;
    own.context = &shared;
    lode_status status = lode_pool_run(lode_pool_threads(threads, own.items), &own, error);
    return comm && status != LODE_ERR_CANCELLED ? settle(&shared, comm, status, error) : status;
}

enum {
    PIECE = 1 << 13 /* numbers that are sent at once */
};

lode_status lode_ranks_collect(struct lode_comm *comm, void *items, uint64_t count, lode_error *error)
{
    uint64_t bits[PIECE];
    unsigned char *at = items;
    while (comm && count > 0) {
        size_t piece = count < PIECE ? (size_t)count : PIECE;
        memcpy(bits, at, piece * sizeof *bits);
        LODE_TRY(lode_comm_allreduce(comm, bits, piece, LODE_COMM_SUM, error));
        memcpy(at, bits, piece * sizeof *bits);
        at += piece * sizeof *bits;
        count -= piece;
    }
    return LODE_OK;
}

/* Sums of halves do not overflow: there are fewer than 2^32 ranks. */
static lode_status add_up_piece(struct lode_comm *comm, uint64_t *numbers, size_t count, lode_error *error)
{
    uint64_t halves[2 * PIECE];
    for (size_t i = 0; i < count; i++) {
        halves[2 * i] = numbers[i] & UINT32_MAX;
        halves[2 * i + 1] = numbers[i] >> 32;
    }
    LODE_TRY(lode_comm_allreduce(comm, halves, 2 * count, LODE_COMM_SUM, error));
    for (size_t i = 0; i < count; i++) {
        uint64_t high = halves[2 * i + 1] + (halves[2 * i] >> 32);
        numbers[i] = high > UINT32_MAX ? UINT64_MAX : high << 32 | (halves[2 * i] & UINT32_MAX);
    }
    return LODE_OK;
}

lode_status lode_ranks_add_up(struct lode_comm *comm, uint64_t *numbers, uint64_t count, lode_error *error)
{
    while (comm && count > 0) {
        size_t piece = count < PIECE ? (size_t)count : PIECE;
        LODE_TRY(add_up_piece(comm, numbers, piece, error));
        numbers += piece;
        count -= piece;
    }
    return LODE_OK;
}

/* ---- results ---- */

struct making {
    const struct lode_ranks *ranks;
    const struct lode_ranks_result *result;
    void **out;
};

static lode_status make_on_rank(void *context, struct lode_comm *comm, lode_error *error)
{
    const struct making *making = context;
    const struct lode_ranks_result *result = making->result;
    void *made = NULL;
    LODE_TRY(result->make(&made, result->context, comm->place.size > 1 ? comm : NULL, error));
    if (comm->place.rank == 0 || making->ranks->comm)
        *making->out = made;
    else
        result->free(made);
    return LODE_OK;
}

lode_status lode_ranks_make(void **out, const struct lode_ranks *ranks,
                            const struct lode_ranks_result *result, lode_error *error)
{
    struct making making = {ranks, result, out};
    *out = NULL;
    lode_status status = lode_ranks_run(ranks, make_on_rank, &making, error);
    if (status != LODE_OK && *out) {
        result->free(*out);
        *out = NULL;
    }
    return status;
}
