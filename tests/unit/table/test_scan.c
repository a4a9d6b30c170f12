/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans with filters, orders and columns of chance give what a slow filter over all rows gives:
 * whichever way the plan reads them.
 */
#include "minidb.h"
#include "minirec.h"
#include "minizor.h"
#include "slow_scan.h"
#include <lode/private/scan_plan.h>
#include <lode/unstable.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILTERS = 3,
    LIST = 6,
    QUERIES = 400 /* of each table */
};

static uint64_t chance = 1;

static uint64_t draw(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

/* ---- queries of chance ---- */

struct query {
    lode_scan_options options;
    lode_scan_filter filters[FILTERS];
    uint64_t numbers[FILTERS][LIST];
    double reals[FILTERS][LIST];
    const char *texts[FILTERS][LIST];
    unsigned order[3];
};

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Constants from cells, and some that are near. */
static void draw_filter(struct query *query, size_t at, const struct rows *all)
{
    lode_scan_filter *filter = &query->filters[at];
    filter->column = (unsigned)draw(all->info->field_count);
    filter->kind = (lode_filter_kind)draw(4);
    filter->count = filter->kind == LODE_FILTER_IN ? draw(LIST + 1) : 1;
    filter->numbers = query->numbers[at];
    filter->reals = query->reals[at];
    filter->strings = query->texts[at];
    for (size_t i = 0; i < LIST; i++) {
        const struct cell *cell = all->count ? &all->items[draw(all->count)].cells[filter->column] : NULL;
        query->numbers[at][i] = (cell ? cell->number : 0) + (draw(4) == 0 ? draw(3) - 1 : 0);
        query->reals[at][i] = cell ? cell->real : 1;
        query->texts[at][i] = cell && cell->text && draw(4) ? cell->text : "main";
    }
    bool is_signed = all->info->fields[filter->column].flags & LODE_FIELD_SIGNED;
    qsort(query->numbers[at], filter->count, 8, is_signed ? compare_i64 : compare_u64);
    qsort(query->reals[at], filter->count, 8, compare_f64);
    qsort(query->texts[at], filter->count, sizeof(char *), compare_texts);
}

static void draw_query(struct query *query, const struct rows *all)
{
    *query = (struct query){.options = LODE_SCAN_OPTIONS_INIT};
    query->options.filter_count = draw(FILTERS + 1);
    query->options.filters = query->filters;
    for (size_t i = 0; i < query->options.filter_count; i++)
        draw_filter(query, i, all);
    query->options.order = query->order;
    query->options.order_count = draw(4);
    for (size_t i = 0; i < 3; i++)
        query->order[i] = (unsigned)draw(all->info->field_count < 4 ? all->info->field_count : 4);
    query->options.rows = draw(2) ? 1 + draw(5) : 0;
    query->options.columns = draw(3) ? 0 : 1 + draw((UINT64_C(1) << all->info->field_count) - 1);
}

static void check_order(const struct rows *rows, const struct query *query)
{
    for (size_t i = 1; i < rows->count; i++) {
        int comparison = 0;
        for (size_t k = 0; k < query->options.order_count && comparison == 0; k++)
            comparison = compare_cells(&rows->info->fields[query->order[k]],
                                       &rows->items[i - 1].cells[query->order[k]],
                                       &rows->items[i].cells[query->order[k]]);
        assert_true(comparison <= 0);
    }
}

/* Rows of `all` that meet the filters, without columns that were not asked for. */
static struct rows expected_rows(const struct rows *all, const struct query *query)
{
    struct rows rows = {.info = all->info};
    rows.items = calloc(all->count + 1, sizeof *rows.items);
    assert_non_null(rows.items);
    for (size_t i = 0; i < all->count; i++) {
        bool is_kept = true;
        for (size_t k = 0; k < query->options.filter_count; k++)
            is_kept = is_kept && meets(all->info, &all->items[i], &query->filters[k]);
        if (!is_kept)
            continue;
        rows.items[rows.count] = all->items[i];
        for (unsigned k = 0; k < all->info->field_count; k++)
            if (query->options.columns && !(query->options.columns >> k & 1))
                rows.items[rows.count].cells[k] = (struct cell){.is_null = true};
        rows.count++;
    }
    return rows;
}

static void check_same(struct rows *rows, struct rows *expected)
{
    assert_int_equal(rows->count, expected->count);
    if (rows->count == 0)
        return;
    sorting = rows->info;
    qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
    qsort(expected->items, expected->count, sizeof *expected->items, compare_rows);
    for (size_t i = 0; i < rows->count; i++)
        assert_int_equal(compare_rows(&rows->items[i], &expected->items[i]), 0);
}

static void check_plan(const lode_scan_plan *plan, const struct rows *expected)
{
    assert_true(plan->rows >= 0 && plan->cost >= 0);
    assert_true(!plan->is_unique || expected->count <= 1);
    assert_int_equal(plan->filters_found & ~plan->filters_used, 0);
}

/* Returns whether rows came in the order. */
static bool check_query(lode_tables *tables, const struct rows *all, struct query *query)
{
    struct rows rows, expected = expected_rows(all, query);
    lode_scan_plan plan;
    lode_error error = {0};
    assert_int_equal(lode_scan_plan_make(&plan, tables, all->info, &query->options, 0, &error), LODE_OK);
    lode_status status = scan(&rows, tables, all->info, &query->options, &error);
    assert_int_equal(status, plan.order_used ? LODE_OK : LODE_ERR_ARGUMENT);
    if (status != LODE_OK) {
        query->options.order_count = 0;
        assert_int_equal(scan(&rows, tables, all->info, &query->options, &error), LODE_OK);
    }
    if (query->options.columns == 0)
        check_order(&rows, query);
    check_plan(&plan, &expected);
    uint64_t count = rows.count;
    check_same(&rows, &expected);
    free_rows(&rows);
    query->options.skip = draw(count + 2);
    assert_int_equal(scan(&rows, tables, all->info, &query->options, &error), LODE_OK);
    assert_int_equal(rows.count, query->options.skip < count ? count - query->options.skip : 0);
    free_rows(&rows);
    free(expected.items);
    return plan.order_used && query->options.order_count > 0;
}

static void check_table(lode_tables *tables, const lode_table_info *info)
{
    struct rows all;
    lode_error error = {0};
    uint64_t ordered = 0;
    if (scan(&all, tables, info, NULL, &error) != LODE_OK)
        fail_msg("%s: %s", info->name, error.text);
    for (unsigned i = 0; i < QUERIES; i++) {
        struct query query;
        draw_query(&query, &all);
        ordered += check_query(tables, &all, &query);
    }
    if (strcmp(info->name, "value") == 0)
        assert_true(all.count > 0 && ordered > QUERIES / 20);
    free_rows(&all);
}

static void check_tables(const lode_database *db, const lode_recording *recording)
{
    lode_tables *tables;
    lode_error error = {0};
    assert_int_equal(lode_tables_open(&tables, db, recording, NULL, &error), LODE_OK);
    assert_null(lode_tables_at(tables, lode_tables_count(tables)));
    for (unsigned i = 0; i < lode_tables_count(tables); i++) {
        const lode_table_info *info = lode_tables_at(tables, i);
        assert_ptr_equal(lode_tables_find(tables, info->name), info);
        if (!info->is_function)
            check_table(tables, info);
    }
    lode_tables_close(tables);
}

/* ---- stores ---- */

static void open_mini(struct minidb *mini, lode_database **db, const struct minidb_options *options,
                      bool has_contexts)
{
    lode_memory_file files[HPCT_FILES], kept[HPCT_FILES];
    lode_error error = {0};
    size_t count = 0;
    minidb_make(mini, options);
    minidb_files(mini, files);
    for (size_t i = 0; i < HPCT_FILES; i++)
        if (has_contexts || strcmp(files[i].name, "cct.db") != 0)
            kept[count++] = files[i];
    if (lode_database_open_memory(db, kept, count, &error) != LODE_OK)
        fail_msg("%s", error.text);
}

static void filters_of_databases_find_what_a_slow_filter_finds(void **state)
{
    static const uint32_t sizes[][2] = {{1, 0}, {3, 0}, {12, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 2; i++) {
        struct minidb_options options = MINIDB_OPTIONS_INIT;
        struct minidb mini;
        lode_database *db;
        options.profiles = sizes[i / 2][0];
        options.chains = sizes[i / 2][1];
        options.unlisted = i % 4 == 0;
        options.empty_profile = i % 3 == 0;
        open_mini(&mini, &db, &options, i % 2 == 0);
        check_tables(db, NULL);
        lode_database_close(db);
        minidb_free(&mini);
    }
}

static void filters_of_recordings_find_what_a_slow_filter_finds(void **state)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_error error = {0};
    (void)state;
    minirec_make(&rec, &options);
    size_t count = minirec_list(&rec, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, &error), LODE_OK);
    check_tables(NULL, recording);
    lode_recording_close(recording);
    minirec_free(&rec);
}

