/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs statements, and prints what they give. */
#include "alloc.h"
#include "commands/sql/sql.h"
#include "output/out.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_IN_TEXT = 1000 /* unless --limit says how many */
};
#define LIMIT_UNSAID UINT64_MAX

/* ---- messages ---- */

/* Where it is wrong, for people who have an editor. */
static int report_at(const char *text, const sql_error *error)
{
    unsigned line = 1, column = 1;
    for (int i = 0; i < error->at && text[i]; i++) {
        int is_feed = text[i] == '\n';
        line += (unsigned)is_feed;
        column = is_feed ? 1 : column + 1;
    }
    return report("%s (line %u, column %u)", error->text, line, column);
}

static int report_sql(const char *text, const sql_error *error)
{
    return error->at < 0 ? report("%s", error->text) : report_at(text, error);
}

/* ---- rows as text ---- */

typedef struct sheet {
    out_column *columns;
    unsigned count;
    int is_started;
} sheet;

/* Columns are numbers if the first row has numbers there. */
static void start_sheet(sheet *s, out *o, const sql_statement *statement, int has_row)
{
    s->count = sql_column_count(statement);
    s->columns = alloc_array(s->count, sizeof *s->columns);
    for (unsigned i = 0; i < s->count; i++) {
        const char *name = sql_column_name(statement, i);
        sql_type type = has_row ? sql_cell_at(statement, i).type : SQL_TEXT;
        int is_number = type == SQL_INTEGER || type == SQL_REAL;
        s->columns[i] = (out_column){name, name, is_number ? OUT_DIGITS : OUT_STRING, OUT_ALWAYS};
    }
    out_table(o, OUT_MAIN, "rows", s->columns, s->count, UNIT_COUNT);
    s->is_started = 1;
}

/* Bytes may be anything: 'x' and hexadecimal digits. */
static char *text_of_bytes(const sql_cell *cell)
{
    char *text = alloc_array(2 * cell->size + 4, 1);
    size_t used = (size_t)sprintf(text, "x'");
    for (size_t i = 0; i < cell->size; i++)
        used += (size_t)sprintf(text + used, "%02x", (unsigned char)cell->text[i]);
    sprintf(text + used, "'");
    return text;
}

static void put_cell(out *o, const sql_cell *cell)
{
    char number[NUMBER_SIZE];
    char *bytes;
    switch (cell->type) {
    case SQL_NULL:
        OUT_CELLS(o, out_none());
        return;
    case SQL_INTEGER:
        snprintf(number, sizeof number, "%" PRId64, cell->integer);
        OUT_CELLS(o, number);
        return;
    case SQL_REAL:
        format_exact(number, cell->real);
        /* Files have no infinity; people see it. */
        if (!number[0] && out_is_prose(o))
            snprintf(number, sizeof number, "%g", cell->real);
        OUT_CELLS(o, number);
        return;
    case SQL_TEXT:
        OUT_CELLS(o, cell->text);
        return;
    case SQL_BYTES:
        bytes = text_of_bytes(cell);
        OUT_CELLS(o, bytes);
        free(bytes);
        return;
    }
}

static void put_row(out *o, const sql_statement *statement, unsigned count)
{
    out_row(o, STYLE_PLAIN);
    for (unsigned i = 0; i < count; i++) {
        sql_cell cell = sql_cell_at(statement, i);
        put_cell(o, &cell);
    }
    out_row_end(o);
}

/* ---- rows as JSON ---- */

static void json_cell(out *o, const sql_cell *cell)
{
    char *bytes;
    switch (cell->type) {
    case SQL_NULL:
        OUT_ELEMENTS(o, out_none());
        return;
    case SQL_INTEGER:
        OUT_ELEMENTS(o, cell->integer);
        return;
    case SQL_REAL:
        OUT_ELEMENTS(o, cell->real);
        return;
    case SQL_TEXT:
        out_field_bytes(o, NULL, cell->text, cell->size);
        return;
    case SQL_BYTES:
        bytes = text_of_bytes(cell);
        OUT_ELEMENTS(o, bytes);
        free(bytes);
        return;
    }
}

static void json_row(out *o, const sql_statement *statement)
{
    out_break(o);
    out_array(o, NULL);
    for (unsigned i = 0; i < sql_column_count(statement); i++) {
        sql_cell cell = sql_cell_at(statement, i);
        json_cell(o, &cell);
    }
    out_array_end(o);
}

static void json_start(out *o, const sql_statement *statement)
{
    out_break(o);
    out_object(o, NULL);
    out_array(o, "columns");
    for (unsigned i = 0; i < sql_column_count(statement); i++)
        OUT_ELEMENTS(o, sql_column_name(statement, i));
    out_array_end(o);
    out_array(o, "rows");
}

