/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls over time by depth. Each box: tests/answers. */
#include "analysis/time/boxes.h"
#include "minidb.h"
#include "minirec.h"
#include "model/recording/recording.h"
#include "unit.h"
#include <lode/unstable.h>

#define SAMPLES 500

struct fixture {
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
};

/* The samples of line 0 alternate between two contexts. */
static void open_alternating(struct fixture *f, uint32_t one, uint32_t other)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    options.samples = SAMPLES;
    minidb_make(&f->mini, &options);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        unsigned char *at = minidb_at(&f->mini, HPCT_TRACE, minidb_sample(&f->mini, 0, i) + 8);
        at[0] = (unsigned char)(i % 2 ? other : one);
        at[1] = at[2] = at[3] = 0;
    }
    minidb_files(&f->mini, f->files);
    assert_int_equal(lode_database_open_memory(&f->db, f->files, HPCT_FILES, NULL), LODE_OK);
}

static void close_mini(struct fixture *f)
{
    lode_database_close(f->db);
    minidb_free(&f->mini);
}

static lode_boxes *boxes_of(const struct fixture *f, const lode_boxes_options *options)
{
    lode_boxes *boxes = NULL;
    assert_int_equal(lode_boxes_compute(&boxes, f->db, 0, options, NULL), LODE_OK);
    return boxes;
}

/* Of work.c:20, which is 8 contexts deep, and work.c:9, which is 6 deep and above it. */
static void samples_cost_what_they_do_not_share_with_the_one_before(void **state)
{
    struct fixture f;
    (void)state;
    open_alternating(&f, 10, 10);
    lode_boxes *boxes = boxes_of(&f, NULL);
    uint32_t depth = lode_context_depth(lode_database_context(f.db, 10));
    assert_int_equal(lode_boxes_steps(boxes), depth + SAMPLES - 1);
    assert_int_equal(lode_boxes_count(boxes), depth);
    lode_boxes_free(boxes);
    close_mini(&f);

    open_alternating(&f, 10, 7);
    boxes = boxes_of(&f, NULL);
    uint32_t above = lode_context_depth(lode_database_context(f.db, 7));
    /* Down: all that is new, and the common ancestor. Up: the ancestor itself. */
    uint64_t again = (SAMPLES / 2 - 1) * (uint64_t)(depth - above + 1) + SAMPLES / 2;
    assert_int_equal(lode_boxes_steps(boxes), depth + again);
    lode_boxes_free(boxes);
    close_mini(&f);
}

/* Line 0 has a sample every 10 ns; the last one has no length. */
static void boxes_of_a_depth_have_the_time_of_its_calls(void **state)
{
    struct fixture f;
    lode_boxes_options options = LODE_BOXES_OPTIONS_INIT;
    (void)state;
    open_alternating(&f, 10, 7);
    for (options.columns = 1; options.columns < 6000; options.columns = options.columns * 5 + 2) {
        lode_boxes *boxes = boxes_of(&f, &options);
        uint64_t times[10] = {0}, calls[10] = {0};
        for (size_t i = 0; i < lode_boxes_count(boxes); i++) {
            const lode_box *box = lode_boxes_at(boxes, i);
            times[box->depth] += box->duration;
            calls[box->depth] += box->calls;
            assert_true(box->function == NULL && lode_context_depth(box->context) == box->depth);
        }
        assert_null(lode_boxes_at(boxes, lode_boxes_count(boxes)));
        uint32_t above = lode_context_depth(lode_database_context(f.db, 7));
        assert_int_equal(times[1], (SAMPLES - 1) * 10);
        assert_int_equal(times[above], (SAMPLES - 1) * 10);
        assert_int_equal(times[above + 1], SAMPLES / 2 * 10);
        assert_int_equal(calls[above + 1], SAMPLES / 2);
        assert_int_equal(calls[above], 1);
        lode_boxes_free(boxes);
    }
    close_mini(&f);
}

