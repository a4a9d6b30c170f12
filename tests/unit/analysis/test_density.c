/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of durations over time: edges. Real stores: tests/answers/recordings/rec_stores.py. */
#include "analysis/time/density.h"
#include "minirec.h"
#include "unit.h"
#include <lode/unstable.h>

static lode_density *empty(uint64_t from, uint64_t to, unsigned columns)
{
    lode_density *density = NULL;
    assert_int_equal(lode_density_init(&density, (struct lode_intervals){from, to, columns}, NULL), LODE_OK);
    return density;
}

static void add(lode_density *density, lode_match method, uint32_t track, uint64_t begin, uint64_t duration)
{
    struct lode_found found = {.method = method, .track = track, .begin = begin};
    assert_int_equal(lode_density_add(density, &found, duration, NULL), LODE_OK);
}

static void every_duration_is_in_the_last_range_that_begins_before_it(void **state)
{
    static const uint64_t durations[] = {
        0, 1, 2, 3, 99, 100, 124, 125, 999, 1000, 3149, 3150, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        lode_density *density = empty(0, 1, 1);
        add(density, LODE_MATCH_NONE, 0, 0, durations[i]);
        lode_density_finish(density);
        const lode_density_cell *cell = lode_density_at(density, 0);
        assert_true(cell->min_duration <= durations[i]);
        assert_true(cell->max_duration > durations[i] || cell->max_duration == UINT64_MAX);
        /* A range is at most 1.3 times as long as it begins, and whole numbers of nanoseconds. */
        assert_true(cell->row == 193 || cell->max_duration <= cell->min_duration / 10 * 13 + 13);
        lode_density_free(density);
    }
}

static void a_cell_adds_up_what_is_in_it(void **state)
{
    lode_density *density = empty(1000, 2000, 10);
    (void)state;
    add(density, LODE_MATCH_NONE, 7, 500, 130); /* before the time window */
    add(density, LODE_MATCH_NONE, 8, 1099, 150);
    add(density, LODE_MATCH_NONE, 3, 1000, 150);
    add(density, LODE_MATCH_NONE, 9, 1100, 150);
    add(density, LODE_MATCH_NONE, 1, 1999, 5);
    lode_density_finish(density);
    assert_int_equal(lode_density_count(density), 3);
    assert_int_equal(lode_density_found(density), 5);
    assert_int_equal(lode_density_at(density, 0)->column, 9);
    const lode_density_cell *cell = lode_density_at(density, 1);
    assert_int_equal(cell->column, 0);
    assert_int_equal(cell->tracks, 3);
    assert_int_equal(cell->duration, 430);
    assert_int_equal(cell->longest, 3);
    assert_int_equal(cell->longest_duration, 150);
    assert_int_equal(cell->from, 1000);
    assert_int_equal(cell->to, 1100);
    assert_int_equal(lode_density_at(density, 2)->column, 1);
    assert_null(lode_density_at(density, 3));
    lode_density_free(density);
}

static void sums_of_damaged_times_stop_at_the_largest_number(void **state)
{
    lode_density *density = empty(0, UINT64_MAX, 3);
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        add(density, LODE_MATCH_NONE, i, UINT64_MAX, UINT64_MAX);
    assert_int_equal(lode_density_at(density, 0)->duration, UINT64_MAX);
    assert_int_equal(lode_density_at(density, 0)->column, 2);
    lode_density_free(density);
}

static void only_the_best_matches_of_a_method_stay(void **state)
{
    lode_density *density = empty(0, 100, 10);
    (void)state;
    add(density, LODE_MATCH_NONE, 0, 10, 5);
    add(density, LODE_MATCH_SHOWN, 1, 20, 5);
    add(density, LODE_MATCH_NONE, 2, 30, 5);
    add(density, LODE_MATCH_SHOWN, 3, 20, 6);
    lode_density_finish(density);
    assert_int_equal(lode_density_found(density), 2);
    assert_int_equal(lode_density_at(density, 0)->column, 2);
    lode_density_free(density);
}

static void all_tasks_of_a_recording_are_counted_once(void **state)
{
    struct minirec mini;
    struct minirec_options made = MINIREC_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_recording *recording;
    lode_density *density;
    uint64_t from, to;
    (void)state;
    minirec_make(&mini, &made);
    size_t count = minirec_list(&mini, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, NULL), LODE_OK);
    for (options.threads = 1; options.threads < 4; options.threads++)
        for (unsigned columns = 0; columns < 50; columns += 7) {
            options.errors_only = 0;
            assert_int_equal(lode_density_compute(&density, recording, &options, columns, NULL), LODE_OK);
            assert_int_equal(lode_density_found(density), lode_recording_track_count(recording));
            assert_int_equal(lode_density_columns(density), columns ? columns : 1);
            lode_density_window(density, &from, &to);
            assert_int_equal(from, MINIREC_START + 100);
            lode_density_free(density);
            options.errors_only = 1;
            assert_int_equal(lode_density_compute(&density, recording, &options, columns, NULL), LODE_OK);
            assert_int_equal(lode_density_count(density), 0);
            lode_density_free(density);
        }
    lode_recording_close(recording);
    minirec_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_duration_is_in_the_last_range_that_begins_before_it),
        cmocka_unit_test(a_cell_adds_up_what_is_in_it),
        cmocka_unit_test(sums_of_damaged_times_stop_at_the_largest_number),
        cmocka_unit_test(only_the_best_matches_of_a_method_stay),
        cmocka_unit_test(all_tasks_of_a_recording_are_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
