/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator: ranks that run the same code on shares of the same work. A rank is a process of
 * an MPI job (comm_mpi.c, a plug-in), a thread of this process (threads.c), or the only one
 * (serial.c).
 *
 * All functions are collective unless marked otherwise: every rank calls them, in the same order,
 * from one thread at a time. Any size is allowed: large ones are split here. Rank 0 owns the
 * output.
 *
 * A rank that fails raises its error. After that all collective calls of other ranks fail with
 * LODE_ERR_CANCELLED, and `error` is the one that was raised first. In an MPI job only rank 0 is
 * sure to see it and ends the job; other ranks may block until then.
 */
#ifndef LODE_BASE_COMM_H
#define LODE_BASE_COMM_H

#include "base/error.h"
#include <stdbool.h>

/* Reduction operators. */
enum lode_comm_op {
    LODE_COMM_SUM,
    LODE_COMM_MIN,
    LODE_COMM_MAX
};

enum {
    LODE_COMM_VERSION = 3,
    LODE_COMM_PIECE = 1 << 30 /* limit of bytes per call: MPI counts have 31 bits */
};

struct lode_comm_place {
    uint32_t rank, size;
    uint32_t local; /* ranks on this machine, including this one */
};

/*
 * Operations of an implementation. A plug-in exports one as `lode_comm_plugin` and uses no other
 * symbol of the library. Sizes are at most LODE_COMM_PIECE; for an all-to-all that applies to the
 * sum of what one rank sends, and of what it receives.
 */
struct lode_comm_ops {
    uint32_t version;
    const char *name; /* such as "openmpi" */
    /*
     * NULL unless it is a plug-in. `from` points to the MPI_Comm to use, of `size` bytes; NULL: all
     * ranks of the job, and MPI is initialised if it is not yet.
     */
    lode_status (*join)(void **self, const void *from, size_t size, struct lode_comm_place *place,
                        lode_error *error);
    /* Ends a successful job. */
    void (*leave)(void *self);
    /*
     * Aborts the job on all ranks, without exit handlers. Rank 0 does so at once; others give it
     * some seconds to clean up and report. May be called by the last running thread. Does not
     * return if ranks are processes.
     */
    void (*abort)(void *self, int status);

    lode_status (*broadcast)(void *self, void *bytes, size_t size, lode_error *error);
    lode_status (*fold)(void *self, uint64_t *numbers, size_t count, enum lode_comm_op fold,
                        lode_error *error);
    /* Exclusive prefix sums. */
    lode_status (*scan)(void *self, uint64_t *numbers, size_t count, lode_error *error);
    /*
     * Concatenates the bytes of all ranks, on rank 0 or on all. All ranks know `sizes`, by rank;
     * `out` is NULL where there is no result.
     */
    lode_status (*gather)(void *self, const void *bytes, const uint64_t *sizes, void *out, bool to_all,
                          lode_error *error);
    /* Bytes for each rank in rank order, sizes by rank. */
    lode_status (*exchange)(void *self, const void *bytes, const uint64_t *sizes, void *out,
                            const uint64_t *out_sizes, lode_error *error);
    /* Point to point: not collective. */
    lode_status (*send)(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error);
    lode_status (*receive)(void *self, uint32_t from, void *bytes, size_t size, lode_error *error);

    /* Not collective, does not block. `error` may be an earlier one of another rank. */
    void (*raise)(void *self, const lode_error *error);
    /* LODE_ERR_CANCELLED and `error` if this rank knows of a raised error. Not collective. */
    lode_status (*poll)(void *self, lode_error *error);
    /*
     * Calls `is_cancelled` now and then while this rank waits long for others; nonzero raises
     * LODE_ERR_CANCELLED. Ranks that were killed are waited for in vain. NULL: no more, or, of an
     * implementation, ranks cannot be killed one by one. Not collective.
     */
    void (*watch)(void *self, int (*is_cancelled)(void *user), void *user);

    /*
     * Collective file output. The file exists before it is opened. A rank without bytes still takes
     * part. All NULL if unsupported.
     */
    lode_status (*open_file)(void *self, void **file, const char *path, lode_error *error);
    lode_status (*write_file)(void *self, void *file, uint64_t offset, const void *bytes, size_t size,
                              lode_error *error);
    lode_status (*close_file)(void *self, void *file, lode_error *error);
};

/*
 * Messages and bytes that this rank sent, assuming the usual algorithms. For n bytes on P ranks and
 * L = ceil(log2(P)):
 *   broadcast  binary tree: L messages, n bytes in total
 *   allreduce  recursive doubling: L messages of n bytes; for large n and L > 2, reduce-scatter and
 *              allgather: 2 L messages, 2 n bytes
 *   reduce-scatter  recursive halving: L messages, n (1 - 1 / P) bytes, a little more if P is odd
 *   exscan     L messages of n bytes
 *   gather     to rank 0: one message with its own bytes
 *   allgather  ring: P - 1 messages, all bytes but its own
 *   alltoallv  one message to each rank with a nonzero size
 *   send       one message
 * A single rank sends nothing.
 */
