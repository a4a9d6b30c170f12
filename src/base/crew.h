/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crew: members that run the same code on shares of the same work, and meet where it says so. There is one member per process of an
 * MPI job (crew_mpi.c, a plug-in), per thread of this process (crew_threads.c), or one in all (crew_serial.c).
 *
 * All functions but those marked otherwise are collective: every member calls them, in the same order, from one thread at a time. Sizes
 * may be of any magnitude; they are cut into pieces here. Member 0 is the one that has the output.
 *
 * A member that fails raises its error. From then on whatever the others call, or wait in, fails with LODE_ERR_CANCELLED, and `error` is
 * the one that was raised first: the one that the job ends with. Of the processes of a job this is so for member 0, which ends it;
 * the others may wait until then.
 */
#ifndef LODE_BASE_CREW_H
#define LODE_BASE_CREW_H

#include "base/error.h"
#include <stdbool.h>

/* How numbers of all members become one. */
enum lode_crew_fold {
    LODE_CREW_SUM,
    LODE_CREW_MIN,
    LODE_CREW_MAX
};

enum {
    LODE_CREW_VERSION = 1,
    LODE_CREW_PIECE =
        1
        << 30 /* bytes that an implementation is asked to move at once, at most: counts of MPI have 31 bits */
};

struct lode_crew_place {
    uint32_t rank, size;
    uint32_t
        local; /* members on this machine, this one among them: they share its processors and its memory */
};

/*
 * What an implementation has. A plug-in exports one of these as `lode_crew_plugin`, and uses nothing of the library. No size is above
 * LODE_CREW_PIECE; for many to many that is the sum of what one member sends, and of what it receives.
 */
struct lode_crew_ops {
    uint32_t version;
    const char *name; /* such as "openmpi" */
    /* NULL if it is no plug-in. */
    lode_status (*join)(void **self, struct lode_crew_place *place, lode_error *error);
    /* Of a job that went well. */
    void (*leave)(void *self);
    /*
     * Ends the job everywhere, without what is usual at an end. Member 0 does so at once. Others leave it some seconds to clear away
     * what it wrote and to say why. May be called by the only thread that is left. Does not return where members are processes.
     */
    void (*abort)(void *self, int status);

    lode_status (*broadcast)(void *self, void *bytes, size_t size, lode_error *error);
    lode_status (*fold)(void *self, uint64_t *numbers, size_t count, enum lode_crew_fold fold,
                        lode_error *error);
    /* Each number becomes the sum of those of the members before. */
    lode_status (*scan)(void *self, uint64_t *numbers, size_t count, lode_error *error);
    /* The bytes of all members in their order, to member 0 or to all. `sizes` is by member, and known to all; `out` is NULL where nothing goes. */
    lode_status (*gather)(void *self, const void *bytes, const uint64_t *sizes, void *out, bool to_all,
                          lode_error *error);
    /* Bytes for each member in their order, sizes by member. */
    lode_status (*exchange)(void *self, const void *bytes, const uint64_t *sizes, void *out,
                            const uint64_t *out_sizes, lode_error *error);
    /* One to one: not collective. */
    lode_status (*send)(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error);
    lode_status (*receive)(void *self, uint32_t from, void *bytes, size_t size, lode_error *error);

    /* Not collective, never waits. The error need not be that of `raise` if another was raised before. */
    void (*raise)(void *self, const lode_error *error);
    /* LODE_ERR_CANCELLED if an error was raised that this member can know of; then `error` is that one. Not collective. */
    lode_status (*poll)(void *self, lode_error *error);

    /*
     * Files that all members write together: each of these is collective. The file is there before it is opened. A member may have
     * nothing to write, but takes part. All NULL where there is nothing to be gained.
     */
    lode_status (*open_file)(void *self, void **file, const char *path, lode_error *error);
    lode_status (*write_file)(void *self, void *file, uint64_t offset, const void *bytes, size_t size,
                              lode_error *error);
    lode_status (*close_file)(void *self, void *file, lode_error *error);
};

