/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that begin with a dot: what there is to ask for. */
#include "alloc.h"
#include "commands/sql/sql.h"
#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The name by which statements have a table. */
static void table_name(const sql_job *job, const sql_store *store, const lode_table_info *info, char *name,
                       size_t capacity)
{
    if (job->store_count > 1)
        snprintf(name, capacity, "%s.%s", store->name, info->name);
    else
        snprintf(name, capacity, "%s", info->name);
}

static const out_column table_columns[] = {
    {"table", "Table", OUT_STRING, OUT_ALWAYS},
    {"title", "Contents", OUT_STRING, OUT_ALWAYS},
};

static void list_tables(const sql_job *job)
{
    const lode_table_info *info;
    char name[2 * SCHEMA_NAME_SIZE];
    out_table(job->out, OUT_MAIN, "tables", table_columns, 2, UNIT_COUNT);
    for (size_t i = 0; i < job->store_count; i++)
        for (unsigned k = 0; (info = lode_tables_at(job->stores[i].tables, k)); k++) {
            table_name(job, &job->stores[i], info, name, sizeof name);
            OUT_ROW(job->out, STYLE_PLAIN, name, info->title);
        }
    out_table_end(job->out);
}

static const char *type_of(const lode_field *field)
{
    return field->type == LODE_COLUMN_STRING ? "text" : field->type == LODE_COLUMN_F64 ? "real" : "integer";
}

static void show_columns(const sql_job *job, const sql_store *store, const lode_table_info *info)
{
    char name[2 * SCHEMA_NAME_SIZE];
    table_name(job, store, info, name, sizeof name);
    out_line(job->out, "%s%s: %s", name, info->is_function ? "(...)" : "", info->title);
    for (unsigned i = 0; i < info->field_count; i++) {
        const lode_field *field = &info->fields[i];
        const char *role = field->flags & LODE_FIELD_REQUIRED   ? ", a required argument"
                           : field->flags & LODE_FIELD_ARGUMENT ? ", an argument"
                           : field->flags & LODE_FIELD_KEY      ? ", key"
                                                                : "";
        out_line(job->out, "  %-16s %s%s%s%s", field->name, type_of(field), role,
                 field->refers ? ", id of " : "", field->refers ? field->refers : "");
    }
}

static int show_schema(const sql_job *job, const char *wanted)
{
    const lode_table_info *info;
    int found = 0;
    for (size_t i = 0; i < job->store_count; i++)
        for (unsigned k = 0; (info = lode_tables_at(job->stores[i].tables, k)); k++)
            if (!wanted[0] || strcasecmp(info->name, wanted) == 0) {
                show_columns(job, &job->stores[i], info);
                found = 1;
            }
    return found ? EXIT_DONE : report("there is no table '%s' (.tables lists them)", wanted);
}

static void show_help(const sql_job *job)
{
    out_print(job->out, ".tables           the tables, and what they contain\n"
                        ".schema [TABLE]   the columns of all tables, or of one\n"
                        ".questions        statements that answer common questions\n"
                        ".help             this list\n"
                        ".quit             leave\n"
                        "A statement ends with a semicolon. Ctrl-C stops it.\n");
}

int sql_run_dot(sql_job *job, const char *line)
{
    size_t size = strcspn(line, " \t\r\n;");
    const char *rest = line + size + strspn(line + size, " \t");
    char argument[SCHEMA_NAME_SIZE];
    snprintf(argument, sizeof argument, "%.*s", (int)strcspn(rest, " \t\r\n;"), rest);
    int is_questions = strncmp(line, ".questions", size) == 0 && size == strlen(".questions");
    if (!out_is_prose(job->out) && !(is_questions && out_format_of(job->out) == OUT_JSON))
        return report("lines that begin with a dot have no --json and no --csv, but for .questions --json");
    if (is_questions)
        sql_show_questions(job);
    else if (strncmp(line, ".tables", size) == 0 && size == strlen(".tables"))
        list_tables(job);
    else if (strncmp(line, ".schema", size) == 0 && size == strlen(".schema"))
        return show_schema(job, argument);
    else if (strncmp(line, ".help", size) == 0 && size == strlen(".help"))
        show_help(job);
    else if (strncmp(line, ".quit", size) == 0 && size == strlen(".quit"))
        job->has_ended = 1;
    else
        return report("unknown: %.*s (.help lists what there is)", (int)(size < 40 ? size : 40), line);
    return EXIT_DONE;
}
