/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are processes of an MPI job: a plug-in, compiled once per MPI library, as their binary
 * interfaces differ. It links nothing of Lode.
 *
 * Only file operations block. All others are started and polled; meanwhile rank 0 polls for alarms,
 * and the rank yields the CPU, since a machine may run more ranks than it has CPUs. Alarms go to
 * rank 0, which aborts the job.
 *
 * Operations that are pending when rank 0 gives up are never completed, and MPI is called only to
 * abort: nothing is written to memory that its owner may have freed.
 */
#include "base/comm/comm.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ALARM_TAG = 1,
    DATA_TAG = 2,
    YIELDS = 200,              /* polls before a rank sleeps between them */
    LOOKS_A_SLEEP = 4,         /* some transports progress a little per poll */
    SHORTEST_SLEEP = 5 * 1000, /* nanoseconds; doubles up to the longest */
    LONGEST_SLEEP = 100 * 1000,
    LOOKS_A_QUESTION = 1024, /* polls before a waiting rank asks whether to go on */
    /* Milliseconds. */
    ABORT_WAIT = 10 * 1000, /* for rank 0 to abort the job, by other ranks */
    SAYING_TIME = 200,      /* MPICH's launcher may lose output just before an abort */
    /* Seconds. */
    ABORT_LIMIT = 2 /* MPICH waits for an answer that Slurm's PMI-2 does not give */
};

struct mpi_comm {
    MPI_Comm comm, alarms; /* two, so that probing for alarms matches nothing else */
    int rank, size;
    bool finalize; /* we initialised MPI */
    bool raised;
    lode_error error;                /* first raised, as far as this rank knows */
    MPI_Request sending;             /* of `error` to rank 0 */
    int (*is_cancelled)(void *user); /* NULL: nobody can */
    void *user;
    int *counts; /* by rank: send counts and offsets, receive counts and offsets */
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

/* LODE_OK, or an error with MPI's message. */
static lode_status result(int code, const char *file, const char *what, lode_error *error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return LODE_OK;
    MPI_Error_string(code, text, &length);
    return fail(error, LODE_ERR_IO, file, what, text);
}

static lode_status cancelled(const struct mpi_comm *mpi, lode_error *error)
{
    if (error)
        *error = mpi->error;
    return LODE_ERR_CANCELLED;
}

/* On rank 0: whether an error is known. */
static bool look_for_alarm(struct mpi_comm *mpi)
{
    int there = 0;
    MPI_Status status;
    if (mpi->raised || mpi->rank > 0)
        return mpi->raised;
    if (MPI_Iprobe(MPI_ANY_SOURCE, ALARM_TAG, mpi->alarms, &there, &status) != MPI_SUCCESS || !there)
        return false;
    if (MPI_Recv(&mpi->error, (int)sizeof mpi->error, MPI_BYTE, status.MPI_SOURCE, ALARM_TAG, mpi->alarms,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
        fail(&mpi->error, LODE_ERR_IO, "", "MPI", "a rank has failed, and its message was lost");
    mpi->raised = true;
    return true;
}

static void mpi_raise(void *self, const lode_error *error)
{
    struct mpi_comm *mpi = self;
    if (mpi->raised)
        return;
    mpi->raised = true;
    mpi->error = *error;
    if (mpi->rank > 0)
        MPI_Isend(&mpi->error, (int)sizeof mpi->error, MPI_BYTE, 0, ALARM_TAG, mpi->alarms, &mpi->sending);
}

static lode_status mpi_poll(void *self, lode_error *error)
{
    struct mpi_comm *mpi = self;
    return look_for_alarm(mpi) ? cancelled(mpi, error) : LODE_OK;
}

static void mpi_watch(void *self, int (*is_cancelled)(void *user), void *user)
{
    struct mpi_comm *mpi = self;
    mpi->is_cancelled = is_cancelled;
    mpi->user = user;
}

/* ---- waiting ---- */

/* Whether to give up: an error is known, or the caller does not want to wait any more. */
static bool must_stop(struct mpi_comm *mpi, unsigned looks)
{
    lode_error error;
    if (look_for_alarm(mpi))
        return true;
    if (mpi->is_cancelled == NULL || looks % LOOKS_A_QUESTION != LOOKS_A_QUESTION - 1 ||
        mpi->is_cancelled(mpi->user) == 0)
        return false;
    fail(&error, LODE_ERR_CANCELLED, "", "cancelled", "while it waited for other ranks");
    mpi_raise(mpi, &error);
    return true;
}

static void rest(unsigned looks, long *sleep)
{
    if (looks < YIELDS || looks % LOOKS_A_SLEEP != 0) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = *sleep}, NULL);
    *sleep = *sleep * 2 < LONGEST_SLEEP ? *sleep * 2 : LONGEST_SLEEP;
}

/* Polls until the operation that was started with `code` is done. */
static lode_status finish(struct mpi_comm *mpi, int code, MPI_Request *request, MPI_Status *status,
                          const char *what, lode_error *error)
{
    int done = 0;
    long sleep = SHORTEST_SLEEP;
    LODE_TRY(result(code, "", what, error));
    for (unsigned looks = 0;; looks++) {
        LODE_TRY(result(MPI_Test(request, &done, status), "", what, error));
        if (done)
            return LODE_OK;
        if (must_stop(mpi, looks))
            return cancelled(mpi, error);
        rest(looks, &sleep);
    }
}

/* ---- init and finalize ---- */

/* Only for the whole job: who has a communicator has started MPI. */
static lode_status start_mpi(struct mpi_comm *mpi, bool may_start, lode_error *error)
{
    int started = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&started);
    if (!started && !may_start)
        return fail(error, LODE_ERR_ARGUMENT, "", "MPI", "it was not initialised");
    if (started) {
        MPI_Query_thread(&level);
    } else {
        LODE_TRY(
            result(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level), "", "MPI_Init_thread", error));
        mpi->finalize = true;
    }
    if (level < MPI_THREAD_SERIALIZED)
        return fail(error, LODE_ERR_UNSUPPORTED, "", "MPI",
                    "MPI lacks MPI_THREAD_SERIALIZED, which Lode needs");
    return LODE_OK;
}

