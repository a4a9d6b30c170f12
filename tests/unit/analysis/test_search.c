/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches: each filter and order on hand-made tracks, and random ones against a simple search. */
#include "analysis/search/search.h"
#include "made_recording.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lode_search *search_for(const lode_recording *recording, const lode_search_options *options)
{
    lode_search *search;
    lode_error error = {0};
    if (lode_search_run(&search, recording, options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return search;
}

/* The tracks in their order, and how many were found: "4 0 of 5". */
static void write_tracks(char *text, size_t capacity, const lode_search *search)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < lode_search_count(search); i++)
        used += (size_t)snprintf(text + used, capacity - used, "%u ", lode_search_at(search, i)->track);
    snprintf(text + used, capacity - used, "of %u", (unsigned)lode_search_found(search));
}

static void check(const lode_recording *recording, const lode_search_options *options, const char *expected)
{
    char text[256];
    lode_search *search = search_for(recording, options);
    write_tracks(text, sizeof text, search);
    assert_string_equal(text, expected);
    lode_search_free(search);
}

/*
 * track  begin  duration  calls  errors
 * 0       1000        40      2       0
 * 1       2000        20      2       2
 * 2       1000       100      1       0
 * 3          -         -      -       -  no events
 * 4        500        40      4       1
 */
static lode_recording *shop(void)
{
    lode_recording *recording = made_recording(5);
    made_track(recording, 0, 1000,
               "http( component=http url=/shop 10 sql( statement=SELECT rows=42 20 ) 10 )");
    made_track(recording, 1, 2000,
               "http( component=http url=/Cart status=500 10 db( ^IOError:lost^Root:Disk 5 !) "
               "^Wrapped:outer 5 !)");
    made_track(recording, 2, 1000, "job( 100 )");
    made_track(recording, 4, 500, "http( 5 a( 5 !) b( 5 ) 5 c( 5 ) 15 )");
    return recording;
}

/* ---- intervals ---- */

static void without_a_question_all_tracks_with_events_are_found(void **state)
{
    lode_recording *recording = shop();
    (void)state;
    check(recording, NULL, "4 0 2 1 of 4");
    lode_recording_close(recording);
}

static void durations_are_bounded_on_both_sides(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.min_duration = 40;
    check(recording, &options, "4 0 2 of 3");
    options.min_duration = 41;
    check(recording, &options, "2 of 1");
    options.min_duration = 0;
    options.max_duration = 40;
    check(recording, &options, "4 0 1 of 3");
    options.max_duration = 39;
    check(recording, &options, "1 of 1");
    options.min_duration = 21;
    check(recording, &options, "of 0");
    lode_recording_close(recording);
}

static void a_window_finds_what_reaches_into_it(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.from = 1040;
    check(recording, &options, "0 2 1 of 3");
    options.from = 1041;
    check(recording, &options, "2 1 of 2");
    options.from = 0;
    options.to = 1000;
    check(recording, &options, "4 of 1");
    options.to = 1001;
    check(recording, &options, "4 0 2 of 3");
    options.from = 600;
    options.to = 900;
    check(recording, &options, "of 0");
    lode_recording_close(recording);
}

static void only_tracks_that_are_asked_for_are_searched(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    const uint32_t some[] = {1, 2, 3}, wrong[] = {9};
    lode_search *search;
    (void)state;
    options.tracks = some;
    options.track_count = 3;
    check(recording, &options, "2 1 of 2");
    options.method = "http";
    check(recording, &options, "1 of 1");
    options.tracks = wrong;
    options.track_count = 1;
    assert_int_equal(lode_search_run(&search, recording, &options, NULL), LODE_ERR_ARGUMENT);
    assert_null(search);
    lode_recording_close(recording);
}

/* ---- events ---- */

static void errors_are_calls_that_failed(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.errors_only = 1;
    check(recording, &options, "4 1 of 2");
    lode_recording_close(recording);
}

static void methods_are_found_by_a_part_of_their_name(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.method = "TT";
    check(recording, &options, "4 0 1 of 3");
    options.method = "sql";
    check(recording, &options, "0 of 1");
    /* An attribute, not a method. */
    options.method = "select";
    check(recording, &options, "of 0");
    lode_recording_close(recording);
}

