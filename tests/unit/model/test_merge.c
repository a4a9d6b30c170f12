/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks merged chronologically. */
#include "made_recording.h"
#include "unit.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "track:time kind" of each event, the kind as in made_recording.h, "-" for no track. */
static void check_merge(const lode_recording *recording, const lode_slice *slice, const char *expected)
{
    static const char kinds[] = "()[]!?";
    lode_merge *merge;
    const lode_event *event;
    uint32_t track;
    char text[2048] = "";
    lode_status status;
    assert_int_equal(lode_merge_open(&merge, recording, slice, NULL, NULL), LODE_OK);
    while ((status = lode_merge_next(merge, &event, &track, NULL)) == LODE_OK) {
        char word[64], number[16];
        snprintf(number, sizeof number, "%" PRIu32, track);
        snprintf(word, sizeof word, "%s%s:%" PRIu64 "%c", text[0] ? " " : "",
                 track == LODE_NO_TRACK ? "-" : number, event->time, kinds[event->kind]);
        strcat(text, word);
    }
    assert_int_equal(status, LODE_END);
    assert_int_equal(lode_merge_next(merge, &event, &track, NULL), LODE_END);
    lode_merge_close(merge);
    assert_int_equal(made_open_now(recording), 0);
    assert_string_equal(text, expected);
}

static void events_are_chronological(void **state)
{
    lode_recording *recording = made_recording(4);
    (void)state;
    made_track(recording, 0, 0, "a( 5 b( 5 ) 10 )");
    made_track(recording, 1, 3, "a( 1 ! 20 )");
    made_track(recording, 3, 7, "[ 1 ]");
    for (size_t batch = 1; batch < 5; batch++) {
        made_batch(recording, batch);
        check_merge(recording, NULL, "0:0( 1:3( 1:4! 0:5( 3:7[ 3:8] 0:10) 0:20) 1:24)");
    }
    lode_recording_close(recording);
}

static void at_the_same_time_tracks_come_in_their_order(void **state)
{
    lode_recording *recording = made_recording(3);
    (void)state;
    for (uint32_t i = 3; i-- > 0;)
        made_track(recording, i, 5, "a( b( ) 1 )");
    made_message(recording, 5, 1);
    made_message(recording, 6, 2);
    check_merge(recording, NULL, "-:5! 0:5( 0:5( 0:5) 1:5( 1:5( 1:5) 2:5( 2:5( 2:5) -:6! 0:6) 1:6) 2:6)");
    lode_recording_close(recording);
}

static void at_the_same_time_scheduling_comes_last(void **state)
{
    lode_recording *recording = made_recording(2);
    (void)state;
    made_track(recording, 0, 5, "a( [ 1 ] )");
    made_track(recording, 1, 5, "b( 1 )");
    check_merge(recording, NULL, "0:5( 1:5( 0:5[ 1:6) 0:6] 0:6)");
    lode_recording_close(recording);
}

static void a_window_opens_only_what_it_meets(void **state)
{
    lode_recording *recording = made_recording(5);
    lode_slice slice = LODE_SLICE_INIT;
    static const uint32_t some[] = {1, 4};
    (void)state;
    made_track(recording, 0, 0, "a( 9 )");
    made_track(recording, 1, 0, "a( 10 )");
    made_track(recording, 2, 15, "a( 1 )");
    made_track(recording, 3, 20, "a( 1 )");
    made_track(recording, 4, 5, "a( 100 )");
    made_message(recording, 9, 1);
    made_message(recording, 10, 2);
    made_message(recording, 20, 3);
    slice.from = 10;
    slice.to = 20;
    check_merge(recording, &slice, "-:10! 1:10) 2:15( 2:16)");
    /* The last one covers the time window and has nothing in it. */
    assert_int_equal(made_opened(recording), 3);
    slice.tracks = some;
    slice.track_count = 2;
    check_merge(recording, &slice, "-:10! 1:10)");
    slice.from = 30;
    slice.to = 30;
    check_merge(recording, &slice, "");
    lode_recording_close(recording);
}

