/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a question costs in SQL and by calls of the library, in processor time of one process, the
 * best of N: sql_cost DATABASE [N [lookups]]. A line for each: name, microseconds of the calls,
 * microseconds of SQL, rows.
 */
#include "sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    READ_AT_ONCE = 1024
};

typedef struct bench {
    lode_database *db;
    sql *connection;
    uint32_t profile, context;
    int repeats;
} bench;

static double total; /* what was read, so that it has to be */

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

static void read_values(const lode_block *block, uint64_t first, uint64_t count)
{
    lode_value values[READ_AT_ONCE];
    while (count > 0) {
        uint64_t part = count < READ_AT_ONCE ? count : READ_AT_ONCE;
        need(lode_block_read(block, first, part, values) == LODE_OK, "values");
        for (uint64_t i = 0; i < part; i++)
            total += values[i].value;
        first += part;
        count -= part;
    }
}

static void call_all(const bench *b)
{
    lode_block block;
    for (uint32_t i = 1; i < lode_database_profile_count(b->db); i++) {
        need(lode_profile_block(b->db, i, &block, NULL) == LODE_OK, "profile");
        read_values(&block, 0, lode_block_value_count(&block));
    }
}

static void call_profile(const bench *b)
{
    lode_block block;
    need(lode_profile_block(b->db, b->profile, &block, NULL) == LODE_OK, "profile");
    read_values(&block, 0, lode_block_value_count(&block));
}

static void call_context(const bench *b)
{
    lode_block block;
    need(lode_context_block(b->db, b->context, &block, NULL) == LODE_OK, "context");
    read_values(&block, 0, lode_block_value_count(&block));
}

static void call_both(const bench *b)
{
    lode_block block;
    lode_group group;
    need(lode_profile_block(b->db, b->profile, &block, NULL) == LODE_OK, "profile");
    if (lode_block_find(&block, b->context, &group, NULL) == LODE_OK)
        read_values(&block, group.first, group.count);
}

static void call_by_context(const bench *b)
{
    lode_block block;
    for (uint32_t i = 0; i < lode_database_context_block_count(b->db); i++)
        if (lode_context_block(b->db, i, &block, NULL) == LODE_OK)
            read_values(&block, 0, lode_block_value_count(&block));
}

static void call_hotspots(const bench *b)
{
    lode_cost *cost;
    lode_hotspots *rows;
    need(lode_cost_compute(&cost, b->db, NULL, NULL) == LODE_OK, "cost");
    need(lode_hotspots_compute(&rows, cost, LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, NULL) == LODE_OK,
         "hotspots");
    total += (double)lode_hotspots_count(rows);
    lode_hotspots_free(rows);
    lode_cost_free(cost);
}

/* Preparing is a part of it: people type statements once. */
static uint64_t run(const bench *b, const char *text)
{
    sql_statement *statement;
    sql_error error = {.at = -1};
    uint64_t rows = 0;
    if (sql_prepare(b->connection, text, &statement, &text, &error) != 0)
        return UINT64_MAX;
    while (sql_step(statement, &error) == 1) {
        total += sql_cell_at(statement, 0).real;
        rows++;
    }
    sql_finish(statement);
    return rows;
}

static void measure(const bench *b, const char *name, void (*call)(const bench *b), const char *text)
{
    double calls = 1e300, statements = 1e300;
    uint64_t rows = 0;
    for (int i = 0; i < b->repeats && rows != UINT64_MAX; i++) {
        double start = now();
        call(b);
        double middle = now();
        rows = run(b, text);
        double end = now();
        calls = middle - start < calls ? middle - start : calls;
        statements = end - middle < statements ? end - middle : statements;
    }
    if (rows == UINT64_MAX)
        printf("%s\tnot there\n", name);
    else
        printf("%s\t%.1f\t%.1f\t%llu\n", name, calls, statements, (unsigned long long)rows);
}

static void open_all(bench *b, const char *path)
{
    sql_settings settings = {0};
    sql_error error = {.at = -1};
    lode_tables *tables;
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    need(lode_database_open(&b->db, path, NULL) == LODE_OK, "cannot open the database");
    need(lode_tables_open(&tables, b->db, NULL, &options, NULL) == LODE_OK, "tables");
    need(sql_open(&b->connection, &settings, &error) == 0, error.text);
    need(sql_add(b->connection, "main", tables, b->db, NULL, &error) == 0, error.text);
    need(sql_seal(b->connection, &error) == 0, error.text);
    b->profile = lode_database_profile_count(b->db) / 2;
    b->context = lode_database_context_block_count(b->db) / 3;
}

int main(int argc, char **argv)
{
    bench b = {.repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5};
    char text[256];
    need(argc > 1, "sql_cost DATABASE [N]");
    open_all(&b, argv[1]);
    int has_passes = argc < 4;
    if (has_passes) {
        measure(&b, "all values", call_all, "select sum(value) from value");
        measure(&b, "count", call_all, "select count(*) from value");
    }
    snprintf(text, sizeof text, "select sum(value) from value where profile_id = %u", b.profile);
    measure(&b, "one profile", call_profile, text);
    snprintf(text, sizeof text, "select sum(value) from value where context_id = %u", b.context);
    measure(&b, "one context", call_context, text);
    snprintf(text, sizeof text, "select value from value where context_id = %u and profile_id = %u",
             b.context, b.profile);
    measure(&b, "both", call_both, text);
    if (has_passes)
        measure(&b, "by context", call_by_context, "select sum(value) from value group by context_id");
    if (has_passes) {
        measure(&b, "grouped by metric", call_by_context,
                "select sum from grouped('value', 'metric_id', 'value')");
        measure(&b, "grouped by profile", call_by_context,
                "select sum from grouped('value', 'profile_id', 'value')");
    }
    measure(&b, "hotspots", call_hotspots, "select exclusive, name from hotspot('function')");
    sql_close(b.connection);
    lode_database_close(b.db);
    return total == 0.5;
}