struct lode_comm_traffic {
    uint64_t messages, bytes;
};

struct lode_comm {
    const struct lode_comm_ops *ops;
    void *self;
    struct lode_comm_place place;
    struct lode_comm_traffic traffic;
    size_t piece; /* LODE_COMM_PIECE; tests use less, the same on all ranks */
};

/* A communicator of one rank. Nothing need be freed. */
#define LODE_COMM_SELF                                                                                       \
    {                                                                                                        \
        &lode_comm_serial, NULL, {0, 1, 1}, {0, 0}, LODE_COMM_PIECE                                          \
    }
extern const struct lode_comm_ops lode_comm_serial, lode_comm_threads;

/*
 * Runs `work` as `size` ranks, one thread each; this thread is rank 0. An error returned by `work`
 * is raised. Returns the error that was raised first.
 */
lode_status lode_comm_run(uint32_t size,
                          lode_status (*work)(void *context, struct lode_comm *comm, lode_error *error),
                          void *context, lode_error *error);

/* Broadcasts from rank 0. */
lode_status lode_comm_broadcast(struct lode_comm *comm, void *bytes, size_t size, lode_error *error);
/* Reduces each element of the array over all ranks. */
lode_status lode_comm_allreduce(struct lode_comm *comm, uint64_t *numbers, size_t count,
                                enum lode_comm_op fold, lode_error *error);
/*
 * Sums of each element over all ranks, of which each rank gets a part: the elements from
 * lode_comm_part of its number to that of the next rank. The others become undefined.
 */
lode_status lode_comm_reduce_scatter(struct lode_comm *comm, uint64_t *numbers, size_t count,
                                     lode_error *error);
/* Where the part of a rank begins, if `count` items are shared out; that of `size` is `count`. */
static inline size_t lode_comm_part(const struct lode_comm *comm, size_t count, uint32_t rank)
{
    size_t rest = count % comm->place.size;
    return count / comm->place.size * rank + (rank < rest ? rank : rest);
}
/* Exclusive prefix sums of each element; `totals`, if not NULL, gets the sums over all ranks. */
lode_status lode_comm_exscan(struct lode_comm *comm, uint64_t *numbers, uint64_t *totals, size_t count,
                             lode_error *error);
/*
 * The contiguous bytes of all ranks, which the caller frees. Without `to_all` only rank 0 gets
 * them, others get NULL. All get the total and `sizes`, by rank, an array of the caller or NULL.
 */
lode_status lode_comm_gather(struct lode_comm *comm, const void *bytes, size_t size, bool to_all, void **out,
                             uint64_t *out_size, uint64_t *sizes, lode_error *error);
/*
 * Sends sizes[i] bytes to each rank i; `bytes` has them in rank order. The received bytes go to
 * `*out` in rank order, their sizes to `out_sizes`. `*out` has `*room` bytes, grows as needed, and
 * the caller frees it. Most efficient up to LODE_COMM_PIECE bytes per rank; more takes many rounds.
 */
lode_status lode_comm_alltoallv(struct lode_comm *comm, const void *bytes, const uint64_t *sizes, void **out,
                                size_t *room, uint64_t *out_sizes, lode_error *error);
/* Point to point: both ranks must name the same size. */
lode_status lode_comm_send(struct lode_comm *comm, uint32_t to, const void *bytes, size_t size,
                           lode_error *error);
lode_status lode_comm_receive(struct lode_comm *comm, uint32_t from, void *bytes, size_t size,
                              lode_error *error);
/* Waits for all ranks. */
lode_status lode_comm_barrier(struct lode_comm *comm, lode_error *error);

/*
 * Collective file output: MPI merges adjacent writes. LODE_ABSENT if the communicator has no such
 * support. Any rank may write no bytes. All ranks write in the same order.
 */
lode_status lode_comm_open_file(struct lode_comm *comm, void **file, const char *path, lode_error *error);
lode_status lode_comm_write_file(struct lode_comm *comm, void *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error);
/* Syncs to disk. Always frees `file`. */
lode_status lode_comm_close_file(struct lode_comm *comm, void *file, lode_error *error);

/* Not collective. Tells all ranks of a failure; ignores the communicator's own cancellation. */
void lode_comm_raise(struct lode_comm *comm, lode_status status, const lode_error *error);
/* Not collective. Whether a rank is known to have failed: polled by long-running work. */
lode_status lode_comm_poll(struct lode_comm *comm, lode_error *error);
/* Not collective. See `watch` above. */
void lode_comm_watch(struct lode_comm *comm, int (*is_cancelled)(void *user), void *user);

#endif
