/* SPDX-License-Identifier: BSD-3-Clause */
/* Serial and threaded communicators; also run under ThreadSanitizer. For MPI see tests/ranks. */
#include "comm_checks.h"
#include "unit.h"
#include <lode/unstable/comm.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    MOST = 16
};

static const uint32_t comm_sizes[] = {1, 2, 3, 5, MOST};
static const size_t comm_size_count = sizeof comm_sizes / sizeof comm_sizes[0];

static void pause_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* ---- what holds ---- */

static void a_communicator_of_one_rank_needs_no_other(void **state)
{
    struct lode_comm comm = LODE_COMM_SELF;
    lode_error error = {0};
    unsigned count = 0;
    (void)state;
    if (comm_check_all(&comm, &count, &error) != LODE_OK)
        fail_msg("%s:%llu: %s", error.file, (unsigned long long)error.offset, error.text);
    assert_int_equal(count, comm_check_count * 3);
    assert_int_equal(comm.traffic.messages, 0);
    assert_int_equal(lode_comm_send(&comm, 1, "a", 1, &error), LODE_ERR_ARGUMENT);
    assert_int_equal(lode_comm_receive(&comm, 1, &count, 1, &error), LODE_ERR_ARGUMENT);
    lode_comm_raise(&comm, LODE_ERR_IO, &error);
    assert_int_equal(lode_comm_poll(&comm, &error), LODE_OK);
}

static lode_status check_everything(void *context, struct lode_comm *comm, lode_error *error)
{
    unsigned *counts = context;
    return comm_check_all(comm, &counts[comm->place.rank], error);
}

static void threads_do_what_is_computed_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < comm_size_count; i++) {
        unsigned counts[MOST] = {0};
        lode_error error = {0};
        if (lode_comm_run(comm_sizes[i], check_everything, counts, &error) != LODE_OK)
            fail_msg("%s:%llu: %s", error.file, (unsigned long long)error.offset, error.text);
        for (uint32_t k = 0; k < comm_sizes[i]; k++)
            assert_int_equal(counts[k], comm_check_count * 3);
    }
}

static lode_status come_one_by_one(void *context, struct lode_comm *comm, lode_error *error)
{
    atomic_uint *here = context;
    for (unsigned round = 1; round <= 20; round++) {
        if (comm->place.rank == round % comm->place.size)
            pause_for(500);
        atomic_fetch_add(here, 1);
        LODE_TRY(lode_comm_barrier(comm, error));
        unsigned came = atomic_load(here);
        if (came < round * comm->place.size)
            return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "%u came to meeting %u", came,
                             round);
        LODE_TRY(lode_comm_barrier(comm, error));
    }
    return LODE_OK;
}

static void no_rank_leaves_a_barrier_early(void **state)
{
    (void)state;
    for (size_t i = 0; i < comm_size_count; i++) {
        atomic_uint here = 0;
        lode_error error = {0};
        if (lode_comm_run(comm_sizes[i], come_one_by_one, &here, &error) != LODE_OK)
            fail_msg("%s", error.text);
    }
}

/* ---- failing ---- */

struct failing {
    comm_check_fn wait;
    uint32_t rank; /* that fails */
    bool late;     /* when the others already wait */
    lode_status statuses[MOST];
    lode_error errors[MOST];
};

static lode_status fail_or_wait(void *context, struct lode_comm *comm, lode_error *error)
{
    struct failing *failing = context;
    uint32_t rank = comm->place.rank;
    lode_status status;
    LODE_TRY(lode_comm_barrier(comm, error));
    if (rank == failing->rank) {
        if (failing->late)
            pause_for(2000);
        status = lode_fail(error, LODE_ERR_IO, "disk", 17, "no room at member %u", rank);
    } else {
        status = failing->wait(comm, error);
    }
    failing->statuses[rank] = status;
    failing->errors[rank] = *error;
    return status;
}

