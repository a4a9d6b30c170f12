/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are threads of one process. Each collective has two barriers: ranks post pointers to
 * their bytes, wait, copy what is for them, and wait again.
 *
 * A raised error releases the first barrier, and later ones fail. It does not release the second:
 * other ranks may still read the posted bytes, and all that passed the first arrive without
 * blocking.
 */
#include "base/comm/comm.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum mail_state {
    MAIL_NONE,
    MAIL_POSTED, /* the sender waits */
    MAIL_TAKING, /* the receiver copies */
    MAIL_TAKEN
};

/* What one rank has for another. */
struct mail {
    enum mail_state state;
    const void *bytes;
    size_t size;
};

struct room {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* signals changes of the fields below */
    uint32_t size, waiting;
    uint64_t meetings;
    bool raised;
    lode_error error;
    struct seat *seats;
    struct mail *mail; /* from `from` to `to` at from * size + to */
};

struct seat {
    struct room *room;
    struct lode_comm comm;
    pthread_t thread;
    lode_status (*work)(void *context, struct lode_comm *comm, lode_error *error);
    void *context;
    /* Posted. */
    const void *bytes;
    const uint64_t *starts; /* by rank: where the bytes for it begin */
};

static void copy(void *to, const void *from, uint64_t size)
{
    if (size > 0)
        memcpy(to, from, size);
}

/* ---- barrier ---- */

/* With the lock held. */
static lode_status cancelled(const struct room *room, lode_error *error)
{
    if (error)
        *error = room->error;
    return LODE_ERR_CANCELLED;
}

/* With the lock held. */
static void wait_for_all(struct room *room, bool first)
{
    uint64_t meeting = room->meetings;
    if (++room->waiting == room->size) {
        room->waiting = 0;
        room->meetings++;
        pthread_cond_broadcast(&room->moved);
    }
    while (room->meetings == meeting && !(first && room->raised))
        pthread_cond_wait(&room->moved, &room->lock);
}

static lode_status first_meeting(struct seat *seat, const void *bytes, const uint64_t *starts,
                                 lode_error *error)
{
    struct room *room = seat->room;
    lode_status status = LODE_OK;
    pthread_mutex_lock(&room->lock);
    uint64_t meeting = room->meetings;
    seat->bytes = bytes;
    seat->starts = starts;
    if (!room->raised)
        wait_for_all(room, true);
    /* If all ranks arrived, all go on despite an error: the second barrier needs all of them. */
    if (room->meetings == meeting)
        status = cancelled(room, error);
    pthread_mutex_unlock(&room->lock);
    return status;
}

static void second_meeting(struct seat *seat)
{
    struct room *room = seat->room;
    pthread_mutex_lock(&room->lock);
    wait_for_all(room, false);
    pthread_mutex_unlock(&room->lock);
}

/* ---- collectives ---- */

static lode_status threads_broadcast(void *self, void *bytes, size_t size, lode_error *error)
{
    struct seat *seat = self;
    LODE_TRY(first_meeting(seat, bytes, NULL, error));
    if (seat->comm.place.rank > 0)
        copy(bytes, seat->room->seats[0].bytes, size);
    second_meeting(seat);
    return LODE_OK;
}

static uint64_t fold_two(uint64_t a, uint64_t b, enum lode_comm_op fold)
{
    switch (fold) {
    case LODE_COMM_MIN:
        return b < a ? b : a;
    case LODE_COMM_MAX:
        return b > a ? b : a;
    case LODE_COMM_SUM:
        break;
    }
    return a + b;
}

