/* SPDX-License-Identifier: BSD-3-Clause */
/* The analyses, against numbers derived by hand from the test database (minidb.h). */
#include "base/io/bytes.h"
#include "minidb.h"
#include "unit.h"
#include <lode/unstable.h>
#include <math.h>
#include <string.h>

struct fixture {
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    lode_cost *cost;
};

static void open_mini(struct fixture *f, bool unlisted)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    options.unlisted = unlisted;
    minidb_make(&f->mini, &options);
    minidb_files(&f->mini, f->files);
    f->db = NULL;
    f->cost = NULL;
}

static void compute(struct fixture *f, const char *selection_text)
{
    lode_error error = {0};
    lode_selection *selection = NULL;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    if (f->db == NULL)
        assert_int_equal(lode_database_open_memory(&f->db, f->files, HPCT_FILES, &error), LODE_OK);
    if (selection_text)
        assert_int_equal(lode_selection_parse(&selection, f->db, selection_text, &error), LODE_OK);
    options.selection = selection;
    options.threads = 3;
    lode_cost_free(f->cost);
    if (lode_cost_compute(&f->cost, f->db, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    lode_selection_free(selection);
}

static void close_mini(struct fixture *f)
{
    lode_cost_free(f->cost);
    lode_database_close(f->db);
    minidb_free(&f->mini);
}

/* Point values of metric 0, as tests/support/stores/minidb.c writes them. */
static double point(uint32_t profile, uint32_t context)
{
    bool there = context == 6 || context == 7 || context == 10 || (context == 12 && profile == 1) ||
                 (context == 3 && profile == 1);
    return there ? (double)((profile * 7 + context * 3) % 50 + 1) : 0.0;
}

static double points(uint32_t context)
{
    return point(1, context) + point(2, context) + point(3, context);
}

static double inclusive(const struct fixture *f, uint32_t id)
{
    return lode_cost_inclusive(f->cost, lode_database_context(f->db, id));
}

static double own(const struct fixture *f, uint32_t id)
{
    return lode_cost_own(f->cost, lode_database_context(f->db, id));
}

static void costs_come_from_the_summary(void **state)
{
    struct fixture f;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    double total = points(3) + points(6) + points(7) + points(10) + points(12);
    assert_true(lode_cost_total(f.cost) == total);
    assert_int_equal(lode_cost_profiles(f.cost), 3);
    assert_string_equal(lode_metric_name(lode_cost_metric(f.cost)), "time (sec)");
    assert_true(inclusive(&f, 4) == points(6) + points(7) + points(10));
    assert_true(inclusive(&f, 5) == points(6));
    assert_true(own(&f, 7) == points(7));
    assert_true(own(&f, 4) == 0.0);
    assert_true(own(&f, 3) == points(3));
    assert_int_equal(lode_cost_unlisted_contexts(f.cost), 0);
    close_mini(&f);
}

static void costs_of_selected_profiles_are_added_up(void **state)
{
    struct fixture f;
    (void)state;
    open_mini(&f, false);
    compute(&f, "rank=0"); /* profiles 1 and 2 */
    assert_int_equal(lode_cost_profiles(f.cost), 2);
    assert_true(inclusive(&f, 5) == point(1, 6) + point(2, 6));
    compute(&f, "thread=0"); /* profiles 1 and 3 */
    assert_true(inclusive(&f, 5) == point(1, 6) + point(3, 6));
    compute(&f, "profile=1-3");
    double by_profiles = lode_cost_total(f.cost);
    compute(&f, NULL);
    assert_true(by_profiles == lode_cost_total(f.cost));
    close_mini(&f);
}

static void costs_of_unlisted_contexts_stay_with_their_ancestor(void **state)
{
    struct fixture f;
    (void)state;
    open_mini(&f, true);
    compute(&f, NULL);
    /* 5 at context 8, below 7, in each of three profiles. */
    assert_true(own(&f, 7) == points(7) + 15);
    assert_int_equal(lode_cost_unlisted_contexts(f.cost), 1);
    assert_int_equal(lode_cost_unlisted_values(f.cost), 1);
    compute(&f, "rank=0");
    assert_true(own(&f, 7) == point(1, 7) + point(2, 7) + 10);
    assert_int_equal(lode_cost_unlisted_values(f.cost), 2);
    close_mini(&f);
}

/* ---- hotspots ---- */

static const lode_hotspot *find_hotspot(const lode_hotspots *hotspots, const char *name)
{
    for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
        char label[128];
        lode_hotspot_label(lode_hotspots_at(hotspots, i), label, sizeof label);
        if (strcmp(label, name) == 0)
            return lode_hotspots_at(hotspots, i);
    }
    static const lode_hotspot none;
    fail_msg("no hotspot %s", name);
    return &none;
}

static lode_hotspots *hotspots_by(const struct fixture *f, lode_group_by by)
{
    lode_hotspots *hotspots;
    double sum = 0;
    assert_int_equal(lode_hotspots_compute(&hotspots, f->cost, by, LODE_SORT_EXCLUSIVE, NULL), LODE_OK);
    for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
        const lode_hotspot *row = lode_hotspots_at(hotspots, i);
        sum += row->exclusive;
        assert_true(i == 0 || lode_hotspots_at(hotspots, i - 1)->exclusive >= row->exclusive);
        assert_true(row->inclusive <= lode_cost_total(f->cost));
    }
    /* Loops are not everywhere; all else adds up to everything. */
    if (by != LODE_BY_LOOP)
        assert_true(sum == lode_cost_total(f->cost));
    return hotspots;
}

