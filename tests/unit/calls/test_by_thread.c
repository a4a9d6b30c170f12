/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings of traces, seen as recordings of threads. */
#include "analysis/calls/by_thread.h"
#include "base/error.h"
#include "made_recording.h"
#include "unit.h"
#include <lode/calls.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 4096,
    EVENTS_MAX = 256
};

/* Traces of process 100; a digit for each says its thread. */
static lode_recording *traces(const char *threads)
{
    uint32_t count = (uint32_t)strlen(threads);
    lode_recording *recording = made_recording(count);
    recording->has_requests = true;
    for (uint32_t i = 0; i < count; i++)
        recording->tracks[i].tid = threads[i] - '0';
    return recording;
}

static lode_recording *by_thread(lode_recording *inner)
{
    lode_recording *recording;
    lode_error error = {0};
    if (lode_by_thread(&recording, inner, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

/* Events of a thread as text. A trailing "~" and a number say how many are marked as moved. */
static void read_thread(const lode_recording *recording, const lode_recording *inner, uint32_t thread,
                        const lode_cursor_options *options, char text[TEXT_MAX])
{
    lode_event all[EVENTS_MAX];
    const lode_event *events;
    size_t count, used = 0, moved = 0;
    lode_cursor *cursor;
    lode_status status;
    assert_int_equal(lode_cursor_open(&cursor, recording, thread, options, NULL), LODE_OK);
    while ((status = lode_cursor_next(cursor, &events, &count, NULL)) == LODE_OK) {
        assert_true(count > 0 && used + count <= EVENTS_MAX && made_open_now(inner) == 1);
        memcpy(all + used, events, count * sizeof *events);
        used += count;
    }
    assert_int_equal(status, LODE_END);
    assert_int_equal(lode_cursor_next(cursor, &events, &count, NULL), LODE_END);
    lode_cursor_close(cursor);
    assert_int_equal(made_open_now(inner), 0);
    for (size_t i = 0; i < used; i++)
        moved += (all[i].flags & LODE_EVENT_MOVED) != 0;
    made_text(text, TEXT_MAX, all, used);
    if (moved > 0)
        snprintf(text + strlen(text), TEXT_MAX - strlen(text), " ~%zu", moved);
}

static void check_thread(const lode_recording *recording, const lode_recording *inner, uint32_t thread,
                         const char *expected)
{
    char text[TEXT_MAX];
    read_thread(recording, inner, thread, NULL, text);
    assert_string_equal(text, expected);
}

static void requests_of_a_thread_are_chronological(void **state)
{
    lode_recording *inner = traces("1211");
    (void)state;
    made_track(inner, 0, 100, "a( 10 )");
    made_track(inner, 1, 0, "b( 5 !)");
    made_track(inner, 2, 50, "c( 20 d( 5 ) )");
    made_track(inner, 3, 500, "e( )");
    lode_recording *recording = by_thread(inner);
    assert_int_equal(lode_recording_track_count(recording), 2);
    assert_false(lode_recording_has_requests(recording));
    for (size_t batch = 1; batch < 5; batch++) {
        made_batch(inner, batch);
        check_thread(recording, inner, 0, "50 c( 20 d( 5 ) ) 25 a( 10 ) 390 e( )");
        check_thread(recording, inner, 1, "0 b( 5 )");
    }
    lode_recording_close(recording);
}

static void a_thread_is_described_by_its_traces(void **state)
{
    lode_recording *inner = traces("7377");
    (void)state;
    made_track(inner, 0, 100, "a( 10 )");
    made_track(inner, 2, 50, "c( 20 d( 5 ) )");
    inner->tracks[3].pid = 5;
    lode_recording *recording = by_thread(inner);
    const lode_track *first = lode_recording_track(recording, 0), *last = lode_recording_track(recording, 2);
    assert_int_equal(lode_recording_track_count(recording), 3);
    assert_int_equal(first->index, 0);
    assert_int_equal(first->pid, 100);
    assert_int_equal(first->tid, 7);
    assert_int_equal(first->bytes, inner->tracks[0].bytes + inner->tracks[2].bytes);
    assert_string_equal(first->name, "thread 7");
    assert_string_equal(first->id, "");
    assert_int_equal(lode_recording_track(recording, 1)->tid, 3);
    assert_int_equal(last->pid, 5);
    assert_int_equal(last->tid, 7);
    lode_recording_close(recording);
}

/* Time stamps are in milliseconds: a request may seem to begin before the last one ended. */
static void a_trace_that_begins_too_early_is_moved_as_a_whole(void **state)
{
    lode_recording *inner = traces("11111");
    (void)state;
    made_track(inner, 0, 100, "a( 10 )");
    made_track(inner, 1, 105, "b( 3 c( 7 ) )"); /* f is before it, from 111 to 113 */
    made_track(inner, 2, 121, "d( 1 )");        /* b has moved to 114 */
    made_track(inner, 3, 124, "e( 1 )");
    made_track(inner, 4, 100, "f( 2 )");
    lode_recording *recording = by_thread(inner);
    check_thread(recording, inner, 0, "100 a( 10 ) 1 f( 2 ) 1 b( 3 c( 7 ) ) 1 d( 1 ) 1 e( 1 ) ~10");
    lode_recording_close(recording);
    inner = traces("111");
    made_track(inner, 0, 100, "a( 10 )");
    made_track(inner, 1, 105, "b( 10 )");
    made_track(inner, 2, 122, "c( 1 )");
    recording = by_thread(inner);
    check_thread(recording, inner, 0, "100 a( 10 ) 1 b( 10 ) 1 c( 1 ) ~2");
    lode_recording_close(recording);
}

static void times_near_the_end_of_all_time_do_not_wrap(void **state)
{
    lode_recording *inner = traces("11");
    (void)state;
    made_track(inner, 0, UINT64_MAX - 10, "a( 9 )");
    made_track(inner, 1, UINT64_MAX - 10, "b( 9 )");
    lode_recording *recording = by_thread(inner);
    check_thread(recording, inner, 0, "18446744073709551605 a( 9 ) 1 b( ) ~2");
    lode_recording_close(recording);
}

static void intervals_go_from_the_first_request_to_the_last(void **state)
{
    lode_recording *inner = traces("1123");
    uint64_t begin, end;
    (void)state;
    made_track(inner, 0, 100, "a( 10 )");
    made_track(inner, 1, 105, "b( 10 )");
    made_track(inner, 3, 7, "c( 1 )");
    lode_recording *recording = by_thread(inner);
    assert_int_equal(lode_track_interval(recording, 0, &begin, &end, NULL), LODE_OK);
    assert_int_equal(begin, 100);
    assert_int_equal(end, 121);
    assert_int_equal(lode_track_interval(recording, 1, &begin, &end, NULL), LODE_ABSENT);
    assert_int_equal(lode_track_interval(recording, 2, &begin, &end, NULL), LODE_OK);
    assert_int_equal(end, 8);
    check_thread(recording, inner, 1, "");
    lode_recording_close(recording);
}

static void windows_open_only_what_they_meet(void **state)
{
    lode_recording *inner = traces("1111");
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    char text[TEXT_MAX];
    (void)state;
    made_track(inner, 0, 100, "a( 10 )");
    made_track(inner, 1, 105, "b( 10 )"); /* from 111 to 121 */
    made_track(inner, 2, 200, "c( 10 )");
    made_track(inner, 3, 300, "d( 10 )");
    lode_recording *recording = by_thread(inner);
    options.from = 112;
    options.to = 205;
    read_thread(recording, inner, 0, &options, text);
    assert_string_equal(text, "121 ) 79 c( ~1");
    assert_int_equal(made_opened(inner), 2);
    options.from = 111;
    options.to = 121;
    read_thread(recording, inner, 0, &options, text);
    assert_string_equal(text, "111 b( ~1");
    lode_recording_close(recording);
}

static void recordings_without_traces_are_what_they_are(void **state)
{
    lode_recording *inner = made_recording(2);
    (void)state;
    lode_recording *recording = by_thread(inner);
    assert_ptr_equal(recording, inner);
    lode_recording_close(recording);
    inner = traces("");
    recording = by_thread(inner);
    assert_int_equal(lode_recording_track_count(recording), 0);
    lode_recording_close(recording);
}

/* ---- what events say ---- */

static lode_status say_track(const lode_recording *recording, uint32_t track, const lode_event *event,
                             lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    (void)recording, (void)error;
    *count = 2;
    if (capacity < 2)
        return LODE_OK;
    arguments[0] = (lode_argument){.name = "track", .kind = LODE_VALUE_UNSIGNED, .unsigned_value = track};
    arguments[1] =
        (lode_argument){.name = "time", .kind = LODE_VALUE_UNSIGNED, .unsigned_value = event->time};
    return LODE_OK;
}

static lode_instant say_attribute(const lode_recording *recording, uint64_t id)
{
    (void)recording;
    return id == 7 ? LODE_INSTANT_ATTRIBUTE : LODE_INSTANT_OTHER;
}

/* Every value is asked of the trace that the event is in, at the time that it has there. */
static void values_are_those_of_the_trace(void **state)
{
    lode_recording *inner = traces("11111");
    struct lode_recording_ops ops = *inner->ops;
    static const uint32_t order[] = {0, 4, 1, 2, 3};
    static const uint64_t begins[] = {100, 105, 121, 124, 100};
    lode_cursor *cursor;
    const lode_event *events;
    size_t count, seen = 0;
    (void)state;
    ops.arguments = say_track;
    ops.point = say_attribute;
    inner->ops = &ops;
    for (uint32_t i = 0; i < 5; i++)
        for (unsigned k = 0; k < 2; k++)
            made_event(inner, i,
                       &(lode_event){.time = begins[i] + 5u * k,
                                     .id = 7,
                                     .kind = LODE_EVENT_INSTANT,
                                     .data = "x",
                                     .data_size = 1});
    lode_recording *recording = by_thread(inner);
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, NULL, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK) {
        for (size_t i = 0; i < count; i++, seen++) {
            lode_argument arguments[2];
            size_t values;
            assert_int_equal(lode_event_arguments(recording, 0, &events[i], arguments, 2, &values, NULL),
                             LODE_OK);
            assert_int_equal(values, 2);
            assert_int_equal(arguments[0].unsigned_value, order[seen / 2]);
            assert_int_equal(arguments[1].unsigned_value, begins[order[seen / 2]] + 5 * (seen % 2));
            assert_int_equal(lode_event_instant(recording, &events[i]), LODE_INSTANT_ATTRIBUTE);
            assert_string_equal(lode_event_name(recording, &events[i]), "made:point");
        }
    }
    assert_int_equal(seen, 10);
    lode_cursor_close(cursor);
    lode_recording_close(recording);
}

static int count_finding(void *user, const lode_finding *finding)
{
    unsigned *count = user;
    (void)finding;
    ++*count;
    return 0;
}

static void findings_of_all_traces_are_passed_on(void **state)
{
    lode_recording *inner = traces("111");
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    const lode_event *events;
    size_t number;
    unsigned count = 0;
    lode_cursor *cursor;
    (void)state;
    made_finding(inner, 0, "first");
    made_track(inner, 0, 100, "a( 10 )");
    made_finding(inner, 1, "of one without events");
    made_track(inner, 2, 300, "a( 10 )");
    made_finding(inner, 2, "last");
    options.on_finding = count_finding;
    options.user = &count;
    lode_recording *recording = by_thread(inner);
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, &options, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &number, NULL) == LODE_OK)
        continue;
    assert_int_equal(count, 3);
    assert_int_equal(cursor->repairs, 3);
    lode_cursor_close(cursor);
    options.strict = 1;
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, &options, NULL), LODE_OK);
    assert_int_equal(lode_cursor_next(cursor, &events, &number, NULL), LODE_ERR_CORRUPT);
    lode_cursor_close(cursor);
    lode_recording_close(recording);
}