static void a_depth_and_a_time_window_bound_the_boxes(void **state)
{
    struct fixture f;
    lode_boxes_options options = LODE_BOXES_OPTIONS_INIT;
    (void)state;
    open_alternating(&f, 10, 7);
    options.depth = 2;
    options.from = 1000105;
    options.to = 1000206;
    lode_boxes *boxes = boxes_of(&f, &options);
    assert_int_equal(lode_boxes_count(boxes), 2);
    for (size_t i = 0; i < 2; i++) {
        const lode_box *box = lode_boxes_at(boxes, i);
        assert_int_equal(box->depth, i + 1);
        assert_int_equal(box->begin, options.from);
        assert_int_equal(box->end, options.to);
        assert_int_equal(box->duration, 101);
    }
    lode_boxes_free(boxes);
    options.to = options.from;
    boxes = boxes_of(&f, &options);
    assert_int_equal(lode_boxes_count(boxes), 0);
    lode_boxes_free(boxes);
    close_mini(&f);
}

static int stop(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)user, (void)phase, (void)done, (void)total;
    return 1;
}

static void errors_leave_no_boxes(void **state)
{
    struct fixture f;
    lode_boxes_options options = LODE_BOXES_OPTIONS_INIT;
    lode_boxes *boxes;
    lode_error error = {0};
    (void)state;
    open_alternating(&f, 10, 7);
    assert_int_equal(lode_boxes_compute(&boxes, f.db, 99, NULL, &error), LODE_NOT_FOUND);
    assert_null(boxes);
    options.on_progress = stop;
    assert_int_equal(lode_boxes_compute(&boxes, f.db, 0, &options, &error), LODE_ERR_CANCELLED);
    assert_null(boxes);
    close_mini(&f);
}

/* Task 100: main from +100 on, work from +110, off-CPU time as a call. */
static void calls_of_a_track_are_boxes(void **state)
{
    struct minirec mini;
    struct minirec_options made = MINIREC_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    lode_boxes_options options = LODE_BOXES_OPTIONS_INIT;
    lode_recording *recording;
    lode_boxes *boxes;
    (void)state;
    minirec_make(&mini, &made);
    size_t count = minirec_list(&mini, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, NULL), LODE_OK);
    options.columns = 100000;
    assert_int_equal(lode_boxes_compute_recording(&boxes, recording, 0, &options, NULL), LODE_OK);
    const lode_box *box = lode_boxes_at(boxes, 0);
    assert_int_equal(box->begin, MINIREC_START + 100);
    assert_int_equal(box->depth, 1);
    assert_string_equal(lode_function_name(box->function), "main");
    assert_null(box->context);
    box = lode_boxes_at(boxes, 1);
    assert_int_equal(box->begin, MINIREC_START + 110);
    assert_int_equal(box->depth, 2);
    lode_boxes_free(boxes);
    options.on_progress = stop;
    assert_int_equal(lode_boxes_compute_recording(&boxes, recording, 0, &options, NULL), LODE_ERR_CANCELLED);
    options.on_progress = NULL;
    assert_int_equal(lode_boxes_compute_recording(&boxes, recording, 99, &options, NULL), LODE_ERR_ARGUMENT);
    lode_recording_close(recording);
    minirec_free(&mini);
}

/* ---- checkpoints ---- */

#define CALLS 400