static void attributes_are_compared_whole_or_in_part(void **state)
{
    static const struct {
        lode_search_attribute attribute;
        const char *expected;
    } cases[] = {
        {{"component", NULL, 0}, "0 1 of 2"},   {{"component", "http", 0}, "0 1 of 2"},
        {{"component", "HTTP", 0}, "of 0"},     {{"component", "htt", 0}, "of 0"},
        {{"component", "TT", 1}, "0 1 of 2"},   {{"url", "/cart", 1}, "1 of 1"},
        {{"url", "", 1}, "0 1 of 2"},           {{"url", "", 0}, "of 0"},
        {{"status", "500", 0}, "1 of 1"},       {{"rows", "42", 0}, "0 of 1"},
        {{"statement", "SELECT", 0}, "0 of 1"}, {{"Statement", NULL, 0}, "of 0"},
        {{"statement", "SELECTS", 1}, "of 0"},
    };
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.attribute_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.attributes = &cases[i].attribute;
        check(recording, &options, cases[i].expected);
    }
    lode_recording_close(recording);
}

static void all_attributes_must_be_there(void **state)
{
    static const lode_search_attribute both[] = {{"component", "http", 0}, {"url", "cart", 1}};
    static const lode_search_attribute many[LODE_WANTED_ATTRIBUTES + 1];
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_search *search;
    (void)state;
    options.attributes = both;
    options.attribute_count = 2;
    check(recording, &options, "1 of 1");
    options.attributes = many;
    options.attribute_count = LODE_WANTED_ATTRIBUTES + 1;
    assert_int_equal(lode_search_run(&search, recording, &options, NULL), LODE_ERR_ARGUMENT);
    lode_recording_close(recording);
}

static void text_is_looked_for_in_names_attributes_and_exceptions(void **state)
{
    static const char *const cases[][2] = {
        {"JOB", "2 of 1"},  {"sql", "0 of 1"},   {"URL", "0 1 of 2"}, {"/CART", "1 of 1"},
        {"42", "0 of 1"},   {"ioerr", "1 of 1"}, {"lost", "1 of 1"},  {"root", "1 of 1"},
        {"disk", "1 of 1"}, {"OUTER", "1 of 1"}, {"x", "of 0"},       {"", "4 0 2 1 of 4"},
    };
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.text = cases[i][0];
        check(recording, &options, cases[i][1]);
    }
    lode_recording_close(recording);
}

/* ---- order ---- */

static void each_order_breaks_ties_by_time_and_index(void **state)
{
    static const struct {
        lode_search_sort sort;
        const char *all, *two;
    } cases[] = {
        {LODE_SEARCH_BY_TIME, "4 0 2 1 of 4", "4 0 of 4"},
        {LODE_SEARCH_BY_DURATION, "2 4 0 1 of 4", "2 4 of 4"},
        {LODE_SEARCH_BY_CALLS, "4 0 1 2 of 4", "4 0 of 4"},
        {LODE_SEARCH_BY_ERRORS, "1 4 0 2 of 4", "1 4 of 4"},
    };
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.sort = cases[i].sort;
        options.limit = 0;
        check(recording, &options, cases[i].all);
        options.limit = 2;
        check(recording, &options, cases[i].two);
    }
    lode_recording_close(recording);
}

/* ---- rows ---- */

static void rows_say_what_the_outermost_call_was(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.errors_only = 1;
    options.sort = LODE_SEARCH_BY_ERRORS;
    lode_search *search = search_for(recording, &options);
    const lode_search_row *row = lode_search_at(search, 0);
    assert_int_equal(row->track, 1);
    assert_int_equal(row->begin, 2000);
    assert_int_equal(row->duration, 20);
    assert_int_equal(row->calls, 2);
    assert_int_equal(row->errors, 2);
    assert_string_equal(lode_function_name(row->function), "http");
    assert_int_equal(row->value_count, 3);
    assert_string_equal(row->values[0].key, "component");
    assert_string_equal(row->values[0].value, "http");
    assert_string_equal(row->values[2].key, "status");
    assert_string_equal(row->values[2].value, "500");
    /* It came after that of the inner call. */
    assert_string_equal(row->exception, "Wrapped: outer");
    row = lode_search_at(search, 1);
    assert_int_equal(row->track, 4);
    assert_int_equal(row->value_count, 0);
    assert_string_equal(row->exception, "");
    assert_null(lode_search_at(search, 2));
    lode_search_free(search);
    lode_recording_close(recording);
}

static void attributes_of_inner_and_later_calls_are_not_those_of_the_first(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    made_track(recording, 0, 0, "a( x=1 b( y=2 1 ) x=3 1 ) c( z=4 1 )");
    lode_search *search = search_for(recording, NULL);
    const lode_search_row *row = lode_search_at(search, 0);
    assert_string_equal(lode_function_name(row->function), "a");
    assert_int_equal(row->calls, 3);
    assert_int_equal(row->value_count, 1);
    assert_string_equal(row->values[0].key, "x");
    assert_string_equal(row->values[0].value, "3");
    lode_search_free(search);
    lode_recording_close(recording);
}

