/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator of one rank: nothing to wait for, nobody to tell. */
#include "base/comm/comm.h"

#include <string.h>

static void serial_leave(void *self)
{
    (void)self;
}

static void serial_abort(void *self, int status)
{
    (void)self;
    (void)status;
}

static lode_status serial_broadcast(void *self, void *bytes, size_t size, lode_error *error)
{
    (void)self;
    (void)bytes;
    (void)size;
    (void)error;
    return LODE_OK;
}

static lode_status serial_fold(void *self, uint64_t *numbers, size_t count, enum lode_comm_op fold,
                               lode_error *error)
{
    (void)self;
    (void)numbers;
    (void)count;
    (void)fold;
    (void)error;
    return LODE_OK;
}

static lode_status serial_scan(void *self, uint64_t *numbers, size_t count, lode_error *error)
{
    (void)self;
    (void)error;
    if (count > 0)
        memset(numbers, 0, count * sizeof *numbers);
    return LODE_OK;
}

static lode_status serial_gather(void *self, const void *bytes, const uint64_t *sizes, void *out, bool to_all,
                                 lode_error *error)
{
    (void)self;
    (void)to_all;
    (void)error;
    if (sizes[0] > 0)
        memcpy(out, bytes, sizes[0]);
    return LODE_OK;
}

static lode_status serial_exchange(void *self, const void *bytes, const uint64_t *sizes, void *out,
                                   const uint64_t *out_sizes, lode_error *error)
{
    (void)out_sizes;
    return serial_gather(self, bytes, sizes, out, true, error);
}

static lode_status no_other(uint32_t other, lode_error *error)
{
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "a communicator of one rank has no rank %u", other);
}

static lode_status serial_send(void *self, uint32_t to, const void *bytes, size_t size, lode_error *error)
{
    (void)self;
    (void)bytes;
    (void)size;
    return no_other(to, error);
}

static lode_status serial_receive(void *self, uint32_t from, void *bytes, size_t size, lode_error *error)
{
    (void)self;
    (void)bytes;
    (void)size;
    return no_other(from, error);
}

static void serial_raise(void *self, const lode_error *error)
{
    (void)self;
    (void)error;
}

static lode_status serial_poll(void *self, lode_error *error)
{
    (void)self;
    (void)error;
    return LODE_OK;
}

const struct lode_comm_ops lode_comm_serial = {
    .version = LODE_COMM_VERSION,
    .name = "serial",
    .leave = serial_leave,
    .abort = serial_abort,
    .broadcast = serial_broadcast,
    .fold = serial_fold,
    .scan = serial_scan,
    .gather = serial_gather,
    .exchange = serial_exchange,
    .send = serial_send,
    .receive = serial_receive,
    .raise = serial_raise,
    .poll = serial_poll,
};
