/* SPDX-License-Identifier: BSD-3-Clause */
/* Table functions have the numbers of the calls that they stand for. */
#include "minidb.h"
#include "minirec.h"
#include "minizor.h"
#include "unit.h"
#include <lode/unstable.h>
#include <stdbool.h>
#include <string.h>

/* A scan with some arguments, whose rows are read one by one. */
struct reading {
    lode_scan *scan;
    const lode_batch *batch;
    uint64_t row;
};

struct argument {
    const char *name;
    const char *string;
    double real;
    uint64_t number;
};

static unsigned column_of(const lode_table_info *info, const char *name)
{
    for (unsigned i = 0; i < info->field_count; i++)
        if (strcmp(info->fields[i].name, name) == 0)
            return i;
    fail_msg("%s has no column %s", info->name, name);
    return 0;
}

static lode_status start(struct reading *reading, lode_tables *tables, const char *name,
                         const struct argument *arguments, size_t count, lode_error *error)
{
    const lode_table_info *info = lode_tables_find(tables, name);
    lode_scan_filter filters[4] = {0};
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    assert_non_null(info);
    assert_true(info->is_function);
    for (size_t i = 0; i < count; i++)
        filters[i] = (lode_scan_filter){column_of(info, arguments[i].name),
                                        LODE_FILTER_EQUAL,
                                        &arguments[i].number,
                                        &arguments[i].real,
                                        &arguments[i].string,
                                        1};
    options.filters = filters;
    options.filter_count = count;
    *reading = (struct reading){0};
    return lode_scan_open(&reading->scan, tables, info, &options, error);
}

static bool next(struct reading *reading)
{
    lode_error error;
    if (reading->batch && ++reading->row < reading->batch->rows)
        return true;
    reading->row = 0;
    lode_status status = lode_scan_next(reading->scan, &reading->batch, &error);
    if (status < 0)
        fail_msg("%s", error.text);
    if (status == LODE_END)
        lode_scan_close(reading->scan);
    return status == LODE_OK;
}

static double real_at(const struct reading *reading, unsigned column)
{
    return ((const double *)reading->batch->columns[column].data)[reading->row];
}

static uint64_t number_at(const struct reading *reading, unsigned column)
{
    const lode_column *from = &reading->batch->columns[column];
    return from->type == LODE_COLUMN_U32 ? ((const uint32_t *)from->data)[reading->row]
                                         : ((const uint64_t *)from->data)[reading->row];
}

static const char *string_at(const struct reading *reading, unsigned column)
{
    return ((const char *const *)reading->batch->columns[column].data)[reading->row];
}

static void begin(struct reading *reading, lode_tables *tables, const char *name,
                  const struct argument *arguments, size_t count)
{
    lode_error error = {0};
    if (start(reading, tables, name, arguments, count, &error) != LODE_OK)
        fail_msg("%s: %s", name, error.text);
}

/* ---- databases ---- */

struct opened {
    struct minidb mini;
    lode_database *db;
    lode_tables *tables;
};

static void open_mini(struct opened *opened)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    options.profiles = 9;
    options.chains = 3;
    minidb_make(&opened->mini, &options);
    minidb_files(&opened->mini, files);
    assert_int_equal(lode_database_open_memory(&opened->db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_tables_open(&opened->tables, opened->db, NULL, NULL, NULL), LODE_OK);
}

static void close_mini(struct opened *opened)
{
    lode_tables_close(opened->tables);
    lode_database_close(opened->db);
    minidb_free(&opened->mini);
}

static void costs_are_those_of_the_library(void **state)
{
    struct opened opened;
    struct reading reading;
    lode_selection *selection;
    lode_cost *cost;
    (void)state;
    open_mini(&opened);
    assert_int_equal(lode_selection_parse(&selection, opened.db, "profile=2-4", NULL), LODE_OK);
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    options.metric = lode_database_metric(opened.db, 1);
    options.selection = selection;
    assert_int_equal(lode_cost_compute(&cost, opened.db, &options, NULL), LODE_OK);
    struct argument arguments[] = {{.name = "metric", .string = lode_metric_name(options.metric)},
                                   {.name = "profiles", .string = "profile=2-4"}};
    begin(&reading, opened.tables, "cost", arguments, 2);
    uint32_t rows = 0;
    for (; next(&reading); rows++) {
        const lode_context *context = lode_database_context(opened.db, (uint32_t)number_at(&reading, 0));
        assert_true(real_at(&reading, 1) == lode_cost_inclusive(cost, context));
        assert_true(real_at(&reading, 2) == lode_cost_own(cost, context));
        assert_string_equal(string_at(&reading, 4), "profile=2-4");
    }
    assert_int_equal(rows, lode_database_context_count(opened.db));
    struct argument one = {.name = "context_id", .number = 4};
    begin(&reading, opened.tables, "cost", &one, 1);
    assert_true(next(&reading));
    assert_int_equal(number_at(&reading, 0), 4);
    assert_false(next(&reading));
    lode_cost_free(cost);
    lode_selection_free(selection);
    close_mini(&opened);
}

