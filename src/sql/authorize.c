/* SPDX-License-Identifier: BSD-3-Clause */
/* What statements may do: read, and have temporary tables and views. */
#include "sql/engine.h"

#include <stdio.h>
#include <string.h>

/* Of SQLite's own tables, too: a temporary table is a row in the temporary schema. */
static int is_temporary(const char *schema)
{
    return schema && strcmp(schema, "temp") == 0;
}

/* Those that describe tables; none changes anything. */
static int is_harmless_pragma(const char *name)
{
    static const char *const names[] = {"table_info",    "table_xinfo",     "table_list",
                                        "function_list", "compile_options", "database_list"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static int is_harmful_function(const char *name)
{
    return name &&
           (sqlite3_stricmp(name, "load_extension") == 0 || sqlite3_stricmp(name, "fts3_tokenizer") == 0);
}

static const char *name_of(int action)
{
    switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return "attaching databases";
    case SQLITE_PRAGMA:
        return "this pragma";
    case SQLITE_FUNCTION:
        return "this function";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return "transactions";
    case SQLITE_CREATE_VTABLE:
        return "virtual tables";
    default:
        return "writing";
    }
}

static int is_allowed(int action, const char *first, const char *second, const char *schema)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
        return 1;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_REINDEX: /* what CREATE INDEX does */
        return is_temporary(schema);
    case SQLITE_PRAGMA:
        return first && is_harmless_pragma(first);
    case SQLITE_FUNCTION:
        return !is_harmful_function(second);
    default:
        return 0;
    }
}

static int on_action(void *user, int action, const char *first, const char *second, const char *schema,
                     const char *trigger)
{
    sql *s = user;
    (void)trigger;
    if (is_allowed(action, first, second, schema))
        return SQLITE_OK;
    snprintf(s->refused, sizeof s->refused, "%s", name_of(action));
    return SQLITE_DENY;
}

void sql_authorize(sql *s)
{
    sqlite3_set_authorizer(s->db, on_action, s);
}
