/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue of runs: what its statements read does not grow with what they are not about. */
#include "runs/sqlite/database.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FUNCTIONS = 12,
    METRICS = 2,
    COSTS = FUNCTIONS * METRICS
};

/* What the statements of a catalogue did. */
typedef struct work {
    int statements;
    int scanned; /* rows of tables that were read as a whole */
    int sorted;
    int steps;
} work;

static int on_profile(unsigned kind, void *user, void *statement, void *time)
{
    work *done = user;
    (void)kind;
    (void)time;
    done->statements++;
    done->scanned += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    done->sorted += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_SORT, 0);
    done->steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    return 0;
}

/* A catalogue with so many runs, of two programs in turn, in the order of their numbers. */
static catalogue *make(const char *path, int runs)
{
    static const char *const titles[] = {"a", "b"};
    char names[FUNCTIONS][32];
    run_cost costs[COSTS];
    const run_total totals[METRICS] = {{"time (sec)", 10}, {"calls", 100}};
    catalogue *c = NULL;
    catalogue_error error;
    unlink(path);
    assert_int_equal(catalogue_open(&c, path, CATALOGUE_WRITE, &error), 0);
    /* Nothing of this needs a disk. */
    assert_int_equal(database_run(database_of(c), "PRAGMA synchronous = OFF", &error), 0);
    for (int run = 0; run < runs; run++) {
        const run_label label = {"title", titles[run % 2]};
        for (size_t i = 0; i < COSTS; i++) {
            snprintf(names[i / METRICS], sizeof *names, "function_%zu", i / METRICS);
            costs[i] =
                (run_cost){names[i / METRICS],    "",          "",         i % METRICS, (double)(i + 1),
                           2.0 * (double)(i + 1), (double)NAN, (double)NAN};
        }
        run_record record = {.path = "/store",
                             .format = "test",
                             .begun = 1000 + (uint64_t)run,
                             .modified = (uint64_t)run,
                             .labels = &label,
                             .label_count = 1,
                             .totals = totals,
                             .total_count = METRICS,
                             .costs = costs,
                             .cost_count = COSTS};
        assert_int_equal(catalogue_add(c, &record, 0, &error), 0);
        assert_int_equal(record.id, run + 1);
    }
    catalogue_close(c);
    assert_int_equal(catalogue_open(&c, path, CATALOGUE_READ, &error), 0);
    return c;
}

static int count_run(void *user, const run_row *run)
{
    size_t *count = user;
    assert_non_null(run_label_value(run, "title"));
    (*count)++;
    return 0;
}

/* A trend of one function. */
static void ask_series(catalogue *c, size_t wanted)
{
    catalogue_error error;
    run_point *points;
    size_t count;
    const run_label label = {"title", "a"};
    run_filter filter = {.labels = &label, .label_count = 1};
    assert_int_equal(catalogue_series(c, &filter, 1, 3, &points, &count, &error), 0);
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++)
        assert_true(points[i].run == (int64_t)(2 * i + 1) && points[i].exclusive == 5);
    free(points);
}

/* The values of one function in 20 runs, which are every second one. */
static void ask_values(catalogue *c, int runs)
{
    catalogue_error error;
    run_set set;
    double values[20];
    const run_label label = {"title", "b"};
    run_filter filter = {.labels = &label, .label_count = 1, .before = runs, .limit = 20};
    assert_int_equal(catalogue_runs(c, &filter, &set, &error), 0);
    work done = {0};
    sqlite3_trace_v2(database_of(c)->db, SQLITE_TRACE_PROFILE, on_profile, &done);
    assert_int_equal(catalogue_values(c, &set, 2, 1, 0, values, &error), 0);
    assert_int_equal(done.scanned, 0);
    /* 39 rows between the first run and the last, each of a few steps. */
    assert_in_range(done.steps, 39, 39 * 10);
    run_set_free(&set);
}

/* A check: 20 runs before the newest, and one function of them. */
static void ask_history(catalogue *c, int runs)
{
    catalogue_error error;
    run_set set;
    run_function *functions;
    size_t count, listed = 0;
    double values[20];
    const run_label label = {"title", "b"};
    run_filter filter = {.labels = &label, .label_count = 1, .before = runs, .limit = 20};
    run_filter newest = {.limit = 1};
    assert_int_equal(catalogue_list(c, &newest, count_run, &listed, &error), 0);
    assert_int_equal(listed, 1);
    assert_int_equal(catalogue_runs(c, &filter, &set, &error), 0);
    assert_int_equal(set.count, 20);
    assert_int_equal(set.runs[19], runs - 2);
    assert_int_equal(set.runs[0], runs - 40);
    assert_int_equal(catalogue_run_functions(c, runs, 2, &functions, &count, &error), 0);
    assert_int_equal(count, FUNCTIONS);
    assert_string_equal(functions[0].name, "function_11");
    assert_int_equal(catalogue_values(c, &set, 2, functions[0].id, 0, values, &error), 0);
    for (size_t i = 0; i < 20; i++)
        assert_true(values[i] == 24);
    catalogue_free_functions(functions, count);
    run_set_free(&set);
}

static work measure(const char *path, int runs, int is_series)
{
    work done = {0};
    catalogue *c = make(path, runs);
    sqlite3_trace_v2(database_of(c)->db, SQLITE_TRACE_PROFILE, on_profile, &done);
    if (is_series)
        ask_series(c, (size_t)runs / 2);
    else
        ask_history(c, runs);
    catalogue_close(c);
    unlink(path);
    return done;
}

static void temporary(char path[64])
{
    snprintf(path, 64, "/tmp/lode-runs-%ld", (long)getpid());
}

static void a_check_reads_its_history_and_nothing_else(void **state)
{
    char path[64];
    (void)state;
    temporary(path);
    work few = measure(path, 100, 0), many = measure(path, 800, 0);
    assert_true(few.statements >= 4);
    assert_int_equal(few.scanned + many.scanned, 0);
    assert_int_equal(few.sorted + many.sorted, 0);
    /* Eight times as many runs: the same work, but for the depth of trees. */
    assert_in_range(many.steps, few.steps / 2, 2 * few.steps);
}

static void a_trend_reads_one_function(void **state)
{
    char path[64];
    (void)state;
    temporary(path);
    work few = measure(path, 100, 1), many = measure(path, 400, 1);
    assert_int_equal(few.scanned + many.scanned, 0);
    /* In proportion to the runs, not to their functions. */
    assert_in_range(many.steps, 3 * few.steps, 5 * few.steps);
    assert_true(many.steps < 400 * 60);
}

static void values_are_one_range(void **state)
{
    char path[64];
    (void)state;
    temporary(path);
    catalogue *c = make(path, 100);
    ask_values(c, 100);
    catalogue_close(c);
    unlink(path);
}

static void a_store_is_added_once(void **state)
{
    char path[64];
    catalogue *c;
    catalogue_error error;
    (void)state;
    temporary(path);
    catalogue_close(make(path, 3));
    assert_int_equal(catalogue_open(&c, path, CATALOGUE_WRITE, &error), 0);
    run_record record = {.path = "/store", .format = "test", .modified = 1};
    assert_int_equal(catalogue_add(c, &record, 0, &error), 1);
    assert_int_equal(record.id, 2);
    assert_int_equal(catalogue_add(c, &record, 1, &error), 0);
    assert_int_equal(record.id, 4);
    catalogue_close(c);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_reads_its_history_and_nothing_else),
        cmocka_unit_test(a_trend_reads_one_function),
        cmocka_unit_test(values_are_one_range),
        cmocka_unit_test(a_store_is_added_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
