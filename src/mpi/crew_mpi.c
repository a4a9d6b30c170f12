/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members that are the processes of an MPI job: a plug-in, compiled once for each MPI library, since their binary interfaces differ. It
 * links nothing of Lode.
 *
 * Nothing blocks but what has to do with files. All else is begun, and looked at until it is done: meanwhile member 0 looks for alarms, and the
 * processor is given to others, since a machine may have more members than processors. Alarms go to member 0, which ends the job.
 *
 * What is under way when member 0 gives up is never finished, and MPI is not called again but to end the job: nothing is written into memory
 * that its owner may have freed.
 */
#include "base/crew.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ALARM_TAG = 1,
    DATA_TAG = 2,
    YIELDS = 200,              /* looks before a member sleeps between them */
    LOOKS_A_SLEEP = 4,         /* some transports move a little with each look */
    SHORTEST_SLEEP = 5 * 1000, /* nanoseconds; doubles up to the longest */
    LONGEST_SLEEP = 100 * 1000,
    /* Milliseconds. */
    ABORT_WAIT = 10 * 1000, /* that others leave member 0 to end the job */
    SAYING_TIME = 200       /* MPICH's launcher may lose what a process says just before it ends the job */
};

struct member {
    MPI_Comm comm, alarms; /* two, so that looking for alarms never finds anything else */
    int rank, size;
    bool finalize; /* MPI was not in use before */
    bool raised;
    lode_error error;    /* that was raised first, as far as this member knows */
    MPI_Request sending; /* of `error` to member 0 */
    int *counts;         /* by member: of sends, their places, of receipts, their places */
};

/* ---- errors ---- */

static lode_status fail(lode_error *error, lode_status status, const char *file, const char *what,
                        const char *why)
{
    if (error) {
        *error = (lode_error){.status = status, .offset = LODE_NO_OFFSET};
        snprintf(error->file, sizeof error->file, "%s", file);
        snprintf(error->text, sizeof error->text, "%s: %s", what, why);
    }
    return status;
}

/* LODE_OK, or what an MPI function returned, in its own words. */
static lode_status result(int code, const char *file, const char *what, lode_error *error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return LODE_OK;
    MPI_Error_string(code, text, &length);
    return fail(error, LODE_ERR_IO, file, what, text);
}

static lode_status cancelled(const struct member *member, lode_error *error)
{
    if (error)
        *error = member->error;
    return LODE_ERR_CANCELLED;
}

/* On member 0: whether an error is known. */
static bool look_for_alarm(struct member *member)
{
    int there = 0;
    MPI_Status status;
    if (member->raised || member->rank > 0)
        return member->raised;
    if (MPI_Iprobe(MPI_ANY_SOURCE, ALARM_TAG, member->alarms, &there, &status) != MPI_SUCCESS || !there)
        return false;
    if (MPI_Recv(&member->error, (int)sizeof member->error, MPI_BYTE, status.MPI_SOURCE, ALARM_TAG,
                 member->alarms, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        fail(&member->error, LODE_ERR_IO, "", "MPI", "a member has failed, and its message was lost");
    member->raised = true;
    return true;
}

static void mpi_raise(void *self, const lode_error *error)
{
    struct member *member = self;
    if (member->raised)
        return;
    member->raised = true;
    member->error = *error;
    if (member->rank > 0)
        MPI_Isend(&member->error, (int)sizeof member->error, MPI_BYTE, 0, ALARM_TAG, member->alarms,
                  &member->sending);
}

static lode_status mpi_poll(void *self, lode_error *error)
{
    struct member *member = self;
    return look_for_alarm(member) ? cancelled(member, error) : LODE_OK;
}

/* ---- waiting ---- */

static void rest(unsigned looks, long *sleep)
{
    if (looks < YIELDS || looks % LOOKS_A_SLEEP != 0) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = *sleep}, NULL);
    *sleep = *sleep * 2 < LONGEST_SLEEP ? *sleep * 2 : LONGEST_SLEEP;
}