static lode_status own_comm(MPI_Comm from, MPI_Comm *comm, lode_error *error)
{
    LODE_TRY(result(MPI_Comm_dup(from, comm), "", "MPI_Comm_dup", error));
    return result(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN), "", "MPI_Comm_set_errhandler", error);
}

static lode_status find_place(struct mpi_comm *mpi, struct lode_comm_place *place, lode_error *error)
{
    MPI_Comm machine;
    int local = 1;
    MPI_Comm_rank(mpi->comm, &mpi->rank);
    MPI_Comm_size(mpi->comm, &mpi->size);
    LODE_TRY(result(MPI_Comm_split_type(mpi->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "",
                    "MPI_Comm_split_type", error));
    MPI_Comm_size(machine, &local);
    MPI_Comm_free(&machine);
    place->rank = (uint32_t)mpi->rank;
    place->size = (uint32_t)mpi->size;
    place->local = (uint32_t)local;
    return LODE_OK;
}

static lode_status begin(struct mpi_comm *mpi, const void *from, size_t size, struct lode_comm_place *place,
                         lode_error *error)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    if (from && size != sizeof comm)
        return fail(error, LODE_ERR_ARGUMENT, "", "MPI", "the communicator is of another MPI library");
    if (from)
        memcpy(&comm, from, sizeof comm);
    LODE_TRY(start_mpi(mpi, from == NULL, error));
    if (comm == MPI_COMM_NULL)
        return fail(error, LODE_ERR_ARGUMENT, "", "MPI", "the communicator is MPI_COMM_NULL");
    LODE_TRY(own_comm(comm, &mpi->comm, error));
    LODE_TRY(own_comm(comm, &mpi->alarms, error));
    LODE_TRY(find_place(mpi, place, error));
    mpi->counts = calloc((size_t)mpi->size * 4, sizeof *mpi->counts);
    if (mpi->counts == NULL)
        return fail(error, LODE_ERR_MEMORY, "", "MPI", "out of memory");
    return LODE_OK;
}

static lode_status mpi_join(void **self, const void *from, size_t size, struct lode_comm_place *place,
                            lode_error *error)
{
    struct mpi_comm *mpi = calloc(1, sizeof *mpi);
    if (mpi == NULL)
        return fail(error, LODE_ERR_MEMORY, "", "MPI", "out of memory");
    mpi->comm = mpi->alarms = MPI_COMM_NULL;
    mpi->sending = MPI_REQUEST_NULL;
    lode_status status = begin(mpi, from, size, place, error);
    if (status != LODE_OK) {
        free(mpi);
        return status;
    }
    *self = mpi;
    return LODE_OK;
}