/* Reduces the numbers of ranks below `end`; zeros if there are none. */
static lode_status fold_below(struct seat *seat, uint64_t *numbers, size_t count, enum lode_comm_op fold,
                              uint32_t end, lode_error *error)
{
    uint64_t *folded = calloc(count ? count : 1, sizeof *folded);
    LODE_TRY_ALLOC(folded, error);
    lode_status status = first_meeting(seat, numbers, NULL, error);
    if (status == LODE_OK) {
        for (uint32_t i = 0; i < end; i++) {
            const uint64_t *other = seat->room->seats[i].bytes;
            for (size_t k = 0; k < count; k++)
                folded[k] = i == 0 ? other[k] : fold_two(folded[k], other[k], fold);
        }
        second_meeting(seat);
        copy(numbers, folded, count * sizeof *numbers);
    }
    free(folded);
    return status;
}

static lode_status threads_fold(void *self, uint64_t *numbers, size_t count, enum lode_comm_op fold,
                                lode_error *error)
{
    struct seat *seat = self;
    return fold_below(seat, numbers, count, fold, seat->room->size, error);
}

static lode_status threads_scan(void *self, uint64_t *numbers, size_t count, lode_error *error)
{
    struct seat *seat = self;
    return fold_below(seat, numbers, count, LODE_COMM_SUM, seat->comm.place.rank, error);
}

static lode_status threads_gather(void *self, const void *bytes, const uint64_t *sizes, void *out,
                                  bool to_all, lode_error *error)
{
    struct seat *seat = self;
    LODE_TRY(first_meeting(seat, bytes, NULL, error));
    if (to_all || seat->comm.place.rank == 0) {
        uint64_t at = 0;
        for (uint32_t i = 0; i < seat->room->size; i++) {
            copy((char *)out + at, seat->room->seats[i].bytes, sizes[i]);
            at += sizes[i];
        }
    }
    second_meeting(seat);
    return LODE_OK;
}

static lode_status threads_exchange(void *self, const void *bytes, const uint64_t *sizes, void *out,
                                    const uint64_t *out_sizes, lode_error *error)
{
    struct seat *seat = self;
    char *to = out;
    uint32_t size = seat->room->size;
    uint64_t *starts = calloc(size, sizeof *starts);
    LODE_TRY_ALLOC(starts, error);
    for (uint32_t i = 1; i < size; i++)
        starts[i] = starts[i - 1] + sizes[i - 1];
    lode_status status = first_meeting(seat, bytes, starts, error);
    for (uint32_t i = 0; i < size && status == LODE_OK; i++) {
        const struct seat *other = &seat->room->seats[i];
        if (out_sizes[i] > 0)
            copy(to, (const char *)other->bytes + other->starts[seat->comm.place.rank], out_sizes[i]);
        to += out_sizes[i];
    }
    if (status == LODE_OK)
        second_meeting(seat);
    free(starts);
    return status;
}

/* ---- point to point ---- */

static lode_status threads_send(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error)
{
    struct seat *seat = self;
    struct room *room = seat->room;
    struct mail *mail = &room->mail[(size_t)seat->comm.place.rank * room->size + to];
    lode_status status = LODE_OK;
    pthread_mutex_lock(&room->lock);
    *mail = (struct mail){MAIL_POSTED, bytes, size};
    pthread_cond_broadcast(&room->moved);
    while (mail->state == MAIL_TAKING || (mail->state == MAIL_POSTED && !room->raised))
        pthread_cond_wait(&room->moved, &room->lock);
    if (mail->state != MAIL_TAKEN)
        status = cancelled(room, error);
    mail->state = MAIL_NONE;
    pthread_mutex_unlock(&room->lock);
    return status;
}

static lode_status threads_receive(void *self, uint32_t from, void *bytes, size_t size, lode_error *error)
{
    struct seat *seat = self;
    struct room *room = seat->room;
    struct mail *mail = &room->mail[(size_t)from * room->size + seat->comm.place.rank];
    size_t sent = size;
    lode_status status = LODE_OK;
    pthread_mutex_lock(&room->lock);
    while (mail->state != MAIL_POSTED && !room->raised)
        pthread_cond_wait(&room->moved, &room->lock);
    if (room->raised) {
        status = cancelled(room, error);
    } else {
        sent = mail->size;
        mail->state = MAIL_TAKING;
        pthread_mutex_unlock(&room->lock);
        copy(bytes, mail->bytes, sent < size ? sent : size);
        pthread_mutex_lock(&room->lock);
        mail->state = MAIL_TAKEN;
        pthread_cond_broadcast(&room->moved);
    }
    pthread_mutex_unlock(&room->lock);
    if (sent != size)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "rank %u sent %zu bytes instead of %zu", from, sent, size);
    return status;
}