static void attributes_of_rows_are_bounded(void **state)
{
    lode_recording *recording = made_recording(1);
    char *longest = calloc(3 * LODE_SEARCH_TEXT, 1);
    (void)state;
    /* Two bytes each, so that one would be cut in the middle. */
    strcpy(longest, "x");
    for (size_t i = 0; i < LODE_SEARCH_TEXT; i++)
        strcat(longest + 2 * i, "\xc3\xa4");
    made_enter(recording, 0, 0, "a");
    made_attribute(recording, 0, 0, "long", longest);
    for (unsigned i = 0; i < 20; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%u", i);
        made_attribute(recording, 0, 0, key, "v");
    }
    made_leave(recording, 0, 9, "a");
    lode_search *search = search_for(recording, NULL);
    const lode_search_row *row = lode_search_at(search, 0);
    assert_int_equal(row->value_count, LODE_SEARCH_VALUES);
    assert_int_equal(strlen(row->values[0].value), LODE_SEARCH_TEXT - 1);
    assert_string_equal(row->values[LODE_SEARCH_VALUES - 1].key, "key14");
    lode_search_free(search);
    free(longest);
    lode_recording_close(recording);
}

/* ---- cost ---- */

static void searching_intervals_opens_only_tracks_of_the_result(void **state)
{
    lode_recording *recording = shop();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    options.min_duration = 30;
    options.limit = 2;
    options.sort = LODE_SEARCH_BY_DURATION;
    check(recording, &options, "2 4 of 3");
    assert_int_equal(made_opened(recording), 2);
    /* Events are asked for: those of the three, once. */
    options.text = "";
    check(recording, &options, "2 4 of 3");
    assert_int_equal(made_opened(recording), 5);
    assert_int_equal(made_open_now(recording), 0);
    lode_recording_close(recording);
}

static void the_best_of_many_take_no_more_memory_than_the_limit(void **state)
{
    struct lode_best best;
    uint64_t seed = 7, largest[10] = {0};
    (void)state;
    lode_best_init(&best, 10);
    for (uint32_t i = 0; i < 100000; i++) {
        struct lode_found found = {.rank = made_random(&seed) % 1000000, .begin = 5, .track = i};
        found.hit = NULL;
        uint64_t rank = found.rank;
        for (size_t k = 0; k < 10; k++) {
            if (rank > largest[k]) {
                uint64_t next = largest[k];
                largest[k] = rank;
                rank = next;
            }
        }
        if (!lode_best_admits(&best, &found))
            continue;
        found.hit = calloc(1, sizeof *found.hit);
        assert_true(lode_best_add(&best, &found));
        assert_true(best.items.count <= 10 && best.items.capacity <= 16);
    }
    lode_best_sort(&best);
    for (size_t k = 0; k < 10; k++)
        assert_int_equal(LODE_ARRAY_AT(&best.items, struct lode_found, k)->rank, largest[k]);
    lode_best_free(&best);
}

/* ---- threads ---- */

enum {
    RANDOM_TRACKS = 300
};

static lode_recording *random_recording(void)
{
    lode_recording *recording = made_recording(RANDOM_TRACKS);
    uint64_t seed = 20;
    for (uint32_t i = 0; i < RANDOM_TRACKS; i++) {
        char text[128];
        unsigned dice = (unsigned)(made_random(&seed) % 1000);
        snprintf(text, sizeof text, "f%u( key=%u user=u%u 5 g( %u %s %u %s", dice % 7, dice % 5, dice % 3,
                 dice % 4, dice % 11 ? ")" : "^Bad:luck !)", dice % 50, dice % 13 ? ")" : "!)");
        made_track(recording, i, dice % 40, text);
        if (dice % 17 == 0)
            made_finding(recording, i, "repaired");
    }
    return recording;
}

static int note_finding(void *user, const lode_finding *finding)
{
    char *text = user;
    size_t used = strlen(text);
    snprintf(text + used, 4096 - used, "%s ", finding->file);
    return 0;
}

static void results_do_not_depend_on_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    static const lode_search_attribute key = {"key", "3", 0};
    lode_recording *recording = random_recording();
    (void)state;
    for (unsigned sort = LODE_SEARCH_BY_TIME; sort <= LODE_SEARCH_BY_ERRORS; sort++) {
        char first[4096] = "", first_findings[4096] = "";
        for (size_t i = 0; i < 3; i++) {
            char text[4096] = "", findings[4096] = "";
            lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
            options.attributes = &key;
            options.attribute_count = 1;
            options.sort = (lode_search_sort)sort;
            options.limit = 25;
            options.threads = threads[i];
            options.on_finding = note_finding;
            options.user = findings;
            lode_search *search = search_for(recording, &options);
            write_tracks(text, sizeof text, search);
            assert_int_equal(lode_search_count(search), 25);
            lode_search_free(search);
            if (i == 0) {
                strcpy(first, text);
                strcpy(first_findings, findings);
            }
            assert_string_equal(text, first);
            assert_string_equal(findings, first_findings);
        }
        assert_non_null(strstr(first_findings, "track"));
    }
    lode_recording_close(recording);
}

