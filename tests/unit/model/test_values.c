/* SPDX-License-Identifier: BSD-3-Clause */
/* A cursor over values gives the same sequence from either file, and reads the cheaper one. */
#include "minidb.h"
#include "unit.h"
#include <dirent.h>
#include <lode/unstable.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t context, metric, profile;
    double value;
};

struct rows {
    struct row *items;
    size_t count, capacity;
    uint64_t bytes;
    lode_values_path path;
};

/* ---- reading ---- */

static void add(struct rows *rows, struct row row)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity * 2 + 64;
        rows->items = realloc(rows->items, rows->capacity * sizeof *rows->items);
        assert_non_null(rows->items);
    }
    rows->items[rows->count++] = row;
}

static void add_batch(struct rows *rows, const lode_column columns[LODE_VALUES_COLUMNS])
{
    const uint32_t *contexts = columns[0].data, *profiles = columns[2].data;
    const uint16_t *metrics = columns[1].data;
    const double *values = columns[3].data;
    assert_true(columns[0].count > 0);
    for (uint64_t i = 0; i < columns[0].count; i++)
        add(rows, (struct row){contexts[i], metrics[i], profiles[i], values[i]});
}

static struct rows read_values(const lode_database *db, lode_values_options options, lode_values_path path)
{
    struct rows rows = {0};
    lode_values *values;
    lode_column columns[LODE_VALUES_COLUMNS];
    lode_error error = {0};
    lode_status status;
    options.path = path;
    if (lode_values_open(&values, db, &options, &error) != LODE_OK)
        fail_msg("%s: %s", error.file, error.text);
    while ((status = lode_values_next(values, columns, &error)) == LODE_OK)
        add_batch(&rows, columns);
    if (status != LODE_END)
        fail_msg("%s: %s", error.file, error.text);
    rows.bytes = lode_values_bytes_read(values);
    rows.path = lode_values_chosen(values);
    lode_values_close(values);
    return rows;
}

/* ---- what they should be: all values of all profiles, sorted ---- */

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->metric != b->metric)
        return a->metric < b->metric ? -1 : 1;
    return a->profile < b->profile ? -1 : a->profile > b->profile;
}

static bool is_wanted(const lode_database *db, const lode_values_options *options, const struct row *row)
{
    int selected;
    assert_int_equal(lode_selection_has(options->selection, db, row->profile, &selected, NULL), LODE_OK);
    return selected && row->context >= options->context_first && row->profile >= options->profile_first &&
           (options->context_end == 0 || row->context < options->context_end) &&
           (options->profile_end == 0 || row->profile < options->profile_end) &&
           (options->metric < 0 || row->metric == (uint32_t)options->metric);
}

static struct rows reference(const lode_database *db, const lode_values_options *options)
{
    struct rows rows = {0};
    for (uint32_t p = 1; p < lode_database_profile_count(db); p++) {
        lode_block block;
        lode_group group;
        lode_value value;
        assert_int_equal(lode_profile_block(db, p, &block, NULL), LODE_OK);
        for (uint32_t g = 0; lode_block_group(&block, g, &group, NULL) == LODE_OK; g++) {
            for (uint64_t i = 0; i < group.count; i++) {
                assert_int_equal(lode_block_read(&block, group.first + i, 1, &value), LODE_OK);
                struct row row = {group.key, value.key, p, value.value};
                if (is_wanted(db, options, &row))
                    add(&rows, row);
            }
        }
    }
    if (rows.count > 0)
        qsort(rows.items, rows.count, sizeof *rows.items, compare_rows);
    return rows;
}

static void expect_same(const struct rows *a, const struct rows *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(compare_rows(&a->items[i], &b->items[i]), 0);
        assert_memory_equal(&a->items[i].value, &b->items[i].value, sizeof(double));
    }
}

/* What is estimated is not exact: searches end early, and values are not spread evenly. */
static bool is_close(uint64_t bytes, uint64_t least)
{
    return bytes <= least + least / 2 + 2048;
}

