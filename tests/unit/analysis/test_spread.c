/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by profile: the same from either file and by any number of threads; groups of profiles. */
#include "analysis/cost/key.h"
#include "analysis/spread/spread.h"
#include "minidb.h"
#include "unit.h"
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTEXTS_MAX = 1024
};

struct set {
    const lode_context *items[CONTEXTS_MAX];
    size_t count;
};

static void open_mini(struct minidb *mini, lode_database **db, const struct minidb_options *options)
{
    lode_memory_file files[HPCT_FILES];
    lode_error error = {0};
    minidb_make(mini, options);
    minidb_files(mini, files);
    if (lode_database_open_memory(db, files, HPCT_FILES, &error) != LODE_OK)
        fail_msg("%s", error.text);
}

static void close_mini(struct minidb *mini, lode_database *db)
{
    lode_database_close(db);
    minidb_free(mini);
}

static struct set every(const lode_database *db, uint32_t step)
{
    struct set set = {.count = 0};
    for (uint32_t i = 0; i < lode_database_context_count(db) && set.count < CONTEXTS_MAX; i += step)
        set.items[set.count++] = lode_database_context_at(db, i);
    return set;
}

static lode_spread *spread_of(const lode_database *db, const struct set *set, lode_values_path path,
                              unsigned threads)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread;
    lode_error error = {0};
    options.contexts = set->items;
    options.context_count = set->count;
    options.path = path;
    options.threads = threads;
    if (lode_spread_compute(&spread, db, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return spread;
}

static void assert_same(const lode_spread *a, const lode_spread *b)
{
    assert_int_equal(lode_spread_count(a), lode_spread_count(b));
    for (size_t i = 0; i < lode_spread_count(a); i++) {
        const lode_spread_row *x = lode_spread_at(a, i), *y = lode_spread_at(b, i);
        assert_int_equal(x->profile, y->profile);
        assert_memory_equal(&x->inclusive, &y->inclusive, sizeof x->inclusive);
        assert_memory_equal(&x->exclusive, &y->exclusive, sizeof x->exclusive);
        assert_memory_equal(&x->total, &y->total, sizeof x->total);
    }
    assert_int_equal(lode_spread_empty(a), lode_spread_empty(b));
    assert_int_equal(lode_spread_without(a), lode_spread_without(b));
}

static void files_and_threads_give_the_same_bits(void **state)
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
        options.empty_profile = i % 3 == 0;
        open_mini(&mini, &db, &options);
        for (uint32_t step = 1; step < 100; step = step * 2 + 1) {
            struct set set = every(db, step);
            lode_spread *one = spread_of(db, &set, LODE_VALUES_BY_PROFILES, 1);
            lode_spread *two = spread_of(db, &set, LODE_VALUES_BY_PROFILES, 4);
            lode_spread *three = spread_of(db, &set, LODE_VALUES_BY_CONTEXTS, 1);
            assert_int_equal(lode_spread_path(three), LODE_VALUES_BY_CONTEXTS);
            assert_same(one, two);
            assert_same(one, three);
            lode_spread_free(one);
            lode_spread_free(two);
            lode_spread_free(three);
        }
        close_mini(&mini, db);
    }
}

/* Of a function over all profiles: what `top` shows of it. */
static void profiles_add_up_to_hotspots(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_cost *cost;
    lode_hotspots *hotspots;
    (void)state;
    options.profiles = 9;
    options.chains = 5;
    open_mini(&mini, &db, &options);
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_hotspots_compute(&hotspots, cost, LODE_BY_FUNCTION, LODE_SORT_NAME, NULL), LODE_OK);
    size_t compared = 0;
    for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
        const lode_hotspot *row = lode_hotspots_at(hotspots, i);
        struct set set = {.count = 0};
        for (uint32_t k = 0; row->function && k < lode_database_context_count(db); k++) {
            const lode_context *context = lode_database_context_at(db, k);
            if (lode_context_function(context) == row->function &&
                lode_context_relation(context) != LODE_RELATION_LEXICAL)
                set.items[set.count++] = context;
        }
        if (set.count == 0)
            continue;
        lode_spread *spread = spread_of(db, &set, LODE_VALUES_CHEAPER, 2);
        double inclusive = 0, exclusive = 0;
        for (size_t k = 0; k < lode_spread_count(spread); k++) {
            inclusive += lode_spread_at(spread, k)->inclusive;
            exclusive += lode_spread_at(spread, k)->exclusive;
        }
        assert_float_equal(inclusive, row->inclusive, 1e-9);
        assert_float_equal(exclusive, row->exclusive, 1e-9);
        compared++;
        lode_spread_free(spread);
    }
    assert_true(compared >= 3);
    lode_hotspots_free(hotspots);
    lode_cost_free(cost);
    close_mini(&mini, db);
}