static void mpi_leave(void *self)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    /* Other ranks may wait long for rank 0: wait without using the CPU. */
    int code = MPI_Ibarrier(mpi->comm, &request);
    finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Ibarrier", NULL);
    MPI_Comm_free(&mpi->alarms);
    MPI_Comm_free(&mpi->comm);
    if (mpi->finalize)
        MPI_Finalize();
    free(mpi->counts);
    free(mpi);
}

/* Sleeps, and lets a raised alarm be sent. */
static void linger(struct mpi_comm *mpi, int milliseconds)
{
    const struct timespec step = {.tv_nsec = 10000000};
    for (int slept = 0; slept < milliseconds; slept += 10) {
        int sent;
        if (mpi->rank > 0)
            MPI_Test(&mpi->sending, &sent, MPI_STATUS_IGNORE);
        nanosleep(&step, NULL);
    }
}

static volatile sig_atomic_t abort_status;

static void on_alarm(int signal)
{
    (void)signal;
    _exit(abort_status);
}

static void mpi_abort(void *self, int status)
{
    struct mpi_comm *mpi = self;
    linger(mpi, mpi->rank > 0 ? ABORT_WAIT : SAYING_TIME);
    abort_status = status;
    signal(SIGALRM, on_alarm);
    alarm(ABORT_LIMIT);
    /* With any other communicator MPICH contacts its ranks one by one, and waits. */
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

/* ---- collectives ---- */

static lode_status mpi_broadcast(void *self, void *bytes, size_t size, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    if (mpi->raised)
        return cancelled(mpi, error);
    int code = MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, mpi->comm, &request);
    return finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Ibcast", error);
}

/* Maps the order of unsigned numbers to that of signed ones, and back. */
static void shift_order(uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] ^= UINT64_C(1) << 63;
}

