/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of functions over many runs. Each query reads ranges of an index, never a whole table. */
#include "runs/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const catalogue *c, catalogue_error *error)
{
    snprintf(error->text, sizeof error->text, "%s: out of memory", c->path);
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

static int name_rows(catalogue *c, sqlite3_stmt *statement, run_name_fn on_name, void *user,
                     catalogue_error *error)
{
    int found = statement ? 1 : -1, is_over = 0;
    while (found == 1 && !is_over && (found = catalogue_step(c, statement, error)) == 1)
        is_over = on_name(user, sqlite3_column_int64(statement, 0), catalogue_text(statement, 1),
                          sqlite3_column_double(statement, 2));
    sqlite3_finalize(statement);
    return found < 0 ? -1 : 0;
}

int catalogue_metrics(catalogue *c, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error)
{
    sqlite3_stmt *statement = catalogue_prepare(
        c,
        run ? "SELECT id, name, value FROM metric CROSS JOIN total ON metric = id AND run = ?1"
            : "SELECT id, name, 0.0 FROM metric WHERE ?1 IS NOT NULL",
        error);
    if (statement)
        sqlite3_bind_int64(statement, 1, run);
    return name_rows(c, statement, on_metric, user, error);
}

int catalogue_functions(catalogue *c, run_name_fn on_function, void *user, catalogue_error *error)
{
    return name_rows(c, catalogue_prepare(c, "SELECT id, name, 0.0 FROM key", error), on_function, user,
                     error);
}

int catalogue_find_function(catalogue *c, const char *name, int64_t *id, catalogue_error *error)
{
    sqlite3_stmt *statement = catalogue_prepare(c, "SELECT id FROM key WHERE name = ?1", error);
    if (!statement)
        return -1;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int found = catalogue_step(c, statement, error);
    *id = found == 1 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return found;
}

/* ---- the series of one function ---- */

static int by_time(const void *left, const void *right)
{
    const run_point *a = left, *b = right;
    if (a->begun != b->begun)
        return a->begun < b->begun ? -1 : 1;
    return a->run < b->run ? -1 : a->run > b->run;
}

static int read_points(catalogue *c, sqlite3_stmt *statement, run_point **points, size_t *count,
                       catalogue_error *error)
{
    size_t capacity = 0;
    int found;
    while ((found = catalogue_step(c, statement, error)) == 1) {
        run_point *grown = grow(*points, *count, &capacity, sizeof **points);
        if (!grown)
            return no_memory(c, error);
        *points = grown;
        run_point point = {sqlite3_column_int64(statement, 0), catalogue_unsigned(statement, 1),
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

int catalogue_series(catalogue *c, const run_filter *filter, int64_t metric, int64_t function,
                     run_point **points, size_t *count, catalogue_error *error)
{
    *points = NULL;
    *count = 0;
    sqlite3_stmt *statement = select_runs(c, function ? COST_SERIES : TOTAL_SERIES, filter, "", error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 4, function);
    sqlite3_bind_int64(statement, 5, metric);
    int status = read_points(c, statement, points, count, error);
    sqlite3_finalize(statement);
    if (status != 0) {
        free(*points);
        *points = NULL;
        *count = 0;
        return -1;
    }
    if (*count)
        qsort(*points, *count, sizeof **points, by_time);
    if (filter->limit && filter->limit < *count) {
        memmove(*points, *points + (*count - (size_t)filter->limit), (size_t)filter->limit * sizeof **points);
        *count = (size_t)filter->limit;
    }
    return 0;
}

/* ---- the functions of one run ---- */

static int by_cost(const void *left, const void *right)
{
    const run_function *a = left, *b = right;
    if (a->exclusive != b->exclusive)
        return a->exclusive > b->exclusive ? -1 : 1;
    return strcmp(a->name, b->name);
}

void catalogue_free_functions(run_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(functions[i].name);
    free(functions);
}

int catalogue_run_functions(catalogue *c, int64_t run, int64_t metric, run_function **functions,
                            size_t *count, catalogue_error *error)
{
    size_t capacity = 0;
    int found = 0;
    *functions = NULL;
    *count = 0;
    sqlite3_stmt *statement = catalogue_prepare(
        c,
        "SELECT cost.key, key.name, cost.exclusive, cost.inclusive FROM cost INDEXED BY cost_run "
        "CROSS JOIN key ON cost.run = ?1 AND cost.metric = ?2 AND key.id = cost.key",
        error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 1, run);
    sqlite3_bind_int64(statement, 2, metric);
    while ((found = catalogue_step(c, statement, error)) == 1) {
        run_function *grown = grow(*functions, *count, &capacity, sizeof **functions);
        char *name = grown ? strdup(catalogue_text(statement, 1)) : NULL;
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
    if (*count)
        qsort(*functions, *count, sizeof **functions, by_cost);
    return found;
}

/* ---- one number for each of some runs ---- */

struct run_position {
    int64_t run;
    size_t position;
};

static int by_number(const void *left, const void *right)
{
    const struct run_position *a = left, *b = right;
    return a->run < b->run ? -1 : a->run > b->run;
}

void run_set_free(run_set *set)
{
    free(set->runs);
    free(set->by_id);
    *set = (run_set){NULL, 0, NULL};
}

static int read_set(catalogue *c, sqlite3_stmt *statement, run_set *set, catalogue_error *error)
{
    size_t capacity = 0;
    int found;
    while ((found = catalogue_step(c, statement, error)) == 1) {
        int64_t *grown = grow(set->runs, set->count, &capacity, sizeof *grown);
        if (!grown)
            return no_memory(c, error);
        set->runs = grown;
        set->runs[set->count++] = sqlite3_column_int64(statement, 0);
    }
    return found;
}

int catalogue_runs(catalogue *c, const run_filter *filter, run_set *set, catalogue_error *error)
{
    *set = (run_set){NULL, 0, NULL};
    sqlite3_stmt *statement = select_runs(c, "SELECT run.id FROM run", filter,
                                          " ORDER BY run.begun DESC, run.id DESC LIMIT ?4", error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 4, filter->limit ? (int64_t)(filter->limit & INT64_MAX) : -1);
    int status = read_set(c, statement, set, error);
    sqlite3_finalize(statement);
    set->by_id = calloc(set->count + 1, sizeof *set->by_id);
    if (status == 0 && !set->by_id)
        status = no_memory(c, error);
    for (size_t i = 0; status == 0 && i < set->count / 2; i++) {
        int64_t swap = set->runs[i];
        set->runs[i] = set->runs[set->count - 1 - i];
        set->runs[set->count - 1 - i] = swap;
    }
    for (size_t i = 0; status == 0 && i < set->count; i++)
        set->by_id[i] = (struct run_position){set->runs[i], i};
    if (status == 0 && set->count)
        qsort(set->by_id, set->count, sizeof *set->by_id, by_number);
    return status;
}

int catalogue_values(catalogue *c, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                     double *values, catalogue_error *error)
{
    static const char *const sql[] = {
        "SELECT run, exclusive FROM cost WHERE key = ?1 AND metric = ?2 AND run BETWEEN ?3 AND ?4",
        "SELECT run, inclusive FROM cost WHERE key = ?1 AND metric = ?2 AND run BETWEEN ?3 AND ?4",
        "SELECT run, value FROM total WHERE ?1 = 0 AND metric = ?2 AND run BETWEEN ?3 AND ?4",
    };
    int found = 0;
    for (size_t i = 0; i < set->count; i++)
        values[i] = (double)NAN;
    if (set->count == 0)
        return 0;
    sqlite3_stmt *statement = catalogue_prepare(c, sql[function ? is_inclusive != 0 : 2], error);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 1, function);
    sqlite3_bind_int64(statement, 2, metric);
    sqlite3_bind_int64(statement, 3, set->by_id[0].run);
    sqlite3_bind_int64(statement, 4, set->by_id[set->count - 1].run);
    while ((found = catalogue_step(c, statement, error)) == 1) {
        struct run_position wanted = {sqlite3_column_int64(statement, 0), 0};
        const struct run_position *at =
            bsearch(&wanted, set->by_id, set->count, sizeof *set->by_id, by_number);
        double value = sqlite3_column_double(statement, 1);
        if (at && isfinite(value))
            values[at->position] = value;
    }
    sqlite3_finalize(statement);
    return found;
}