/* `is_complete`: there are no more rows. */
static void json_finish(out *o, uint64_t rows, int is_complete)
{
    out_array_end(o);
    OUT_FIELDS(o, "row_count", rows, "is_truncated", !is_complete);
    out_object_end(o);
}

/* ---- one statement ---- */

static uint64_t row_limit(const sql_job *job)
{
    if (job->options->limit != LIMIT_UNSAID)
        return job->options->limit ? job->options->limit : UINT64_MAX;
    return out_is_prose(job->out) ? ROWS_IN_TEXT : UINT64_MAX;
}

static int print_json(sql_job *job, sql_statement *statement, sql_error *error)
{
    uint64_t rows = 0, most = row_limit(job);
    int found;
    json_start(job->out, statement);
    while ((found = sql_step(statement, error)) == 1 && rows < most && !out_has_failed(job->out)) {
        json_row(job->out, statement);
        rows++;
    }
    json_finish(job->out, rows, found == 0);
    return found;
}

static int print_table(sql_job *job, sql_statement *statement, sql_error *error)
{
    sheet s = {0};
    uint64_t rows = 0, most = row_limit(job);
    int found = sql_step(statement, error);
    if (found >= 0)
        start_sheet(&s, job->out, statement, found);
    for (; found == 1 && rows < most && !out_has_failed(job->out); found = sql_step(statement, error)) {
        put_row(job->out, statement, s.count);
        rows++;
    }
    if (s.is_started)
        out_table_end(job->out);
    if (found == 1 && out_is_prose(job->out))
        out_say(job->out, "the first %s (--limit 0 shows all)", COUNTED(rows, "row", "rows"));
    else if (found == 0 && rows == 0 && out_is_prose(job->out))
        out_say(job->out, "no rows");
    free(s.columns);
    return found;
}

/* -1 after an error, else whatever sql_step said last. */
static int print_rows(sql_job *job, sql_statement *statement, sql_error *error)
{
    /* Only what has columns has rows. */
    if (sql_column_count(statement) == 0)
        return sql_step(statement, error);
    if (job->results++ > 0)
        out_gap(job->out);
    return out_format_of(job->out) == OUT_JSON ? print_json(job, statement, error)
                                               : print_table(job, statement, error);
}

static void say_step(void *user, unsigned level, const char *line)
{
    out *o = user;
    out_line(o, "%*s%s", (int)(2 * level), "", line);
}

static int explain(sql_job *job, const char *text)
{
    sql_error error = {.at = -1};
    return sql_explain(job->connection, text, say_step, job->out, &error) == 0 ? EXIT_DONE
                                                                               : report("%s", error.text);
}

static int is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n;")] == '\0';
}

/* Runs the first statement of a text. */
static int run_first(sql_job *job, const char *text, const char **rest)
{
    sql_error error = {.at = -1};
    sql_statement *statement = NULL;
    if (sql_prepare(job->connection, text, &statement, rest, &error) != 0)
        return report_sql(text, &error);
    int found = statement ? print_rows(job, statement, &error) : 0;
    sql_finish(statement);
    return found >= 0 ? EXIT_DONE : report_sql(text, &error);
}

int sql_run_one(sql_job *job, const char *text)
{
    const char *rest = text;
    sql_statement *more = NULL;
    sql_error error = {.at = -1};
    if (text[0] == '.')
        return sql_run_dot(job, text);
    if (job->options->explain)
        return explain(job, text);
    int status = run_first(job, text, &rest);
    if (status != EXIT_DONE || is_blank(rest))
        return status;
    /* What follows may be a comment. */
    int is_more = sql_prepare(job->connection, rest, &more, &rest, &error) != 0 || more != NULL;
    sql_finish(more);
    return is_more ? report("more than one statement: use --script (see 'lode help sql')") : EXIT_DONE;
}

int sql_run_all(sql_job *job, const char *text)
{
    int status = EXIT_DONE;
    while (status == EXIT_DONE && !is_blank(text) && !job->has_ended && !out_has_failed(job->out)) {
        text += strspn(text, " \t\r\n;");
        if (text[0] == '.') {
            size_t size = strcspn(text, "\r\n");
            char *line = alloc_array(size + 1, 1);
            memcpy(line, text, size);
            status = sql_run_dot(job, line);
            free(line);
            text += size;
        } else
            status = run_first(job, text, &text);
        /* The next one may take long. */
        out_flush(job->out);
    }
    return status;
}