static void check(const lode_database *db, const lode_values_options *options)
{
    struct rows expected = reference(db, options);
    struct rows by_profiles = read_values(db, *options, LODE_VALUES_BY_PROFILES);
    struct rows cheaper = read_values(db, *options, LODE_VALUES_CHEAPER);
    struct rows by_contexts = cheaper;
    expect_same(&by_profiles, &expected);
    expect_same(&cheaper, &expected);
    if (lode_database_has(db, LODE_PART_CONTEXT)) {
        by_contexts = read_values(db, *options, LODE_VALUES_BY_CONTEXTS);
        expect_same(&by_contexts, &expected);
        uint64_t least = by_contexts.bytes < by_profiles.bytes ? by_contexts.bytes : by_profiles.bytes;
        if (!is_close(cheaper.bytes, least))
            fail_msg("contexts %u to %u, profiles %u to %u, metric %d: %llu bytes where %llu would do",
                     options->context_first, options->context_end, options->profile_first,
                     options->profile_end, options->metric, (unsigned long long)cheaper.bytes,
                     (unsigned long long)least);
        free(by_contexts.items);
    }
    free(expected.items);
    free(by_profiles.items);
    free(cheaper.items);
}

/* All, one context, some, the metric with most values, profiles at the end, both. */
static void check_ranges(const lode_database *db)
{
    uint32_t profiles = lode_database_profile_count(db), contexts = lode_database_context_block_count(db);
    struct rows all = reference(db, &(lode_values_options)LODE_VALUES_OPTIONS_INIT);
    uint32_t some = all.count ? all.items[all.count / 2].context : 1;
    int metric = all.count ? (int)all.items[all.count / 2].metric : 0;
    uint32_t ranges[][2] = {{0, 0}, {some, some + 1}, {some, some + contexts / 8 + 1}, {contexts, 0}};
    uint32_t parts[][2] = {
        {0, 0}, {profiles - 1, 0}, {1, 2}, {profiles / 2, profiles / 2 + 3}, {profiles, 9}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            for (int m = -1; m <= metric; m += metric + 1) {
                lode_values_options options = LODE_VALUES_OPTIONS_INIT;
                options.context_first = ranges[i][0];
                options.context_end = ranges[i][1];
                options.profile_first = parts[k][0];
                options.profile_end = parts[k][1];
                options.metric = m;
                check(db, &options);
            }
        }
    }
    free(all.items);
}

/* ---- tests ---- */

static void open_mini(struct minidb *mini, lode_database **db, const struct minidb_options *options)
{
    lode_memory_file files[HPCT_FILES];
    lode_error error = {0};
    minidb_make(mini, options);
    minidb_files(mini, files);
    if (lode_database_open_memory(db, files, HPCT_FILES, &error) != LODE_OK)
        fail_msg("%s", error.text);
}

static void both_files_give_the_same_values(void **state)
{
    static const uint32_t sizes[][2] = {{1, 0}, {3, 0}, {3, 200}, {40, 3}, {60, 60}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct minidb_options options = MINIDB_OPTIONS_INIT;
        struct minidb mini;
        lode_database *db;
        options.profiles = sizes[i][0];
        options.chains = sizes[i][1];
        options.unlisted = i % 2;
        open_mini(&mini, &db, &options);
        check_ranges(db);
        lode_database_close(db);
        minidb_free(&mini);
    }
}

static void selections_are_used_by_both(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_values_options values = LODE_VALUES_OPTIONS_INIT;
    lode_selection *selection;
    (void)state;
    options.profiles = 20;
    open_mini(&mini, &db, &options);
    assert_int_equal(lode_selection_parse(&selection, db, "thread=0", NULL), LODE_OK);
    values.selection = selection;
    check(db, &values);
    lode_selection_free(selection);
    lode_database_close(db);
    minidb_free(&mini);
}

/* One context of many profiles is read from its own block, as is one profile of many contexts. */
static void the_cheaper_file_is_read(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_values_options values = LODE_VALUES_OPTIONS_INIT;
    (void)state;
    options.profiles = 100;
    options.chains = 100;
    open_mini(&mini, &db, &options);
    values.context_first = 6;
    values.context_end = 7;
    struct rows rows = read_values(db, values, LODE_VALUES_CHEAPER);
    assert_int_equal(rows.path, LODE_VALUES_BY_CONTEXTS);
    free(rows.items);
    values = (lode_values_options)LODE_VALUES_OPTIONS_INIT;
    values.profile_first = 5;
    values.profile_end = 6;
    rows = read_values(db, values, LODE_VALUES_CHEAPER);
    assert_int_equal(rows.path, LODE_VALUES_BY_PROFILES);
    free(rows.items);
    lode_database_close(db);
    minidb_free(&mini);
}

