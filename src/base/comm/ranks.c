/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/comm/ranks.h"

#include "base/error.h"
#include "base/pool.h"

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
    if (comm->place.rank == 0 && ranks->on_progress)
        lode_comm_watch(comm, is_cancelled, &watched);
    lode_status status = work(context, comm, &own);
    lode_comm_raise(comm, status, &own);
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
