/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that is shared out over ranks: nothing is left out, and all have one result. */
#include "base/comm/ranks.h"
#include "unit.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEMS = 37,
    COUNT = 20000 /* of numbers: more than are sent at once */
};

static const uint32_t sizes[] = {1, 2, 3, 5, 8};
#define SIZES (sizeof sizes / sizeof *sizes)

/* ---- jobs ---- */

struct working {
    bool in_turns;
    uint64_t weight;   /* of the last item; the others have 1 */
    uint64_t fails[2]; /* items; ITEMS: none */
    _Atomic unsigned done[ITEMS];
    uint64_t results[8][ITEMS]; /* by rank */
};

struct on_rank {
    struct working *working;
    uint64_t *results;
};

static uint64_t weigh(const void *context, uint64_t item)
{
    const struct working *working = context;
    return item == ITEMS - 1 ? working->weight : 1;
}

static lode_status square(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct on_rank *self = context;
    (void)worker;
    if (item == self->working->fails[0] || item == self->working->fails[1])
        return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "item %u", (unsigned)item);
    self->working->done[item]++;
    self->results[item] = item * item;
    return LODE_OK;
}

static lode_status work(void *context, struct lode_comm *comm, lode_error *error)
{
    struct working *working = context;
    struct on_rank self = {working, working->results[comm->place.rank]};
    const struct lode_job job = {.work = square, .context = &self};
    const struct lode_share share =
        working->in_turns ? lode_ranks_turns(comm, ITEMS) : lode_ranks_share(comm, ITEMS, weigh, working);
    LODE_TRY(lode_ranks_job(comm, 1 + comm->place.rank % 3, &job, &share, error));
    return lode_ranks_collect(comm, self.results, ITEMS, error);
}

static void each_item_is_done_once_and_all_ranks_have_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * SIZES; i++) {
        struct working working = {
            .in_turns = i % 3 == 0, .weight = i % 3 == 1 ? 1 : 1000, .fails = {ITEMS, ITEMS}};
        assert_int_equal(lode_comm_run(sizes[i / 3], work, &working, NULL), LODE_OK);
        for (uint64_t item = 0; item < ITEMS; item++) {
            assert_int_equal(working.done[item], 1);
            for (uint32_t rank = 0; rank < sizes[i / 3]; rank++)
                assert_int_equal(working.results[rank][item], item * item);
        }
    }
}

static void the_first_item_that_fails_is_the_error(void **state)
{
    (void)state;
    for (uint64_t first = 0; first < ITEMS; first += 5)
        for (size_t i = 0; i < 2 * SIZES; i++) {
            struct working working = {
                .in_turns = i % 2, .weight = 1, .fails = {first, ITEMS - 1 - first / 2}};
            uint64_t least = working.fails[0] < working.fails[1] ? working.fails[0] : working.fails[1];
            char text[32];
            lode_error error = {0};
            snprintf(text, sizeof text, "item %u", (unsigned)least);
            assert_int_equal(lode_comm_run(sizes[i / 2], work, &working, &error), LODE_ERR_CORRUPT);
            assert_string_equal(error.text, text);
        }
}

static void shares_without_ranks_are_everything(void **state)
{
    const struct lode_share shares[] = {lode_ranks_share(NULL, ITEMS, NULL, NULL),
                                        lode_ranks_turns(NULL, ITEMS)};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(shares[i].first, 0);
        assert_int_equal(shares[i].count, ITEMS);
        assert_int_equal(shares[i].step, 1);
    }
}

/* ---- sums ---- */

static lode_status add_up(void *context, struct lode_comm *comm, lode_error *error)
{
    const uint64_t *given = context;
    uint64_t *numbers = calloc(COUNT, sizeof *numbers);
    LODE_TRY_ALLOC(numbers, error);
    for (size_t i = 0; i < COUNT; i++)
        numbers[i] = given[i % 4] / (i % 4 == 3 ? 1 : comm->place.size);
    lode_status status = lode_ranks_add_up(comm, numbers, COUNT, error);
    for (size_t i = 0; i < COUNT && status == LODE_OK; i++) {
        uint64_t size = comm->place.size, wanted = given[i % 4] / size * size;
        assert_int_equal(numbers[i], i % 4 == 3 ? (size > 1 ? UINT64_MAX : given[3]) : wanted);
    }
    free(numbers);
    return status;
}

static void sums_that_are_too_large_are_the_largest_number(void **state)
{
    uint64_t given[] = {0, 40000000000, UINT64_MAX, UINT64_MAX / 2 + 1};
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        assert_int_equal(lode_comm_run(sizes[i], add_up, given, NULL), LODE_OK);
}

/* ---- results ---- */

static _Atomic int made, freed;

static lode_status make(void **out, const void *context, struct lode_comm *comm, lode_error *error)
{
    const uint32_t *failing = context;
    if (comm && comm->place.rank == *failing)
        return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "failed");
    *out = malloc(1);
    LODE_TRY_ALLOC(*out, error);
    made++;
    return LODE_OK;
}

static void give_back(void *result)
{
    free(result);
    freed++;
}

static void threads_have_one_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        uint32_t failing = UINT32_MAX;
        const struct lode_ranks ranks = {NULL, sizes[i], NULL, NULL};
        const struct lode_ranks_result result = {make, give_back, &failing};
        void *out = NULL;
        made = freed = 0;
        assert_int_equal(lode_ranks_make(&out, &ranks, &result, NULL), LODE_OK);
        assert_non_null(out);
        assert_int_equal(made, sizes[i]);
        assert_int_equal(freed, sizes[i] - 1);
        free(out);
    }
}

static void a_rank_that_fails_leaves_no_result(void **state)
{
    (void)state;
    for (uint32_t failing = 0; failing < 5; failing++) {
        const struct lode_ranks ranks = {NULL, 5, NULL, NULL};
        const struct lode_ranks_result result = {make, give_back, &failing};
        void *out = NULL;
        made = freed = 0;
        assert_int_equal(lode_ranks_make(&out, &ranks, &result, NULL), LODE_ERR_CORRUPT);
        assert_null(out);
        assert_int_equal(made, freed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_done_once_and_all_ranks_have_it),
        cmocka_unit_test(the_first_item_that_fails_is_the_error),
        cmocka_unit_test(shares_without_ranks_are_everything),
        cmocka_unit_test(sums_that_are_too_large_are_the_largest_number),
        cmocka_unit_test(threads_have_one_result),
        cmocka_unit_test(a_rank_that_fails_leaves_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