/* Few contexts of many profiles come from the contexts' file, unless it contradicts the summary. */
static void wrong_values_by_context_are_not_used(void **state)
{
    (void)state;
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        struct minidb_options options = MINIDB_OPTIONS_INIT;
        struct minidb mini;
        lode_database *db;
        options.profiles = 30;
        uint16_t id;
        open_mini(&mini, &db, &options);
        assert_int_equal(lode_metric_id(lode_database_metric(db, 0), LODE_SCOPE_EXECUTION, &id), LODE_OK);
        close_mini(&mini, db);
        if (is_wrong)
            options.cct = (struct minidb_change){true, 3, 4, id, 1e6};
        open_mini(&mini, &db, &options);
        struct set set = {{lode_database_context(db, 4)}, 1};
        lode_spread *cheap = spread_of(db, &set, LODE_VALUES_CHEAPER, 1);
        lode_spread *right = spread_of(db, &set, LODE_VALUES_BY_PROFILES, 1);
        assert_int_equal(lode_spread_path(cheap),
                         is_wrong ? LODE_VALUES_BY_PROFILES : LODE_VALUES_BY_CONTEXTS);
        assert_same(cheap, right);
        lode_spread_free(cheap);
        lode_spread_free(right);
        close_mini(&mini, db);
    }
}

static void groups_hold_every_profile_once(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_spread *spread;
    lode_spread_groups *groups;
    unsigned kinds[LODE_GROUP_KINDS];
    size_t count;
    lode_error error = {0};
    (void)state;
    options.profiles = 12;
    open_mini(&mini, &db, &options);
    assert_int_equal(lode_spread_compute(&spread, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_database_find_kinds(db, "Thread", kinds, &count, NULL), LODE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(lode_spread_group_by(&groups, spread, kinds, count, NULL), LODE_OK);
    uint32_t profiles = lode_spread_groups_without(groups);
    double sum = 0, total = 0;
    for (size_t i = 0; i < lode_spread_groups_count(groups); i++) {
        const lode_spread_group *group = lode_spread_groups_at(groups, i);
        profiles += group->profiles;
        sum += group->inclusive;
        assert_true(group->min <= group->max && group->max <= group->inclusive + 1e-9);
        if (i)
            assert_true(group[-1].ids[0].logical < group->ids[0].logical);
    }
    for (size_t i = 0; i < lode_spread_count(spread); i++)
        total += lode_spread_at(spread, i)->total;
    assert_int_equal(profiles, lode_spread_count(spread));
    assert_float_equal(sum, total, 1e-9);
    assert_null(lode_spread_groups_at(groups, lode_spread_groups_count(groups)));
    assert_null(lode_spread_at(spread, lode_spread_count(spread)));
    lode_spread_groups_free(groups);
    assert_int_equal(lode_database_find_kinds(db, "thread,nothing", kinds, &count, &error), LODE_NOT_FOUND);
    assert_non_null(strstr(error.text, "THREAD"));
    assert_int_equal(lode_database_find_kinds(db, "", kinds, &count, NULL), LODE_NOT_FOUND);
    assert_int_equal(lode_database_find_kinds(db, "thread,thread,thread,thread,thread", kinds, &count, NULL),
                     LODE_ERR_ARGUMENT);
    assert_int_equal(lode_spread_group_by(&groups, spread, kinds, 0, NULL), LODE_ERR_ARGUMENT);
    lode_spread_free(spread);
    close_mini(&mini, db);
}

static void contexts_of_another_database_are_refused(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini[2];
    lode_database *db[2];
    lode_spread *spread;
    lode_spread_options ask = LODE_SPREAD_OPTIONS_INIT;
    (void)state;
    open_mini(&mini[0], &db[0], &options);
    open_mini(&mini[1], &db[1], &options);
    struct set set = every(db[1], 3);
    ask.contexts = set.items;
    ask.context_count = set.count;
    assert_int_equal(lode_spread_compute(&spread, db[0], &ask, NULL), LODE_ERR_ARGUMENT);
    assert_null(spread);
    lode_spread_free(NULL);
    lode_spread_groups_free(NULL);
    close_mini(&mini[0], db[0]);
    close_mini(&mini[1], db[1]);
}

/* ---- many rows ---- */

enum {
    ROWS = 5
};

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double statistic_of(double *values, size_t count, lode_profile_statistic statistic)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_numbers);
    if (statistic == LODE_PROFILES_MEDIAN)
        return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return statistic == LODE_PROFILES_MIN ? values[0] : values[count - 1];
}

