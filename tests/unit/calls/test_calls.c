/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by function and track, against numbers derived by hand and a second, simple count. */
#include "made_calls.h"
#include <lode/name.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_row(const lode_calls *calls, const char *name, uint64_t count, uint64_t total,
                      uint64_t self, uint64_t min, uint64_t max)
{
    const lode_call_row *row = call_row_of(calls, name);
    assert_int_equal(row->calls, count);
    assert_int_equal(row->total, total);
    assert_int_equal(row->self, self);
    assert_int_equal(row->min, min);
    assert_int_equal(row->max, max);
}

/* cmocka compares as float. */
static void check_real(double got, double expected, double error)
{
    assert_true(fabs(got - expected) <= error);
}

/* ---- numbers derived by hand ---- */

static void self_is_without_what_is_called(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    made_track(recording, 0, 1000, "main( 10 f( 5 g( 20 ) 5 ) 10 g( 40 ) 10 )");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    assert_int_equal(lode_calls_count(calls), 3);
    check_row(calls, "main", 1, 100, 30, 100, 100);
    check_row(calls, "f", 1, 30, 10, 30, 30);
    check_row(calls, "g", 2, 60, 60, 20, 40);
    check_real(call_row_of(calls, "g")->mean, 30.0, 0.0);
    check_real(call_row_of(calls, "g")->deviation, 10.0, 0.0);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void recursion_counts_once_in_total(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    /* f: 60 with 40 with 10 inside, then 8. g calls f and is called by it. */
    made_track(recording, 0, 0, "f( 10 f( 10 g( 10 f( 10 ) ) 10 ) 10 ) 5 f( 8 )");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    check_row(calls, "f", 4, 60 + 8, 10 + 10 + 10 + 10 + 10 + 8, 8, 60);
    check_row(calls, "g", 1, 20, 10, 20, 20);
    check_real(call_row_of(calls, "f")->mean, (60 + 40 + 10 + 8) / 4.0, 1e-12);
    assert_int_equal(lode_calls_track(calls, 0)->total, 68);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void time_off_the_processor_has_a_row(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    made_track(recording, 0, 100, "[ 3 ] main( 10 [ 20 ] 10 f( [ 7 ] ) ! ? )");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    check_row(calls, "main", 1, 47, 20, 47, 47);
    check_row(calls, "f", 1, 7, 0, 7, 7);
    check_row(calls, "off", 3, 30, 30, 3, 20);
    const lode_track_row *track = lode_calls_track(calls, 0);
    assert_int_equal(track->calls, 2);
    assert_int_equal(track->total, 50);
    assert_int_equal(track->out, 30);
    assert_int_equal(track->events, 12);
    assert_int_equal(track->begin, 100);
    assert_int_equal(track->end, 150);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void errors_are_counted_by_function_and_by_track(void **state)
{
    lode_recording *recording = made_recording(3);
    (void)state;
    made_track(recording, 0, 0, "f( 10 g( 5 !) 5 g( 5 ) !) f( 1 )");
    made_track(recording, 2, 5, "f( 30 g( 1 !) ) g( 1 !)");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    assert_int_equal(call_row_of(calls, "f")->errors, 1);
    assert_int_equal(call_row_of(calls, "f")->calls, 3);
    assert_int_equal(call_row_of(calls, "g")->errors, 3);
    assert_int_equal(lode_calls_track(calls, 0)->errors, 2);
    assert_int_equal(lode_calls_track(calls, 1)->errors, 0);
    assert_int_equal(lode_calls_track(calls, 2)->errors, 2);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

/* A call that is cut off by a window has not ended, with an error or without. */
static void errors_beyond_a_window_do_not_count(void **state)
{
    lode_recording *recording = made_recording(1);
    lode_slice slice = LODE_SLICE_INIT;
    (void)state;
    made_track(recording, 0, 0, "f( 10 g( 5 !) 5 g( 50 !) !)");
    slice.to = 30;
    lode_calls *calls = compute_calls(recording, &slice, NULL);
    assert_int_equal(call_row_of(calls, "f")->errors, 0);
    assert_int_equal(call_row_of(calls, "g")->calls, 2);
    assert_int_equal(call_row_of(calls, "g")->errors, 1);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void tracks_add_up(void **state)
{
    lode_recording *recording = made_recording(3);
    (void)state;
    made_track(recording, 0, 0, "f( 10 )");
    made_track(recording, 2, 5, "f( 30 g( 1 ) )");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    check_row(calls, "f", 2, 41, 40, 10, 31);
    assert_int_equal(lode_calls_track_count(calls), 3);
    assert_int_equal(lode_calls_track(calls, 0)->total, 10);
    assert_int_equal(lode_calls_track(calls, 1)->events, 0);
    assert_int_equal(lode_calls_track(calls, 1)->end, 0);
    assert_int_equal(lode_calls_track(calls, 2)->total, 31);
    assert_int_equal(lode_calls_track(calls, 2)->calls, 2);
    assert_null(lode_calls_track(calls, 3));
    assert_null(lode_calls_at(calls, 2));
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void a_recording_without_tracks_has_no_rows(void **state)
{
    lode_recording *recording = made_recording(0);
    (void)state;
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    assert_int_equal(lode_calls_count(calls), 0);
    assert_int_equal(lode_calls_track_count(calls), 0);
    assert_int_equal(lode_calls_percentile(calls, 0, 0.5), 0);
    lode_calls_free(calls);
    lode_recording_close(recording);
    lode_calls_free(NULL);
}

static void deep_stacks_and_many_functions_find_room(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        made_enter(recording, 0, 2 * i, name);
        made_leave(recording, 0, 2 * i + 1, name);
    }
    for (uint32_t i = 0; i < 1000; i++)
        made_enter(recording, 0, 10000 + i, "deep");
    for (uint32_t i = 0; i < 1000; i++)
        made_leave(recording, 0, 20000 + i, "deep");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    assert_int_equal(lode_calls_count(calls), 3001);
    check_row(calls, "deep", 1000, 20999 - 10000, 20999 - 10000, 20000 - 10999, 20999 - 10000);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void deviations_do_not_overflow(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    /* Squares of such times need more than 64 bits each. */
    uint64_t hour = UINT64_C(3600000000000), now = 0;
    for (unsigned i = 0; i < 1000; i++) {
        made_enter(recording, 0, now, "f");
        now += i % 2 ? hour + 1 : hour - 1;
        made_leave(recording, 0, now, "f");
    }
    made_enter(recording, 0, now, "whole");
    made_leave(recording, 0, UINT64_MAX, "whole");
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    check_real(call_row_of(calls, "f")->mean, (double)hour, 0.0);
    check_real(call_row_of(calls, "f")->deviation, 1.0, 1e-9);
    check_real(call_row_of(calls, "whole")->deviation, 0.0, 0.0);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

/* ---- slices ---- */

static void slices_cut_calls_off(void **state)
{
    lode_recording *recording = made_recording(3);
    lode_slice slice = LODE_SLICE_INIT;
    (void)state;
    made_track(recording, 0, 0, "main( 10 f( 30 ) 60 )");
    made_track(recording, 1, 30, "main( 10 )");
    made_track(recording, 2, 70, "main( 10 )");
    slice.from = 20;
    slice.to = 50;
    lode_calls *calls = compute_calls(recording, &slice, NULL);
    check_row(calls, "main", 2, 30 + 10, 10 + 10, 10, 30);
    check_row(calls, "f", 1, 20, 20, 20, 20);
    assert_int_equal(lode_calls_track(calls, 0)->begin, 20);
    assert_int_equal(lode_calls_track(calls, 0)->end, 50);
    assert_int_equal(lode_calls_track(calls, 2)->events, 0);
    /* A track that does not meet the window is not read. */
    assert_int_equal(made_opened(recording), 2);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void slices_choose_tracks(void **state)
{
    static const uint32_t some[] = {0, 2}, wrong[] = {2, 0}, absent[] = {3};
    lode_recording *recording = made_recording(3);
    lode_slice slice = LODE_SLICE_INIT;
    lode_calls *calls;
    lode_error error;
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        made_track(recording, i, 0, i == 1 ? "g( 1 )" : "f( 2 )");
    slice.tracks = some;
    slice.track_count = 2;
    calls = compute_calls(recording, &slice, NULL);
    assert_int_equal(lode_calls_count(calls), 1);
    check_row(calls, "f", 2, 4, 4, 2, 2);
    assert_int_equal(lode_calls_track_count(calls), 2);
    assert_int_equal(lode_calls_track(calls, 1)->track, 2);
    lode_calls_free(calls);
    slice.tracks = wrong;
    assert_int_equal(lode_calls_compute(&calls, recording, &slice, NULL, &error), LODE_ERR_ARGUMENT);
    slice.tracks = absent;
    slice.track_count = 1;
    assert_int_equal(lode_calls_compute(&calls, recording, &slice, NULL, &error), LODE_ERR_ARGUMENT);
    assert_null(calls);
    lode_recording_close(recording);
}

static void slices_leave_out_what_is_deep_or_short(void **state)
{
    lode_recording *recording = made_recording(1);
    lode_slice slice = LODE_SLICE_INIT;
    (void)state;
    made_track(recording, 0, 0, "main( 10 f( 5 g( 20 ) 5 ) 10 g( 40 ) 10 )");
    slice.depth = 2;
    lode_calls *calls = compute_calls(recording, &slice, NULL);
    check_row(calls, "f", 1, 30, 30, 30, 30);
    check_row(calls, "g", 1, 40, 40, 40, 40);
    lode_calls_free(calls);
    slice.depth = 0;
    slice.min_time = 25;
    calls = compute_calls(recording, &slice, NULL);
    check_row(calls, "main", 1, 100, 30, 100, 100);
    check_row(calls, "f", 1, 30, 30, 30, 30);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

/* ---- findings and progress ---- */

struct heard {
    char text[8192];
    unsigned count, stop_at;
    uint64_t done, total;
};

static int hear(void *user, const lode_finding *finding)
{
    struct heard *heard = user;
    size_t length = strlen(heard->text);
    if (++heard->count == heard->stop_at)
        return 1;
    snprintf(heard->text + length, sizeof heard->text - length, "%s:%s\n", finding->file, finding->text);
    return 0;
}

static int see(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct heard *heard = user;
    (void)phase;
    assert_true(done >= heard->done && done <= total);
    heard->done = done;
    heard->total = total;
    return heard->stop_at == 1;
}

static void findings_come_in_the_order_of_tracks(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 8; threads += 3) {
        lode_recording *recording = made_recording(3);
        lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
        struct heard heard = {.stop_at = 0};
        lode_calls *calls;
        /* The last track is the largest and read first. */
        made_track(recording, 0, 0, "f( 1 )");
        made_finding(recording, 0, "at the end");
        made_track(recording, 2, 0, "f( 1 ) f( 1 )");
        made_finding(recording, 2, "one");
        made_finding(recording, 2, "two");
        made_track(recording, 2, 9, "f( 1 ) f( 1 )");
        options.threads = threads;
        options.on_finding = hear;
        options.user = &heard;
        calls = compute_calls(recording, NULL, &options);
        assert_string_equal(heard.text, "track0:at the end\ntrack2:one\ntrack2:two\n");
        assert_int_equal(lode_calls_track(calls, 0)->repairs, 1);
        assert_int_equal(lode_calls_track(calls, 1)->repairs, 0);
        assert_int_equal(lode_calls_track(calls, 2)->repairs, 2);
        lode_calls_free(calls);
        heard.count = 0;
        heard.stop_at = 2;
        assert_int_equal(lode_calls_compute(&calls, recording, NULL, &options, NULL), LODE_ERR_CANCELLED);
        options.on_finding = NULL;
        options.strict = 1;
        assert_int_equal(lode_calls_compute(&calls, recording, NULL, &options, NULL), LODE_ERR_CORRUPT);
        lode_recording_close(recording);
    }
}

static void findings_of_a_track_are_bounded(void **state)
{
    lode_recording *recording = made_recording(2);
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    struct heard heard = {.stop_at = 0};
    (void)state;
    made_track(recording, 0, 0, "f( 1 )");
    for (int i = 0; i < 500; i++)
        made_finding(recording, 0, "x");
    made_finding(recording, 1, "y");
    options.on_finding = hear;
    options.user = &heard;
    lode_calls *calls = compute_calls(recording, NULL, &options);
    assert_int_equal(heard.count, 101);
    assert_int_equal(lode_calls_track(calls, 0)->repairs, 500);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void progress_counts_bytes_of_tracks(void **state)
{
    lode_recording *recording = made_recording(3);
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_slice slice = LODE_SLICE_INIT;
    struct heard heard = {.stop_at = 0};
    lode_calls *calls;
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        made_track(recording, i, 100 * i, "f( 1 )");
    options.on_progress = see;
    options.user = &heard;
    slice.to = 150;
    calls = compute_calls(recording, &slice, &options);
    assert_int_equal(heard.done, 3 * 2 * 16);
    assert_int_equal(heard.total, 3 * 2 * 16);
    lode_calls_free(calls);
    heard = (struct heard){.stop_at = 1};
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, &options, NULL), LODE_ERR_CANCELLED);
    assert_null(calls);
    assert_int_equal(made_open_now(recording), 0);
    lode_recording_close(recording);
}

/* ---- any number of threads ---- */

static char *transcript(const lode_calls *calls)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        fprintf(stream, "%s %llu %llu %llu %llu %llu %a %a %llu %llu %llu\n",
                lode_function_name(row->function), (unsigned long long)row->calls,
                (unsigned long long)row->total, (unsigned long long)row->self, (unsigned long long)row->min,
                (unsigned long long)row->max, row->mean, row->deviation, (unsigned long long)row->p50,
                (unsigned long long)row->p95, (unsigned long long)row->p99);
    }
    for (uint32_t i = 0; i < lode_calls_track_count(calls); i++) {
        const lode_track_row *row = lode_calls_track(calls, i);
        fprintf(stream, "%u %llu %llu %llu %llu %llu %llu %llu\n", row->track, (unsigned long long)row->calls,
                (unsigned long long)row->total, (unsigned long long)row->out, (unsigned long long)row->events,
                (unsigned long long)row->repairs, (unsigned long long)row->begin,
                (unsigned long long)row->end);
    }
    fclose(stream);
    return text;
}

static void threads_do_not_change_the_result(void **state)
{
    lode_recording *recording = made_recording(23);
    lode_slice slices[] = {LODE_SLICE_INIT, LODE_SLICE_INIT};
    uint64_t seed = 42;
    (void)state;
    for (uint32_t i = 0; i < 23; i++)
        made_random_track(recording, i, &seed, 100 * (i % 5));
    made_batch(recording, 16);
    slices[1].from = 5000;
    slices[1].to = 500000;
    slices[1].min_time = 20;
    for (size_t k = 0; k < 2; k++) {
        char *expected = NULL;
        static const unsigned threads[] = {1, 2, 7};
        for (size_t i = 0; i < 3; i++) {
            lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
            options.threads = threads[i];
            lode_calls *calls = compute_calls(recording, &slices[k], &options);
            char *text = transcript(calls);
            lode_calls_free(calls);
            if (expected)
                assert_string_equal(text, expected);
            else
                expected = strdup(text);
            free(text);
        }
        free(expected);
    }
    lode_recording_close(recording);
}

/* The same numbers by searching the stack for each call. */
struct plain {
    const lode_function *stack[128];
    uint64_t begin[128], inside[128], calls, total, self;
    unsigned depth;
};

static void count_plainly(struct plain *plain, const lode_event *event, const lode_function *asked)
{
    if (event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT) {
        plain->stack[plain->depth] = event->function;
        plain->begin[plain->depth] = event->time;
        plain->inside[plain->depth++] = 0;
        return;
    }
    unsigned top = --plain->depth;
    uint64_t took = event->time - plain->begin[top];
    if (top > 0)
        plain->inside[top - 1] += took;
    if (event->function != asked)
        return;
    bool outermost = true;
    for (unsigned i = 0; i < top; i++)
        outermost = outermost && plain->stack[i] != asked;
    plain->calls++;
    plain->self += took - plain->inside[top];
    plain->total += outermost ? took : 0;
}

static void a_plain_count_agrees(void **state)
{
    lode_recording *recording = made_recording(4);
    uint64_t seed = 7;
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        made_random_track(recording, i, &seed, 1500);
    lode_calls *calls = compute_calls(recording, NULL, NULL);
    assert_true(lode_calls_count(calls) > 30);
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        struct plain plain = {.depth = 0};
        for (uint32_t track = 0; track < 4; track++) {
            lode_cursor *cursor;
            const lode_event *events;
            size_t count;
            assert_int_equal(lode_cursor_open(&cursor, recording, track, NULL, NULL), LODE_OK);
            while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
                for (size_t k = 0; k < count; k++)
                    count_plainly(&plain, &events[k], row->function);
            lode_cursor_close(cursor);
        }
        assert_int_equal(row->calls, plain.calls);
        assert_int_equal(row->total, plain.total);
        assert_int_equal(row->self, plain.self);
    }
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void a_track_that_is_not_balanced_does_no_harm(void **state)
{
    lode_recording *recording = made_recording(2);
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    (void)state;
    made_leave(recording, 0, 1, "f");
    made_in(recording, 0, 1);
    made_track(recording, 0, 2, "f( 3 f( 5 ) f( !");
    made_track(recording, 1, 0, "f( 4 )");
    options.threads = 1;
    lode_calls *calls = compute_calls(recording, NULL, &options);
    /* What is not closed is left out, and the next track is not touched by it. */
    assert_int_equal(call_row_of(calls, "f")->calls, 2);
    assert_int_equal(call_row_of(calls, "f")->total, 4);
    assert_int_equal(lode_calls_track(calls, 0)->out, 0);
    assert_int_equal(lode_calls_track(calls, 1)->total, 4);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_is_without_what_is_called),
        cmocka_unit_test(recursion_counts_once_in_total),
        cmocka_unit_test(time_off_the_processor_has_a_row),
        cmocka_unit_test(tracks_add_up),
        cmocka_unit_test(errors_are_counted_by_function_and_by_track),
        cmocka_unit_test(errors_beyond_a_window_do_not_count),
        cmocka_unit_test(a_recording_without_tracks_has_no_rows),
        cmocka_unit_test(deep_stacks_and_many_functions_find_room),
        cmocka_unit_test(slices_cut_calls_off),
        cmocka_unit_test(slices_choose_tracks),
        cmocka_unit_test(slices_leave_out_what_is_deep_or_short),
        cmocka_unit_test(deviations_do_not_overflow),
        cmocka_unit_test(findings_come_in_the_order_of_tracks),
        cmocka_unit_test(findings_of_a_track_are_bounded),
        cmocka_unit_test(progress_counts_bytes_of_tracks),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(a_plain_count_agrees),
        cmocka_unit_test(a_track_that_is_not_balanced_does_no_harm),
    };
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