/* ---- what is computed from it ---- */

static lode_calls *compute(const lode_recording *recording, unsigned threads)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls;
    options.threads = threads;
    options.sort = LODE_CALLS_BY_NAME;
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, &options, NULL), LODE_OK);
    return calls;
}

static void functions_took_what_they_took(void **state)
{
    char threads[65];
    uint64_t seed = 11;
    (void)state;
    for (unsigned i = 0; i < sizeof threads - 1; i++)
        threads[i] = (char)('1' + made_random(&seed) % 5);
    threads[sizeof threads - 1] = '\0';
    lode_recording *inner = traces(threads);
    for (uint32_t i = 0; i < inner->track_count; i++)
        made_random_track(inner, i, &seed, 100);
    lode_calls *expected = compute(inner, 1);
    lode_recording *recording = by_thread(inner);
    assert_int_equal(lode_recording_track_count(recording), 5);
    for (unsigned workers = 1; workers < 5; workers += 2) {
        lode_calls *calls = compute(recording, workers);
        assert_int_equal(lode_calls_count(calls), lode_calls_count(expected));
        assert_true(lode_calls_count(calls) > 30);
        for (size_t i = 0; i < lode_calls_count(calls); i++) {
            const lode_call_row *a = lode_calls_at(calls, i), *b = lode_calls_at(expected, i);
            assert_ptr_equal(a->function, b->function);
            assert_int_equal(a->calls, b->calls);
            assert_int_equal(a->total, b->total);
            assert_int_equal(a->self, b->self);
        }
        lode_calls_free(calls);
    }
    lode_calls_free(expected);
    lode_recording_close(recording);
}