/* Functions are in one of the rows, or in none; what lies below them goes with them. */
static uint32_t *map_functions(const lode_database *db, struct set sets[ROWS])
{
    uint32_t count = lode_database_context_count(db);
    uint32_t *rows = calloc(count + 1, sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < count; i++) {
        const lode_context *context = lode_database_context_at(db, i);
        uint32_t number = lode_context_id(context) % (ROWS + 1);
        if (!begins_function(context)) {
            rows[i] = rows[lode_context_index(lode_context_parent(context))];
            continue;
        }
        rows[i] = number == ROWS ? LODE_NO_ROW : number;
        if (rows[i] != LODE_NO_ROW && sets[number].count < CONTEXTS_MAX)
            sets[number].items[sets[number].count++] = context;
    }
    return rows;
}

/* What the spread of a single row gives. */
static void assert_row(const lode_database *db, const struct set *set, const lode_selection *selection,
                       const lode_metric *metric, lode_profile_statistic statistic, const double found[3])
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread;
    double values[3][128];
    options.contexts = set->items;
    options.context_count = set->count;
    options.selection = selection;
    options.metric = metric;
    assert_int_equal(lode_spread_compute(&spread, db, &options, NULL), LODE_OK);
    size_t count = lode_spread_count(spread);
    assert_true(count <= 128);
    for (size_t i = 0; i < count; i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        values[0][i] = row->exclusive;
        values[1][i] = row->inclusive;
        values[2][i] = row->total;
    }
    for (int i = 0; i < 3; i++)
        assert_float_equal(found[i], statistic_of(values[i], count, statistic), 1e-9);
    lode_spread_free(spread);
}

static size_t compare_rows(const lode_database *db, const lode_selection *selection,
                           const lode_metric *metric)
{
    struct set *sets = calloc(ROWS, sizeof *sets);
    uint32_t *rows = map_functions(db, sets);
    size_t compared = 0;
    for (int statistic = LODE_PROFILES_MIN; statistic <= LODE_PROFILES_MAX; statistic++) {
        double first[2 * ROWS + 1] = {0};
        for (int i = 0; i < 4; i++) {
            lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
            double found[2 * ROWS + 1];
            options.metric = metric;
            options.selection = selection;
            options.rows = rows;
            options.row_count = ROWS;
            options.statistic = (lode_profile_statistic)statistic;
            options.threads = i % 2 ? 4 : 1;
            options.memory = (uint64_t)i / 2; /* of 1 byte: one row at a time */
            assert_int_equal(lode_spread_rows(found, found + ROWS, &found[2 * ROWS], db, &options, NULL),
                             LODE_OK);
            if (i == 0)
                memcpy(first, found, sizeof first);
            assert_memory_equal(first, found, sizeof found);
        }
        for (size_t row = 0; row < ROWS; row++) {
            const double found[3] = {first[row], first[ROWS + row], first[2 * ROWS]};
            if (sets[row].count == 0)
                continue;
            assert_row(db, &sets[row], selection, metric, (lode_profile_statistic)statistic, found);
            compared += found[1] > 0;
        }
    }
    free(rows);
    free(sets);
    return compared;
}

