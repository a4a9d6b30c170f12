/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of calls by function, and which of them a filter shows. */
#include "made_calls.h"
#include <lode/unstable/match.h>

static void check_order(const lode_recording *recording, lode_calls_sort sort, const char *expected)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    char text[64] = "";
    options.sort = sort;
    lode_calls *calls = compute_calls(recording, NULL, &options);
    for (size_t i = 0; i < lode_calls_count(calls); i++)
        strcat(text, lode_function_name(lode_calls_at(calls, i)->function));
    assert_string_equal(text, expected);
    lode_calls_free(calls);
}

/* Rows in an order that were computed in another one, and those that a filter shows. */
static void check_selection(const lode_calls *calls, lode_calls_sort sort, const lode_filter *filter,
                            const char *expected, size_t hidden)
{
    char text[64] = "";
    uint32_t order[8];
    size_t count, found;
    assert_in_range(lode_calls_count(calls), 1, 8);
    assert_int_equal(lode_calls_select(calls, sort, filter, order, &count, &found, NULL), LODE_OK);
    for (size_t i = 0; i < count; i++)
        strcat(text, lode_function_name(lode_calls_at(calls, order[i])->function));
    assert_string_equal(text, expected);
    assert_int_equal(found, hidden);
}

static lode_filter *filter_of(const char *included, const char *excluded)
{
    lode_filter *filter;
    lode_error error = {0};
    if (lode_filter_open(&filter, included ? &included : NULL, included != NULL, excluded ? &excluded : NULL,
                         excluded != NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return filter;
}

static void rows_are_selected_without_reading_again(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    made_track(recording, 0, 0, "d( 20 c( 10 b( 5 !) b( 4 !) !) a( 8 ) a( 1 ) b( 0 ) 2 )");
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_filter *only = filter_of("a", NULL), *without = filter_of(NULL, "d");
    for (options.merge = 0; options.merge < 2; options.merge++) {
        lode_calls *calls = compute_calls(recording, NULL, &options);
        check_selection(calls, LODE_CALLS_BY_CALLS, NULL, "bacd", 0);
        check_selection(calls, LODE_CALLS_BY_NAME, NULL, "abcd", 0);
        check_selection(calls, LODE_CALLS_BY_ERRORS, without, "bca", 1);
        check_selection(calls, LODE_CALLS_BY_MAX, only, "a", 3);
        lode_calls_free(calls);
    }
    lode_filter_close(only);
    lode_filter_close(without);
    lode_recording_close(recording);
}

/* Two functions of one name are one row; a filter that shows one of them needs another sum. */
static void a_part_of_a_row_is_not_selected(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    const lode_function *functions[] = {made_function(recording, "/lib/b.so", "same"),
                                        made_function(recording, "/lib/a.so", "same")};
    for (uint64_t i = 0; i < 4; i++)
        made_event(recording, 0,
                   &(lode_event){.time = i,
                                 .function = functions[i / 2],
                                 .kind = i % 2 ? LODE_EVENT_LEAVE : LODE_EVENT_ENTER});
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    options.merge = 1;
    lode_calls *calls = compute_calls(recording, NULL, &options);
    lode_filter *none = filter_of(NULL, "same"), *other = filter_of("other", NULL);
    assert_int_equal(lode_calls_count(calls), 1);
    check_selection(calls, LODE_CALLS_BY_TOTAL, NULL, "same", 0);
    check_selection(calls, LODE_CALLS_BY_TOTAL, none, "", 2);
    check_selection(calls, LODE_CALLS_BY_TOTAL, other, "", 2);
    lode_filter *part = filter_of("module:a.so", NULL);
    uint32_t order[1];
    size_t count, hidden;
    lode_error error = {0};
    assert_int_equal(lode_calls_select(calls, LODE_CALLS_BY_TOTAL, part, order, &count, &hidden, &error),
                     LODE_ABSENT);
    assert_string_equal(error.text, "the filter shows 1 of the 2 functions of a row");
    lode_filter_close(part);
    lode_filter_close(none);
    lode_filter_close(other);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void rows_are_sorted(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    made_track(recording, 0, 0, "d( 20 c( 10 b( 5 !) b( 4 !) !) a( 8 ) a( 1 ) b( 0 ) 2 )");
    /* d: 1 call, total 50, self 22; c: 1 19 10; b: 3 9 9, min 0, max 5; a: 2 9 9, min 1, max 8 */
    check_order(recording, LODE_CALLS_BY_TOTAL, "dcab");
    check_order(recording, LODE_CALLS_BY_SELF, "dcab");
    check_order(recording, LODE_CALLS_BY_CALLS, "bacd");
    check_order(recording, LODE_CALLS_BY_MEAN, "dcab");
    check_order(recording, LODE_CALLS_BY_MIN, "dcab");
    check_order(recording, LODE_CALLS_BY_MAX, "dcab");
    check_order(recording, LODE_CALLS_BY_NAME, "abcd");
    check_order(recording, LODE_CALLS_BY_ERRORS, "bcad");
    lode_recording_close(recording);
}

static void equal_names_are_ordered_by_module(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    const lode_function *functions[] = {made_function(recording, "/lib/b.so", "same"),
                                        made_function(recording, "/lib/a.so", "same"),
                                        made_function(recording, NULL, "same")};
    for (uint64_t i = 0; i < 6; i++)
        made_event(recording, 0,
                   &(lode_event){.time = i,
                                 .function = functions[i / 2],
                                 .kind = i % 2 ? LODE_EVENT_LEAVE : LODE_EVENT_ENTER});
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    assert_int_equal(lode_calls_count(calls), 3);
    assert_ptr_equal(lode_calls_at(calls, 0)->function, functions[2]);
    assert_ptr_equal(lode_calls_at(calls, 1)->function, functions[1]);
    assert_ptr_equal(lode_calls_at(calls, 2)->function, functions[0]);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(rows_are_selected_without_reading_again),
        cmocka_unit_test(a_part_of_a_row_is_not_selected),
        cmocka_unit_test(equal_names_are_ordered_by_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