static lode_status no_span(const lode_recording *recording, uint32_t track, uint64_t *begin, uint64_t *end,
                           lode_error *error)
{
    (void)recording, (void)track, (void)begin, (void)end;
    return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "as a test wants it");
}

static void a_recording_that_cannot_be_read_is_closed(void **state)
{
    lode_recording *inner = traces("12"), *recording;
    struct lode_recording_ops ops = *inner->ops;
    (void)state;
    ops.track_interval = no_span;
    inner->ops = &ops;
    assert_int_equal(lode_by_thread(&recording, inner, NULL), LODE_ERR_IO);
    assert_null(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_of_a_thread_are_chronological),
        cmocka_unit_test(a_thread_is_described_by_its_traces),
        cmocka_unit_test(a_trace_that_begins_too_early_is_moved_as_a_whole),
        cmocka_unit_test(times_near_the_end_of_all_time_do_not_wrap),
        cmocka_unit_test(intervals_go_from_the_first_request_to_the_last),
        cmocka_unit_test(windows_open_only_what_they_meet),
        cmocka_unit_test(recordings_without_traces_are_what_they_are),
        cmocka_unit_test(values_are_those_of_the_trace),
        cmocka_unit_test(findings_of_all_traces_are_passed_on),
        cmocka_unit_test(functions_took_what_they_took),
        cmocka_unit_test(a_recording_that_cannot_be_read_is_closed),
    };
    return cmocka_run_group_tests_name("by thread", tests, NULL, NULL);
}
