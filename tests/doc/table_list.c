/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the tables of doc/tables.md: columns, types and keys, as lode/table.h has them. */
#include "minidb.h"
#include "minirec.h"
#include <lode/unstable.h>
#include <stdio.h>

static const char *type_of(const lode_field *field)
{
    if (field->type == LODE_COLUMN_STRING)
        return "text";
    if (field->type == LODE_COLUMN_F64)
        return "float64";
    if (field->type == LODE_COLUMN_U32)
        return "uint32";
    if (field->flags & LODE_FIELD_BOOLEAN)
        return "boolean";
    return field->flags & LODE_FIELD_SIGNED ? "int64" : "uint64";
}

static void print_field(const lode_field *field)
{
    printf("| %s | %s |", field->name, type_of(field));
    if (field->flags & LODE_FIELD_KEY)
        printf(" key;");
    if (field->flags & LODE_FIELD_REQUIRED)
        printf(" argument, required;");
    else if (field->flags & LODE_FIELD_ARGUMENT)
        printf(" argument;");
    else if (field->flags & LODE_FIELD_OPTIONAL)
        printf(" may be NULL;");
    if (field->refers)
        printf(" id of `%s`;", field->refers);
    printf(" |\n");
}

static int print_tables(const char *title, const lode_database *db, const lode_recording *recording)
{
    lode_tables *base, *tables;
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    if (lode_tables_open(&base, db, recording, NULL, NULL) != LODE_OK)
        return 1;
    /* With a store to compare with, there are all tables. */
    options.base = base;
    lode_status status = lode_tables_open(&tables, db, recording, &options, NULL);
    lode_tables_close(base);
    if (status != LODE_OK)
        return 1;
    printf("\n## %s\n", title);
    for (unsigned i = 0; i < lode_tables_count(tables); i++) {
        const lode_table_info *info = lode_tables_at(tables, i);
        printf("\n### `%s`%s\n\n%s.\n\n| column | type | |\n|---|---|---|\n", info->name,
               info->is_function ? ", a function" : "", info->title);
        for (unsigned k = 0; k < info->field_count; k++)
            print_field(&info->fields[k]);
    }
    lode_tables_close(tables);
    return 0;
}

static int print_database(void)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    int status = lode_database_open_memory(&db, files, HPCT_FILES, NULL) != LODE_OK;
    if (status == 0) {
        status = print_tables("Databases", db, NULL);
        lode_database_close(db);
    }
    minidb_free(&mini);
    return status;
}

static int print_recording(void)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    minirec_make(&rec, &options);
    size_t count = minirec_list(&rec, files);
    int status = lode_recording_open_memory(&recording, files, count, NULL, NULL) != LODE_OK;
    if (status == 0) {
        status = print_tables("Recordings", NULL, recording);
        lode_recording_close(recording);
    }
    minirec_free(&rec);
    return status;
}

int main(void)
{
    return print_database() || print_recording();
}
