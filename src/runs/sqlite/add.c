/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/sqlite/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Statements that run once for each row. */
typedef struct adder {
    database *c;
    catalogue_error *error;
    int64_t *metrics; /* ids, by position in the totals */
} adder;

/* Texts that no reader accepts are cut. */
static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    size_t length = strnlen(text, CATALOGUE_TEXT_MAX);
    /* Not inside a character. */
    while (length > 0 && text[length] && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    sqlite3_bind_text(statement, index, text, (int)length, SQLITE_TRANSIENT);
}

static void bind_time(sqlite3_stmt *statement, int index, uint64_t value)
{
    sqlite3_bind_int64(statement, index, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void bind_real(sqlite3_stmt *statement, int index, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(statement, index, value);
    else
        sqlite3_bind_null(statement, index);
}

/* Runs a statement once more; its bindings are gone then. */
static int run_again(adder *a, sqlite3_stmt *statement)
{
    int status = database_step(a->c, statement, a->error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status < 0 ? -1 : 0;
}

/* The id of what has the first value as its name; without one, of what `insert` creates. */
static int find_or_insert(adder *a, sqlite3_stmt *find, sqlite3_stmt *insert, const char *const *values,
                          int count, int64_t *id)
{
    bind_text(find, 1, values[0]);
    for (int i = 0; i < count; i++)
        bind_text(insert, i + 1, values[i]);
    int found = database_step(a->c, find, a->error);
    *id = found == 1 ? sqlite3_column_int64(find, 0) : 0;
    sqlite3_reset(find);
    if (found < 0)
        return -1;
    if (found == 0) {
        if (run_again(a, insert) != 0)
            return -1;
        *id = sqlite3_last_insert_rowid(a->c->db);
    }
    return 0;
}

static int add_metrics(adder *a, const run_record *run)
{
    sqlite3_stmt *find = database_prepare(a->c, "SELECT id FROM metric WHERE name = ?1", a->error);
    sqlite3_stmt *insert =
        find ? database_prepare(a->c, "INSERT INTO metric(name) VALUES(?1)", a->error) : NULL;
    int status = insert ? 0 : -1;
    for (size_t i = 0; i < run->total_count && status == 0; i++)
        status = find_or_insert(a, find, insert, &run->totals[i].metric, 1, &a->metrics[i]);
    sqlite3_finalize(insert);
    sqlite3_finalize(find);
    return status;
}

static int add_run(adder *a, run_record *run)
{
    sqlite3_stmt *insert =
        database_prepare(a->c,
                         "INSERT INTO run(path, format, begun, added, modified, bytes, profiles, metric) "
                         "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                         a->error);
    if (!insert)
        return -1;
    bind_text(insert, 1, run->path);
    bind_text(insert, 2, run->format);
    bind_time(insert, 3, run->begun);
    bind_time(insert, 4, run->added);
    bind_time(insert, 5, run->modified);
    bind_time(insert, 6, run->bytes);
    bind_time(insert, 7, run->profiles);
    if (run->total_count)
        sqlite3_bind_int64(insert, 8, a->metrics[0]);
    int status = run_again(a, insert);
    run->id = sqlite3_last_insert_rowid(a->c->db);
    sqlite3_finalize(insert);
    return status;
}

static int add_labels(adder *a, const run_record *run)
{
    sqlite3_stmt *insert =
        database_prepare(a->c, "INSERT INTO label(run, name, value) VALUES(?1, ?2, ?3)", a->error);
    int status = insert ? 0 : -1;
    for (size_t i = 0; i < run->label_count && status == 0; i++) {
        sqlite3_bind_int64(insert, 1, run->id);
        bind_text(insert, 2, run->labels[i].name);
        bind_text(insert, 3, run->labels[i].value);
        status = run_again(a, insert);
    }
    sqlite3_finalize(insert);
    return status;
}

static int add_totals(adder *a, const run_record *run)
{
    sqlite3_stmt *insert =
        database_prepare(a->c, "INSERT INTO total(metric, run, value) VALUES(?1, ?2, ?3)", a->error);
    int status = insert ? 0 : -1;
    for (size_t i = 0; i < run->total_count && status == 0; i++) {
        sqlite3_bind_int64(insert, 1, a->metrics[i]);
        sqlite3_bind_int64(insert, 2, run->id);
        bind_real(insert, 3, run->totals[i].value);
        status = run_again(a, insert);
    }
    sqlite3_finalize(insert);
    return status;
}

static int add_cost(adder *a, const run_record *run, const run_cost *cost, sqlite3_stmt *statements[3])
{
    const char *const names[] = {cost->name, cost->module, cost->file};
    int64_t key;
    if (find_or_insert(a, statements[0], statements[1], names, 3, &key) != 0)
        return -1;
    sqlite3_stmt *insert = statements[2];
    sqlite3_bind_int64(insert, 1, key);
    sqlite3_bind_int64(insert, 2, a->metrics[cost->metric]);
    sqlite3_bind_int64(insert, 3, run->id);
    bind_real(insert, 4, cost->exclusive);
    bind_real(insert, 5, cost->inclusive);
    bind_real(insert, 6, cost->min);
    bind_real(insert, 7, cost->max);
    return run_again(a, insert);
}

static int add_costs(adder *a, const run_record *run)
{
    static const char *const sql[3] = {
        "SELECT id FROM key WHERE name = ?1",
        "INSERT INTO key(name, module, file) VALUES(?1, ?2, ?3)",
        "INSERT INTO cost(key, metric, run, exclusive, inclusive, min, max) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) "
        /* Names that are equal as far as they are stored. */
        "ON CONFLICT(key, metric, run) DO UPDATE SET exclusive = exclusive + excluded.exclusive, "
        "inclusive = inclusive + excluded.inclusive",
    };
    sqlite3_stmt *statements[3] = {NULL, NULL, NULL};
    int status = 0;
    for (size_t i = 0; i < 3 && status == 0; i++)
        status = (statements[i] = database_prepare(a->c, sql[i], a->error)) ? 0 : -1;
    for (size_t i = 0; i < run->cost_count && status == 0; i++)
        status = add_cost(a, run, &run->costs[i], statements);
    for (size_t i = 0; i < 3; i++)
        sqlite3_finalize(statements[i]);
    return status;
}

/* 1 if this store was added before, as it is now. */
static int find_same(adder *a, run_record *run, run_sameness sameness)
{
    sqlite3_stmt *find =
        database_prepare(a->c,
                         "SELECT id FROM run WHERE path = ?1 AND modified = ?2 AND bytes = ?3 AND "
                         "(?4 IS NULL OR (begun = ?4 AND added = ?5)) LIMIT 1",
                         a->error);
    if (!find)
        return -1;
    bind_text(find, 1, run->path);
    bind_time(find, 2, run->modified);
    bind_time(find, 3, run->bytes);
    if (sameness == RUN_OF_SAME_ADD) {
        bind_time(find, 4, run->begun);
        bind_time(find, 5, run->added);
    }
    int found = database_step(a->c, find, a->error);
    if (found == 1)
        run->id = sqlite3_column_int64(find, 0);
    sqlite3_finalize(find);
    return found;
}

static int add_all(adder *a, run_record *run, run_sameness sameness)
{
    int found = sameness == RUN_NEVER_SAME ? 0 : find_same(a, run, sameness);
    if (found != 0)
        return found;
    if (add_metrics(a, run) != 0 || add_run(a, run) != 0 || add_labels(a, run) != 0 ||
        add_totals(a, run) != 0 || add_costs(a, run) != 0)
        return -1;
    return database_run(a->c, "COMMIT", a->error);
}

int database_add(catalogue *of, run_record *run, run_sameness sameness, catalogue_error *error)
{
    database *c = database_of(of);
    adder a = {.c = c, .error = error};
    a.metrics = calloc(run->total_count + 1, sizeof *a.metrics);
    if (!a.metrics) {
        snprintf(error->text, sizeof error->text, "%s: out of memory", c->base.name);
        return -1;
    }
    int status = database_run(c, "BEGIN IMMEDIATE", error);
    if (status == 0) {
        status = add_all(&a, run, sameness);
        if (status != 0)
            sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
    free(a.metrics);
    return status;
}
