/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of `lode tui`, by keys. Rules that always hold are in bench.c. */
#include "bench.h"
#include "share.h"
#include "tui/tree.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The program's own main has this name; the linker renames it. */
int __wrap_main(void); // NOLINT(bugprone-reserved-identifier)

enum {
    WALKS = 8, /* LODE_SHARE chooses some of them */
    WALK_KEYS = 12500,
    KEYS_PER_PICTURE = 4 /* on average */
};

/* ---- moving ---- */

static void the_cursor_stays_in_the_rows(void **state)
{
    struct bench *b = begin(DATABASE);
    const tui_list *list = &b->app.lists[TUI_PROFILES];
    (void)state;
    press(b, '6');
    assert_int_equal(tui_ops(&b->app)->count(&b->app), 40);
    assert_int_equal(tui_height(&b->app), 19);
    press(b, TUI_KEY_UP);
    assert_int_equal(list->cursor, 0);
    press(b, 'j');
    press(b, TUI_KEY_DOWN);
    press(b, 'k');
    assert_int_equal(list->cursor, 1);
    press(b, TUI_KEY_PAGE_DOWN);
    assert_int_equal(list->cursor, 20);
    assert_int_equal(list->top, 2);
    press(b, 'G');
    press(b, TUI_KEY_DOWN);
    press(b, ' ');
    assert_int_equal(list->cursor, 39);
    assert_int_equal(list->top, 21);
    press(b, TUI_KEY_PAGE_UP);
    assert_int_equal(list->cursor, 20);
    press(b, TUI_KEY_HOME);
    assert_int_equal(list->cursor + list->top, 0);
    end(b);
}

static void views_keep_their_positions(void **state)
{
    struct bench *b = begin(DATABASE);
    (void)state;
    press(b, '6');
    type(b, "jjjj");
    for (int i = 0; i < 7; i++)
        press(b, TUI_KEY_TAB);
    assert_int_equal(b->app.page, TUI_PROFILES);
    assert_int_equal(b->app.lists[TUI_PROFILES].cursor, 4);
    press(b, TUI_KEY_BACK_TAB);
    assert_int_equal(b->app.page, TUI_TIME);
    press(b, '7');
    assert_int_equal(b->app.page, TUI_TIME);
    end(b);
}

/* Every key that moves in a list moves in the tree, and opens nothing. */
static void keys_that_move_open_nothing(void **state)
{
    static const int keys[] = {TUI_KEY_END, TUI_KEY_UP,        TUI_KEY_HOME,    TUI_KEY_DOWN,     'j',
                               'k',         TUI_KEY_PAGE_DOWN, TUI_KEY_PAGE_UP, TUI_KEY_BACKSPACE};
    struct bench *b = begin(DATABASE);
    (void)state;
    press(b, '3');
    for (int i = 0; i < 3; i++)
        press(b, TUI_KEY_RIGHT);
    size_t count = b->app.tree.count;
    assert_in_range(count, 3, 19);
    const size_t places[] = {count - 1, count - 2, 0, 1, 2, 1, count - 1, 0, 0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        press(b, keys[i]);
        assert_int_equal(b->app.tree.count, count);
        assert_int_equal(b->app.lists[TUI_TREE].cursor, places[i]);
    }
    end(b);
}

/* ---- tree ---- */

