/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/sqlite/database.h"

#include <stddef.h>

/* The number is that of the run, or the time before which runs began. */
static int change(database *c, const char *sql, int64_t number, uint64_t *changed, catalogue_error *error)
{
    sqlite3_stmt *statement = database_prepare(c, sql, error);
    if (!statement)
        return -1;
    if (sqlite3_bind_parameter_count(statement) > 0)
        sqlite3_bind_int64(statement, 1, number);
    int status = database_step(c, statement, error) < 0 ? -1 : 0;
    sqlite3_finalize(statement);
    if (changed)
        *changed = (uint64_t)sqlite3_changes(c->db);
    return status;
}

typedef struct removal {
    const char *parts[3]; /* costs, totals, labels */
    const char *runs;
} removal;

/* Afterwards, names that no run has are gone. */
static int remove_all(database *c, const removal *what, int64_t number, uint64_t *removed,
                      catalogue_error *error)
{
    static const char *const names[] = {
        "DELETE FROM key WHERE NOT EXISTS (SELECT 1 FROM cost WHERE cost.key = key.id)",
        "DELETE FROM metric WHERE NOT EXISTS (SELECT 1 FROM total WHERE total.metric = metric.id)",
    };
    for (size_t i = 0; i < sizeof what->parts / sizeof *what->parts; i++)
        if (change(c, what->parts[i], number, NULL, error) != 0)
            return -1;
    if (change(c, what->runs, number, removed, error) != 0)
        return -1;
    for (size_t i = 0; *removed && i < sizeof names / sizeof *names; i++)
        if (change(c, names[i], 0, NULL, error) != 0)
            return -1;
    return 0;
}

static int remove_in_transaction(database *c, const removal *what, int64_t number, uint64_t *removed,
                                 catalogue_error *error)
{
    *removed = 0;
    if (database_run(c, "BEGIN IMMEDIATE", error) != 0)
        return -1;
    int status = remove_all(c, what, number, removed, error);
    if (status == 0)
        status = database_run(c, *removed ? "COMMIT" : "ROLLBACK", error);
    else
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int database_remove(catalogue *of, int64_t run, catalogue_error *error)
{
    static const removal one = {{"DELETE FROM cost WHERE run = ?1", "DELETE FROM total WHERE run = ?1",
                                 "DELETE FROM label WHERE run = ?1"},
                                "DELETE FROM run WHERE id = ?1"};
    uint64_t removed;
    int status = remove_in_transaction(database_of(of), &one, run, &removed, error);
    return status == 0 && removed == 0 ? 1 : status;
}

int database_retain(catalogue *of, uint64_t before, uint64_t *removed, catalogue_error *error)
{
    static const removal old = {{"DELETE FROM cost WHERE run IN (SELECT id FROM run WHERE begun < ?1)",
                                 "DELETE FROM total WHERE run IN (SELECT id FROM run WHERE begun < ?1)",
                                 "DELETE FROM label WHERE run IN (SELECT id FROM run WHERE begun < ?1)"},
                                "DELETE FROM run WHERE begun < ?1"};
    return remove_in_transaction(database_of(of), &old, (int64_t)(before & INT64_MAX), removed, error);
}
