/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of traces: failed calls, values, threads. Expected strings are derived by hand. */
#include "writing.h"
#include "zor_expect.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---- */

static void exceptions_and_error_flags_are_failures(void **state)
{
    (void)state;
    expect(BEGIN END, ENTER "end 262144 calls=2\n");
    expect(BEGIN "cea10b08" END, ENTER "end 262144 flags=8 calls=2 failed\n");
    expect(BEGIN "cea10b06" END, ENTER "end 262144 flags=6 calls=2\n");
    /* The flag that meant an error in 2018 means something else since. */
    expect(BEGIN "cea10b01" END, ENTER "end 262144 flags=1 calls=2\n");
    expect(BEGIN "c89f cea10c11 cea10e04 d82309 cea10d12 ff" END, ENTER
           "  a.B.run()V 65536\n"
           "    exception class=\"a.B\" message=\"a value\" at=\"a.B\" method=\"run\" file=\"key\" line=10\n"
           "  end 131072 failed\n"
           "end 262144 calls=2\n");
}

static void a_call_truncated_after_its_stop_ends_there(void **state)
{
    struct minizor store;
    uint64_t begin, end;
    (void)state;
    minizor_make(&store, 0, false);
    minizor_payload(&store, BEGIN "cea10d14");
    lode_recording *recording = open_store(&store);
    expect_story(recording, 0, ENTER "end 262144 made\n");
    /* What a search would say, too. */
    assert_int_equal(lode_track_interval(recording, 0, &begin, &end, NULL), LODE_OK);
    assert_int_equal(end - begin, 262144);
    lode_recording_close(recording);
    minizor_free(&store);
}

static void the_early_error_flag_counts_where_the_index_says_so(void **state)
{
    struct minizor store;
    (void)state;
    minizor_make(&store, 0, false);
    /* Two traces in one chunk: the index names them by where they begin. */
    minizor_payload(&store, BEGIN "cea10b01" END BEGIN "cea10b01" END);
    minizor_qmeta(&store, 0xb, 0x0c, 16, 35);
    minizor_qmeta(&store, 0xa, 0x0d, 16, 0);
    lode_recording *recording = open_store(&store);
    assert_int_equal(lode_recording_track_count(recording), 2);
    expect_story(recording, 0, ENTER "end 262144 flags=1 calls=2 failed\n");
    expect_story(recording, 1, ENTER "end 262144 flags=1 calls=2\n");
    assert_string_equal(lode_recording_track(recording, 0)->id, "0000000000000000000000000000000a");
    assert_string_equal(lode_recording_track(recording, 1)->id, "0000000000000000000000000000000b");
    lode_recording_close(recording);
    minizor_free(&store);
}

static void the_early_error_flag_survives_in_other_layouts(void **state)
{
    static const char *const layouts[] = {"zorka", "zorka-zico"};
    struct minizor store;
    (void)state;
    minizor_make(&store, 0, false);
    minizor_payload(&store, BEGIN "cea10b01" END);
    minizor_qmeta(&store, 0xa, 0x0d, 16, 0);
    lode_recording *recording = open_store(&store), *written;
    for (size_t i = 0; i < 2; i++) {
        struct place place;
        lode_rewrite_options options = LODE_REWRITE_OPTIONS_INIT;
        enter_place(&place);
        options.to = layouts[i];
        assert_int_equal(
            lode_rewrite((const lode_recording *const *)&recording, 1, place.target, NULL, &options, NULL),
            LODE_OK);
        assert_int_equal(lode_recording_open(&written, place.target, NULL, NULL), LODE_OK);
        char *story = story_of(written, 0);
        assert_non_null(strstr(story, " flags=1 flags=8 "));
        assert_non_null(strstr(story, " failed\n"));
        free(story);
        lode_recording_close(written);
        leave_place(&place);
    }
    lode_recording_close(recording);
    minizor_free(&store);
}

/* ---- values ---- */

static void an_attribute_has_one_value(void **state)
{
    (void)state;
    expect(BEGIN "c9a1c605f6" END, ENTER "  key null\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c605f7" END, ENTER "  key undefined\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c605f5" END, ENTER "  key true\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c60524" END, ENTER "  key -5\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c605c600" END, ENTER "  key \"\"\nend 262144 calls=2\n");
    /* [key, 1, "b"], nested, empty and of no length. */
    expect(BEGIN "c9a1c605 83c605016162" END, ENTER "  key [\"key\", 1, \"b\"]\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c605 a2c605c606 6161 82a080" END,
           ENTER "  key {\"key\": \"a value\", \"a\": [{}, []]}\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c605 9f01bf02f6ffff" END, ENTER "  key [1, {2: null}]\nend 262144 calls=2\n");
    expect(BEGIN "c9a1c605 7f61616162ff" END, ENTER "  key (_ \"a\", \"b\")\nend 262144 calls=2\n");
    /* 1.5 as a number of 16, 32 and 64 bits, and the smallest of 16. */
    expect(BEGIN "c9a1c605 84f93e00fa3fc00000fb3ff8000000000000f90001" END,
           ENTER "  key [1.500000, 1.500000, 1.500000, 0.000000]\nend 262144 calls=2\n");
    /* A key that is no reference. */
    expect(BEGIN "c9a1616b01" END, ENTER "  attribute key=\"k\" value=1\nend 262144 calls=2\n");
}