static void what_is_closed_is_as_before(void **state)
{
    (void)state;
    for (enum kind kind = DATABASE; kind < KINDS; kind++) {
        struct bench *b = begin(kind);
        const tui_tree *tree = &b->app.tree;
        press(b, '3');
        size_t first = tree->count;
        press(b, TUI_KEY_RIGHT);
        assert_true(tree->rows[0].is_open && tree->count > first);
        assert_int_equal(b->app.lists[TUI_TREE].cursor, 0);
        press(b, TUI_KEY_RIGHT);
        assert_int_equal(b->app.lists[TUI_TREE].cursor, 1);
        press(b, 'E');
        size_t all = tree->count;
        press(b, TUI_KEY_END);
        for (int i = 0; i < 100 && b->app.lists[TUI_TREE].cursor; i++)
            press(b, TUI_KEY_LEFT);
        press(b, TUI_KEY_HOME);
        press(b, TUI_KEY_LEFT);
        assert_int_equal(tree->count, first);
        press(b, 'E');
        assert_true(tree->count >= all);
        press(b, TUI_KEY_ENTER);
        assert_int_equal(tree->count, first);
        press(b, 'i');
        assert_true(tree->is_inverted && tree->count > 0);
        press(b, 'i');
        assert_int_equal(tree->count, first);
        end(b);
    }
}

/* Small rows are one, until it is opened. */
static void the_rest_opens(void **state)
{
    struct bench *b = begin(DATABASE);
    const tui_tree *tree = &b->app.tree;
    size_t at = 0;
    (void)state;
    press(b, '3');
    press(b, 'E');
    while (at < tree->count && !tree->rows[at].rest)
        at++;
    assert_true(at < tree->count);
    uint32_t rest = tree->rows[at].rest;
    size_t count = tree->count;
    while (b->app.lists[TUI_TREE].cursor < at)
        press(b, 'j');
    press(b, TUI_KEY_ENTER);
    assert_int_equal(tree->count, count + rest - 1);
    end(b);
}

/* ---- search ---- */

static void characters_are_typed_and_erased_whole(void **state)
{
    static const int keys[] = {'a', 0xe9, 0x20ac, 0x1f600, 'z'};
    static const size_t sizes[] = {1, 3, 6, 10, 11};
    struct bench *b = begin(DATABASE);
    (void)state;
    press(b, '/');
    press(b, TUI_KEY_BACKSPACE);
    for (size_t i = 0; i < 5; i++) {
        press(b, keys[i]);
        assert_int_equal(strlen(b->app.typed), sizes[i]);
    }
    assert_string_equal(b->app.typed, "a\u00e9\u20ac\U0001f600z");
    for (size_t i = 5; i-- > 0;) {
        assert_int_equal(strlen(b->app.typed), sizes[i]);
        press(b, TUI_KEY_BACKSPACE);
    }
    for (int i = 0; i < 1000; i++)
        press(b, i % 2 ? 0x1f600 : 'q');
    assert_true(strlen(b->app.typed) > 500 && !b->app.is_done);
    press(b, TUI_KEY_ESCAPE);
    assert_false(b->app.is_typing || b->app.search[0]);
    end(b);
}

static const char *text_at_cursor(struct bench *b)
{
    tui_row row = {0};
    tui_ops(&b->app)->row(&b->app, tui_list_of(&b->app)->cursor, &row);
    return row.text;
}

static void search_goes_round(void **state)
{
    (void)state;
    struct bench *b = begin(DATABASE);
    press(b, 'n');
    assert_string_equal(b->app.message, "/ searches");
    type(b, "/HELP");
    press(b, TUI_KEY_ENTER);
    assert_non_null(strstr(text_at_cursor(b), "helper"));
    size_t found = b->app.lists[TUI_FUNCTIONS].cursor;
    press(b, 'n');
    press(b, 'N');
    assert_int_equal(b->app.lists[TUI_FUNCTIONS].cursor, found);
    /* In the tree it is deep in rows that are closed. */
    press(b, '3');
    press(b, 'n');
    assert_non_null(strstr(text_at_cursor(b), "helper"));
    assert_true(b->app.tree.rows[b->app.lists[TUI_TREE].cursor].depth > 2);
    press(b, TUI_KEY_ESCAPE);
    assert_int_equal(b->app.search[0], 0);
    type(b, "/no such name");
    tui_key(&b->app, TUI_KEY_ENTER);
    assert_string_equal(b->app.message, "nothing here matches 'no such name'");
    end(b);
}