static lode_recording *open_calls(struct minirec *mini, const unsigned char *damage, unsigned damage_count)
{
    struct minirec_options made = MINIREC_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording = NULL;
    made.calls = CALLS;
    minirec_make(mini, &made);
    struct minirec_file *file = minirec_file(mini, "101.dat");
    for (unsigned i = 0; i + 2 < damage_count; i += 3)
        file->bytes[(damage[i] * 256u + damage[i + 1]) % file->size] ^= damage[i + 2];
    size_t count = minirec_list(mini, files);
    if (lode_recording_open_memory(&recording, files, count, NULL, NULL) != LODE_OK)
        return NULL;
    return recording;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void assert_same_boxes(const lode_boxes *a, const lode_boxes *b)
{
    assert_int_equal(lode_boxes_count(a), lode_boxes_count(b));
    for (size_t i = 0; i < lode_boxes_count(a); i++) {
        const lode_box *x = lode_boxes_at(a, i), *y = lode_boxes_at(b, i);
        assert_int_equal(x->begin, y->begin);
        assert_int_equal(x->end, y->end);
        assert_int_equal(x->duration, y->duration);
        assert_int_equal(x->calls, y->calls);
        assert_int_equal(x->depth, y->depth);
        assert_ptr_equal(x->context, y->context);
        assert_ptr_equal(x->function, y->function);
    }
}

/* Random windows of all tracks, from checkpoints and from the beginning. Returns events read. */
static void compare_windows(lode_recording *recording, uint64_t *seed, unsigned windows, uint64_t read[2])
{
    struct lode_checkpoints *checkpoints = recording->checkpoints;
    checkpoints->step = 7;
    /* What the page asks for first. */
    for (uint32_t track = 0; track < lode_recording_track_count(recording); track++) {
        lode_boxes *whole = NULL;
        if (lode_boxes_compute_recording(&whole, recording, track, NULL, NULL) == LODE_OK)
            lode_boxes_free(whole);
    }
    for (unsigned i = 0; i < windows; i++) {
        lode_boxes_options options = LODE_BOXES_OPTIONS_INIT;
        lode_boxes *near = NULL, *all = NULL;
        uint32_t track = (uint32_t)next_random(seed) % lode_recording_track_count(recording);
        uint64_t begin, end;
        if (lode_track_interval(recording, track, &begin, &end, NULL) != LODE_OK || end <= begin)
            continue;
        options.from = begin + next_random(seed) % (end - begin);
        options.to = options.from + 1 + next_random(seed) % (end - begin);
        options.columns = 1 + (unsigned)(next_random(seed) % 50);
        lode_status status = lode_boxes_compute_recording(&near, recording, track, &options, NULL);
        recording->checkpoints = NULL;
        assert_int_equal(lode_boxes_compute_recording(&all, recording, track, &options, NULL), status);
        recording->checkpoints = checkpoints;
        if (status != LODE_OK)
            continue;
        assert_same_boxes(near, all);
        read[0] += lode_boxes_events(near);
        read[1] += lode_boxes_events(all);
        lode_boxes_free(near);
        lode_boxes_free(all);
    }
}

static void windows_from_checkpoints_are_those_from_the_beginning(void **state)
{
    struct minirec mini;
    uint64_t seed = 17, read[2] = {0};
    (void)state;
    lode_recording *recording = open_calls(&mini, NULL, 0);
    compare_windows(recording, &seed, 300, read);
    assert_true(recording->checkpoints->bytes > 0);
    /* Windows begin in the middle on average, and half of what is before them is not read. */
    assert_true(read[0] < read[1] * 3 / 4);
    lode_recording_close(recording);
    minirec_free(&mini);
}

static void checkpoints_are_exact_in_damaged_tracks(void **state)
{
    uint64_t seed = 4, read[2] = {0};
    unsigned opened = 0;
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        struct minirec mini;
        unsigned char damage[9];
        for (size_t k = 0; k < sizeof damage; k++)
            damage[k] = (unsigned char)next_random(&seed);
        lode_recording *recording = open_calls(&mini, damage, (i % 3 + 1) * 3);
        if (recording) {
            opened++;
            compare_windows(recording, &seed, 12, read);
        }
        lode_recording_close(recording);
        minirec_free(&mini);
    }
    assert_true(opened > 250);
}

static void checkpoints_stay_within_their_limit(void **state)
{
    struct minirec mini;
    uint64_t seed = 9, read[2] = {0};
    (void)state;
    lode_recording *recording = open_calls(&mini, NULL, 0);
    recording->checkpoints->limit = 500;
    compare_windows(recording, &seed, 100, read);
    assert_in_range(recording->checkpoints->bytes, 1, 500);
    lode_recording_close(recording);
    minirec_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_cost_what_they_do_not_share_with_the_one_before),
        cmocka_unit_test(boxes_of_a_depth_have_the_time_of_its_calls),
        cmocka_unit_test(a_depth_and_a_time_window_bound_the_boxes),
        cmocka_unit_test(errors_leave_no_boxes),
        cmocka_unit_test(calls_of_a_track_are_boxes),
        cmocka_unit_test(windows_from_checkpoints_are_those_from_the_beginning),
        cmocka_unit_test(checkpoints_are_exact_in_damaged_tracks),
        cmocka_unit_test(checkpoints_stay_within_their_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