static void filters_of_trace_stores_find_what_a_slow_filter_finds(void **state)
{
    struct minizor zor;
    lode_memory_file files[MINIZOR_FILES];
    lode_recording *recording;
    lode_error error = {0};
    (void)state;
    minizor_make(&zor, 0, false);
    size_t count = minizor_list(&zor, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, &error), LODE_OK);
    check_tables(NULL, recording);
    lode_recording_close(recording);
    minizor_free(&zor);
}

/* ---- single facts ---- */

static uint64_t count_rows(lode_tables *tables, const char *name, const lode_scan_options *options)
{
    struct rows rows;
    lode_error error = {0};
    if (scan(&rows, tables, lode_tables_find(tables, name), options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    uint64_t count = rows.count;
    free_rows(&rows);
    return count;
}

/* What SQL needs to know: seeks in both orders, and orders with bound columns left out. */
static void plans_seek_by_what_is_bound(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_tables *tables;
    lode_scan_plan plan;
    (void)state;
    mini_options.profiles = 40;
    mini_options.chains = 20;
    open_mini(&mini, &db, &mini_options, true);
    assert_int_equal(lode_tables_open(&tables, db, NULL, NULL, NULL), LODE_OK);
    const lode_table_info *value = lode_tables_find(tables, "value");
    uint64_t one = 1;
    lode_scan_filter filter = {0, LODE_FILTER_EQUAL, &one, NULL, NULL, 1};
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    options.filters = &filter;
    options.filter_count = 1;
    double all = (double)count_rows(tables, "value", NULL);
    static const unsigned context_metric[] = {1, 2}, metric_context[] = {2, 1}, context_profile[] = {1, 0},
                          profile[] = {0};
    options.order = context_metric;
    options.order_count = 2;
    /* One profile, by context: from profile.db, whose order has the profile first. */
    assert_int_equal(lode_scan_plan_make(&plan, tables, value, &options, 0, NULL), LODE_OK);
    assert_true(plan.order_used && plan.filters_found == 1 && plan.cost < all / 10);
    /* One context: from cct.db. */
    filter.column = 1;
    options.order_count = 0;
    assert_int_equal(lode_scan_plan_make(&plan, tables, value, &options, 0, NULL), LODE_OK);
    assert_true(plan.filters_found == 1 && plan.cost < all / 10);
    /* Groups need not be sorted, only adjacent. */
    options.filter_count = 0;
    options.order = context_profile;
    options.order_count = 2;
    assert_int_equal(lode_scan_plan_make(&plan, tables, value, &options, 0, NULL), LODE_OK);
    assert_false(plan.order_used);
    assert_int_equal(lode_scan_plan_make(&plan, tables, value, &options, 1, NULL), LODE_OK);
    assert_true(plan.order_used);
    /* By metric: cct.db is read once for each. */
    options.order = metric_context;
    assert_int_equal(lode_scan_plan_make(&plan, tables, value, &options, 0, NULL), LODE_OK);
    assert_true(plan.order_used && plan.cost >= all);
    options.order = profile;
    options.order_count = 1;
    assert_int_equal(lode_scan_plan_make(&plan, tables, value, &options, 0, NULL), LODE_OK);
    assert_true(plan.order_used);
    lode_tables_close(tables);
    lode_database_close(db);
    minidb_free(&mini);
}

static void wrong_questions_are_refused(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_tables *tables, *others;
    lode_scan *made;
    lode_error error;
    (void)state;
    open_mini(&mini, &db, &mini_options, true);
    assert_int_equal(lode_tables_open(&tables, db, NULL, NULL, NULL), LODE_OK);
    assert_int_equal(lode_tables_open(&others, NULL, NULL, NULL, &error), LODE_ERR_ARGUMENT);
    const lode_table_info *value = lode_tables_find(tables, "value");
    lode_table_info stranger = *value;
    assert_int_equal(lode_scan_open(&made, tables, &stranger, NULL, &error), LODE_ERR_ARGUMENT);
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    lode_scan_filter filter = {7, LODE_FILTER_EQUAL, NULL, NULL, NULL, 1};
    options.filters = &filter;
    options.filter_count = 1;
    assert_int_equal(lode_scan_open(&made, tables, value, &options, &error), LODE_ERR_ARGUMENT);
    filter.column = 0;
    assert_int_equal(lode_scan_open(&made, tables, value, &options, &error), LODE_ERR_ARGUMENT);
    assert_null(made);
    options.filter_count = LODE_SCAN_FILTERS + 1;
    assert_int_equal(lode_scan_open(&made, tables, value, &options, &error), LODE_ERR_ARGUMENT);
    lode_tables_close(tables);
    lode_database_close(db);
    minidb_free(&mini);
}

/* An order that was promised is checked. */
static void values_in_another_order_are_an_error(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    lode_tables *tables;
    lode_error error = {0};
    struct rows rows;
    static const unsigned order[] = {0, 1, 2};
    (void)state;
    minidb_make(&mini, &mini_options);
    uint64_t at = minidb_profile_value(&mini, 1, 6, 0);
    assert_true(at > 0);
    minidb_at(&mini, HPCT_PROFILE, at)[0] = 200;
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, &error), LODE_OK);
    assert_int_equal(lode_tables_open(&tables, db, NULL, NULL, NULL), LODE_OK);
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    options.order = order;
    options.order_count = 3;
    assert_int_equal(scan(&rows, tables, lode_tables_find(tables, "value"), &options, &error),
                     LODE_ERR_CORRUPT);
    free_rows(&rows);
    lode_tables_close(tables);
    lode_database_close(db);
    minidb_free(&mini);
}

