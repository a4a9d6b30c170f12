/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on the ranks that options ask for: of a communicator, threads of this process, or one. */
#ifndef LODE_BASE_COMM_RANKS_H
#define LODE_BASE_COMM_RANKS_H

#include "base/comm/comm.h"
#include <lode/pool.h>

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

#endif