/* ---- time ---- */

static void the_window_stays_in_the_recording(void **state)
{
    (void)state;
    for (enum kind kind = DATABASE; kind <= RECORDING; kind++) {
        struct bench *b = begin(kind);
        const tui_time *t = &b->app.time;
        press(b, '5');
        uint64_t whole = t->end - t->begin;
        assert_true(t->from == t->begin && t->to == t->end && whole > 100);
        press(b, 'w');
        assert_true(t->to - t->from == whole / 2 || t->to - t->from == 58);
        for (int i = 0; i < 80; i++)
            press(b, '+');
        assert_int_equal(t->to - t->from, 58); /* a nanosecond for each column of the picture */
        for (int i = 0; i < 100; i++)
            press(b, TUI_KEY_LEFT);
        for (int i = 0; i < 300; i++)
            press(b, 'a');
        for (int i = 0; i < 80; i++)
            press(b, '-');
        assert_true(t->from == t->begin && t->to == t->end);
        press(b, 'd');
        assert_true(t->from == t->begin && t->to == t->end);
        press(b, '=');
        press(b, '0');
        assert_true(t->from == t->begin && t->to == t->end);
        press(b, '[');
        assert_int_equal(t->depth, 0);
        type(b, "]]");
        assert_int_equal(t->depth, 2);
        end(b);
    }
}

/* ---- selection ---- */

static void a_selection_can_be_undone(void **state)
{
    (void)state;
    for (enum kind kind = DATABASE; kind < KINDS; kind++) {
        struct bench *b = begin(kind);
        press(b, '2');
        double total = b->app.total;
        press(b, kind == TRACES ? '7' : '6');
        press(b, TUI_KEY_ENTER);
        assert_true(b->app.chosen[0]);
        press(b, '2');
        assert_true(b->app.total > 0 && b->app.total < total);
        press(b, TUI_KEY_BACKSPACE);
        assert_false(b->app.chosen[0]);
        assert_true(b->app.total == total);
        end(b);
    }
}

/* ---- hostile ---- */

static void any_size_is_drawn(void **state)
{
    static const int sizes[] = {-1, 0, 1, 2, 3, 5, 6, 7, 20, 21, 22, 24, 80, 99, 100, 511, 10000, INT_MAX};
    static const int keys[] = {'2',           '3', 'E',          'G',           'h', '5', 'w', 'G',
                               TUI_KEY_RIGHT, '4', TUI_KEY_DOWN, TUI_KEY_ENTER, 'c', 'd', '6', '7',
                               'n',           '?', '1',          '9',           '2', '/', 'x', TUI_KEY_ENTER};
    enum {
        SIZES = sizeof sizes / sizeof *sizes
    };
    (void)state;
    for (enum kind kind = DATABASE; kind < KINDS; kind++) {
        struct bench *b = begin(kind);
        for (size_t i = 0; i < SIZES; i++)
            for (size_t k = 0; k < SIZES; k++) {
                resize(b, sizes[i], sizes[k]);
                check_state(b);
                press(b, keys[(i * 7 + k) % (sizeof keys / sizeof *keys)]);
            }
        resize(b, 24, 80);
        end(b);
    }
}

/* All of the state but what is said. */
static void expect_the_same(const tui_app *before, const tui_app *after)
{
    tui_app a = *before, b = *after;
    memset(a.message, 0, sizeof a.message);
    memset(b.message, 0, sizeof b.message);
    assert_memory_equal(&a, &b, sizeof a);
}