/* ---- threads ---- */

struct shared {
    lode_tables *tables;
    uint64_t counts[32];
};

static void *read_all(void *context)
{
    struct shared *shared = context;
    uint64_t one = 1;
    lode_scan_filter filter = {1, LODE_FILTER_EQUAL, &one, NULL, NULL, 1};
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    options.filters = &filter;
    options.filter_count = 1;
    for (unsigned i = 0; i < lode_tables_count(shared->tables); i++)
        if (!lode_tables_at(shared->tables, i)->is_function)
            assert_int_equal(count_rows(shared->tables, lode_tables_at(shared->tables, i)->name, NULL),
                             shared->counts[i]);
    if (lode_tables_find(shared->tables, "context"))
        assert_true(count_rows(shared->tables, "context", &options) > 0);
    return NULL;
}

static void read_by_threads(const lode_database *db, const lode_recording *recording)
{
    struct shared shared = {0};
    lode_tables *first;
    pthread_t threads[4];
    assert_int_equal(lode_tables_open(&first, db, recording, NULL, NULL), LODE_OK);
    for (unsigned i = 0; i < lode_tables_count(first); i++)
        if (!lode_tables_at(first, i)->is_function)
            shared.counts[i] = count_rows(first, lode_tables_at(first, i)->name, NULL);
    lode_tables_close(first);
    assert_int_equal(lode_tables_open(&shared.tables, db, recording, NULL, NULL), LODE_OK);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &shared), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    lode_tables_close(shared.tables);
}

static void several_threads_scan_at_once(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    struct minirec_options rec_options = MINIREC_OPTIONS_INIT;
    struct minidb mini;
    struct minirec rec;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_database *db;
    (void)state;
    mini_options.profiles = 20;
    open_mini(&mini, &db, &mini_options, true);
    read_by_threads(db, NULL);
    lode_database_close(db);
    minidb_free(&mini);
    minirec_make(&rec, &rec_options);
    size_t count = minirec_list(&rec, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, NULL), LODE_OK);
    read_by_threads(NULL, recording);
    lode_recording_close(recording);
    minirec_free(&rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_of_databases_find_what_a_slow_filter_finds),
        cmocka_unit_test(filters_of_recordings_find_what_a_slow_filter_finds),
        cmocka_unit_test(filters_of_trace_stores_find_what_a_slow_filter_finds),
        cmocka_unit_test(plans_seek_by_what_is_bound),
        cmocka_unit_test(wrong_questions_are_refused),
        cmocka_unit_test(values_in_another_order_are_an_error),
        cmocka_unit_test(several_threads_scan_at_once),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