static void one_fails_in(const struct comm_check *check, uint32_t size, uint32_t rank, bool late)
{
    struct failing failing = {.wait = check->run, .rank = rank, .late = late};
    lode_error error = {0};
    char expected[64];
    snprintf(expected, sizeof expected, "no room at member %u", rank);
    assert_int_equal(lode_comm_run(size, fail_or_wait, &failing, &error), LODE_ERR_IO);
    assert_int_equal(error.status, LODE_ERR_IO);
    assert_string_equal(error.text, expected);
    assert_string_equal(error.file, "disk");
    assert_int_equal(error.offset, 17);
    for (uint32_t i = 0; i < size; i++) {
        assert_int_equal(failing.statuses[i], i == rank ? LODE_ERR_IO : LODE_ERR_CANCELLED);
        assert_string_equal(failing.errors[i].text, expected);
    }
}

static void all_end_when_one_fails_whatever_they_wait_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < comm_size_count; i++) {
        uint32_t size = comm_sizes[i];
        for (size_t k = 0; k < comm_wait_count; k++) {
            one_fails_in(&comm_waits[k], size, 0, false);
            one_fails_in(&comm_waits[k], size, 0, true);
            one_fails_in(&comm_waits[k], size, size - 1, true);
            one_fails_in(&comm_waits[k], size, size / 2, false);
        }
    }
}

static lode_status fail_twice(void *context, struct lode_comm *comm, lode_error *error)
{
    lode_error second;
    (void)context;
    LODE_TRY(lode_comm_barrier(comm, error));
    if (comm->place.rank == 1) {
        lode_describe(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "the first");
        lode_comm_raise(comm, LODE_ERR_CORRUPT, error);
        lode_describe(&second, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "the second");
        lode_comm_raise(comm, LODE_ERR_IO, &second);
        return LODE_OK;
    }
    lode_status status = lode_comm_barrier(comm, error);
    /* What the communicator said is not raised again. */
    lode_comm_raise(comm, status, error);
    return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "the last");
}

static void the_error_that_was_raised_first_is_the_result(void **state)
{
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_comm_run(3, fail_twice, NULL, &error), LODE_ERR_CORRUPT);
    assert_string_equal(error.text, "the first");
    assert_int_equal(lode_comm_run(3, fail_twice, NULL, NULL), LODE_ERR_CORRUPT);
}

static lode_status stop_as_asked(void *context, struct lode_comm *comm, lode_error *error)
{
    (void)context;
    if (comm->place.rank == 0)
        return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "as asked");
    return lode_comm_barrier(comm, error);
}

static void a_rank_that_was_asked_to_stop_stops_all(void **state)
{
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_comm_run(4, stop_as_asked, NULL, &error), LODE_ERR_CANCELLED);
    assert_string_equal(error.text, "as asked");
}

static lode_status send_too_much(void *context, struct lode_comm *comm, lode_error *error)
{
    char bytes[8] = "";
    (void)context;
    return comm->place.rank ? lode_comm_send(comm, 0, bytes, 8, error)
                            : lode_comm_receive(comm, 1, bytes, 4, error);
}

static void bytes_that_are_not_due_are_an_error(void **state)
{
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_comm_run(2, send_too_much, NULL, &error), LODE_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "8 bytes"));
}

/* ---- plug-ins ---- */

static void a_plugin_that_is_not_there_is_unsupported(void **state)
{
    lode_comm *comm;
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_comm_join(&comm, "/nonexistent/lode-mpi-openmpi.so", &error), LODE_ERR_UNSUPPORTED);
    assert_null(comm);
    assert_string_equal(error.file, "/nonexistent/lode-mpi-openmpi.so");
    assert_non_null(strstr(error.text, "cannot load"));
    lode_comm_leave(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_communicator_of_one_rank_needs_no_other),
        cmocka_unit_test(threads_do_what_is_computed_by_hand),
        cmocka_unit_test(no_rank_leaves_a_barrier_early),
        cmocka_unit_test(all_end_when_one_fails_whatever_they_wait_in),
        cmocka_unit_test(the_error_that_was_raised_first_is_the_result),
        cmocka_unit_test(a_rank_that_was_asked_to_stop_stops_all),
        cmocka_unit_test(bytes_that_are_not_due_are_an_error),
        cmocka_unit_test(a_plugin_that_is_not_there_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
