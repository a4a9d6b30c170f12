/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What table functions cost in SQL and by the call of the library that computes the same, on one
 * thread, in processor time of one process, the best of N: sql_functions DATABASE RECORDING [N]. A
 * line for each: name, microseconds of the call, microseconds of SQL, rows.
 */
#include "sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench {
    const char *path;
    lode_database *db;
    lode_recording *recording;
    sql *connection;
    int repeats;
} bench;

static void need(int is_done, const char *what)
{
    if (!is_done) {
        fprintf(stderr, "%s\n", what);
        exit(2);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* ---- calls ---- */

static lode_cost *cost_of(const bench *b)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    lode_cost *cost;
    options.threads = 1;
    need(lode_cost_compute(&cost, b->db, &options, NULL) == LODE_OK, "cost");
    return cost;
}

static void call_cost(const bench *b)
{
    lode_cost_free(cost_of(b));
}

static void call_hotspot(const bench *b)
{
    lode_cost *cost = cost_of(b);
    lode_hotspots *rows;
    need(lode_hotspots_compute(&rows, cost, LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, NULL) == LODE_OK,
         "hotspots");
    lode_hotspots_free(rows);
    lode_cost_free(cost);
}

static void call_tree(const bench *b)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_cost *cost = cost_of(b);
    lode_view *view;
    need(lode_view_build(&view, cost, &options, NULL) == LODE_OK, "tree");
    lode_view_free(view);
    lode_cost_free(cost);
}

static void call_timeline(const bench *b)
{
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    lode_timeline *timeline;
    options.threads = 1;
    need(lode_timeline_compute(&timeline, b->db, &options, NULL) == LODE_OK, "timeline");
    lode_timeline_free(timeline);
}

static void call_finding(const bench *b)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.threads = 1;
    need(lode_check(b->path, &options, &result, NULL) == LODE_OK, "check");
}

static lode_calls_options calls_options(void)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    options.threads = 1;
    options.merge = 1;
    return options;
}

static void call_call_stat(const bench *b)
{
    lode_calls_options options = calls_options();
    lode_calls *calls;
    need(lode_calls_compute(&calls, b->recording, NULL, &options, NULL) == LODE_OK, "calls");
    lode_calls_free(calls);
}

static void call_calltree(const bench *b)
{
    lode_calls_options options = calls_options();
    lode_calltree *tree;
    options.merge = 0;
    need(lode_calltree_compute(&tree, b->recording, NULL, &options, NULL) == LODE_OK, "call tree");
    lode_calltree_free(tree);
}

static void call_found(const bench *b)
{
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_search *found;
    options.threads = 1;
    options.key = "";
    need(lode_search_run(&found, b->recording, &options, NULL) >= LODE_OK, "search");
    lode_search_free(found);
}

/* ---- SQL ---- */

/* Costs stay with the tables, so each round has tables of its own. */
static void connect(bench *b)
{
    sql_settings settings = {0};
    sql_error error = {.at = -1};
    lode_tables *tables;
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    options.path = b->path;
    need(lode_tables_open(&tables, b->db, b->recording, &options, NULL) == LODE_OK, "tables");
    need(sql_open(&b->connection, &settings, &error) == 0, error.text);
    need(sql_add(b->connection, "main", tables, b->db, b->recording, &error) == 0, error.text);
    need(sql_seal(b->connection, &error) == 0, error.text);
}

static uint64_t run(bench *b, const char *text, double *used)
{
    sql_statement *statement;
    sql_error error = {.at = -1};
    uint64_t rows = 0;
    connect(b);
    double begin = now();
    need(sql_prepare(b->connection, text, &statement, &text, &error) == 0, error.text);
    while (sql_step(statement, &error) == 1)
        rows++;
    sql_finish(statement);
    *used = now() - begin;
    sql_close(b->connection);
    return rows;
}

static void measure(bench *b, const char *name, void (*call)(const bench *b), const char *text)
{
    double calls = 1e300, statements = 1e300, used;
    uint64_t rows = 0;
    for (int i = 0; i < b->repeats; i++) {
        double begin = now();
        call(b);
        double end = now();
        rows = run(b, text, &used);
        calls = end - begin < calls ? end - begin : calls;
        statements = used < statements ? used : statements;
    }
    printf("%s\t%.1f\t%.1f\t%llu\n", name, calls, statements, (unsigned long long)rows);
}

int main(int argc, char **argv)
{
    bench b = {.repeats = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 5};
    need(argc > 2, "sql_functions DATABASE RECORDING [N]");
    b.path = argv[1];
    need(lode_database_open(&b.db, argv[1], NULL) == LODE_OK, "cannot open the database");
    measure(&b, "cost", call_cost, "select inclusive from cost");
    measure(&b, "hotspot", call_hotspot, "select exclusive, name from hotspot('function')");
    measure(&b, "tree", call_tree, "select inclusive from tree");
    measure(&b, "timeline", call_timeline, "select bin from timeline");
    measure(&b, "finding", call_finding, "select rule from finding");
    lode_database_close(b.db);
    b.db = NULL;
    b.path = argv[2];
    need(lode_recording_open(&b.recording, argv[2], NULL, NULL) == LODE_OK, "cannot open the recording");
    measure(&b, "call_stat", call_call_stat, "select function, calls from call_stat");
    measure(&b, "calltree", call_calltree, "select calls from calltree");
    measure(&b, "grouped", call_call_stat, "select rows from grouped('call', 'function', 'duration_ns')");
    measure(&b, "found", call_found, "select calls from found");
    lode_recording_close(b.recording);
    return 0;
}
