/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of trace lines: what holds for any of them. Each cell: tests/answers/db_generated.py. */
#include "minidb.h"
#include "unit.h"
#include <lode/unstable.h>
#include <string.h>

#define LINES   70
#define SAMPLES 40

struct fixture {
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
};

static void open_mini(struct fixture *f)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    options.profiles = LINES;
    options.samples = SAMPLES;
    minidb_make(&f->mini, &options);
    minidb_files(&f->mini, f->files);
    assert_int_equal(lode_database_open_memory(&f->db, f->files, HPCT_FILES, NULL), LODE_OK);
}

static void close_mini(struct fixture *f)
{
    lode_database_close(f->db);
    minidb_free(&f->mini);
}

static lode_picture *draw(const struct fixture *f, const lode_picture_options *options)
{
    lode_picture *picture = NULL;
    lode_error error = {0};
    if (lode_picture_compute(&picture, f->db, options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return picture;
}

static uint64_t time_of(const lode_picture *picture)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < lode_picture_share_count(picture); i++)
        sum += lode_picture_share_at(picture, i)->nanoseconds;
    return sum;
}

static uint64_t time_at(const lode_picture *picture, const lode_context *context)
{
    for (size_t i = 0; i < lode_picture_share_count(picture); i++)
        if (lode_picture_share_at(picture, i)->context == context)
            return lode_picture_share_at(picture, i)->nanoseconds;
    return 0;
}

/* Line i has samples at 1000001 + i + 10 k, and the last one has no length. */
static void shares_add_up_to_the_time_that_samples_cover(void **state)
{
    struct fixture f;
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    (void)state;
    open_mini(&f);
    for (options.rows = 1; options.rows <= LINES + 1; options.rows += 23)
        for (options.columns = 1; options.columns < 200; options.columns = options.columns * 3 + 1) {
            lode_picture *picture = draw(&f, &options);
            uint64_t from, to;
            lode_picture_window(picture, &from, &to);
            /* What the header states, which is wider than the samples. */
            assert_int_equal(from, 1000001);
            assert_int_equal(to, 1000000 + 10 * SAMPLES + LINES + 1);
            assert_int_equal(time_of(picture), LINES * (SAMPLES - 1) * 10);
            assert_int_equal(lode_picture_samples(picture), LINES * SAMPLES);
            assert_int_equal(lode_picture_rows(picture), options.rows < LINES ? options.rows : LINES);
            assert_int_equal(lode_picture_row_begin(picture, lode_picture_rows(picture)), LINES);
            lode_picture_free(picture);
        }
    /* A window that cuts samples at both ends. */
    options.from = 1000105;
    options.to = 1000206;
    lode_picture *picture = draw(&f, &options);
    assert_int_equal(time_of(picture), LINES * 101);
    lode_picture_free(picture);
    close_mini(&f);
}

static void rows_have_the_sums_of_their_lines(void **state)
{
    struct fixture f;
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    (void)state;
    open_mini(&f);
    options.rows = 1;
    lode_picture *all = draw(&f, &options);
    for (size_t i = 0; i < lode_picture_share_count(all); i++) {
        const lode_picture_share *share = lode_picture_share_at(all, i);
        uint64_t sum = 0;
        for (uint32_t line = 0; line < LINES; line++) {
            options.lines = &line;
            options.line_count = 1;
            lode_picture *one = draw(&f, &options);
            assert_int_equal(lode_picture_line(one, 0), line);
            sum += time_at(one, share->context);
            lode_picture_free(one);
        }
        assert_int_equal(sum, share->nanoseconds);
    }
    lode_picture_free(all);
    close_mini(&f);
}

static void assert_same(const lode_picture *a, const lode_picture *b)
{
    size_t cells = (size_t)lode_picture_rows(a) * lode_picture_columns(a);
    assert_int_equal(lode_picture_rows(a), lode_picture_rows(b));
    assert_memory_equal(lode_picture_keys(a), lode_picture_keys(b), cells);
    assert_memory_equal(lode_picture_fills(a), lode_picture_fills(b), cells);
    assert_int_equal(lode_picture_share_count(a), lode_picture_share_count(b));
    for (size_t i = 0; i < lode_picture_share_count(a); i++)
        assert_memory_equal(lode_picture_share_at(a, i), lode_picture_share_at(b, i),
                            sizeof(lode_picture_share));
}

static void threads_change_nothing(void **state)
{
    struct fixture f;
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    (void)state;
    open_mini(&f);
    options.rows = 33;
    for (int quality = LODE_PICTURE_EXACT; quality <= LODE_PICTURE_PROBES; quality++) {
        options.quality = (lode_picture_quality)quality;
        options.threads = 1;
        lode_picture *one = draw(&f, &options);
        for (options.threads = 2; options.threads <= 7; options.threads += 5) {
            lode_picture *other = draw(&f, &options);
            assert_same(one, other);
            lode_picture_free(other);
        }
        lode_picture_free(one);
    }
    close_mini(&f);
}

