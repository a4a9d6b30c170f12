/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of a track: input and output as text (made_recording.h); the pass over tracks. */
#include "analysis/calls/calls.h"
#include "analysis/calls/slice.h"
#include "made_recording.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 256
};

struct sliced {
    lode_event events[EVENTS_MAX];
    char data[EVENTS_MAX][16];
    size_t count;
};

static void collect(struct sliced *sliced, const lode_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(sliced->count < EVENTS_MAX);
        assert_true(events[i].data_size < sizeof sliced->data[0]);
        if (events[i].data_size > 0)
            memcpy(sliced->data[sliced->count], events[i].data, events[i].data_size);
        sliced->events[sliced->count++] = events[i];
    }
}

/* Runs track 0 through a slicer, `batch` events at a time. */
static void run(lode_recording *recording, const lode_slice *slice, size_t batch, struct sliced *sliced)
{
    struct lode_slicer slicer;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    memset(sliced, 0, sizeof *sliced);
    made_batch(recording, batch);
    lode_slicer_init(&slicer, slice);
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, NULL, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK) {
        assert_int_equal(lode_slicer_push(&slicer, events, count, &events, &count, NULL), LODE_OK);
        collect(sliced, events, count);
    }
    assert_int_equal(lode_slicer_finish(&slicer, &events, &count, NULL), LODE_OK);
    collect(sliced, events, count);
    lode_cursor_close(cursor);
    lode_slicer_free(&slicer);
}

static void check(const char *track, const lode_slice *slice, const char *expected)
{
    static const size_t batches[] = {1, 2, 3, 100};
    lode_recording *recording = made_recording(1);
    made_track(recording, 0, 0, track);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        struct sliced sliced;
        char text[1024];
        run(recording, slice, batches[i], &sliced);
        made_text(text, sizeof text, sliced.events, sliced.count);
        assert_string_equal(text, expected);
    }
    lode_recording_close(recording);
}

static lode_slice window(uint64_t from, uint64_t to)
{
    lode_slice slice = LODE_SLICE_INIT;
    slice.from = from;
    slice.to = to;
    return slice;
}

static lode_slice min_time(uint64_t time)
{
    lode_slice slice = LODE_SLICE_INIT;
    slice.min_time = time;
    return slice;
}

/* main from 0 to 100, f from 10 to 40 with an event at 20, g from 50 to 90 with h from 60 to 70. */
#define TRACK "main( 10 f( 10 ! 20 ) 10 g( 10 h( 10 ) 20 ) 10 )"

static void nothing_asked_for_changes_nothing(void **state)
{
    lode_slice slice = LODE_SLICE_INIT;
    (void)state;
    check(TRACK, &slice, "0 " TRACK);
    check(TRACK, NULL, "0 " TRACK);
}

static void calls_are_cut_off_at_both_ends(void **state)
{
    lode_slice slice = window(20, 65);
    (void)state;
    check(TRACK, &slice, "20 main(* f(* ! 20 ) 10 g( 10 h( 5 )* )* )*");
    slice = window(0, 65);
    check(TRACK, &slice, "0 main( 10 f( 10 ! 20 ) 10 g( 10 h( 5 )* )* )*");
    slice = window(45, 0);
    check(TRACK, &slice, "45 main(* 5 g( 10 h( 10 ) 20 ) 10 )");
}

static void a_call_around_the_window_is_in_it(void **state)
{
    lode_slice slice = window(42, 48);
    (void)state;
    check(TRACK, &slice, "42 main(* 6 )*");
    slice = window(61, 62);
    check(TRACK, &slice, "61 main(* g(* h(* 1 )* )* )*");
}

static void a_call_that_ends_when_the_window_begins_is_not_in_it(void **state)
{
    lode_slice slice = window(40, 55);
    (void)state;
    check(TRACK, &slice, "40 main(* 10 g( 5 )* )*");
    /* But one that begins and ends there is, and so is its caller. */
    slice = window(10, 20);
    check("main( 10 f( ) ) 10 g( 1 )", &slice, "10 main(* f( ) )");
    slice = window(10, 20);
    check("main( 10 ) g( 1 )", &slice, "10 g( 1 )");
}

static void windows_without_events_are_empty(void **state)
{
    lode_slice slice = window(101, 200);
    (void)state;
    check(TRACK, &slice, "");
    slice = window(200, 0);
    check(TRACK, &slice, "");
    slice = window(50, 50);
    check(TRACK, &slice, "");
    slice = window(50, 20);
    check(TRACK, &slice, "");
    slice = window(20, 30);
    check("", &slice, "");
}

