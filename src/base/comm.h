/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator: ranks that run the same code on shares of the same work, and meet where it says so. There is one rank per process of an
 * MPI job (comm_mpi.c, a plug-in), per thread of this process (comm_threads.c), or one in all (comm_serial.c).
 *
 * All functions but those marked otherwise are collective: every rank calls them, in the same order, from one thread at a time. Sizes
 * may be of any magnitude; they are cut into pieces here. Rank 0 is the one that has the output.
 *
 * A rank that fails raises its error. From then on whatever the others call, or wait in, fails with LODE_ERR_CANCELLED, and `error` is
 * the one that was raised first: the one that the job ends with. Of the processes of a job this is so for rank 0, which ends it;
 * the others may wait until then.
 */
#ifndef LODE_BASE_COMM_H
#define LODE_BASE_COMM_H

#include "base/error.h"
#include <stdbool.h>

/* How numbers of all ranks become one. */
enum lode_comm_op {
    LODE_COMM_SUM,
    LODE_COMM_MIN,
    LODE_COMM_MAX
};

enum {
    LODE_COMM_VERSION = 1,
    LODE_COMM_PIECE =
        1
        << 30 /* bytes that an implementation is asked to move at once, at most: counts of MPI have 31 bits */
};

struct lode_comm_place {
    uint32_t rank, size;
    uint32_t local; /* ranks on this machine, this one among them: they share its processors and its memory */
};

/*
 * What an implementation has. A plug-in exports one of these as `lode_comm_plugin`, and uses nothing of the library. No size is above
 * LODE_COMM_PIECE; for many to many that is the sum of what one rank sends, and of what it receives.
 */
struct lode_comm_ops {
    uint32_t version;
    const char *name; /* such as "openmpi" */
    /* NULL if it is no plug-in. */
    lode_status (*join)(void **self, struct lode_comm_place *place, lode_error *error);
    /* Of a job that went well. */
    void (*leave)(void *self);
    /*
     * Ends the job everywhere, without what is usual at an end. Rank 0 does so at once. Others leave it some seconds to clear away
     * what it wrote and to say why. May be called by the only thread that is left. Does not return where ranks are processes.
     */
    void (*abort)(void *self, int status);

    lode_status (*broadcast)(void *self, void *bytes, size_t size, lode_error *error);
    lode_status (*fold)(void *self, uint64_t *numbers, size_t count, enum lode_comm_op fold,
                        lode_error *error);
    /* Each number becomes the sum of those of the ranks before. */
    lode_status (*scan)(void *self, uint64_t *numbers, size_t count, lode_error *error);
    /* The bytes of all ranks in their order, to rank 0 or to all. `sizes` is by rank, and known to all; `out` is NULL where nothing goes. */
    lode_status (*gather)(void *self, const void *bytes, const uint64_t *sizes, void *out, bool to_all,
                          lode_error *error);
    /* Bytes for each rank in their order, sizes by rank. */
    lode_status (*exchange)(void *self, const void *bytes, const uint64_t *sizes, void *out,
                            const uint64_t *out_sizes, lode_error *error);
    /* One to one: not collective. */
    lode_status (*send)(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error);
    lode_status (*receive)(void *self, uint32_t from, void *bytes, size_t size, lode_error *error);

    /* Not collective, never waits. The error need not be that of `raise` if another was raised before. */
    void (*raise)(void *self, const lode_error *error);
    /* LODE_ERR_CANCELLED if an error was raised that this rank can know of; then `error` is that one. Not collective. */
    lode_status (*poll)(void *self, lode_error *error);

    /*
     * Files that all ranks write together: each of these is collective. The file is there before it is opened. A rank may have
     * nothing to write, but takes part. All NULL where there is nothing to be gained.
     */
    lode_status (*open_file)(void *self, void **file, const char *path, lode_error *error);
    lode_status (*write_file)(void *self, void *file, uint64_t offset, const void *bytes, size_t size,
                              lode_error *error);
    lode_status (*close_file)(void *self, void *file, lode_error *error);
};

/*
 * What went over the wire from this rank, as the usual algorithms have it. For n bytes on P ranks, L = log2(P) rounded up:
 *   broadcast  L messages, n bytes in all: down a tree
 *   fold, scan L messages of n bytes: doubling; a fold of much, with L above 2, 2 L messages and 2 n bytes: scattered and gathered
 *   gather     to rank 0 one message of its own bytes; to all P - 1 messages, all bytes but its own: around a ring
 *   exchange   one message to each other rank that there is something for
 *   send       one message
 * One rank alone sends nothing.
 */