static void few_of_many_short_tracks_are_open_at_once(void **state)
{
    enum {
        TRACKS = 2000
    };
    lode_recording *recording = made_recording(TRACKS);
    lode_merge *merge;
    const lode_event *event;
    uint32_t track, most = 0;
    uint64_t events = 0, before = 0;
    (void)state;
    for (uint32_t i = 0; i < TRACKS; i++)
        made_track(recording, i, (i * UINT64_C(7919)) % TRACKS * 10, "a( 8 b( 20 ) )");
    assert_int_equal(lode_merge_open(&merge, recording, NULL, NULL, NULL), LODE_OK);
    while (lode_merge_next(merge, &event, &track, NULL) == LODE_OK) {
        assert_true(event->time >= before);
        before = event->time;
        most = made_open_now(recording) > most ? made_open_now(recording) : most;
        events++;
    }
    lode_merge_close(merge);
    assert_int_equal(events, 4 * TRACKS);
    assert_true(most <= 4);
    lode_recording_close(recording);
}

static void random_tracks_stay_in_order(void **state)
{
    enum {
        TRACKS = 9
    };
    lode_recording *recording = made_recording(TRACKS);
    lode_merge *merge;
    const lode_event *event;
    uint32_t track, track_before = 0;
    uint64_t seed = 3, events = 0, before = 0, expected = 0;
    bool was_scheduling = false;
    (void)state;
    for (uint32_t i = 0; i < TRACKS; i++) {
        made_random_track(recording, i, &seed, 300);
        expected += recording->tracks[i].bytes / 16;
    }
    assert_int_equal(lode_merge_open(&merge, recording, NULL, NULL, NULL), LODE_OK);
    while (lode_merge_next(merge, &event, &track, NULL) == LODE_OK) {
        bool is_scheduling = event->kind == LODE_EVENT_SCHED_OUT || event->kind == LODE_EVENT_SCHED_IN;
        assert_true(event->time >= before);
        if (event->time == before && !was_scheduling)
            assert_true(is_scheduling || track >= track_before);
        before = event->time;
        track_before = track;
        was_scheduling = is_scheduling;
        events++;
    }
    lode_merge_close(merge);
    assert_int_equal(events, expected);
    lode_recording_close(recording);
}

static int stop(void *user, const lode_finding *finding)
{
    int *heard = user;
    (void)finding;
    return ++*heard == 2;
}

static void findings_and_errors_are_passed_on(void **state)
{
    static const uint32_t absent[] = {7};
    lode_recording *recording = made_recording(2);
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_slice slice = LODE_SLICE_INIT;
    lode_merge *merge;
    lode_error error;
    const lode_event *event;
    uint32_t track;
    int heard = 0;
    (void)state;
    made_track(recording, 0, 0, "a( 1 ) a( 1 )");
    made_finding(recording, 0, "first");
    made_track(recording, 1, 5, "a( 1 )");
    made_finding(recording, 1, "second");
    options.on_finding = stop;
    options.user = &heard;
    assert_int_equal(lode_merge_open(&merge, recording, NULL, &options, NULL), LODE_OK);
    lode_status status;
    while ((status = lode_merge_next(merge, &event, &track, &error)) == LODE_OK)
        ;
    assert_int_equal(status, LODE_ERR_CANCELLED);
    assert_int_equal(heard, 2);
    lode_merge_close(merge);
    slice.tracks = absent;
    slice.track_count = 1;
    assert_int_equal(lode_merge_open(&merge, recording, &slice, NULL, &error), LODE_ERR_ARGUMENT);
    assert_null(merge);
    lode_merge_close(NULL);
    lode_recording_close(recording);
}

static void nothing_is_a_normal_state(void **state)
{
    lode_recording *recording = made_recording(3);
    (void)state;
    check_merge(recording, NULL, "");
    made_message(recording, 1, 1);
    check_merge(recording, NULL, "-:1!");
    lode_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_chronological),
        cmocka_unit_test(at_the_same_time_tracks_come_in_their_order),
        cmocka_unit_test(at_the_same_time_scheduling_comes_last),
        cmocka_unit_test(a_window_opens_only_what_it_meets),
        cmocka_unit_test(few_of_many_short_tracks_are_open_at_once),
        cmocka_unit_test(random_tracks_stay_in_order),
        cmocka_unit_test(findings_and_errors_are_passed_on),
        cmocka_unit_test(nothing_is_a_normal_state),
    };
    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
