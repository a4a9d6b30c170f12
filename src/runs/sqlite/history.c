/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of functions over many runs. Each query reads ranges of an index, never a whole table. */
#include "runs/sqlite/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const database *c, catalogue_error *error)
{
    snprintf(error->text, sizeof error->text, "%s: out of memory", c->base.name);
    return -1;
}

/* An array that grows; NULL without memory, which leaves the old one. */
static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    size_t larger = *capacity ? 2 * *capacity : 256;
    void *grown = realloc(array, larger * size);
    if (grown)
        *capacity = larger;
    return grown;
}

/* ---- metrics and functions ---- */

static int name_rows(database *c, sqlite3_stmt *statement, run_name_fn on_name, void *user,
                     catalogue_error *error)
{
    int found = statement ? 1 : -1, is_over = 0;
    while (found == 1 && !is_over && (found = database_step(c, statement, error)) == 1)
        is_over = on_name(user, sqlite3_column_int64(statement, 0), database_text(statement, 1),
                          sqlite3_column_double(statement, 2));
    sqlite3_finalize(statement);
    return found < 0 ? -1 : 0;
}

int database_metrics(catalogue *of, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error)
{
    database *c = database_of(of);
    sqlite3_stmt *statement = database_prepare(
        c,
        run ? "SELECT id, name, value FROM metric CROSS JOIN total ON metric = id AND run = ?1"
            : "SELECT id, name, 0.0 FROM metric WHERE ?1 IS NOT NULL",
        error);
    if (statement)
        sqlite3_bind_int64(statement, 1, run);
    return name_rows(c, statement, on_metric, user, error);
}

int database_functions(catalogue *of, run_name_fn on_function, void *user, catalogue_error *error)
{
    database *c = database_of(of);
    return name_rows(c, database_prepare(c, "SELECT id, name, 0.0 FROM key ORDER BY name", error),
                     on_function, user, error);
}

int database_find_function(catalogue *of, const char *name, int64_t *id, catalogue_error *error)
{
    database *c = database_of(of);
    sqlite3_stmt *statement = database_prepare(c, "SELECT id FROM key WHERE name = ?1", error);
    if (!statement)
        return -1;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int found = database_step(c, statement, error);
    *id = found == 1 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return found;
}

/* ---- the series of one function ---- */

static int read_points(database *c, sqlite3_stmt *statement, run_point **points, size_t *count,
                       catalogue_error *error)
{
    size_t capacity = 0;
    int found;
    while ((found = database_step(c, statement, error)) == 1) {
        run_point *grown = grow(*points, *count, &capacity, sizeof **points);
        if (!grown)
            return no_memory(c, error);
        *points = grown;
        run_point point = {sqlite3_column_int64(statement, 0), database_unsigned(statement, 1),
                           sqlite3_column_double(statement, 2), sqlite3_column_double(statement, 3)};
        if (isfinite(point.exclusive) && isfinite(point.inclusive))
            (*points)[(*count)++] = point;
    }
    return found;
}

/* Runs are looked up one by one: most of those of a function are wanted. */
#define COST_SERIES                                                                                          \
    "SELECT cost.run, run.begun, cost.exclusive, cost.inclusive FROM cost CROSS JOIN run ON "                \
    "cost.key = ?4 AND cost.metric = ?5 AND run.id = cost.run"
#define TOTAL_SERIES                                                                                         \
    "SELECT total.run, run.begun, total.value, total.value FROM total CROSS JOIN run ON "                    \
    "?4 = 0 AND total.metric = ?5 AND run.id = total.run"

int database_series(catalogue *of, const run_filter *filter, int64_t metric, int64_t function,
                    run_point **points, size_t *count, catalogue_error *error)
{
    database *c = database_of(of);
    sqlite3_stmt *statement = select_runs(c, function ? COST_SERIES : TOTAL_SERIES, filter, "", error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 4, function);
    sqlite3_bind_int64(statement, 5, metric);
    int status = read_points(c, statement, points, count, error);
    sqlite3_finalize(statement);
    return status;
}

/* ---- the functions of one run ---- */

int database_run_functions(catalogue *of, int64_t run, int64_t metric, run_function **functions,
                           size_t *count, catalogue_error *error)
{
    database *c = database_of(of);
    size_t capacity = 0;
    int found = 0;
    sqlite3_stmt *statement = database_prepare(
        c,
        "SELECT cost.key, key.name, cost.exclusive, cost.inclusive FROM cost INDEXED BY cost_run "
        "CROSS JOIN key ON cost.run = ?1 AND cost.metric = ?2 AND key.id = cost.key",
        error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 1, run);
    sqlite3_bind_int64(statement, 2, metric);
    while ((found = database_step(c, statement, error)) == 1) {
        run_function *grown = grow(*functions, *count, &capacity, sizeof **functions);
        char *name = grown ? strdup(database_text(statement, 1)) : NULL;
        *functions = grown ? grown : *functions;
        if (!name) {
            found = no_memory(c, error);
            break;
        }
        (*functions)[(*count)++] =
            (run_function){sqlite3_column_int64(statement, 0), name, sqlite3_column_double(statement, 2),
                           sqlite3_column_double(statement, 3)};
    }
    sqlite3_finalize(statement);
    return found;
}

/* ---- one number for each of some runs ---- */

static int read_numbers(database *c, sqlite3_stmt *statement, int64_t **runs, size_t *count,
                        catalogue_error *error)
{
    size_t capacity = 0;
    int found;
    while ((found = database_step(c, statement, error)) == 1) {
        int64_t *grown = grow(*runs, *count, &capacity, sizeof *grown);
        if (!grown)
            return no_memory(c, error);
        *runs = grown;
        (*runs)[(*count)++] = sqlite3_column_int64(statement, 0);
    }
    return found;
}

int database_runs(catalogue *of, const run_filter *filter, int64_t **runs, size_t *count,
                  catalogue_error *error)
{
    database *c = database_of(of);
    sqlite3_stmt *statement = select_runs(c, "SELECT run.id FROM run", filter,
                                          " ORDER BY run.begun DESC, run.id DESC LIMIT ?4", error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 4, filter->limit ? (int64_t)(filter->limit & INT64_MAX) : -1);
    int status = read_numbers(c, statement, runs, count, error);
    sqlite3_finalize(statement);
    return status;
}

int database_values(catalogue *of, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                    run_value_fn on_value, void *user, catalogue_error *error)
{
    static const char *const sql[] = {
        "SELECT run, exclusive FROM cost WHERE key = ?1 AND metric = ?2 AND run BETWEEN ?3 AND ?4",
        "SELECT run, inclusive FROM cost WHERE key = ?1 AND metric = ?2 AND run BETWEEN ?3 AND ?4",
        "SELECT run, value FROM total WHERE ?1 = 0 AND metric = ?2 AND run BETWEEN ?3 AND ?4",
    };
    database *c = database_of(of);
    int found = 0;
    sqlite3_stmt *statement = database_prepare(c, sql[function ? is_inclusive != 0 : 2], error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 1, function);
    sqlite3_bind_int64(statement, 2, metric);
    sqlite3_bind_int64(statement, 3, set->least);
    sqlite3_bind_int64(statement, 4, set->greatest);
    while ((found = database_step(c, statement, error)) == 1)
        on_value(user, sqlite3_column_int64(statement, 0), sqlite3_column_double(statement, 1));
    sqlite3_finalize(statement);
    return found;
}