static void hotspots_by_function_add_up(void **state)
{
    struct fixture f;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    lode_hotspots *hotspots = hotspots_by(&f, LODE_BY_FUNCTION);
    const lode_hotspot *work = find_hotspot(hotspots, "work(double*)");
    assert_true(work->exclusive == points(6) + points(7));
    assert_true(work->inclusive == points(6) + points(7) + points(10));
    assert_true(find_hotspot(hotspots, "main")->exclusive == points(3));
    assert_true(find_hotspot(hotspots, "helper")->exclusive == points(10));
    assert_true(find_hotspot(hotspots, "lib.so+0x40")->exclusive == points(12));
    assert_int_equal(lode_hotspots_count(hotspots), 4);
    lode_hotspots_free(hotspots);
    close_mini(&f);
}

static void hotspots_by_place_add_up(void **state)
{
    struct fixture f;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    lode_hotspots *lines = hotspots_by(&f, LODE_BY_LINE), *loops = hotspots_by(&f, LODE_BY_LOOP);
    lode_hotspots *modules = hotspots_by(&f, LODE_BY_MODULE), *files = hotspots_by(&f, LODE_BY_FILE);
    const lode_hotspot *line = find_hotspot(lines, "work.c:9");
    assert_true(line->exclusive == points(7));
    assert_true(line->inclusive == points(7) + points(10));
    assert_string_equal(lode_function_name(line->function), "_Z4workPd");
    assert_int_equal(lode_hotspots_count(loops), 1);
    assert_true(find_hotspot(loops, "loop at work.c:5")->exclusive == points(6));
    assert_true(find_hotspot(modules, "/lib/lib.so")->exclusive == points(12));
    assert_true(find_hotspot(modules, "/bin/app")->inclusive == inclusive(&f, 2));
    assert_true(find_hotspot(files, "src/main.c")->exclusive == points(3));
    lode_hotspots_free(lines);
    lode_hotspots_free(loops);
    lode_hotspots_free(modules);
    lode_hotspots_free(files);
    close_mini(&f);
}

/* Rows that were computed in one order, in each of the others. */
static void hotspots_are_sorted_again(void **state)
{
    static const lode_group_by groups[] = {LODE_BY_FUNCTION, LODE_BY_LINE, LODE_BY_MODULE};
    static const lode_hotspot_sort orders[] = {LODE_SORT_EXCLUSIVE, LODE_SORT_INCLUSIVE, LODE_SORT_NAME};
    struct fixture f;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    for (size_t i = 0; i < 9; i++) {
        lode_hotspots *first = hotspots_by(&f, groups[i / 3]), *sorted, *expected;
        assert_int_equal(lode_hotspots_sorted(&sorted, first, orders[i % 3], NULL), LODE_OK);
        assert_int_equal(lode_hotspots_compute(&expected, f.cost, groups[i / 3], orders[i % 3], NULL),
                         LODE_OK);
        assert_int_equal(lode_hotspots_count(sorted), lode_hotspots_count(expected));
        for (size_t k = 0; k < lode_hotspots_count(expected); k++) {
            assert_ptr_equal(lode_hotspots_at(sorted, k)->sample, lode_hotspots_at(expected, k)->sample);
            assert_true(lode_hotspots_at(sorted, k)->inclusive == lode_hotspots_at(expected, k)->inclusive);
        }
        lode_hotspots_free(first);
        lode_hotspots_free(sorted);
        lode_hotspots_free(expected);
    }
    close_mini(&f);
}