/* Columns of one sample each: one look at each of them sees all that there is. */
static void probes_of_one_sample_a_cell_are_exact(void **state)
{
    struct fixture f;
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    (void)state;
    open_mini(&f);
    for (uint32_t line = 0; line < LINES; line += 7) {
        options.lines = &line;
        options.line_count = 1;
        options.from = 1000001 + line;
        options.columns = SAMPLES - 1;
        options.to = options.from + 10 * (SAMPLES - 1);
        options.quality = LODE_PICTURE_EXACT;
        lode_picture *exact = draw(&f, &options);
        options.quality = LODE_PICTURE_PROBES;
        lode_picture *probes = draw(&f, &options);
        assert_memory_equal(lode_picture_keys(exact), lode_picture_keys(probes), options.columns);
        assert_memory_equal(lode_picture_fills(exact), lode_picture_fills(probes), options.columns);
        assert_int_equal(time_of(exact), time_of(probes));
        lode_picture_free(exact);
        lode_picture_free(probes);
    }
    close_mini(&f);
}

static void idle_time_shows_last_if_asked(void **state)
{
    struct fixture f;
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    (void)state;
    open_mini(&f);
    /* The first 30 ns of line 0: contexts 6, 10, 0. */
    options.lines = (const uint32_t[]){0};
    options.line_count = 1;
    options.columns = 1;
    options.from = 1000017;
    options.to = 1000031;
    lode_picture *dominant = draw(&f, &options);
    options.idle = LODE_PICTURE_IDLE_LAST;
    lode_picture *last = draw(&f, &options);
    /* 4 ns of context 10, then 10 ns of nothing. */
    assert_int_equal(lode_picture_keys(dominant)[0], LODE_PICTURE_NOT_RUNNING);
    assert_int_equal(lode_picture_fills(dominant)[0], 10 * 255 / 14);
    assert_int_equal(lode_picture_keys(last)[0], LODE_PICTURE_FUNCTION);
    assert_int_equal(lode_picture_fills(last)[0], 4 * 255 / 14);
    lode_picture_free(dominant);
    lode_picture_free(last);
    close_mini(&f);
}

/* ---- stripes ---- */

struct stripes {
    uint8_t keys[LINES][100];
    uint32_t next, calls, stop_after;
};

static int take_stripe(void *user, const lode_picture *picture, uint32_t first, uint32_t count)
{
    struct stripes *stripes = user;
    unsigned columns = lode_picture_columns(picture);
    assert_int_equal(first, stripes->next);
    for (uint32_t row = first; row < first + count; row++)
        memcpy(stripes->keys[row], lode_picture_keys(picture) + (size_t)row * columns, columns);
    stripes->next = first + count;
    return ++stripes->calls == stripes->stop_after;
}

static void stripes_come_in_order_and_are_final(void **state)
{
    struct fixture f;
    struct stripes stripes = {0};
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    lode_picture *picture;
    (void)state;
    open_mini(&f);
    options.columns = 100;
    lode_picture *keys = draw(&f, &options);
    options.from = 1000201;
    options.to = 1000301;
    options.on_stripe = take_stripe;
    options.user = &stripes;
    assert_int_equal(lode_picture_compute(&picture, f.db, &options, NULL), LODE_ERR_ARGUMENT);
    assert_null(picture);
    options.keys = keys;
    options.threads = 3;
    picture = draw(&f, &options);
    assert_int_equal(stripes.next, LINES);
    assert_int_equal(stripes.calls, 3);
    assert_memory_equal(stripes.keys, lode_picture_keys(picture), (size_t)LINES * 100);
    /* Functions have the keys that they have in the other picture. */
    for (size_t i = 0; i < lode_picture_share_count(picture); i++) {
        const lode_picture_share *share = lode_picture_share_at(picture, i);
        for (size_t k = 0; k < lode_picture_share_count(keys); k++)
            if (lode_picture_share_at(keys, k)->context == share->context)
                assert_int_equal(lode_picture_share_at(keys, k)->key, share->key);
    }
    lode_picture_free(picture);
    stripes = (struct stripes){.stop_after = 2};
    assert_int_equal(lode_picture_compute(&picture, f.db, &options, NULL), LODE_ERR_CANCELLED);
    assert_null(picture);
    lode_picture_free(keys);
    close_mini(&f);
}

static int cancel(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)user;
    (void)phase;
    (void)total;
    return done == 5;
}

static void pictures_that_cannot_be_drawn_say_so(void **state)
{
    struct fixture f;
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    lode_picture *picture;
    (void)state;
    open_mini(&f);
    options.on_progress = cancel;
    assert_int_equal(lode_picture_compute(&picture, f.db, &options, NULL), LODE_ERR_CANCELLED);
    assert_null(picture);
    options.on_progress = NULL;
    options.lines = (const uint32_t[]){0, LINES};
    options.line_count = 2;
    assert_int_equal(lode_picture_compute(&picture, f.db, &options, NULL), LODE_NOT_FOUND);
    assert_null(picture);
    /* No lines at all: an empty picture. */
    options.line_count = 0;
    picture = draw(&f, &options);
    assert_int_equal(lode_picture_rows(picture), 0);
    assert_int_equal(lode_picture_share_count(picture), 0);
    assert_int_equal(lode_picture_line(picture, 0), LODE_PICTURE_NO_LINE);
    lode_picture_free(picture);
    close_mini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_add_up_to_the_time_that_samples_cover),
        cmocka_unit_test(rows_have_the_sums_of_their_lines),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(probes_of_one_sample_a_cell_are_exact),
        cmocka_unit_test(idle_time_shows_last_if_asked),
        cmocka_unit_test(stripes_come_in_order_and_are_final),
        cmocka_unit_test(pictures_that_cannot_be_drawn_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
