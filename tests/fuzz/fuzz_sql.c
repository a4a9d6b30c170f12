/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements on a small database (first byte even), and a database with changed bytes (odd). */
#include "minidb.h"
#include "sql/sql.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LOOKS_MAX = 40, /* at the clock: each is 1,000 instructions */
    ROWS_MAX = 5000,
    CHANGE_SIZE = 4 /* bytes of input for one changed byte */
};

static const char *const plain[] = {
    "select * from context",
    "select * from function",
    "select * from profile",
    "select * from metric",
    "select context_id, sum(value) from value group by 1",
    "select profile_id, count(*) from value group by 1",
    "select * from value where context_id = 2 and profile_id in (1, 2)",
    "select * from sample where profile_id = 1 and time_ns > 5",
    "select path(id), c.* from context c where parent_id = 0 order by position",
    "select * from total order by context_id",
};

static int looks;

static int is_due(void)
{
    return ++looks > LOOKS_MAX;
}

/* Looks at every cell. */
static void read_rows(sql_statement *statement)
{
    sql_error error = {.at = -1};
    int found = 1;
    for (unsigned row = 0; row < ROWS_MAX && (found = sql_step(statement, &error)) == 1; row++)
        for (unsigned i = 0; i < sql_column_count(statement); i++) {
            sql_cell cell = sql_cell_at(statement, i);
            if (cell.type == SQL_TEXT && cell.text[cell.size] != '\0')
                abort();
        }
    if (found < 0 && error.text[0] == '\0')
        abort();
}

static void run_all(sql *s, const char *text)
{
    sql_error error = {.at = -1};
    sql_statement *statement;
    looks = 0;
    while (*text && sql_prepare(s, text, &statement, &text, &error) == 0 && statement) {
        read_rows(statement);
        sql_finish(statement);
        if (looks > LOOKS_MAX)
            break;
    }
}

static sql *open_sql(lode_database *db)
{
    sql *s;
    sql_error error = {.at = -1};
    lode_tables *tables;
    sql_settings settings = {.memory = UINT64_C(256) << 20, .is_due = is_due};
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    looks = 0;
    if (sql_open(&s, &settings, &error) != 0)
        abort();
    options.on_progress = sql_on_progress;
    options.progress_user = s;
    if (lode_tables_open(&tables, db, NULL, &options, NULL) != LODE_OK ||
        sql_add(s, "main", tables, db, NULL, &error) != 0 || sql_seal(s, &error) != 0)
        abort();
    return s;
}

/* Each group of bytes names a file, a position in it, and what to change there. */
static void change(struct minidb *mini, const uint8_t *data, size_t size)
{
    for (; size >= CHANGE_SIZE; data += CHANGE_SIZE, size -= CHANGE_SIZE) {
        enum hpct_file_id file = (enum hpct_file_id)(data[0] % HPCT_FILES);
        lode_memory_file files[HPCT_FILES];
        minidb_files(mini, files);
        uint64_t at = (uint64_t)data[1] << 8 | data[2];
        if (at < files[file].size)
            *minidb_at(mini, file, at) ^= data[3];
    }
}

static void read_changed(const uint8_t *data, size_t size)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db = NULL;
    minidb_make(&mini, &options);
    change(&mini, data, size);
    minidb_files(&mini, files);
    if (lode_database_open_memory(&db, files, HPCT_FILES, NULL) == LODE_OK) {
        sql *s = open_sql(db);
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            run_all(s, plain[i]);
        sql_close(s);
        lode_database_close(db);
    }
    minidb_free(&mini);
}

static void read_text(const uint8_t *data, size_t size)
{
    static struct minidb mini;
    static lode_database *db;
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    if (!db) {
        minidb_make(&mini, &options);
        minidb_files(&mini, files);
        if (lode_database_open_memory(&db, files, HPCT_FILES, NULL) != LODE_OK)
            abort();
    }
    char *text = malloc(size + 1);
    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    sql *s = open_sql(db);
    run_all(s, text);
    sql_close(s);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] % 2)
        read_changed(data + 1, size - 1);
    else if (size > 0)
        read_text(data + 1, size - 1);
    return 0;
}