/* Until what was begun with `code` is done. */
static lode_status finish(struct member *member, int code, MPI_Request *request, MPI_Status *status,
                          const char *what, lode_error *error)
{
    int done = 0;
    long sleep = SHORTEST_SLEEP;
    LODE_TRY(result(code, "", what, error));
    for (unsigned looks = 0;; looks++) {
        LODE_TRY(result(MPI_Test(request, &done, status), "", what, error));
        if (done)
            return LODE_OK;
        if (look_for_alarm(member))
            return cancelled(member, error);
        rest(looks, &sleep);
    }
}

/* ---- joining and leaving ---- */

static lode_status start_mpi(struct member *member, lode_error *error)
{
    int started = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&started);
    if (started) {
        MPI_Query_thread(&level);
    } else {
        LODE_TRY(
            result(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level), "", "MPI_Init_thread", error));
        member->finalize = true;
    }
    if (level < MPI_THREAD_SERIALIZED)
        return fail(error, LODE_ERR_UNSUPPORTED, "", "MPI",
                    "it was started without MPI_THREAD_SERIALIZED, which Lode needs");
    return LODE_OK;
}

static lode_status own_comm(MPI_Comm *comm, lode_error *error)
{
    LODE_TRY(result(MPI_Comm_dup(MPI_COMM_WORLD, comm), "", "MPI_Comm_dup", error));
    return result(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN), "", "MPI_Comm_set_errhandler", error);
}

static lode_status find_place(struct member *member, struct lode_crew_place *place, lode_error *error)
{
    MPI_Comm machine;
    int local = 1;
    MPI_Comm_rank(member->comm, &member->rank);
    MPI_Comm_size(member->comm, &member->size);
    LODE_TRY(result(MPI_Comm_split_type(member->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "",
                    "MPI_Comm_split_type", error));
    MPI_Comm_size(machine, &local);
    MPI_Comm_free(&machine);
    place->rank = (uint32_t)member->rank;
    place->size = (uint32_t)member->size;
    place->local = (uint32_t)local;
    return LODE_OK;
}

static lode_status begin(struct member *member, struct lode_crew_place *place, lode_error *error)
{
    LODE_TRY(start_mpi(member, error));
    LODE_TRY(own_comm(&member->comm, error));
    LODE_TRY(own_comm(&member->alarms, error));
    LODE_TRY(find_place(member, place, error));
    member->counts = calloc((size_t)member->size * 4, sizeof *member->counts);
    if (member->counts == NULL)
        return fail(error, LODE_ERR_MEMORY, "", "MPI", "out of memory");
    return LODE_OK;
}

static lode_status mpi_join(void **self, struct lode_crew_place *place, lode_error *error)
{
    struct member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return fail(error, LODE_ERR_MEMORY, "", "MPI", "out of memory");
    member->comm = member->alarms = MPI_COMM_NULL;
    member->sending = MPI_REQUEST_NULL;
    lode_status status = begin(member, place, error);
    if (status != LODE_OK) {
        free(member);
        return status;
    }
    *self = member;
    return LODE_OK;
}

static void mpi_leave(void *self)
{
    struct member *member = self;
    MPI_Request request;
    /* Others may have to wait for member 0 a while: here they do so without keeping the processor. */
    int code = MPI_Ibarrier(member->comm, &request);
    finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Ibarrier", NULL);
    MPI_Comm_free(&member->alarms);
    MPI_Comm_free(&member->comm);
    if (member->finalize)
        MPI_Finalize();
    free(member->counts);
    free(member);
}

/* Sleeps, while an alarm that was raised gets out. */
static void linger(struct member *member, int milliseconds)
{
    const struct timespec step = {.tv_nsec = 10000000};
    for (int slept = 0; slept < milliseconds; slept += 10) {
        int sent;
        if (member->rank > 0)
            MPI_Test(&member->sending, &sent, MPI_STATUS_IGNORE);
        nanosleep(&step, NULL);
    }
}

static void mpi_abort(void *self, int status)
{
    struct member *member = self;
    linger(member, member->rank > 0 ? ABORT_WAIT : SAYING_TIME);
    /* With any other communicator MPICH asks its members one by one, and waits for them. */
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

/* ---- together ---- */

static lode_status mpi_broadcast(void *self, void *bytes, size_t size, lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    if (member->raised)
        return cancelled(member, error);
    int code = MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, member->comm, &request);
    return finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Ibcast", error);
}

/* Turns the order of unsigned numbers into that of signed ones, and back. */
static void shift_order(uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] ^= UINT64_C(1) << 63;
}