/* ---- errors ---- */

static void raise_in(struct room *room, const lode_error *error)
{
    pthread_mutex_lock(&room->lock);
    if (!room->raised) {
        room->raised = true;
        room->error = *error;
        pthread_cond_broadcast(&room->moved);
    }
    pthread_mutex_unlock(&room->lock);
}

static void threads_raise(void *self, const lode_error *error)
{
    struct seat *seat = self;
    raise_in(seat->room, error);
}

static lode_status threads_poll(void *self, lode_error *error)
{
    struct seat *seat = self;
    lode_status status = LODE_OK;
    pthread_mutex_lock(&seat->room->lock);
    if (seat->room->raised)
        status = cancelled(seat->room, error);
    pthread_mutex_unlock(&seat->room->lock);
    return status;
}

static void threads_leave(void *self)
{
    (void)self;
}

static void threads_abort(void *self, int status)
{
    (void)self;
    (void)status;
}

const struct lode_comm_ops lode_comm_threads = {
    .version = LODE_COMM_VERSION,
    .name = "threads",
    .leave = threads_leave,
    .abort = threads_abort,
    .broadcast = threads_broadcast,
    .fold = threads_fold,
    .scan = threads_scan,
    .gather = threads_gather,
    .exchange = threads_exchange,
    .send = threads_send,
    .receive = threads_receive,
    .raise = threads_raise,
    .poll = threads_poll,
};

/* ---- running ---- */

static void *seat_run(void *argument)
{
    struct seat *seat = argument;
    lode_error error = {0};
    lode_status status = seat->work(seat->context, &seat->comm, &error);
    lode_comm_raise(&seat->comm, status, &error);
    return NULL;
}

static void start_and_join(struct room *room)
{
    uint32_t started = 1;
    int failed = 0;
    while (started < room->size && failed == 0) {
        failed = pthread_create(&room->seats[started].thread, NULL, seat_run, &room->seats[started]);
        started += failed == 0;
    }
    if (failed) {
        lode_error error = {0};
        errno = failed;
        lode_describe_errno(&error, NULL, "cannot start a thread");
        raise_in(room, &error);
    } else {
        seat_run(&room->seats[0]);
    }
    for (uint32_t i = 1; i < started; i++)
        pthread_join(room->seats[i].thread, NULL);
}

lode_status lode_comm_run(uint32_t size,
                          lode_status (*work)(void *context, struct lode_comm *comm, lode_error *error),
                          void *context, lode_error *error)
{
    struct room room = {.size = size};
    room.seats = calloc(size, sizeof *room.seats);
    room.mail = calloc((size_t)size * size, sizeof *room.mail);
    if (room.seats == NULL || room.mail == NULL) {
        free(room.seats);
        free(room.mail);
        return lode_fail_memory(error);
    }
    pthread_mutex_init(&room.lock, NULL);
    pthread_cond_init(&room.moved, NULL);
    for (uint32_t i = 0; i < size; i++) {
        struct seat *seat = &room.seats[i];
        *seat = (struct seat){.room = &room, .work = work, .context = context};
        seat->comm = (struct lode_comm){&lode_comm_threads, seat, {i, size, size}, {0, 0}, LODE_COMM_PIECE};
    }
    start_and_join(&room);
    pthread_cond_destroy(&room.moved);
    pthread_mutex_destroy(&room.lock);
    free(room.seats);
    free(room.mail);
    if (room.raised && error)
        *error = room.error;
    return room.raised ? room.error.status : LODE_OK;
}
