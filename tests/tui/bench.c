/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
#include "text/utf8.h"
#include "tui/tree.h"
#include <string.h>

/* ---- a screen ---- */

static int screen_rows, screen_columns;
unsigned long texts_put;

static void get_size(int *rows, int *columns)
{
    *rows = screen_rows;
    *columns = screen_columns;
}

static void do_nothing(void)
{
}

static void put(int row, int column, tui_style style, const char *text)
{
    texts_put++;
    assert_in_range(row, 0, screen_rows - 1);
    assert_in_range(column, 0, screen_columns - 1);
    assert_in_range(style, 0, TUI_SERIES + TUI_SERIES_COUNT - 1);
    assert_true(utf8_width(text) <= (size_t)(screen_columns - column));
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        assert_true(*at >= 32 && *at != 127);
}

const tui_screen screen = {
    .version = TUI_SCREEN_VERSION, .size = get_size, .clear = do_nothing, .put = put, .show = do_nothing};

/* ---- stores ---- */

/* Children below 1 %, more profiles than a screen has rows, more than one metric. */
static void open_database(struct bench *b)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    options.profiles = 40;
    options.chains = 150;
    options.samples = 50;
    minidb_make(&b->minidb, &options);
    minidb_files(&b->minidb, files);
    b->db = (session){.path = "database", .shared = &b->shared};
    assert_int_equal(lode_database_open_memory(&b->db.db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(session_need_metric(&b->db), 0);
}

static void open_large(struct bench *b)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    options.contexts = 3000;
    options.metrics = 3;
    enter_place(&b->place);
    assert_int_equal(lode_synth_database(b->place.target, &options, NULL), LODE_OK);
    b->db = (session){.path = "database", .shared = &b->shared};
    assert_int_equal(lode_database_open(&b->db.db, b->place.target, NULL), LODE_OK);
    assert_int_equal(session_need_metric(&b->db), 0);
}

static int has_database(const struct bench *b)
{
    return b->kind == DATABASE || b->kind == LARGE;
}

static void open_recording(struct bench *b)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    size_t count;
    if (b->kind == RECORDING) {
        minirec_make(&b->minirec, &options);
        count = minirec_list(&b->minirec, files);
    } else {
        minizor_make(&b->minizor, 0, false);
        count = minizor_list(&b->minizor, files);
    }
    b->rec = (rec_session){.path = "recording", .shared = &b->shared, .slice = LODE_SLICE_INIT};
    assert_int_equal(lode_recording_open_memory(&b->rec.recording, files, count, NULL, NULL), LODE_OK);
}

void resize(struct bench *b, int rows, int columns)
{
    screen_rows = rows;
    screen_columns = columns;
    tui_key(&b->app, TUI_KEY_RESIZE);
    paint_app(&b->app, &screen);
}

struct bench *begin(enum kind kind)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->kind = kind;
    if (kind == DATABASE)
        open_database(b);
    else if (kind == LARGE)
        open_large(b);
    else
        open_recording(b);
    tui_app_init(&b->app, "store", has_database(b) ? &b->db : NULL, has_database(b) ? NULL : &b->rec);
    b->app.is_utf8 = 1;
    resize(b, 24, 80);
    return b;
}

void end(struct bench *b)
{
    tui_app_free(&b->app);
    lode_selection_free(b->db.selection);
    lode_database_close(b->db.db);
    lode_recording_close(b->rec.recording);
    if (b->kind == LARGE)
        leave_place(&b->place);
    else if (b->kind == DATABASE)
        minidb_free(&b->minidb);
    else if (b->kind == RECORDING)
        minirec_free(&b->minirec);
    else
        minizor_free(&b->minizor);
    free(b);
}

/* ---- what always holds ---- */

void check_list(tui_app *app)
{
    const tui_list *list = tui_list_of(app);
    size_t count = tui_ops(app)->count(app);
    assert_true(tui_ops(app)->is_there(app));
    assert_true(count ? list->cursor < count : list->cursor == 0);
    assert_true(list->top <= list->cursor && list->cursor - list->top < (size_t)tui_height(app));
}

/* The rows are those of a tree in order: what is open is followed by what is in it. */
static void check_tree(const tui_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        const tui_tree_row *row = &tree->rows[i];
        uint32_t next = i + 1 < tree->count ? tree->rows[i + 1].depth : 0;
        assert_true(i || row->depth == 0);
        assert_true(row->is_open ? next == row->depth + 1 : next <= row->depth);
        assert_true(row->can_open || !row->is_open);
        assert_false(row->rest && row->is_open);
    }
}

static void check_time(const tui_time *t)
{
    assert_true(t->column >= 0 && t->column < TUI_SCREEN_COLUMNS);
    if (t->lines)
        assert_true(t->begin <= t->from && t->from < t->to && t->to <= t->end);
}

/* No part of a character is left in what is typed. */
static void check_text(const char *text, size_t capacity)
{
    size_t length = strnlen(text, capacity);
    assert_true(length < capacity);
    for (size_t i = 0; i < length; i++) {
        unsigned char head = (unsigned char)text[i];
        size_t more = head < 0x80 ? 0 : head < 0xe0 ? 1 : head < 0xf0 ? 2 : 3;
        assert_true(head < 0x80 || (head >= 0xc0 && head < 0xf8));
        for (; more; more--)
            assert_int_equal((unsigned char)text[++i] & 0xc0, 0x80);
    }
}

void check_state(struct bench *b)
{
    tui_app *app = &b->app;
    check_list(app);
    check_tree(&app->tree);
    check_time(&app->time);
    check_text(app->typed, sizeof app->typed);
    check_text(app->search, sizeof app->search);
    assert_non_null(memchr(app->message, 0, sizeof app->message));
    assert_false(app->is_help && app->is_typing);
    assert_int_equal(app->chosen[0] != 0,
                     has_database(b) ? b->db.selection != NULL : b->rec.slice.tracks != NULL);
}

void press(struct bench *b, int key)
{
    tui_key(&b->app, key);
    check_state(b);
    paint_app(&b->app, &screen);
    check_state(b);
}

void type(struct bench *b, const char *text)
{
    for (; *text; text++)
        press(b, *text);
}
