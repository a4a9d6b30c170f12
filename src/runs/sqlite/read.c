/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything of one run, and of the catalogue as a whole. */
#include "runs/sqlite/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct reader {
    database *c;
    catalogue_error *error;
    run_record record;
    run_label *labels;
    run_total *totals;
    int64_t *metrics; /* ids, by position in the totals */
    run_cost *costs;
    char **texts;
    size_t text_count, text_capacity;
} reader;

static int no_memory(const reader *r)
{
    snprintf(r->error->text, sizeof r->error->text, "%s: out of memory", r->c->base.name);
    return -1;
}

/* NULL after an error. */
static const char *keep(reader *r, const char *text)
{
    if (r->text_count == r->text_capacity) {
        size_t capacity = r->text_capacity ? 2 * r->text_capacity : 256;
        char **grown = realloc(r->texts, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        r->texts = grown;
        r->text_capacity = capacity;
    }
    char *kept = strdup(text);
    if (kept)
        r->texts[r->text_count++] = kept;
    return kept;
}

/* Room for one more element: capacities are powers of two. NULL without memory. */
static void *extend(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

static sqlite3_stmt *prepare(reader *r, const char *sql, int64_t run)
{
    sqlite3_stmt *statement = database_prepare(r->c, sql, r->error);
    if (statement)
        sqlite3_bind_int64(statement, 1, run);
    return statement;
}

static int take_run(reader *r, sqlite3_stmt *s)
{
    run_record *record = &r->record;
    record->begun = database_unsigned(s, 0);
    record->added = database_unsigned(s, 1);
    record->modified = database_unsigned(s, 2);
    record->bytes = database_unsigned(s, 3);
    record->profiles = database_unsigned(s, 4);
    record->path = keep(r, database_text(s, 5));
    record->format = keep(r, database_text(s, 6));
    return record->path && record->format ? 0 : no_memory(r);
}

static int take_label(reader *r, sqlite3_stmt *s)
{
    run_label *grown = extend(r->labels, r->record.label_count, sizeof *grown);
    if (!grown)
        return no_memory(r);
    r->labels = grown;
    run_label label = {keep(r, database_text(s, 0)), NULL};
    label.value = keep(r, database_text(s, 1));
    r->labels[r->record.label_count++] = label;
    return label.name && label.value ? 0 : no_memory(r);
}

static int take_total(reader *r, sqlite3_stmt *s)
{
    size_t count = r->record.total_count;
    run_total *totals = extend(r->totals, count, sizeof *totals);
    r->totals = totals ? totals : r->totals;
    int64_t *metrics = totals ? extend(r->metrics, count, sizeof *metrics) : NULL;
    if (!metrics)
        return no_memory(r);
    r->metrics = metrics;
    r->metrics[count] = sqlite3_column_int64(s, 0);
    r->totals[count] = (run_total){keep(r, database_text(s, 1)), sqlite3_column_double(s, 2)};
    r->record.total_count++;
    return r->totals[count].metric ? 0 : no_memory(r);
}

static double real_or_nan(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, column);
}

static int take_cost(reader *r, sqlite3_stmt *s)
{
    int64_t metric = sqlite3_column_int64(s, 0);
    size_t index = 0;
    while (index < r->record.total_count && r->metrics[index] != metric)
        index++;
    if (index == r->record.total_count) /* of a metric without a total: nothing refers to it */
        return 0;
    run_cost *grown = extend(r->costs, r->record.cost_count, sizeof *grown);
    if (!grown)
        return no_memory(r);
    r->costs = grown;
    run_cost cost = {.metric = index,
                     .exclusive = sqlite3_column_double(s, 4),
                     .inclusive = sqlite3_column_double(s, 5),
                     .min = real_or_nan(s, 6),
                     .max = real_or_nan(s, 7)};
    if (!(cost.name = keep(r, database_text(s, 1))) || !(cost.module = keep(r, database_text(s, 2))) ||
        !(cost.file = keep(r, database_text(s, 3))))
        return no_memory(r);
    if (isfinite(cost.exclusive) && isfinite(cost.inclusive))
        r->costs[r->record.cost_count++] = cost;
    return 0;
}

/* -1, or the number of rows. */
static int64_t take_rows(reader *r, const char *sql, int64_t run, int (*take)(reader *, sqlite3_stmt *))
{
    sqlite3_stmt *statement = prepare(r, sql, run);
    int64_t rows = 0;
    int found = statement ? 1 : -1;
    while (found == 1 && (found = database_step(r->c, statement, r->error)) == 1) {
        rows++;
        if (take(r, statement) != 0)
            found = -1;
    }
    sqlite3_finalize(statement);
    return found < 0 ? -1 : rows;
}

static int read_parts(reader *r, int64_t run)
{
    int64_t found = take_rows(r,
                              "SELECT begun, added, modified, bytes, profiles, path, format FROM run "
                              "WHERE id = ?1",
                              run, take_run);
    if (found <= 0)
        return found < 0 ? -1 : 1;
    /* The default metric comes first. */
    if (take_rows(r, "SELECT name, value FROM label WHERE run = ?1 ORDER BY name", run, take_label) < 0 ||
        take_rows(
            r,
            "SELECT metric.id, metric.name, total.value FROM metric CROSS JOIN total ON total.metric = "
            "metric.id AND total.run = ?1 ORDER BY metric.id <> (SELECT metric FROM run WHERE id = ?1), "
            "metric.id",
            run, take_total) < 0 ||
        take_rows(r,
                  "SELECT cost.metric, key.name, key.module, key.file, exclusive, inclusive, min, max FROM "
                  "cost INDEXED BY cost_run CROSS JOIN key ON cost.run = ?1 AND key.id = cost.key",
                  run, take_cost) < 0)
        return -1;
    r->record.labels = r->labels;
    r->record.totals = r->totals;
    r->record.costs = r->costs;
    r->record.id = run;
    return 0;
}

int database_read(catalogue *of, int64_t run, run_record_fn on_record, void *user, catalogue_error *error)
{
    reader r = {.c = database_of(of), .error = error};
    int status = read_parts(&r, run);
    if (status == 0)
        status = on_record(user, &r.record) == 0 ? 0 : -1;
    for (size_t i = 0; i < r.text_count; i++)
        free(r.texts[i]);
    free(r.texts);
    free(r.labels);
    free(r.totals);
    free(r.metrics);
    free(r.costs);
    return status;
}

/* ---- the whole ---- */

int database_status(catalogue *of, catalogue_state *state, catalogue_error *error)
{
    database *c = database_of(of);
    struct stat file;
    int64_t numbers[5];
    static const char *const sql[] = {"SELECT count(*) FROM run", "SELECT count(*) FROM key",
                                      "SELECT count(*) FROM metric", "SELECT min(begun) FROM run",
                                      "SELECT max(begun) FROM run"};
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++)
        if (database_integer(c, sql[i], 0, &numbers[i], error) != 0)
            return -1;
    if (database_integer(c, "PRAGMA user_version", 0, &state->schema, error) != 0)
        return -1;
    snprintf(state->library, sizeof state->library, "SQLite %s", sqlite3_libversion());
    state->can_write = !sqlite3_db_readonly(c->db, NULL);
    state->runs = (uint64_t)numbers[0];
    state->functions = (uint64_t)numbers[1];
    state->metrics = (uint64_t)numbers[2];
    state->first = numbers[3] < 0 ? 0 : (uint64_t)numbers[3];
    state->last = numbers[4] < 0 ? 0 : (uint64_t)numbers[4];
    state->bytes = stat(c->base.name, &file) == 0 ? (uint64_t)file.st_size : 0;
    return 0;
}