/* A limit takes the beginning of what there is without one. */
static void a_limit_takes_the_beginning(void **state)
{
    lode_recording *recording = random_recording();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    (void)state;
    for (unsigned sort = LODE_SEARCH_BY_TIME; sort <= LODE_SEARCH_BY_ERRORS; sort++) {
        options.sort = (lode_search_sort)sort;
        options.limit = 0;
        lode_search *all = search_for(recording, &options);
        assert_int_equal(lode_search_count(all), RANDOM_TRACKS);
        for (options.limit = 1; options.limit < RANDOM_TRACKS; options.limit += 37) {
            lode_search *some = search_for(recording, &options);
            assert_int_equal(lode_search_count(some), options.limit);
            assert_int_equal(lode_search_found(some), RANDOM_TRACKS);
            for (size_t i = 0; i < options.limit; i++)
                assert_int_equal(lode_search_at(some, i)->track, lode_search_at(all, i)->track);
            lode_search_free(some);
        }
        lode_search_free(all);
    }
    lode_recording_close(recording);
}

static int cancel(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    assert_true(done <= total);
    ++*(int *)user;
    return 1;
}

static void progress_can_cancel(void **state)
{
    lode_recording *recording = random_recording();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_search *search;
    int calls = 0;
    (void)state;
    options.on_progress = cancel;
    options.user = &calls;
    options.threads = 1;
    for (options.errors_only = 0; options.errors_only < 2; options.errors_only++) {
        calls = 0;
        assert_int_equal(lode_search_run(&search, recording, &options, NULL), LODE_ERR_CANCELLED);
        assert_null(search);
        assert_int_equal(calls, 1);
    }
    assert_int_equal(made_open_now(recording), 0);
    lode_recording_close(recording);
}

static void strict_searches_end_at_the_first_error(void **state)
{
    lode_recording *recording = random_recording();
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_search *search;
    (void)state;
    options.strict = 1;
    assert_int_equal(lode_search_run(&search, recording, &options, NULL), LODE_ERR_CORRUPT);
    lode_recording_close(recording);
}

/* ---- parts ---- */

static bool is_in_plainly(const char *part, const char *text)
{
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= strlen(text); i++)
        if (strncasecmp(part, text + i, length) == 0)
            return true;
    return false;
}

static void parts_are_found_as_a_plain_search_does(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        char part[8] = "", text[24] = "";
        struct lode_substring made;
        for (size_t k = made_random(&seed) % sizeof part; k-- > 0;)
            part[k] = "aAbB"[made_random(&seed) % 4];
        for (size_t k = made_random(&seed) % sizeof text; k-- > 0;)
            text[k] = "aAbB"[made_random(&seed) % 4];
        assert_true(lode_substring_init(&made, part));
        assert_int_equal(lode_substring_is_in(&made, text, strlen(text)), is_in_plainly(part, text));
        lode_substring_free(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_question_all_tracks_with_events_are_found),
        cmocka_unit_test(durations_are_bounded_on_both_sides),
        cmocka_unit_test(a_window_finds_what_reaches_into_it),
        cmocka_unit_test(only_tracks_that_are_asked_for_are_searched),
        cmocka_unit_test(errors_are_calls_that_failed),
        cmocka_unit_test(methods_are_found_by_a_part_of_their_name),
        cmocka_unit_test(attributes_are_compared_whole_or_in_part),
        cmocka_unit_test(all_attributes_must_be_there),
        cmocka_unit_test(text_is_looked_for_in_names_attributes_and_exceptions),
        cmocka_unit_test(each_order_breaks_ties_by_time_and_index),
        cmocka_unit_test(rows_say_what_the_outermost_call_was),
        cmocka_unit_test(attributes_of_inner_and_later_calls_are_not_those_of_the_first),
        cmocka_unit_test(attributes_of_rows_are_bounded),
        cmocka_unit_test(searching_intervals_opens_only_tracks_of_the_result),
        cmocka_unit_test(the_best_of_many_take_no_more_memory_than_the_limit),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(a_limit_takes_the_beginning),
        cmocka_unit_test(progress_can_cancel),
        cmocka_unit_test(strict_searches_end_at_the_first_error),
        cmocka_unit_test(parts_are_found_as_a_plain_search_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
