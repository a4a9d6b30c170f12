/* SPDX-License-Identifier: BSD-3-Clause */
/* Sketches of durations, and the percentiles that come out of them. */
#include "analysis/statistics/sketch.h"
#include "made_recording.h"
#include "unit.h"
#include <lode/calls.h>
#include <math.h>
#include <stdlib.h>

static int compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void check_percentile(const uint64_t *sorted, size_t count, double q, uint64_t got)
{
    size_t rank = (size_t)ceil(q * (double)count - 1e-9);
    double exact = (double)sorted[rank > 0 ? rank - 1 : 0];
    assert_true(fabs((double)got - exact) <= LODE_PERCENTILE_ERROR * exact);
}

static void percentiles_are_within_the_stated_error(void **state)
{
    enum {
        CALLS = 5000
    };
    static uint64_t times[CALLS];
    (void)state;
    /* Times below 128, up to a second, and up to 2^50. */
    for (unsigned bits = 7; bits <= 50; bits += 11) {
        lode_recording *recording = made_recording(2);
        uint64_t seed = bits, now[2] = {0};
        made_batch(recording, 100);
        for (size_t i = 0; i < CALLS; i++) {
            uint64_t spread = made_random(&seed) % bits;
            times[i] = made_random(&seed) >> (63 - spread);
            made_enter(recording, i % 2, now[i % 2], "f");
            now[i % 2] += times[i];
            made_leave(recording, i % 2, now[i % 2], "f");
        }
        qsort(times, CALLS, sizeof *times, compare_times);
        lode_calls *calls;
        assert_int_equal(lode_calls_compute(&calls, recording, NULL, NULL, NULL), LODE_OK);
        const lode_call_row *row = lode_calls_at(calls, 0);
        check_percentile(times, CALLS, 0.50, row->p50);
        check_percentile(times, CALLS, 0.95, row->p95);
        check_percentile(times, CALLS, 0.99, row->p99);
        for (int i = 0; i <= 1000; i++)
            check_percentile(times, CALLS, i / 1000.0, lode_calls_percentile(calls, 0, i / 1000.0));
        assert_int_equal(lode_calls_percentile(calls, 0, 0.0), times[0]);
        assert_int_equal(lode_calls_percentile(calls, 0, 1.0), times[CALLS - 1]);
        assert_int_equal(lode_calls_percentile(calls, 0, -3.0), times[0]);
        assert_int_equal(lode_calls_percentile(calls, 0, 7.0), times[CALLS - 1]);
        assert_int_equal(lode_calls_percentile(calls, 0, (double)NAN), times[0]);
        lode_calls_free(calls);
        lode_recording_close(recording);
    }
}

static void buckets_cover_all_numbers(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 128; value++)
        assert_int_equal(lode_sketch_value(sketch_bucket(value)), value);
    uint32_t before = sketch_bucket(127);
    for (unsigned shift = 7; shift < 64; shift++)
        for (uint64_t i = 0; i < 64; i++) {
            uint64_t low = (64 + i) << (shift - 6), high = low + (UINT64_C(1) << (shift - 6)) - 1;
            assert_int_equal(sketch_bucket(low), before + 1);
            assert_int_equal(sketch_bucket(high), before + 1);
            double middle = (double)lode_sketch_value(++before);
            assert_true(middle - (double)low <= LODE_PERCENTILE_ERROR * (double)low);
            assert_true((double)high - middle <= LODE_PERCENTILE_ERROR * (double)high);
        }
    assert_int_equal(sketch_bucket(UINT64_MAX), before);
    assert_int_equal(before, LODE_SKETCH_BUCKETS - 1);
}

static void add(struct lode_sketches *sketches, uint32_t key, uint64_t value, unsigned times)
{
    if (sketch_place(sketches, key, value) == 0)
        assert_true(lode_sketches_add_page(sketches, key, value));
    for (unsigned i = 0; i < times; i++) {
        uint32_t place = sketch_place(sketches, key, value);
        assert_true(place / LODE_SKETCH_PAGE < sketches->page_count);
        if (++sketches->counters[place] == 0)
            assert_true(lode_sketches_carry(sketches, place));
    }
}

static void counts_are_exact(void **state)
{
    struct lode_sketches one, two;
    struct lode_sketches *const sets[] = {&one, &two};
    struct lode_arena arena;
    (void)state;
    lode_sketches_init(&one);
    lode_sketches_init(&two);
    lode_arena_init(&arena, SIZE_MAX);
    assert_true(lode_sketches_reserve(&one, 2));
    assert_true(lode_sketches_reserve(&two, 2000));
    /* Counters are bytes and carry: 256, 255 and 65,536 are where that could go wrong. */
    add(&one, 1, 1000, 70000);
    add(&one, 1, 5, 256);
    add(&two, 1, 5, 255);
    add(&two, 1, 1000, 65536);
    for (uint32_t key = 2; key < 2000; key++)
        add(&two, key, key % 2 ? key : UINT64_MAX - key, 3);
    const struct lode_sketch *sum = lode_sketch_sum(sets, 2, 1, &arena);
    assert_int_equal(lode_sketch_count(sum), 70000 + 256 + 255 + 65536);
    assert_int_equal(lode_sketch_rank(sum, 1), 5);
    assert_int_equal(lode_sketch_rank(sum, 511), 5);
    assert_int_equal(lode_sketch_rank(sum, 512), lode_sketch_value(sketch_bucket(1000)));
    assert_int_equal(lode_sketch_rank(sum, 511 + 70000 + 65536), lode_sketch_value(sketch_bucket(1000)));
    assert_int_equal(lode_sketch_rank(sum, 511 + 70000 + 65536 + 1), 0);
    assert_int_equal(lode_sketch_count(lode_sketch_sum(sets, 2, 0, &arena)), 0);
    assert_int_equal(lode_sketch_count(lode_sketch_sum(sets, 2, 1999, &arena)), 3);
    lode_arena_free(&arena);
    lode_sketches_free(&one);
    lode_sketches_free(&two);
}

static void ranks_are_exact(void **state)
{
    (void)state;
    for (uint64_t count = 1; count <= 1000; count++)
        for (uint64_t rank = 1; rank <= count; rank += 7)
            assert_int_equal(lode_sketch_rank_of((double)rank / (double)count, count), rank);
    assert_int_equal(lode_sketch_rank_of(0.07, 100), 7);
    assert_int_equal(lode_sketch_rank_of(0.071, 100), 8);
    assert_int_equal(lode_sketch_rank_of(0.5, 3), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_within_the_stated_error),
        cmocka_unit_test(buckets_cover_all_numbers),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(ranks_are_exact),
    };
    return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