static void windows_share_out_the_time(void **state)
{
    lode_recording *recording = made_recording(1);
    uint64_t time = 0;
    (void)state;
    made_track(recording, 0, 0, TRACK);
    for (uint64_t from = 0; from < 100; from += 7) {
        lode_slice slice = window(from, from + 7);
        struct sliced sliced;
        uint64_t begin[8];
        size_t depth = 0;
        run(recording, &slice, 2, &sliced);
        for (size_t i = 0; i < sliced.count; i++)
            if (sliced.events[i].kind == LODE_EVENT_ENTER)
                begin[depth++] = sliced.events[i].time;
            else if (sliced.events[i].kind == LODE_EVENT_LEAVE)
                time += sliced.events[i].time - begin[--depth];
        assert_int_equal(depth, 0);
    }
    assert_int_equal(time, 100 + 30 + 40 + 10);
    lode_recording_close(recording);
}

static void deep_calls_are_left_out(void **state)
{
    lode_slice slice = LODE_SLICE_INIT;
    (void)state;
    slice.depth = 2;
    check(TRACK, &slice, "0 main( 10 f( 10 ! 20 ) 10 g( 40 ) 10 )");
    slice.depth = 1;
    check(TRACK, &slice, "0 main( 100 )");
    check("a( 1 b( ! c( 1 ! ) ) ! ) ! [ 5 ]", &slice, "0 a( 2 ! ) ! [ 5 ]");
    slice.depth = 9;
    check(TRACK, &slice, "0 " TRACK);
}

static void short_calls_are_left_out_with_what_they_call(void **state)
{
    lode_slice slice = min_time(30);
    (void)state;
    check(TRACK, &slice, "0 main( 10 f( 10 ! 20 ) 10 g( 40 ) 10 )");
    slice = min_time(31);
    check(TRACK, &slice, "0 main( 50 g( 40 ) 10 )");
    slice = min_time(100);
    check(TRACK, &slice, "0 main( 100 )");
    slice = min_time(101);
    check(TRACK, &slice, "");
    slice = min_time(1);
    check("a( b( c( ) d( 1 ) ) e( ) )", &slice, "0 a( b( d( 1 ) ) )");
}

static void instant_events_wait_for_their_calls(void **state)
{
    lode_slice slice = min_time(10);
    (void)state;
    check("! a( ! b( ! 4 ! ) ! 6 ! ) !", &slice, "0 ! a( ! 4 ! 6 ! ) !");
    check("! a( ! b( ! 4 ! ) ! 5 ! ) !", &slice, "0 ! 9 !");
    check("a( 10 ! b( ! ) c( 9 ! 1 ! ) )", &slice, "0 a( 10 ! c( 9 ! 1 ! ) )");
}

static void time_off_the_processor_is_like_a_call(void **state)
{
    lode_slice slice = min_time(10);
    (void)state;
    check("a( 5 [ 3 ] 5 [ 10 ] )", &slice, "0 a( 13 [ 10 ] )");
    slice = window(7, 8);
    check("a( 5 [ 3 ] 5 [ 10 ] )", &slice, "7 a(* [* 1 ]* )*");
}

static void losses_are_never_left_out(void **state)
{
    lode_slice slice = min_time(10);
    (void)state;
    check("a( 1 b( 1 ? 1 c( 1 ) ) )", &slice, "0 a( 1 b( 1 ? 2 ) )");
    slice.depth = 1;
    check("a( 1 b( 1 ? 1 ) )", &slice, "0 a( 2 ? 1 )");
    slice = window(2, 9);
    check("a( 1 ? 1 b( 1 ? 1 ) )", &slice, "2 a(* b( 1 ? 1 ) )");
}

static void depth_time_and_window_together(void **state)
{
    lode_slice slice = window(15, 85);
    (void)state;
    slice.depth = 2;
    slice.min_time = 26;
    /* f lasts 25 of the window, g 35. */
    check(TRACK, &slice, "15 main(* 35 g( 35 )* )*");
    slice.min_time = 25;
    check(TRACK, &slice, "15 main(* f(* 5 ! 20 ) 10 g( 35 )* )*");
}

static void what_is_not_balanced_comes_out_balanced(void **state)
{
    lode_slice slice = min_time(1);
    lode_recording *recording = made_recording(1);
    struct sliced sliced;
    char text[256];
    (void)state;
    made_leave(recording, 0, 1, "orphan");
    made_track(recording, 0, 2, "a( 1 b( 2 c(");
    run(recording, &slice, 2, &sliced);
    made_text(text, sizeof text, sliced.events, sliced.count);
    assert_string_equal(text, "2 a( 1 b( 2 )* )*");
    lode_recording_close(recording);
}

static void add_with_data(lode_recording *recording, uint64_t time, uint8_t kind, const char *name,
                          const char *data)
{
    lode_event event = {.time = time,
                        .function = made_function(recording, NULL, name),
                        .kind = kind,
                        .data_size = (uint16_t)strlen(data),
                        .data = data};
    made_event(recording, 0, &event);
}