struct lode_comm_traffic {
    uint64_t messages, bytes;
};

struct lode_comm {
    const struct lode_comm_ops *ops;
    void *self;
    struct lode_comm_place place;
    struct lode_comm_traffic traffic;
    size_t piece; /* LODE_COMM_PIECE; tests make it small, all ranks alike */
};

/* a communicator of one rank. Nothing need be freed. */
#define LODE_COMM_SELF                                                                                       \
    {                                                                                                        \
        &lode_comm_serial, NULL, {0, 1, 1}, {0, 0}, LODE_COMM_PIECE                                          \
    }
extern const struct lode_comm_ops lode_comm_serial, lode_comm_threads;

/*
 * Runs `work` as `size` ranks, each on a thread of its own, this one being rank 0. What `work` returns is raised if it is
 * not LODE_OK. Returns the error that was raised first.
 */
lode_status lode_comm_run(uint32_t size,
                          lode_status (*work)(void *context, struct lode_comm *comm, lode_error *error),
                          void *context, lode_error *error);

/* Broadcasts from rank 0. */
lode_status lode_comm_broadcast(struct lode_comm *comm, void *bytes, size_t size, lode_error *error);
/* Each number of the array becomes the sum, the least or the greatest of those that the ranks have there. */
lode_status lode_comm_allreduce(struct lode_comm *comm, uint64_t *numbers, size_t count,
                                enum lode_comm_op fold, lode_error *error);
/* Each number becomes the sum of those of the ranks before; `totals`, if not NULL, are the sums of all. */
lode_status lode_comm_exscan(struct lode_comm *comm, uint64_t *numbers, uint64_t *totals, size_t count,
                             lode_error *error);
/*
 * The bytes of all ranks, one behind the other, in memory that the caller frees. Without `to_all` only rank 0 gets them, and
 * others NULL. All learn the sum of sizes, and each size: `sizes` is by rank, the caller's, and may be NULL.
 */
lode_status lode_comm_gather(struct lode_comm *comm, const void *bytes, size_t size, bool to_all, void **out,
                             uint64_t *out_size, uint64_t *sizes, lode_error *error);
/*
 * To each rank what is for it: `bytes` has that in the order of ranks, sizes[i] bytes for rank i. What the others have for this
 * one, in their order, is put into `*out`, which grows as needed (`*room` bytes, the caller frees it), with its sizes in `out_sizes`.
 * Best with at most LODE_COMM_PIECE bytes from and to each rank in all: more goes in many small rounds.
 */
lode_status lode_comm_alltoallv(struct lode_comm *comm, const void *bytes, const uint64_t *sizes, void **out,
                                size_t *room, uint64_t *out_sizes, lode_error *error);
/* One to one: the other rank must receive, or send, as many bytes. */
lode_status lode_comm_send(struct lode_comm *comm, uint32_t to, const void *bytes, size_t size,
                           lode_error *error);
lode_status lode_comm_receive(struct lode_comm *comm, uint32_t from, void *bytes, size_t size,
                              lode_error *error);
/* Waits for all. */
lode_status lode_comm_barrier(struct lode_comm *comm, lode_error *error);

/*
 * Files that all ranks write together: MPI gathers what goes to neighbouring places before it writes. LODE_ABSENT where the communicator has
 * nothing of the kind. A write has any size at each rank, also none; all are done in the same order.
 */
lode_status lode_comm_open_file(struct lode_comm *comm, void **file, const char *path, lode_error *error);
lode_status lode_comm_write_file(struct lode_comm *comm, void *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error);
/* All is on the disk. Frees `file` in every case. */
lode_status lode_comm_close_file(struct lode_comm *comm, void *file, lode_error *error);

/* Not collective. Tells all that this rank has failed; LODE_ERR_CANCELLED that came from the communicator itself is not raised again. */
void lode_comm_raise(struct lode_comm *comm, lode_status status, const lode_error *error);
/* Not collective. Whether any rank is known to have failed: what long work asks now and then, from one thread at a time. */
lode_status lode_comm_poll(struct lode_comm *comm, lode_error *error);

#endif