static void unknown_keys_change_nothing(void **state)
{
    static const int keys[] = {INT_MIN,
                               -1,
                               1,
                               3,
                               31,
                               '8',
                               'z',
                               'Z',
                               127,
                               128,
                               0xe9,
                               0xd800,
                               0x10ffff,
                               TUI_KEY_NONE,
                               TUI_KEY_RESIZE,
                               TUI_KEY_RESIZE + 1,
                               TUI_KEYS_BEYOND(999),
                               INT_MAX};
    (void)state;
    for (enum kind kind = DATABASE; kind < KINDS; kind++) {
        struct bench *b = begin(kind);
        for (const char *page = "12345679"; *page; page++) {
            press(b, *page);
            for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                tui_app before = b->app;
                tui_key(&b->app, keys[i]);
                expect_the_same(&before, &b->app);
            }
        }
        end(b);
    }
}

/* xorshift: the same walk everywhere. */
static uint32_t chance(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)(*seed >> 32);
}

static int any_key(uint64_t *seed)
{
    static const char letters[] = "2356723567jkgGnNmMsheE*iwad+-0[]/?qe \t\n\033";
    uint32_t kind = chance(seed) % 16;
    if (kind < 8)
        return letters[chance(seed) % (sizeof letters - 1)];
    if (kind < 15)
        return TUI_KEY_UP + (int)(chance(seed) % (TUI_KEY_RESIZE - TUI_KEY_UP + 1));
    return (int)chance(seed);
}

static void walk_once(enum kind kind, uint64_t seed)
{
    static const int sizes[] = {0, 1, 8, 24, 40, 80, 120, 300};
    struct bench *b = begin(kind);
    unsigned seen = 0, most = 0;
    texts_put = 0;
    for (int i = 0; i < WALK_KEYS; i++) {
        tui_key(&b->app, any_key(&seed));
        b->app.is_done = 0;
        check_list(&b->app);
        if (chance(&seed) % 512 == 0)
            resize(b, sizes[chance(&seed) % 8], sizes[chance(&seed) % 8]);
        if (chance(&seed) % KEYS_PER_PICTURE == 0) {
            check_state(b);
            paint_app(&b->app, &screen);
            check_state(b);
        }
        seen |= 1u << b->app.page;
        most = b->app.tree.count > most ? (unsigned)b->app.tree.count : most;
    }
    print_message("# %lu texts, at most %u rows of the tree\n", texts_put, most);
    assert_int_equal(seen, kind == TRACES ? 0xdf : 0xbf); /* a bit for each page */
    assert_true(kind != LARGE || most > 100);
    assert_true(texts_put > WALK_KEYS);
    end(b);
}

static void walk(enum kind kind, uint64_t seed)
{
    struct share share = share_from_environment();
    for (uint64_t i = 0; i < WALKS; i++)
        if (i % share.parts == share.part % WALKS)
            walk_once(kind, WALKS * seed + i);
}

static void any_keys_on_a_database(void **state)
{
    (void)state;
    walk(DATABASE, 1);
}

static void any_keys_on_a_large_database(void **state)
{
    (void)state;
    walk(LARGE, 4);
}

static void any_keys_on_a_recording(void **state)
{
    (void)state;
    walk(RECORDING, 2);
}

static void any_keys_on_a_trace_store(void **state)
{
    (void)state;
    walk(TRACES, 3);
}

int __wrap_main(void) // NOLINT(bugprone-reserved-identifier)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cursor_stays_in_the_rows),
        cmocka_unit_test(views_keep_their_positions),
        cmocka_unit_test(keys_that_move_open_nothing),
        cmocka_unit_test(what_is_closed_is_as_before),
        cmocka_unit_test(the_rest_opens),
        cmocka_unit_test(characters_are_typed_and_erased_whole),
        cmocka_unit_test(search_goes_round),
        cmocka_unit_test(the_window_stays_in_the_recording),
        cmocka_unit_test(a_selection_can_be_undone),
        cmocka_unit_test(any_size_is_drawn),
        cmocka_unit_test(unknown_keys_change_nothing),
        cmocka_unit_test(any_keys_on_a_database),
        cmocka_unit_test(any_keys_on_a_large_database),
        cmocka_unit_test(any_keys_on_a_recording),
        cmocka_unit_test(any_keys_on_a_trace_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