static void arguments_of_waiting_calls_are_kept(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    add_with_data(recording, 0, LODE_EVENT_ENTER, "main", "main-args");
    for (uint64_t i = 0; i < 20; i++) {
        add_with_data(recording, 10 * i + 1, LODE_EVENT_ENTER, "f", i % 2 ? "long" : "short");
        add_with_data(recording, 10 * i + 2, LODE_EVENT_ENTER, "g", "inside");
        add_with_data(recording, 10 * i + 3, LODE_EVENT_LEAVE, "g", "g");
        add_with_data(recording, 10 * i + (i % 2 ? 9 : 4), LODE_EVENT_LEAVE, "f", "f-result");
    }
    add_with_data(recording, 300, LODE_EVENT_LEAVE, "main", "main-result");
    for (size_t batch = 1; batch < 50; batch += 6) {
        lode_slice slice = window(5, 0);
        struct sliced sliced;
        slice.min_time = 8;
        run(recording, &slice, batch, &sliced);
        assert_int_equal(sliced.count, 2 + 10 * 2);
        assert_string_equal(sliced.data[0], "main-args");
        for (size_t i = 1; i < sliced.count - 1; i++)
            assert_string_equal(sliced.data[i], i % 2 ? "long" : "f-result");
        assert_string_equal(sliced.data[sliced.count - 1], "main-result");
    }
    lode_recording_close(recording);
}

static void a_slicer_takes_one_track_after_another(void **state)
{
    lode_recording *recording = made_recording(1);
    struct lode_slicer slicer;
    lode_slice slice = window(1, 8);
    (void)state;
    lode_slicer_init(&slicer, &slice);
    for (int i = 0; i < 3; i++) {
        const lode_event in[] = {
            {.time = 0, .function = made_function(recording, NULL, "a"), .kind = LODE_EVENT_ENTER},
            {.time = 9, .function = made_function(recording, NULL, "a"), .kind = LODE_EVENT_LEAVE}};
        const lode_event *out;
        size_t count;
        lode_slicer_reset(&slicer);
        assert_false(lode_slicer_has_ended(&slicer));
        assert_int_equal(lode_slicer_push(&slicer, in, 2, &out, &count, NULL), LODE_OK);
        assert_int_equal(count, 0);
        assert_true(lode_slicer_has_ended(&slicer));
        assert_int_equal(lode_slicer_finish(&slicer, &out, &count, NULL), LODE_OK);
        assert_int_equal(count, 2);
        assert_int_equal(out[0].time, 1);
        assert_int_equal(out[1].time, 8);
    }
    lode_slicer_free(&slicer);
    lode_recording_close(recording);
}

/* ---- the pass ---- */

static lode_status pass_begin(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    (void)worker, (void)error;
    sprintf(strchr(user, '\0'), "%u:", row->track);
    return LODE_OK;
}

static lode_status pass_take(void *user, unsigned worker, const lode_event *events, size_t count,
                             lode_error *error)
{
    (void)worker, (void)error, (void)events;
    sprintf(strchr(user, '\0'), " %zu", count);
    return LODE_OK;
}

static lode_status pass_end(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    (void)worker, (void)error;
    sprintf(strchr(user, '\0'), " of %llu\n", (unsigned long long)row->events);
    return LODE_OK;
}

static void a_pass_begins_takes_and_ends_each_track(void **state)
{
    lode_recording *recording = made_recording(2);
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    struct lode_pass pass;
    char heard[256] = "";
    (void)state;
    made_track(recording, 0, 0, "f( 1 )");
    made_track(recording, 1, 0, "f( 1 ) f( 1 )");
    options.threads = 1;
    assert_int_equal(lode_pass_open(&pass, recording, NULL, &options, NULL), LODE_OK);
    pass.begin = pass_begin;
    pass.take = pass_take;
    pass.end = pass_end;
    pass.user = heard;
    assert_int_equal(lode_pass_run(&pass, NULL), LODE_OK);
    assert_string_equal(heard, "1: 3 1 of 4\n0: 2 of 2\n");
    lode_pass_close(&pass);
    lode_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_for_changes_nothing),
        cmocka_unit_test(calls_are_cut_off_at_both_ends),
        cmocka_unit_test(a_call_around_the_window_is_in_it),
        cmocka_unit_test(a_call_that_ends_when_the_window_begins_is_not_in_it),
        cmocka_unit_test(windows_without_events_are_empty),
        cmocka_unit_test(windows_share_out_the_time),
        cmocka_unit_test(deep_calls_are_left_out),
        cmocka_unit_test(short_calls_are_left_out_with_what_they_call),
        cmocka_unit_test(instant_events_wait_for_their_calls),
        cmocka_unit_test(time_off_the_processor_is_like_a_call),
        cmocka_unit_test(losses_are_never_left_out),
        cmocka_unit_test(depth_time_and_window_together),
        cmocka_unit_test(what_is_not_balanced_comes_out_balanced),
        cmocka_unit_test(arguments_of_waiting_calls_are_kept),
        cmocka_unit_test(a_slicer_takes_one_track_after_another),
        cmocka_unit_test(a_pass_begins_takes_and_ends_each_track),
    };
    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
