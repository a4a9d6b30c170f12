/* SPDX-License-Identifier: BSD-3-Clause */
/* `.questions`: statements with the metrics, functions and attributes that a store has. */
#include "alloc.h"
#include "commands/sql/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char metric_mark[] = "{metric}", found_mark[] = "{}";

/* What stands for the marks of a question: literals in SQL, names in its title. NULL: nothing. */
typedef struct fitting {
    char *metric, *found;
} fitting;

/* ---- names and literals ---- */

/* A text of SQL; free() it. */
static char *quote(const char *text)
{
    char *quoted = alloc_array(2 * strlen(text) + 3, 1);
    char *at = quoted;
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            *at++ = '\'';
        *at++ = *text;
    }
    *at = '\'';
    return quoted;
}

/* What is printed can be typed: without characters that the terminal would not get. */
static int is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return 0;
    return 1;
}

static size_t count_marks(const char *text, const char *mark)
{
    size_t count = 0;
    while ((text = strstr(text, mark))) {
        count++;
        text += strlen(mark);
    }
    return count;
}

/* Free() the result. */
static char *replace(const char *text, const char *mark, const char *with)
{
    size_t size = strlen(text) + count_marks(text, mark) * strlen(with) + 1;
    char *result = alloc_array(size, 1), *to = result;
    for (const char *next; (next = strstr(text, mark)); text = next + strlen(mark))
        to += sprintf(to, "%.*s%s", (int)(next - text), text, with);
    sprintf(to, "%s", text);
    return result;
}

static char *fill(const char *text, const fitting *f)
{
    char *half = replace(text, metric_mark, f->metric ? f->metric : "");
    char *full = replace(half, found_mark, f->found ? f->found : "");
    free(half);
    return full;
}

/* ---- what a store has ---- */

static int has_subject(const sql_job *job, const char *subject)
{
    for (size_t i = 0; i < job->store_count; i++) {
        const sql_store *store = &job->stores[i];
        int is_database = store->kind == LODE_STORE_DATABASE;
        int has_requests = !is_database && lode_recording_has_requests(store->recording.recording);
        const char *kind = is_database ? "database" : has_requests ? "requests" : "recording";
        if (strcmp(kind, subject) == 0 || (!is_database && strcmp(subject, "recording") == 0))
            return 1;
    }
    return 0;
}

/* The metric that the first database is asked about unless somebody says otherwise; or NULL. */
static const char *usual_metric(const sql_job *job)
{
    for (size_t i = 0; i < job->store_count; i++) {
        const lode_metric *metric = NULL;
        lode_error error;
        if (job->stores[i].kind == LODE_STORE_DATABASE)
            return lode_database_default_metric(job->stores[i].database.db, &metric, &error) == LODE_OK &&
                           is_plain(lode_metric_name(metric))
                       ? lode_metric_name(metric)
                       : NULL;
    }
    return NULL;
}

/* The first cell of a statement, as a name; NULL: there is none. free() it. */
static char *first_cell(const sql_job *job, const char *text, int *is_text)
{
    sql_error error;
    sql_statement *statement = NULL;
    const char *rest;
    char *result = NULL, number[NUMBER_SIZE];
    if (sql_prepare(job->connection, text, &statement, &rest, &error) == 0 && statement &&
        sql_step(statement, &error) == 1) {
        sql_cell cell = sql_cell_at(statement, 0);
        *is_text = cell.type == SQL_TEXT;
        snprintf(number, sizeof number, "%" PRId64, cell.integer);
        if ((*is_text && is_plain(cell.text)) || cell.type == SQL_INTEGER)
            result = alloc_text(*is_text ? cell.text : number);
    }
    sql_finish(statement);
    return result;
}

/* Whether the stores have the tables of a statement. */
static int can_be_asked(const sql_job *job, const char *text)
{
    sql_error error;
    sql_statement *statement;
    const char *rest;
    int status = sql_prepare(job->connection, text, &statement, &rest, &error);
    sql_finish(statement);
    return status == 0;
}

/* ---- questions ---- */

/* Whether the stores have what it asks for. */
static int show(const sql_job *job, size_t number, const sql_question *question, fitting *names, int is_text)
{
    fitting literals = {names->metric ? quote(names->metric) : NULL,
                        is_text ? quote(names->found) : names->found};
    char *title = fill(question->title, names), *text = fill(question->text, &literals);
    int is_shown = can_be_asked(job, text);
    if (is_shown && out_format_of(job->out) == OUT_JSON) {
        out_break(job->out);
        out_array(job->out, NULL);
        OUT_ELEMENTS(job->out, number, title, text);
        out_array_end(job->out);
    } else if (is_shown) {
        out_line(job->out, "-- %zu: %s", number, title);
        out_print(job->out, "%s\n\n", text);
    }
    free(title);
    free(text);
    free(literals.metric);
    if (is_text)
        free(literals.found);
    return is_shown;
}

/* Leaves out what asks for a metric or a name that the stores do not have. */
static int consider(const sql_job *job, size_t number, const sql_question *question, const char *metric)
{
    fitting names = {metric ? alloc_text(metric) : NULL, NULL};
    char *quoted = metric ? quote(metric) : NULL;
    int is_text = 0, fits = metric || !strstr(question->text, metric_mark);
    if (fits && question->fit) {
        char *text = replace(question->fit, metric_mark, quoted ? quoted : "");
        names.found = first_cell(job, text, &is_text);
        fits = names.found != NULL;
        free(text);
    }
    int is_shown = fits && show(job, number, question, &names, is_text);
    free(quoted);
    free(names.metric);
    free(names.found);
    return is_shown;
}

/* Returns how many there are. */
static uint64_t show_all(const sql_job *job)
{
    uint64_t count = 0;
    const char *metric = usual_metric(job);
    const sql_question *question;
    for (size_t i = 0; (question = sql_question_at(i)); i++)
        if (has_subject(job, question->store))
            count += (uint64_t)consider(job, i + 1, question, metric);
    return count;
}

void sql_show_questions(const sql_job *job)
{
    out *o = job->out;
    if (out_format_of(o) != OUT_JSON) {
        show_all(job);
        return;
    }
    out_break(o);
    out_object(o, NULL);
    out_array(o, "columns");
    OUT_ELEMENTS(o, "number", "title", "statement");
    out_array_end(o);
    out_array(o, "rows");
    uint64_t count = show_all(job);
    out_array_end(o);
    OUT_FIELDS(o, "row_count", count, "is_truncated", 0);
    out_object_end(o);
}