static lode_status mpi_fold(void *self, uint64_t *numbers, size_t count, enum lode_comm_op fold,
                            lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    MPI_Op operation = fold == LODE_COMM_MIN ? MPI_MIN : fold == LODE_COMM_MAX ? MPI_MAX : MPI_SUM;
    if (mpi->raised)
        return cancelled(mpi, error);
    /* MPICH 4.0 and Open MPI 4.1 compare unsigned numbers as signed. */
    if (fold != LODE_COMM_SUM)
        shift_order(numbers, count);
    int code =
        MPI_Iallreduce(MPI_IN_PLACE, numbers, (int)count, fold == LODE_COMM_SUM ? MPI_UINT64_T : MPI_INT64_T,
                       operation, mpi->comm, &request);
    LODE_TRY(finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Iallreduce", error));
    if (fold != LODE_COMM_SUM)
        shift_order(numbers, count);
    return LODE_OK;
}

static lode_status mpi_scan(void *self, uint64_t *numbers, size_t count, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    if (mpi->raised)
        return cancelled(mpi, error);
    int code = MPI_Iexscan(MPI_IN_PLACE, numbers, (int)count, MPI_UINT64_T, MPI_SUM, mpi->comm, &request);
    LODE_TRY(finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Iexscan", error));
    /* MPI leaves this undefined on rank 0. */
    if (mpi->rank == 0 && count > 0)
        memset(numbers, 0, count * sizeof *numbers);
    return LODE_OK;
}

/* Counts and offsets for MPI; the sum is below 2^31. */
static void set_counts(const struct mpi_comm *mpi, int *counts, int *places, const uint64_t *sizes)
{
    int place = 0;
    for (int i = 0; i < mpi->size; i++) {
        counts[i] = (int)sizes[i];
        places[i] = place;
        place += counts[i];
    }
}

static lode_status mpi_gather(void *self, const void *bytes, const uint64_t *sizes, void *out, bool to_all,
                              lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    if (mpi->raised)
        return cancelled(mpi, error);
    int *counts = mpi->counts, *places = counts + mpi->size;
    set_counts(mpi, counts, places, sizes);
    int own = counts[mpi->rank];
    int code =
        to_all ? MPI_Iallgatherv(bytes, own, MPI_BYTE, out, counts, places, MPI_BYTE, mpi->comm, &request)
               : MPI_Igatherv(bytes, own, MPI_BYTE, out, counts, places, MPI_BYTE, 0, mpi->comm, &request);
    return finish(mpi, code, &request, MPI_STATUS_IGNORE, to_all ? "MPI_Iallgatherv" : "MPI_Igatherv", error);
}

static lode_status mpi_exchange(void *self, const void *bytes, const uint64_t *sizes, void *out,
                                const uint64_t *out_sizes, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    if (mpi->raised)
        return cancelled(mpi, error);
    int *counts = mpi->counts, *places = counts + mpi->size;
    int *out_counts = places + mpi->size, *out_places = out_counts + mpi->size;
    set_counts(mpi, counts, places, sizes);
    set_counts(mpi, out_counts, out_places, out_sizes);
    int code = MPI_Ialltoallv(bytes, counts, places, MPI_BYTE, out, out_counts, out_places, MPI_BYTE,
                              mpi->comm, &request);
    return finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Ialltoallv", error);
}

/* ---- point to point ---- */

static lode_status mpi_send(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    if (mpi->raised)
        return cancelled(mpi, error);
    int code = MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, DATA_TAG, mpi->comm, &request);
    return finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Isend", error);
}

static lode_status mpi_receive(void *self, uint32_t from, void *bytes, size_t size, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_Request request;
    MPI_Status status;
    int received = 0;
    if (mpi->raised)
        return cancelled(mpi, error);
    int code = MPI_Irecv(bytes, (int)size, MPI_BYTE, (int)from, DATA_TAG, mpi->comm, &request);
    LODE_TRY(finish(mpi, code, &request, &status, "MPI_Irecv", error));
    MPI_Get_count(&status, MPI_BYTE, &received);
    if ((size_t)received != size)
        return fail(error, LODE_ERR_ARGUMENT, "", "MPI_Irecv", "received fewer bytes than expected");
    return LODE_OK;
}

/* ---- files ---- */

/* File operations block, so they begin with a barrier. */
static lode_status meet(struct mpi_comm *mpi, lode_error *error)
{
    MPI_Request request;
    if (mpi->raised)
        return cancelled(mpi, error);
    int code = MPI_Ibarrier(mpi->comm, &request);
    return finish(mpi, code, &request, MPI_STATUS_IGNORE, "MPI_Ibarrier", error);
}

static lode_status mpi_open_file(void *self, void **file, const char *path, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_File *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return fail(error, LODE_ERR_MEMORY, "", "MPI", "out of memory");
    lode_status status = meet(mpi, error);
    if (status == LODE_OK)
        status = result(MPI_File_open(mpi->comm, path, MPI_MODE_WRONLY, MPI_INFO_NULL, opened), path,
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
    struct mpi_comm *mpi = self;
    MPI_File *opened = file;
    MPI_Status status;
    int written = 0;
    LODE_TRY(meet(mpi, error));
    LODE_TRY(result(MPI_File_write_at_all(*opened, (MPI_Offset)offset, bytes, (int)size, MPI_BYTE, &status),
                    "", "MPI_File_write_at_all", error));
    MPI_Get_count(&status, MPI_BYTE, &written);
    if ((size_t)written != size)
        return fail(error, LODE_ERR_IO, "", "MPI_File_write_at_all", "not all bytes were written");
    return LODE_OK;
}

static lode_status mpi_close_file(void *self, void *file, lode_error *error)
{
    struct mpi_comm *mpi = self;
    MPI_File *opened = file;
    lode_status status = meet(mpi, error);
    if (status == LODE_OK) {
        /* Sync: delayed write errors must be seen here. Close in any case: others wait for it. */
        status = result(MPI_File_sync(*opened), "", "MPI_File_sync", error);
        lode_status closed =
            result(MPI_File_close(opened), "", "MPI_File_close", status == LODE_OK ? error : NULL);
        status = status == LODE_OK ? closed : status;
    }
    free(opened);
    return status;
}

LODE_API extern const struct lode_comm_ops lode_comm_plugin;
const struct lode_comm_ops lode_comm_plugin = {
    .version = LODE_COMM_VERSION,
    .name = LODE_MPI_NAME,
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
    .watch = mpi_watch,
    .open_file = mpi_open_file,
    .write_file = mpi_write_file,
    .close_file = mpi_close_file,
};