static void hotspots_and_trees_are_those_of_the_library(void **state)
{
    struct opened opened;
    struct reading reading;
    lode_cost *cost;
    lode_hotspots *hotspots;
    lode_view *view;
    char label[512];
    (void)state;
    open_mini(&opened);
    assert_int_equal(lode_cost_compute(&cost, opened.db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_hotspots_compute(&hotspots, cost, LODE_BY_LINE, LODE_SORT_EXCLUSIVE, NULL),
                     LODE_OK);
    struct argument by = {.name = "by", .string = "line"};
    begin(&reading, opened.tables, "hotspot", &by, 1);
    size_t row = 0;
    for (; next(&reading); row++) {
        const lode_hotspot *hotspot = lode_hotspots_at(hotspots, row);
        lode_hotspot_label(hotspot, label, sizeof label);
        assert_string_equal(string_at(&reading, 0), label);
        assert_true(real_at(&reading, 4) == hotspot->inclusive && real_at(&reading, 5) == hotspot->exclusive);
    }
    assert_int_equal(row, lode_hotspots_count(hotspots));
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    options.min_fraction = 0.1;
    options.focus = "work";
    assert_int_equal(lode_view_build(&view, cost, &options, NULL), LODE_OK);
    struct argument tree[] = {{.name = "min_share", .real = 0.1}, {.name = "focus", .string = "work"}};
    begin(&reading, opened.tables, "tree", tree, 2);
    for (row = 0; next(&reading); row++) {
        const lode_view_row *expected = lode_view_at(view, row);
        assert_int_equal(number_at(&reading, 0), expected->depth);
        assert_true(real_at(&reading, 2) == expected->inclusive);
        assert_int_equal(number_at(&reading, 4), lode_context_id(expected->context));
    }
    assert_int_equal(row, lode_view_count(view));
    lode_view_free(view);
    lode_hotspots_free(hotspots);
    lode_cost_free(cost);
    close_mini(&opened);
}

static void distributions_have_a_value_for_each_profile(void **state)
{
    struct opened opened;
    struct reading reading;
    double values[16] = {0};
    size_t count = 0;
    uint16_t id;
    const lode_metric *metric;
    lode_distribution expected;
    (void)state;
    open_mini(&opened);
    assert_int_equal(lode_database_default_metric(opened.db, &metric, NULL), LODE_OK);
    assert_int_equal(lode_metric_id(metric, LODE_SCOPE_EXECUTION, &id), LODE_OK);
    for (uint32_t p = 1; p < lode_database_profile_count(opened.db); p++) {
        lode_block block;
        assert_int_equal(lode_profile_block(opened.db, p, &block, NULL), LODE_OK);
        assert_true(lode_block_lookup(&block, 4, id, &values[count++], NULL) >= 0);
    }
    lode_distribution_of(&expected, values, count);
    struct argument context = {.name = "context", .number = 4};
    begin(&reading, opened.tables, "distribution", &context, 1);
    assert_true(next(&reading));
    assert_int_equal(number_at(&reading, 0), count);
    assert_true(real_at(&reading, 2) == expected.min && real_at(&reading, 5) == expected.p50 &&
                real_at(&reading, 9) == expected.max && real_at(&reading, 12) == expected.imbalance);
    assert_int_equal(number_at(&reading, 13), 4);
    assert_false(next(&reading));
    close_mini(&opened);
}

static void timelines_have_a_row_for_each_bin(void **state)
{
    struct opened opened;
    struct reading reading;
    lode_timeline *timeline;
    (void)state;
    open_mini(&opened);
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    options.columns = 7;
    assert_int_equal(lode_timeline_compute(&timeline, opened.db, &options, NULL), LODE_OK);
    struct argument bins = {.name = "bins", .number = 7};
    begin(&reading, opened.tables, "timeline", &bins, 1);
    uint32_t rows = 0, cells = 0;
    while (next(&reading)) {
        uint32_t line = (uint32_t)number_at(&reading, 0) - 1, bin = (uint32_t)number_at(&reading, 1);
        int share = lode_timeline_cell(timeline, line, bin);
        assert_int_equal(lode_timeline_row_profile(timeline, line), line + 1);
        assert_true(share >= 0);
        const lode_context *context = lode_timeline_share_at(timeline, (size_t)share)->context;
        assert_int_equal(number_at(&reading, 3), context ? lode_context_id(context) : 0);
        rows++;
    }
    for (uint32_t line = 0; line < lode_timeline_row_count(timeline); line++)
        for (unsigned bin = 0; bin < 7; bin++)
            cells += lode_timeline_cell(timeline, line, bin) >= 0;
    assert_true(rows > 0);
    assert_int_equal(rows, cells);
    lode_timeline_free(timeline);
    close_mini(&opened);
}

static void wrong_arguments_are_refused(void **state)
{
    static const struct {
        const char *table;
        struct argument argument;
    } cases[] = {{"hotspot", {.name = "by", .string = "moon"}},
                 {"hotspot", {.name = "metric", .string = "no such metric"}},
                 {"cost", {.name = "profiles", .string = "rank="}},
                 {"tree", {.name = "focus", .string = "nobody calls this"}},
                 {"timeline", {.name = "bins", .number = 0}},
                 {"finding", {.name = "level", .string = "deep"}}};
    struct opened opened;
    struct reading reading;
    lode_error error;
    (void)state;
    open_mini(&opened);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lode_status status = start(&reading, opened.tables, cases[i].table, &cases[i].argument, 1, &error);
        assert_true(status < 0);
        assert_int_equal(error.status, status);
        assert_null(reading.scan);
    }
    /* An argument that is missing; a path that nobody gave. */
    assert_int_equal(start(&reading, opened.tables, "distribution", NULL, 0, &error), LODE_ERR_ARGUMENT);
    assert_int_equal(start(&reading, opened.tables, "finding", NULL, 0, &error), LODE_ERR_ARGUMENT);
    close_mini(&opened);
}