static void recursion_is_counted_once(void **state)
{
    struct fixture f;
    (void)state;
    open_mini(&f, false);
    /* Context 9 becomes a call of work inside work. */
    put_u64le(minidb_at(&f.mini, HPCT_META, f.mini.contexts[9] + WIRE_Context_SIZE),
              f.mini.functions + WIRE_Function_SIZE);
    compute(&f, NULL);
    lode_hotspots *hotspots = hotspots_by(&f, LODE_BY_FUNCTION);
    const lode_hotspot *work = find_hotspot(hotspots, "work(double*)");
    assert_true(work->inclusive == points(6) + points(7) + points(10));
    assert_true(work->exclusive == work->inclusive);
    assert_int_equal(work->contexts, 2);
    lode_hotspots_free(hotspots);
    close_mini(&f);
}

/* ---- views ---- */

static void assert_rows(const lode_view *view, const char *const *labels, const unsigned *depths,
                        size_t count)
{
    assert_int_equal(lode_view_count(view), count);
    for (size_t i = 0; i < count; i++) {
        char label[128];
        lode_context_label(lode_view_at(view, i)->context, label, sizeof label);
        assert_string_equal(label, labels[i]);
        assert_int_equal(lode_view_at(view, i)->depth, depths[i]);
    }
    assert_null(lode_view_at(view, count));
}