/* Each row in each profile: to the last bit what the spread of that row gives. Returns how many. */
static size_t compare_values(const lode_database *db, const lode_selection *selection,
                             const lode_metric *metric)
{
    struct set *sets = calloc(ROWS, sizeof *sets);
    uint32_t *rows = map_functions(db, sets);
    size_t profiles = lode_database_profile_count(db), compared = 0;
    double *values = calloc(2 * ROWS * profiles, sizeof *values);
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    options.metric = metric;
    options.selection = selection;
    options.rows = rows;
    options.row_count = ROWS;
    assert_int_equal(lode_spread_rows_values(values, db, &options, NULL, NULL), LODE_OK);
    for (size_t row = 0; row < ROWS; row++) {
        lode_spread_options ask = LODE_SPREAD_OPTIONS_INIT;
        lode_spread *spread;
        if (sets[row].count == 0)
            continue;
        ask.contexts = sets[row].items;
        ask.context_count = sets[row].count;
        ask.selection = selection;
        ask.metric = metric;
        ask.path = LODE_VALUES_BY_PROFILES;
        assert_int_equal(lode_spread_compute(&spread, db, &ask, NULL), LODE_OK);
        for (size_t i = 0; i < lode_spread_count(spread); i++) {
            const lode_spread_row *wanted = lode_spread_at(spread, i);
            double *found = values + 2 * (row * profiles + wanted->profile);
            assert_memory_equal(&found[0], &wanted->exclusive, sizeof *found);
            assert_memory_equal(&found[1], &wanted->inclusive, sizeof *found);
            compared += found[1] != 0;
            found[0] = found[1] = 0;
        }
        lode_spread_free(spread);
    }
    for (size_t i = 0; i < 2 * ROWS * profiles; i++)
        assert_true(values[i] == 0);
    free(values);
    free(rows);
    free(sets);
    return compared;
}

static void many_rows_are_those_of_one_row_each(void **state)
{
    static const uint32_t sizes[][2] = {{1, 0}, {2, 3}, {3, 200}, {40, 3}, {61, 60}};
    size_t compared = 0;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct minidb_options options = MINIDB_OPTIONS_INIT;
        struct minidb mini;
        lode_database *db;
        lode_selection *selection;
        options.profiles = sizes[i][0];
        options.chains = sizes[i][1];
        options.unlisted = i % 2;
        options.empty_profile = i % 3 == 0;
        open_mini(&mini, &db, &options);
        assert_int_equal(lode_selection_parse(&selection, db, "profile=1-7", NULL), LODE_OK);
        for (uint32_t m = 0; m < lode_database_metric_count(db); m++) {
            compared += compare_rows(db, NULL, lode_database_metric(db, m));
            compared += compare_rows(db, selection, lode_database_metric(db, m));
            compared += compare_values(db, NULL, lode_database_metric(db, m));
            compared += compare_values(db, selection, lode_database_metric(db, m));
        }
        lode_selection_free(selection);
        close_mini(&mini, db);
    }
    assert_true(compared > 100);
}

/* The file of contexts says something else than profiles and summary: it is not believed. */
static void wrong_values_by_context_are_not_used_for_many_rows(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    uint16_t id;
    (void)state;
    options.profiles = 30;
    open_mini(&mini, &db, &options);
    assert_int_equal(lode_metric_id(lode_database_metric(db, 0), LODE_SCOPE_EXECUTION, &id), LODE_OK);
    close_mini(&mini, db);
    for (uint32_t context = 0; context < 8; context++) {
        options.cct = (struct minidb_change){true, 3, context, id, 1e6};
        open_mini(&mini, &db, &options);
        assert_true(compare_values(db, NULL, lode_database_metric(db, 0)) > 0);
        close_mini(&mini, db);
    }
}

static void rows_that_do_not_exist_are_refused(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_database *db;
    lode_spread_rows_options ask = LODE_SPREAD_ROWS_OPTIONS_INIT;
    double exclusive[1], inclusive[1], total;
    (void)state;
    open_mini(&mini, &db, &options);
    uint32_t *rows = calloc(lode_database_context_count(db), sizeof *rows);
    assert_non_null(rows);
    rows[lode_database_context_count(db) - 1] = 1;
    ask.rows = rows;
    ask.row_count = 1;
    assert_int_equal(lode_spread_rows(exclusive, inclusive, &total, db, &ask, NULL), LODE_ERR_ARGUMENT);
    free(rows);
    close_mini(&mini, db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_threads_give_the_same_bits),
        cmocka_unit_test(profiles_add_up_to_hotspots),
        cmocka_unit_test(wrong_values_by_context_are_not_used),
        cmocka_unit_test(groups_hold_every_profile_once),
        cmocka_unit_test(contexts_of_another_database_are_refused),
        cmocka_unit_test(many_rows_are_those_of_one_row_each),
        cmocka_unit_test(wrong_values_by_context_are_not_used_for_many_rows),
        cmocka_unit_test(rows_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
