/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on the ranks that options ask for: of a communicator, threads of this process, or one. */
#ifndef LODE_BASE_COMM_RANKS_H
#define LODE_BASE_COMM_RANKS_H

#include "base/comm/comm.h"
#include "base/pool.h"

/* What all options have that ask for ranks. */
struct lode_ranks {
    struct lode_comm *comm; /* NULL: this process, as `local` ranks; 0: one */
    uint32_t local;
    /* Of rank 0; may be NULL. Called while it waits for others, too. */
    lode_progress_fn on_progress;
    void *user;
};

/*
 * Runs `work` as one rank, or as all local ones. What it returns is raised. The error is the one
 * that was raised first, by any rank. Collective.
 */
lode_status lode_ranks_run(const struct lode_ranks *ranks,
                           lode_status (*work)(void *context, struct lode_comm *comm, lode_error *error),
                           void *context, lode_error *error);

/* The threads of a rank: `asked`, or its part of the processors of the machine if it is 0. */
unsigned lode_ranks_threads(const struct lode_comm *comm, unsigned asked);

enum {
    LODE_AGREED_MAX = 8
};
/*
 * Fails on all ranks unless all have the same numbers, at most LODE_AGREED_MAX, on which it depends
 * what they do next: `step`. Ranks that read files are thus not left waiting for each other where
 * they see different ones. Collective.
 */
lode_status lode_ranks_agree(struct lode_comm *comm, const uint64_t *numbers, size_t count, const char *step,
                             lode_error *error);

/* The rank that has a piece: where its middle lies in `total`. Shares are contiguous. */
static inline uint32_t ranks_owner(uint64_t before, uint64_t weight, uint64_t total, uint32_t ranks)
{
    uint32_t rank = (uint32_t)(((double)before + (double)weight / 2) / (double)total * ranks);
    return rank < ranks ? rank : ranks - 1;
}

/* Items of a rank: `first`, `first` + `step` and so on. */
struct lode_share {
    uint64_t first, count, step;
};

/*
 * The items of this rank: contiguous, with a fair part of the weights, which are above 0. `weight`
 * is NULL: all weigh the same. `comm` is NULL: all items.
 */
struct lode_share lode_ranks_share(const struct lode_comm *comm, uint64_t items,
                                   uint64_t (*weight)(const void *context, uint64_t item),
                                   const void *context);
/* Ranks take items in turn. */
struct lode_share lode_ranks_turns(const struct lode_comm *comm, uint64_t items);

/*
 * Runs a job on the items of this rank's share. All ranks fail if one does, with the error of the
 * first item that failed; a cancelled rank does not wait for others. `comm` is NULL: this process
 * alone. Collective.
 */
lode_status lode_ranks_job(struct lode_comm *comm, unsigned threads, const struct lode_job *job,
                           const struct lode_share *share, lode_error *error);

/*
 * `count` times 8 bytes of any type, each of which one rank has, where the others have zeros: all
 * get them. `comm` is NULL: nothing to do. Collective.
 */
lode_status lode_ranks_collect(struct lode_comm *comm, void *items, uint64_t count, lode_error *error);

/*
 * Sums over ranks. What exceeds UINT64_MAX is UINT64_MAX, as where numbers are added one by one.
 * `comm` is NULL: nothing to do. Collective.
 */
lode_status lode_ranks_add_up(struct lode_comm *comm, uint64_t *numbers, uint64_t count, lode_error *error);

/* A result that all ranks have. */
struct lode_ranks_result {
    /* What one rank does; `comm` is NULL if it is the only one. */
    lode_status (*make)(void **out, const void *context, struct lode_comm *comm, lode_error *error);
    void (*free)(void *result);
    const void *context;
};

/* Makes a result on all ranks. Those that are threads of this process share that of the first. */
lode_status lode_ranks_make(void **out, const struct lode_ranks *ranks,
                            const struct lode_ranks_result *result, lode_error *error);

/* Callbacks are those of rank 0; `comm` may be NULL. */
static inline bool ranks_is_first(const struct lode_comm *comm)
{
    return comm == NULL || comm->place.rank == 0;
}

#endif