static lode_status mpi_fold(void *self, uint64_t *numbers, size_t count, enum lode_crew_fold fold,
                            lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    MPI_Op operation = fold == LODE_CREW_MIN ? MPI_MIN : fold == LODE_CREW_MAX ? MPI_MAX : MPI_SUM;
    if (member->raised)
        return cancelled(member, error);
    /* MPICH 4.0 and Open MPI 4.1 compare unsigned numbers as if they had a sign. */
    if (fold != LODE_CREW_SUM)
        shift_order(numbers, count);
    int code =
        MPI_Iallreduce(MPI_IN_PLACE, numbers, (int)count, fold == LODE_CREW_SUM ? MPI_UINT64_T : MPI_INT64_T,
                       operation, member->comm, &request);
    LODE_TRY(finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Iallreduce", error));
    if (fold != LODE_CREW_SUM)
        shift_order(numbers, count);
    return LODE_OK;
}

static lode_status mpi_scan(void *self, uint64_t *numbers, size_t count, lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    if (member->raised)
        return cancelled(member, error);
    int code = MPI_Iexscan(MPI_IN_PLACE, numbers, (int)count, MPI_UINT64_T, MPI_SUM, member->comm, &request);
    LODE_TRY(finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Iexscan", error));
    /* MPI says nothing of what the first has then. */
    if (member->rank == 0 && count > 0)
        memset(numbers, 0, count * sizeof *numbers);
    return LODE_OK;
}

/* Sizes as MPI wants them; their sum is below 2^31. */
static void set_counts(const struct member *member, int *counts, int *places, const uint64_t *sizes)
{
    int place = 0;
    for (int i = 0; i < member->size; i++) {
        counts[i] = (int)sizes[i];
        places[i] = place;
        place += counts[i];
    }
}

static lode_status mpi_gather(void *self, const void *bytes, const uint64_t *sizes, void *out, bool to_all,
                              lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    if (member->raised)
        return cancelled(member, error);
    int *counts = member->counts, *places = counts + member->size;
    set_counts(member, counts, places, sizes);
    int own = counts[member->rank];
    int code =
        to_all ? MPI_Iallgatherv(bytes, own, MPI_BYTE, out, counts, places, MPI_BYTE, member->comm, &request)
               : MPI_Igatherv(bytes, own, MPI_BYTE, out, counts, places, MPI_BYTE, 0, member->comm, &request);
    return finish(member, code, &request, MPI_STATUS_IGNORE, to_all ? "MPI_Iallgatherv" : "MPI_Igatherv",
                  error);
}

static lode_status mpi_exchange(void *self, const void *bytes, const uint64_t *sizes, void *out,
                                const uint64_t *out_sizes, lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    if (member->raised)
        return cancelled(member, error);
    int *counts = member->counts, *places = counts + member->size;
    int *out_counts = places + member->size, *out_places = out_counts + member->size;
    set_counts(member, counts, places, sizes);
    set_counts(member, out_counts, out_places, out_sizes);
    int code = MPI_Ialltoallv(bytes, counts, places, MPI_BYTE, out, out_counts, out_places, MPI_BYTE,
                              member->comm, &request);
    return finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Ialltoallv", error);
}

/* ---- one to one ---- */

static lode_status mpi_send(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    if (member->raised)
        return cancelled(member, error);
    int code = MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, DATA_TAG, member->comm, &request);
    return finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Isend", error);
}

static lode_status mpi_receive(void *self, uint32_t from, void *bytes, size_t size, lode_error *error)
{
    struct member *member = self;
    MPI_Request request;
    MPI_Status status;
    int received = 0;
    if (member->raised)
        return cancelled(member, error);
    int code = MPI_Irecv(bytes, (int)size, MPI_BYTE, (int)from, DATA_TAG, member->comm, &request);
    LODE_TRY(finish(member, code, &request, &status, "MPI_Irecv", error));
    MPI_Get_count(&status, MPI_BYTE, &received);
    if ((size_t)received != size)
        return fail(error, LODE_ERR_ARGUMENT, "", "MPI_Irecv", "fewer bytes were sent than were due");
    return LODE_OK;
}

/* ---- files ---- */

/* What follows blocks, and so begins when all have come. */
static lode_status meet(struct member *member, lode_error *error)
{
    MPI_Request request;
    if (member->raised)
        return cancelled(member, error);
    int code = MPI_Ibarrier(member->comm, &request);
    return finish(member, code, &request, MPI_STATUS_IGNORE, "MPI_Ibarrier", error);
}

static lode_status mpi_open_file(void *self, void **file, const char *path, lode_error *error)
{
    struct member *member = self;
    MPI_File *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return fail(error, LODE_ERR_MEMORY, "", "MPI", "out of memory");
    lode_status status = meet(member, error);
    if (status == LODE_OK)
        status = result(MPI_File_open(member->comm, path, MPI_MODE_WRONLY, MPI_INFO_NULL, opened), path,
                        "MPI_File_open", error);
    if (status != LODE_OK) {
        free(opened);
        return status;
    }
    *file = opened;
    return LODE_OK;
}

static lode_status mpi_write_file(void *self, void *file, uint64_t offset, const void *bytes, size_t size,
                                  lode_error *error)
{
    struct member *member = self;
    MPI_File *opened = file;
    MPI_Status status;
    int written = 0;
    LODE_TRY(meet(member, error));
    LODE_TRY(result(MPI_File_write_at_all(*opened, (MPI_Offset)offset, bytes, (int)size, MPI_BYTE, &status),
                    "", "MPI_File_write_at_all", error));
    MPI_Get_count(&status, MPI_BYTE, &written);
    if ((size_t)written != size)
        return fail(error, LODE_ERR_IO, "", "MPI_File_write_at_all", "not all bytes were written");
    return LODE_OK;
}

static lode_status mpi_close_file(void *self, void *file, lode_error *error)
{
    struct member *member = self;
    MPI_File *opened = file;
    lode_status status = meet(member, error);
    if (status == LODE_OK) {
        /* What this machine holds back fails here, not later unseen. Closed either way: others wait there. */
        status = result(MPI_File_sync(*opened), "", "MPI_File_sync", error);
        lode_status closed =
            result(MPI_File_close(opened), "", "MPI_File_close", status == LODE_OK ? error : NULL);
        status = status == LODE_OK ? closed : status;
    }
    free(opened);
    return status;
}

LODE_API extern const struct lode_crew_ops lode_crew_plugin;
const struct lode_crew_ops lode_crew_plugin = {
    .version = LODE_CREW_VERSION,
    .name = LODE_CREW_NAME,
    .join = mpi_join,
    .leave = mpi_leave,
    .abort = mpi_abort,
    .broadcast = mpi_broadcast,
    .fold = mpi_fold,
    .scan = mpi_scan,
    .gather = mpi_gather,
    .exchange = mpi_exchange,
    .send = mpi_send,
    .receive = mpi_receive,
    .raise = mpi_raise,
    .poll = mpi_poll,
    .open_file = mpi_open_file,
    .write_file = mpi_write_file,
    .close_file = mpi_close_file,
};