static lode_view *build_view(const struct fixture *f, const lode_view_options *options)
{
    lode_view *view;
    lode_error error = {0};
    if (lode_view_build(&view, f->cost, options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return view;
}

static void top_down_views_show_functions_and_loops(void **state)
{
    static const char *const labels[] = {"main thread",      "main",   "work(double*)",
                                         "loop at work.c:5", "helper", "application thread",
                                         "lib.so+0x40"};
    static const unsigned depths[] = {0, 1, 2, 3, 3, 0, 1};
    struct fixture f;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    options.min_fraction = 0;
    lode_view *view = build_view(&f, &options);
    /* helper (150 + ...) and the loop are ordered by cost. */
    bool loop_first = points(6) >= points(10);
    const char *expected[7];
    memcpy(expected, labels, sizeof labels);
    if (!loop_first) {
        expected[3] = labels[4];
        expected[4] = labels[3];
    }
    assert_rows(view, expected, depths, 7);
    double exclusive = 0;
    for (size_t i = 0; i < 7; i++)
        exclusive += lode_view_at(view, i)->exclusive;
    assert_true(exclusive == lode_cost_total(f.cost));
    const lode_view_row *work = lode_view_at(view, 2);
    assert_true(work->exclusive == points(7));
    assert_int_equal(work->call_line, 10);
    assert_string_equal(lode_file_path(work->call_file), "src/main.c");
    assert_true(lode_view_at(view, 0)->hot && lode_view_at(view, 1)->hot && work->hot);
    assert_false(lode_view_at(view, 5)->hot);
    lode_view_free(view);
    close_mini(&f);
}

static void views_are_pruned_by_depth_share_and_rows(void **state)
{
    struct fixture f;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    options.depth = 2;
    lode_view *view = build_view(&f, &options);
    static const char *const shallow[] = {"main thread", "main", "application thread", "lib.so+0x40"};
    static const unsigned depths[] = {0, 1, 0, 1};
    assert_rows(view, shallow, depths, 4);
    assert_true(lode_view_at(view, 1)->folded);
    assert_false(lode_view_at(view, 3)->folded);
    lode_view_free(view);
    options.depth = 0;
    options.min_fraction = 0.5;
    view = build_view(&f, &options);
    assert_int_equal(lode_view_count(view), 3);
    lode_view_free(view);
    options.max_rows = 1;
    view = build_view(&f, &options);
    assert_int_equal(lode_view_count(view), 1);
    lode_view_free(view);
    close_mini(&f);
}

static void views_start_at_the_focus(void **state)
{
    static const char *const labels[] = {"helper"};
    static const unsigned depths[] = {0};
    struct fixture f;
    lode_view *view;
    lode_error error = {0};
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    options.focus = "HELP";
    view = build_view(&f, &options);
    assert_rows(view, labels, depths, 1);
    assert_true(lode_view_at(view, 0)->inclusive == points(10));
    lode_view_free(view);
    options.focus = "nothing like it";
    assert_int_equal(lode_view_build(&view, f.cost, &options, &error), LODE_NOT_FOUND);
    assert_null(view);
    close_mini(&f);
}

static void views_by_callers_follow_calls_up(void **state)
{
    static const char *const labels[] = {"helper", "work(double*)", "main", "main thread"};
    static const unsigned depths[] = {0, 1, 2, 3};
    struct fixture f;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    options.mode = LODE_VIEW_CALLERS;
    options.focus = "helper";
    lode_view *view = build_view(&f, &options);
    assert_rows(view, labels, depths, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(lode_view_at(view, i)->inclusive == points(10));
    assert_true(lode_view_at(view, 0)->exclusive == points(10));
    assert_true(lode_view_at(view, 1)->exclusive == 0.0);
    lode_view_free(view);
    close_mini(&f);
}

/* ---- timelines ---- */

/*
 * Line i has samples at 1000001 + i + 10 k, for k = 0 .. 5, cycling through contexts 6, 10, 0, 12,
 * 7 from the i-th. Each lasts 10 ns; the last has no duration.
 */
static void timelines_add_up_time_by_function(void **state)
{
    static const char *const labels[] = {"work(double*)", "<program root>", "helper", "lib.so+0x40"};
    static const uint64_t nanoseconds[] = {60, 30, 30, 30};
    struct fixture f;
    lode_timeline *timeline;
    uint64_t from, to;
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    options.columns = 5;
    options.from = 1000001;
    options.to = 1000054;
    assert_int_equal(lode_timeline_compute(&timeline, f.db, &options, NULL), LODE_OK);
    lode_timeline_window(timeline, &from, &to);
    assert_int_equal(from, 1000001);
    assert_int_equal(to, 1000054);
    assert_int_equal(lode_timeline_samples(timeline), 18);
    assert_int_equal(lode_timeline_share_count(timeline), 4);
    uint64_t total = 0;
    for (size_t i = 0; i < 4; i++) {
        const lode_timeline_share *share = lode_timeline_share_at(timeline, i);
        total += share->nanoseconds;
        for (size_t k = 0; k < 4; k++) {
            char label[64];
            lode_context_label(share->context, label, sizeof label);
            if (strcmp(label, labels[k]) == 0)
                assert_int_equal(share->nanoseconds, nanoseconds[k]);
        }
    }
    assert_int_equal(total, 150);
    /* Row 0 begins in work, and the last column is the second visit to it. */
    assert_int_equal(lode_timeline_row_count(timeline), 3);
    assert_int_equal(lode_timeline_row_profile(timeline, 0), 1);
    assert_int_equal(lode_timeline_cell(timeline, 0, 0), 0);
    assert_int_equal(lode_timeline_cell(timeline, 0, 4), 0);
    assert_int_not_equal(lode_timeline_cell(timeline, 0, 1), 0);
    assert_int_equal(lode_timeline_cell(timeline, 3, 0), -1);
    lode_timeline_free(timeline);
    close_mini(&f);
}

static void timelines_of_a_window_hold_what_it_holds(void **state)
{
    struct fixture f;
    lode_timeline *timeline;
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    lode_selection *selection;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    assert_int_equal(lode_selection_parse(&selection, f.db, "profile=1", NULL), LODE_OK);
    options.selection = selection;
    options.from = 1000016;
    options.to = 1000028;
    options.columns = 4;
    assert_int_equal(lode_timeline_compute(&timeline, f.db, &options, NULL), LODE_OK);
    /* helper from 16 to 21, then not running until 28; one sample begins inside. */
    assert_int_equal(lode_timeline_samples(timeline), 1);
    assert_int_equal(lode_timeline_share_count(timeline), 2);
    assert_int_equal(lode_timeline_share_at(timeline, 0)->nanoseconds, 7);
    assert_int_equal(lode_context_id(lode_timeline_share_at(timeline, 0)->context), 0);
    assert_int_equal(lode_timeline_share_at(timeline, 1)->nanoseconds, 5);
    assert_int_equal(lode_timeline_cell(timeline, 0, 0), 1);
    assert_int_equal(lode_timeline_cell(timeline, 0, 3), 0);
    lode_timeline_free(timeline);
    /* A window after everything holds nothing. */
    options.from = 2000000;
    options.to = 3000000;
    assert_int_equal(lode_timeline_compute(&timeline, f.db, &options, NULL), LODE_OK);
    assert_int_equal(lode_timeline_share_count(timeline), 0);
    assert_int_equal(lode_timeline_cell(timeline, 0, 0), -1);
    lode_timeline_free(timeline);
    lode_selection_free(selection);
    close_mini(&f);
}

static void timelines_can_stop_at_a_call_depth(void **state)
{
    struct fixture f;
    lode_timeline *timeline;
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    char label[64];
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    options.depth = 1;
    assert_int_equal(lode_timeline_compute(&timeline, f.db, &options, NULL), LODE_OK);
    lode_context_label(lode_timeline_share_at(timeline, 0)->context, label, sizeof label);
    assert_string_equal(label, "main");
    assert_int_equal(lode_timeline_share_at(timeline, 0)->nanoseconds, 90);
    lode_timeline_free(timeline);
    close_mini(&f);
}

/* ---- numbers ---- */

static void distributions_are_right(void **state)
{
    double values[] = {4, 1, 3, 2, 10};
    lode_distribution d;
    (void)state;
    lode_distribution_of(&d, values, 5);
    assert_int_equal(d.count, 5);
    assert_true(d.sum == 20 && d.min == 1 && d.max == 10 && d.mean == 4 && d.p50 == 3);
    assert_true(d.p25 == 2 && d.p75 == 4);
    assert_true(fabs(d.p95 - 8.8) < 1e-12);
    assert_true(fabs(d.stddev - sqrt(10)) < 1e-12);
    assert_true(fabs(d.imbalance - 1.5) < 1e-12);
    lode_distribution_of(&d, values, 0);
    assert_true(d.count == 0 && d.mean == 0 && d.imbalance == 0);
    lode_distribution_of(&d, values, 1);
    assert_true(d.p99 == 1 && d.stddev == 0);
}

static void large_distributions_are_sorted_like_small_ones(void **state)
{
    enum {
        COUNT = 5000
    };
    static double values[COUNT];
    lode_distribution d;
    (void)state;
    /* A permutation of -2500 .. 2499, divided: negative numbers, zero, many digits. */
    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = ((double)(i * 1237u % COUNT) - 2500.0) / 7.0;
    lode_distribution_of(&d, values, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(values[i] == ((double)i - 2500.0) / 7.0);
    assert_true(d.min == -2500.0 / 7.0 && d.max == 2499.0 / 7.0);
}

static void histograms_count_every_value_once(void **state)
{
    const double values[] = {0, 0.9, 1, 2.5, 4, -1, 5};
    uint64_t bins[4];
    (void)state;
    lode_histogram_of(bins, 4, 0, 4, values, 7);
    /* The maximum is in the last bin, with larger values. */
    const uint64_t expected[] = {2, 1, 1, 2};
    assert_memory_equal(bins, expected, sizeof bins);
    lode_histogram_of(bins, 4, 3, 3, values, 2);
    assert_int_equal(bins[0], 2);
}

static void selections_say_what_is_wrong_with_them(void **state)
{
    struct fixture f;
    lode_selection *selection;
    static const char *const wrong[] = {"",         "rank",     "rank=",   "rank=a",
                                        "rank=3-1", "socket=0", "rank=0,", "rank=0 x"};
    int selected;
    (void)state;
    open_mini(&f, false);
    compute(&f, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lode_error error = {0};
        assert_int_equal(lode_selection_parse(&selection, f.db, wrong[i], &error), LODE_ERR_ARGUMENT);
        assert_null(selection);
        assert_non_null(strstr(error.text, "rank=0-15+20,thread=0"));
    }
    assert_int_equal(lode_selection_parse(&selection, f.db, "Rank=0-0+1,THREAD=1", NULL), LODE_OK);
    static const int expected[] = {0, 0, 1, 0};
    for (uint32_t p = 0; p < 4; p++) {
        assert_int_equal(lode_selection_has(selection, f.db, p, &selected, NULL), LODE_OK);
        assert_int_equal(selected, expected[p]);
    }
    lode_selection_free(selection);
    close_mini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_come_from_the_summary),
        cmocka_unit_test(costs_of_selected_profiles_are_added_up),
        cmocka_unit_test(costs_of_unlisted_contexts_stay_with_their_ancestor),
        cmocka_unit_test(hotspots_by_function_add_up),
        cmocka_unit_test(hotspots_by_place_add_up),
        cmocka_unit_test(hotspots_are_sorted_again),
        cmocka_unit_test(recursion_is_counted_once),
        cmocka_unit_test(top_down_views_show_functions_and_loops),
        cmocka_unit_test(views_are_pruned_by_depth_share_and_rows),
        cmocka_unit_test(views_start_at_the_focus),
        cmocka_unit_test(views_by_callers_follow_calls_up),
        cmocka_unit_test(timelines_add_up_time_by_function),
        cmocka_unit_test(timelines_of_a_window_hold_what_it_holds),
        cmocka_unit_test(timelines_can_stop_at_a_call_depth),
        cmocka_unit_test(distributions_are_right),
        cmocka_unit_test(large_distributions_are_sorted_like_small_ones),
        cmocka_unit_test(histograms_count_every_value_once),
        cmocka_unit_test(selections_say_what_is_wrong_with_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
