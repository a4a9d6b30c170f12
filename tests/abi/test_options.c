/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every function that takes options, with options of every version: none, those of 0.1, current
 * ones, those of a later version. Options are in memory of exactly their size, so that a sanitizer
 * sees reads beyond it.
 */
#include "option_list.h"
#include "scratch.h"
#include <lode/unstable.h>
#include <string.h>

enum {
    LATER = 64 /* bytes that options of a later version have more */
};

static size_t size_of(const struct entry *entry)
{
    size_t size;
    memcpy(&size, entry->defaults, sizeof size);
    return size;
}

/* Calls with options that claim `size`, of which `held` bytes exist; the last one is `last`. */
static lode_status call(const struct entry *entry, size_t size, size_t held, unsigned char last,
                        lode_error *error)
{
    unsigned char *options = calloc(1, held);
    size_t now = size_of(entry);
    assert_non_null(options);
    memcpy(options, entry->defaults, held < now ? held : now);
    memcpy(options, &size, sizeof size);
    if (held > now)
        options[held - 1] = last;
    lode_status status = entry->call(options, error);
    free(options);
    return status;
}

static void expect(const struct entry *entry, lode_status status, lode_status expected,
                   const lode_error *error)
{
    if (status != expected)
        print_error("%s: %s\n", entry->function, error->text);
    assert_int_equal(status, expected);
    if (expected < 0)
        assert_int_equal(error->status, expected);
}

static void options_may_be_null(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        lode_error error = {0};
        expect(&entries[i], entries[i].call(NULL, &error), LODE_OK, &error);
    }
}

static void fields_that_the_caller_does_not_have_take_their_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        lode_error error = {0};
        expect(&entries[i], call(&entries[i], sizeof(size_t), sizeof(size_t), 0, &error), LODE_OK, &error);
    }
    /* A view of 0.1 without its last three fields: rows below 1% need the share to be given. */
    lode_view *all, *cut, *usual;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    assert_int_equal(lode_view_build(&usual, cost, NULL, NULL), LODE_OK);
    options.min_fraction = 0;
    assert_int_equal(lode_view_build(&all, cost, &options, NULL), LODE_OK);
    options.size = offsetof(lode_view_options, min_fraction);
    assert_int_equal(lode_view_build(&cut, cost, &options, NULL), LODE_OK);
    assert_true(lode_view_count(all) > lode_view_count(usual));
    assert_int_equal(lode_view_count(cut), lode_view_count(usual));
    lode_view_free(all);
    lode_view_free(cut);
    lode_view_free(usual);
}

static void options_of_0_1_are_taken(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    for (size_t i = 0; i < ENTRIES; i++) {
        lode_error error = {0};
        assert_true(entries[i].first <= size_of(&entries[i]));
        expect(&entries[i], call(&entries[i], entries[i].first, entries[i].first, 0, &error), LODE_OK,
               &error);
    }
}

static void options_of_a_later_version_are_taken_unless_they_ask_for_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        lode_error error = {0};
        size_t size = size_of(&entries[i]) + LATER;
        expect(&entries[i], call(&entries[i], size, size, 0, &error), LODE_OK, &error);
        expect(&entries[i], call(&entries[i], size, size, 1, &error), LODE_ERR_UNSUPPORTED, &error);
        assert_non_null(strstr(error.text, "later version"));
    }
}

static void options_that_were_not_initialised_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 12, 4104, SIZE_MAX, SIZE_MAX - 7};
    for (size_t i = 0; i < ENTRIES; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            lode_error error = {0};
            size_t now = size_of(&entries[i]);
            expect(&entries[i], call(&entries[i], sizes[k], now, 0, &error), LODE_ERR_ARGUMENT, &error);
            assert_non_null(strstr(error.text, "INIT"));
        }
}

/* ---- results ---- */

static void results_are_written_as_far_as_the_caller_has_them(void **state)
{
    lode_check_result whole;
    unsigned char bytes[sizeof whole + LATER];
    size_t half = offsetof(lode_check_result, values);
    (void)state;
    assert_int_equal(lode_check(database_path, NULL, &whole, NULL), LODE_OK);
    assert_true(whole.contexts > 0 && whole.values > 0);

    memset(bytes, 0xa5, sizeof bytes);
    assert_int_equal(lode_check_sized(database_path, NULL, (void *)bytes, half, NULL), LODE_OK);
    assert_memory_equal(bytes, &whole, half);
    for (size_t i = half; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0xa5);

    assert_int_equal(lode_check_sized(database_path, NULL, (void *)bytes, sizeof bytes, NULL), LODE_OK);
    assert_memory_equal(bytes, &whole, sizeof whole);
    for (size_t i = sizeof whole; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0);
}

static void the_result_of_a_build_is_written_as_far_as_the_caller_has_it(void **state)
{
    const char *paths[] = {recording_path};
    lode_build_result result;
    unsigned char bytes[sizeof result];
    size_t half = offsetof(lode_build_result, contexts);
    (void)state;
    assert_int_equal(lode_build(paths, 1, scratch_path(), NULL, &result, NULL), LODE_OK);
    assert_int_equal(result.recordings, 1);
    assert_true(result.events > 0 && result.contexts > 0);
    memset(bytes, 0xa5, sizeof bytes);
    assert_int_equal(lode_build_sized(paths, 1, scratch_path(), NULL, (void *)bytes, half, NULL), LODE_OK);
    assert_memory_equal(bytes, &result, half);
    for (size_t i = half; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0xa5);
}

/* ---- stores to call them with ---- */

static int make_stores(void **state)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    lode_synth_recording_options traced = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    (void)state;
    scratch_make();
    snprintf(database_path, sizeof database_path, "%s/database", scratch);
    snprintf(recording_path, sizeof recording_path, "%s/recording", scratch);
    options.profiles = 2;
    traced.records = 2000;
    assert_int_equal(lode_synth_database(database_path, &options, NULL), LODE_OK);
    assert_int_equal(lode_synth_recording(recording_path, &traced, NULL), LODE_OK);
    assert_int_equal(lode_database_open(&database, database_path, NULL), LODE_OK);
    assert_int_equal(lode_recording_open(&recording, recording_path, NULL, NULL), LODE_OK);
    assert_int_equal(lode_cost_compute(&cost, database, NULL, NULL), LODE_OK);
    return 0;
}

static int remove_stores(void **state)
{
    (void)state;
    lode_cost_free(cost);
    lode_recording_close(recording);
    lode_database_close(database);
    scratch_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_may_be_null),
        cmocka_unit_test(fields_that_the_caller_does_not_have_take_their_defaults),
        cmocka_unit_test(options_of_0_1_are_taken),
        cmocka_unit_test(options_of_a_later_version_are_taken_unless_they_ask_for_more),
        cmocka_unit_test(options_that_were_not_initialised_are_refused),
        cmocka_unit_test(results_are_written_as_far_as_the_caller_has_them),
        cmocka_unit_test(the_result_of_a_build_is_written_as_far_as_the_caller_has_it),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
