/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of recordings from probes, against all events of the tracks. */
#include "unit.h"
#include "writing.h"
#include <lode/event.h>
#include <lode/unstable/picture.h>
#include <lode/unstable/synth.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TASKS = 5,
    COLUMNS = 211,
    DEPTH_MAX = 256
};

/* What a track does at rising times, from its first event on. */
struct follower {
    lode_cursor *cursor;
    const lode_event *events;
    size_t count, next;
    const lode_function *stack[DEPTH_MAX];
    size_t depth;
};

/* The innermost function after all that happened at a time; NULL: outside of all calls. */
static const lode_function *function_at(struct follower *f, uint64_t time)
{
    for (;;) {
        if (f->next == f->count) {
            f->next = 0;
            if (lode_cursor_next(f->cursor, &f->events, &f->count, NULL) != LODE_OK)
                f->count = 0;
            if (f->count == 0)
                break;
        }
        const lode_event *event = &f->events[f->next];
        if (event->time > time)
            break;
        f->next++;
        if (event->kind == LODE_EVENT_ENTER) {
            assert_in_range(f->depth, 0, DEPTH_MAX - 1);
            f->stack[f->depth++] = event->function;
        } else if (event->kind == LODE_EVENT_LEAVE) {
            assert_in_range(f->depth, 1, DEPTH_MAX);
            f->depth--;
        }
    }
    return f->depth ? f->stack[f->depth - 1] : NULL;
}

/* The function that a key of the picture stands for. */
static const lode_function *function_of_key(const lode_picture *picture, unsigned key)
{
    for (size_t i = 0; i < lode_picture_share_count(picture); i++)
        if ((unsigned)lode_picture_share_at(picture, i)->key == key)
            return lode_picture_share_at(picture, i)->function;
    fail_msg("no function has the key %u", key);
    return NULL;
}

struct tally {
    size_t cells, found; /* while the track runs; of these, cells that have something */
};

/* A cell that has something has what the track in the middle of the row does. */
static void check_row(const lode_recording *recording, const lode_picture *picture, uint32_t row,
                      struct tally *tally)
{
    uint32_t first = lode_picture_row_begin(picture, row), last = lode_picture_row_begin(picture, row + 1);
    uint32_t track = lode_picture_line(picture, first + (last - first) / 2);
    unsigned columns = lode_picture_columns(picture);
    struct follower f = {0};
    uint64_t from, to, begin, end, edge;
    assert_int_equal(lode_cursor_open(&f.cursor, recording, track, NULL, NULL), LODE_OK);
    assert_int_equal(lode_track_interval(recording, track, &begin, &end, NULL), LODE_OK);
    lode_picture_window(picture, &from, &to);
    edge = from;
    for (unsigned column = 0; column < columns; column++) {
        uint64_t next = from + (to - from) * (column + 1) / columns, time = edge + (next - edge) / 2;
        unsigned key = lode_picture_keys(picture)[(size_t)row * columns + column];
        edge = next;
        const lode_function *expected = function_at(&f, time);
        bool is_inside = time >= begin && time < end;
        assert_true(is_inside || key == LODE_PICTURE_NOTHING);
        tally->cells += is_inside;
        /* The end of a call may be too far away to be looked for. */
        if (key == LODE_PICTURE_NOTHING)
            continue;
        tally->found++;
        if (expected == NULL)
            assert_int_equal(key, LODE_PICTURE_NOT_RUNNING);
        else if (key != LODE_PICTURE_OTHERS)
            assert_ptr_equal(function_of_key(picture, key), expected);
    }
    lode_cursor_close(f.cursor);
}

static void check_picture(const lode_recording *recording, uint32_t rows, uint64_t from, uint64_t to,
                          unsigned threads)
{
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    lode_picture *picture;
    lode_error error = {0};
    struct tally tally = {0};
    options.quality = LODE_PICTURE_PROBES;
    options.columns = COLUMNS;
    options.rows = rows;
    options.threads = threads;
    options.from = from;
    options.to = to;
    if (lode_picture_compute_recording(&picture, recording, NULL, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    assert_int_equal(lode_picture_rows(picture), rows);
    assert_int_equal(lode_picture_samples(picture), 0);
    for (uint32_t row = 0; row < rows; row++)
        check_row(recording, picture, row, &tally);
    assert_in_range(tally.cells, COLUMNS, (size_t)rows * COLUMNS);
    /* Most of them are found. */
    assert_in_range(tally.found, tally.cells * 3 / 4, tally.cells);
    lode_picture_free(picture);
}

static void check_recording(const lode_synth_recording_options *made)
{
    struct place place;
    lode_recording *recording = NULL;
    lode_error error = {0};
    uint64_t begin, end;
    enter_place(&place);
    if (lode_synth_recording(place.target, made, &error) != LODE_OK ||
        lode_recording_open(&recording, place.target, NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    assert_int_equal(lode_track_interval(recording, 1, &begin, &end, NULL), LODE_OK);
    check_picture(recording, TASKS, 0, 0, 1);
    check_picture(recording, TASKS, 0, 0, 3);
    check_picture(recording, 2, 0, 0, 1);
    check_picture(recording, TASKS, begin + (end - begin) / 3, begin + (end - begin) / 2, 1);
    /* Columns that are shorter than calls. */
    check_picture(recording, TASKS, begin + (end - begin) / 2, begin + (end - begin) / 2 + 2000, 1);
    lode_recording_close(recording);
    leave_place(&place);
}

static void probes_show_what_tracks_do(void **state)
{
    lode_synth_recording_options made = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    (void)state;
    made.tasks = TASKS;
    made.records = 200000;
    check_recording(&made);
    made.seed = 7;
    made.depth = 5;
    check_recording(&made);
}

static void records_with_arguments_are_found(void **state)
{
    lode_synth_recording_options made = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    (void)state;
    made.tasks = TASKS;
    made.records = 200000;
    made.arguments = 1;
    check_recording(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_show_what_tracks_do),
        cmocka_unit_test(records_with_arguments_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