/*
 * What went over the wire from this member, as the usual algorithms have it. For n bytes on P members, L = log2(P) rounded up:
 *   broadcast  L messages, n bytes in all: down a tree
 *   fold, scan L messages of n bytes: doubling
 *   gather     to member 0 one message of its own bytes; to all P - 1 messages, all bytes but its own: around a ring
 *   exchange   one message to each other member that there is something for
 *   send       one message
 * One member alone sends nothing.
 */
struct lode_crew_traffic {
    uint64_t messages, bytes;
};

struct lode_crew {
    const struct lode_crew_ops *ops;
    void *self;
    struct lode_crew_place place;
    struct lode_crew_traffic traffic;
    size_t piece; /* LODE_CREW_PIECE; tests make it small, all members alike */
};

/* A crew of one. Nothing need be freed. */
#define LODE_CREW_ALONE                                                                                      \
    {                                                                                                        \
        &lode_crew_serial, NULL, {0, 1, 1}, {0, 0}, LODE_CREW_PIECE                                          \
    }
extern const struct lode_crew_ops lode_crew_serial, lode_crew_threads;

/*
 * Runs `work` as `size` members, each on a thread of its own, this one being member 0. What `work` returns is raised if it is
 * not LODE_OK. Returns the error that was raised first.
 */
lode_status lode_crew_run(uint32_t size,
                          lode_status (*work)(void *context, struct lode_crew *crew, lode_error *error),
                          void *context, lode_error *error);

/* Broadcasts from member 0. */
lode_status lode_crew_broadcast(struct lode_crew *crew, void *bytes, size_t size, lode_error *error);
/* Each number of the array becomes the sum, the least or the greatest of those that the members have there. */
lode_status lode_crew_fold(struct lode_crew *crew, uint64_t *numbers, size_t count, enum lode_crew_fold fold,
                           lode_error *error);
/* Each number becomes the sum of those of the members before; `totals`, if not NULL, are the sums of all. */
lode_status lode_crew_scan(struct lode_crew *crew, uint64_t *numbers, uint64_t *totals, size_t count,
                           lode_error *error);
/*
 * The bytes of all members, one behind the other, in memory that the caller frees. Without `to_all` only member 0 gets them, and
 * others NULL. All learn the sum of sizes, and each size: `sizes` is by member, the caller's, and may be NULL.
 */
lode_status lode_crew_gather(struct lode_crew *crew, const void *bytes, size_t size, bool to_all, void **out,
                             uint64_t *out_size, uint64_t *sizes, lode_error *error);
/*
 * To each member what is for it: `bytes` has that in the order of members, sizes[i] bytes for member i. What the others have for this
 * one, in their order, is put into `*out`, which grows as needed (`*room` bytes, the caller frees it), with its sizes in `out_sizes`.
 * Best with at most LODE_CREW_PIECE bytes from and to each member in all: more goes in many small rounds.
 */
lode_status lode_crew_exchange(struct lode_crew *crew, const void *bytes, const uint64_t *sizes, void **out,
                               size_t *room, uint64_t *out_sizes, lode_error *error);
/* One to one: the other member must receive, or send, as many bytes. */
lode_status lode_crew_send(struct lode_crew *crew, uint32_t to, const void *bytes, size_t size,
                           lode_error *error);
lode_status lode_crew_receive(struct lode_crew *crew, uint32_t from, void *bytes, size_t size,
                              lode_error *error);
/* Waits for all. */
lode_status lode_crew_meet(struct lode_crew *crew, lode_error *error);

/*
 * Files that all members write together: MPI gathers what goes to neighbouring places before it writes. LODE_ABSENT where the crew has
 * nothing of the kind. A write has any size at each member, also none; all are done in the same order.
 */
lode_status lode_crew_open_file(struct lode_crew *crew, void **file, const char *path, lode_error *error);
lode_status lode_crew_write_file(struct lode_crew *crew, void *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error);
/* All is on the disk. Frees `file` in every case. */
lode_status lode_crew_close_file(struct lode_crew *crew, void *file, lode_error *error);

/* Not collective. Tells all that this member has failed; LODE_ERR_CANCELLED that came from the crew itself is not raised again. */
void lode_crew_raise(struct lode_crew *crew, lode_status status, const lode_error *error);
/* Not collective. Whether any member is known to have failed: what long work asks now and then, from one thread at a time. */
lode_status lode_crew_poll(struct lode_crew *crew, lode_error *error);

#endif