static void without_values_by_context_there_is_one_way(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    lode_values_options options = LODE_VALUES_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    lode_values *values;
    lode_error error = {0};
    (void)state;
    minidb_make(&mini, &mini_options);
    minidb_files(&mini, files);
    files[HPCT_CCT] = files[HPCT_FILES - 1];
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES - 1, NULL), LODE_OK);
    assert_false(lode_database_has(db, LODE_PART_CONTEXT));
    check(db, &options);
    options.path = LODE_VALUES_BY_CONTEXTS;
    assert_int_equal(lode_values_open(&values, db, &options, &error), LODE_ABSENT);
    assert_null(values);
    lode_values_close(NULL);
    lode_database_close(db);
    minidb_free(&mini);
}

/* The last status of a cursor. */
static lode_status read_to_the_end(const lode_database *db, lode_values_path path)
{
    lode_values_options options = LODE_VALUES_OPTIONS_INIT;
    lode_values *values;
    lode_column columns[LODE_VALUES_COLUMNS];
    options.path = path;
    lode_status status = lode_values_open(&values, db, &options, NULL);
    while (status == LODE_OK)
        status = lode_values_next(values, columns, NULL);
    lode_values_close(values);
    return status;
}

/* Keys that do not ascend would make a sequence that depends on the file. */
static void values_in_another_order_are_refused(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    (void)state;
    minidb_make(&mini, &options);
    uint64_t first = minidb_context_value(&mini, 6, 0, 1), second = minidb_context_value(&mini, 6, 0, 2);
    assert_true(first && second);
    memcpy(minidb_at(&mini, HPCT_CCT, first), minidb_at(&mini, HPCT_CCT, second), 4);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(read_to_the_end(db, LODE_VALUES_BY_PROFILES), LODE_END);
    assert_int_equal(read_to_the_end(db, LODE_VALUES_BY_CONTEXTS), LODE_ERR_CORRUPT);
    lode_database_close(db);
    minidb_free(&mini);
}

/* The same of contexts and metrics: the second value of a profile takes the metric of its first. */
static void contexts_in_another_order_are_refused(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    lode_block block;
    lode_value values[2];
    (void)state;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_profile_block(db, 1, &block, NULL), LODE_OK);
    assert_int_equal(lode_block_read(&block, 0, 2, values), LODE_OK);
    lode_group group;
    assert_int_equal(lode_block_group(&block, 0, &group, NULL), LODE_OK);
    assert_true(group.count >= 2 && values[0].key < values[1].key);
    unsigned char *first =
        minidb_at(&mini, HPCT_PROFILE, minidb_profile_value(&mini, 1, group.key, values[0].key));
    /* Both keys lie in packed records of 10 bytes. */
    unsigned char swapped[2];
    memcpy(swapped, first, 2);
    memcpy(first, first + 10, 2);
    memcpy(first + 10, swapped, 2);
    assert_int_equal(read_to_the_end(db, LODE_VALUES_BY_CONTEXTS), LODE_END);
    assert_int_equal(read_to_the_end(db, LODE_VALUES_BY_PROFILES), LODE_ERR_CORRUPT);
    lode_database_close(db);
    minidb_free(&mini);
}

static void both_files_of_real_databases_give_the_same_values(void **state)
{
    char root[1024], path[2048];
    unsigned count = 0;
    struct dirent *entry;
    (void)state;
    if (!corpus_path(root, sizeof root, "hpctoolkit/final"))
        skip();
    DIR *directory = opendir(root);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        lode_database *db;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        assert_int_equal(lode_database_open(&db, path, NULL), LODE_OK);
        check_ranges(db);
        lode_database_close(db);
        count++;
    }
    closedir(directory);
    assert_true(count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_files_give_the_same_values),
        cmocka_unit_test(selections_are_used_by_both),
        cmocka_unit_test(the_cheaper_file_is_read),
        cmocka_unit_test(without_values_by_context_there_is_one_way),
        cmocka_unit_test(values_in_another_order_are_refused),
        cmocka_unit_test(contexts_in_another_order_are_refused),
        cmocka_unit_test(both_files_of_real_databases_give_the_same_values),
    };
    correct_skips();
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