/* ---- recordings ---- */

static void calls_are_those_of_the_library(void **state)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_tables *tables;
    lode_calls *calls;
    lode_calltree *tree;
    struct reading reading;
    (void)state;
    minirec_make(&rec, &options);
    size_t count = minirec_list(&rec, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, NULL), LODE_OK);
    assert_int_equal(lode_tables_open(&tables, NULL, recording, NULL, NULL), LODE_OK);
    lode_calls_options asked = LODE_CALLS_OPTIONS_INIT;
    asked.merge = 1;
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, &asked, NULL), LODE_OK);
    begin(&reading, tables, "call_stat", NULL, 0);
    size_t row = 0;
    for (; next(&reading); row++) {
        const lode_call_row *expected = lode_calls_at(calls, row);
        assert_int_equal(number_at(&reading, 1), expected->calls);
        assert_int_equal(number_at(&reading, 2), expected->total);
        assert_int_equal(number_at(&reading, 9), expected->p99);
    }
    assert_int_equal(row, lode_calls_count(calls));
    assert_int_equal(lode_calltree_compute(&tree, recording, NULL, NULL, NULL), LODE_OK);
    uint64_t total = 0;
    begin(&reading, tables, "calltree", NULL, 0);
    for (row = 0; next(&reading); row++)
        total += number_at(&reading, 2) == 1 ? number_at(&reading, 5) : 0;
    assert_int_equal(row, lode_calltree_context_count(tree));
    assert_true((double)total == lode_cost_total(lode_calltree_cost(tree)));
    lode_calltree_free(tree);
    lode_calls_free(calls);
    lode_tables_close(tables);
    lode_recording_close(recording);
    minirec_free(&rec);
}

static void searches_find_what_the_library_finds(void **state)
{
    struct minizor zor;
    lode_memory_file files[MINIZOR_FILES];
    lode_recording *recording;
    lode_tables *tables;
    lode_search *search;
    struct reading reading;
    (void)state;
    minizor_make(&zor, 0, false);
    size_t count = minizor_list(&zor, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, NULL), LODE_OK);
    assert_int_equal(lode_tables_open(&tables, NULL, recording, NULL, NULL), LODE_OK);
    for (uint64_t least = 0; least < 2; least++) {
        lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
        options.min_duration = least * UINT64_C(1000000000000);
        assert_int_equal(lode_search_run(&search, recording, &options, NULL), LODE_OK);
        struct argument argument = {.name = "min_duration", .number = options.min_duration};
        begin(&reading, tables, "found", &argument, 1);
        size_t row = 0;
        for (; next(&reading); row++) {
            assert_int_equal(number_at(&reading, 1), lode_search_at(search, row)->track);
            assert_int_equal(number_at(&reading, 3), lode_search_at(search, row)->duration);
        }
        assert_int_equal(row, lode_search_count(search));
        assert_true(least > 0 || row > 0);
        lode_search_free(search);
    }
    lode_tables_close(tables);
    lode_recording_close(recording);
    minizor_free(&zor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_of_the_library),
        cmocka_unit_test(hotspots_and_trees_are_those_of_the_library),
        cmocka_unit_test(distributions_have_a_value_for_each_profile),
        cmocka_unit_test(timelines_have_a_row_for_each_bin),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(calls_are_those_of_the_library),
        cmocka_unit_test(searches_find_what_the_library_finds),
    };
    return cmocka_run_group_tests_name("scan functions", tests, NULL, NULL);
}