/* On the page all numbers of attributes are references. */
static void numbers_on_the_page_are_references(void **state)
{
    (void)state;
    expect("c89f c2a30c100e04051b0000016311155db8 c3a10582060a c2a20d140902 ff",
           ENTER "  key [\"a value\", \"?\"]\nend 262144 calls=2\n");
}

static void deep_and_long_values_are_bounded(void **state)
{
    char digits[4096] = BEGIN "c9a1c605", expected[512] = ENTER "  key ";
    (void)state;
    /* As deep as may be, that is 64. */
    for (unsigned i = 0; i < 64; i++) {
        strcat(digits, "81");
        strcat(expected, "[");
    }
    strcat(digits, "00" END);
    strcat(expected, "0");
    for (unsigned i = 0; i < 64; i++)
        strcat(expected, "]");
    strcat(expected, "\nend 262144 calls=2\n");
    expect(digits, expected);
}

/* ---- threads ---- */

/* pid and tid of each trace of a store; strings 10 and 11 are the names of the attributes. */
static void expect_threads(const char *digits, size_t count, const int32_t (*expected)[2])
{
    struct minizor store;
    minizor_make(&store, 0, false);
    minizor_text(&store, 10, "process.pid");
    minizor_text(&store, 11, "thread.id");
    minizor_text(&store, 12, "71");
    minizor_text(&store, 13, "7x");
    minizor_payload(&store, digits);
    lode_recording *recording = open_store(&store);
    assert_int_equal(lode_recording_track_count(recording), count);
    for (uint32_t i = 0; i < count; i++) {
        const lode_track *track = lode_recording_track(recording, i);
        if (track->pid != expected[i][0] || track->tid != expected[i][1])
            fail_msg("trace %u: %d %d, not %d %d", i, track->pid, track->tid, expected[i][0], expected[i][1]);
        assert_string_equal(track->name, "a.B.run()V");
    }
    lode_recording_close(recording);
    minizor_free(&store);
}

static void recorded_threads_are_taken(void **state)
{
    (void)state;
    /* 5 and 71, as number and digits; inner calls are ignored; else the first free thread. */
    expect_threads(BEGIN "c9a2c60a05c60b1847" END BEGIN "c9a2c60a05c60bc60c" END, 2,
                   (const int32_t[][2]){{5, 71}, {5, 71}});
    expect_threads(BEGIN "c89f cea10c11 cea10e04 c9a1c60b1847 cea10d12 ff" END, 1,
                   (const int32_t[][2]){{0, 1}});
    expect_threads(BEGIN "c9a1c60b1847" END, 1, (const int32_t[][2]){{0, 71}});
    expect_threads(BEGIN "c9a1c60a1847" END, 1, (const int32_t[][2]){{71, 1}});
    /* Not a number above 0 of 31 bits. */
    expect_threads(BEGIN "c9a1c60bc60d" END BEGIN "c9a1c60b00" END BEGIN "c9a1c60b20" END BEGIN
                         "c9a1c60b1a80000000" END BEGIN "c9a1c60b80" END,
                   5, (const int32_t[][2]){{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}});
}

static void traces_at_the_same_time_are_on_different_threads(void **state)
{
    (void)state;
    /* From 3000 ms for 4, 4, 80, 4 ticks, the last 1 ms later: two are over. Thread 2 is taken. */
    expect_threads(BEGIN END BEGIN END "c89f cea10c10 cea10e04 " STAMP "cea10d1860 ff"
                                       "c89f cea10c10 cea10e04 cea1051b0000016311155db9 cea10d14 ff" BEGIN
                                       "c9a1c60b02" END,
                   5, (const int32_t[][2]){{0, 1}, {0, 3}, {0, 4}, {0, 1}, {0, 2}});
}

/* ---- opening ---- */

struct opening_seen {
    uint64_t done, total;
    unsigned reports, allowed;
};

static int note_opening(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct opening_seen *seen = user;
    assert_string_equal(phase, "opening");
    assert_true(done >= seen->done && done <= total);
    seen->done = done;
    seen->total = total;
    return ++seen->reports > seen->allowed;
}

static void opening_says_how_far_it_is_and_can_be_stopped(void **state)
{
    struct minizor store;
    lode_memory_file files[MINIZOR_FILES];
    lode_recording *recording;
    struct opening_seen seen = {.allowed = UINT_MAX};
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    (void)state;
    options.on_progress = note_opening;
    options.user = &seen;
    options.threads = 1;
    minizor_make(&store, 0x11, false);
    size_t count = minizor_list(&store, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, &options, NULL), LODE_OK);
    lode_recording_close(recording);
    assert_true(seen.total > 0 && seen.done == seen.total);
    seen = (struct opening_seen){0};
    assert_int_equal(lode_recording_open_memory(&recording, files, count, &options, NULL),
                     LODE_ERR_CANCELLED);
    assert_null(recording);
    minizor_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_and_error_flags_are_failures),
        cmocka_unit_test(a_call_truncated_after_its_stop_ends_there),
        cmocka_unit_test(the_early_error_flag_counts_where_the_index_says_so),
        cmocka_unit_test(the_early_error_flag_survives_in_other_layouts),
        cmocka_unit_test(opening_says_how_far_it_is_and_can_be_stopped),
        cmocka_unit_test(an_attribute_has_one_value),
        cmocka_unit_test(numbers_on_the_page_are_references),
        cmocka_unit_test(deep_and_long_values_are_bounded),
        cmocka_unit_test(recorded_threads_are_taken),
        cmocka_unit_test(traces_at_the_same_time_are_on_different_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
