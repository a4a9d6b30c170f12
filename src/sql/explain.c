/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans in words: which tables are read, by what, and what is sorted. */
#include "sql/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 64,
    LINE_SIZE = 1200
};

static const char mark[] = " VIRTUAL TABLE INDEX ";

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "SCAN v VIRTUAL TABLE INDEX 64:=B;;;f value by context_id = (30 rows)", in words. */
static int say_table(char line[LINE_SIZE], const char *detail)
{
    const char *name = begins(detail, "SCAN ") ? detail + strlen("SCAN ") : NULL;
    const char *index = strstr(detail, mark), *words = index ? strchr(index + strlen(mark), ' ') : NULL;
    if (!name || !words)
        return 0;
    int is_whole = strstr(words, " by ") == NULL;
    snprintf(line, LINE_SIZE, "%s %.*s:%s", is_whole ? "read all of" : "look up", (int)(index - name), name,
             words);
    return 1;
}

static void say(char line[LINE_SIZE], const char *detail)
{
    static const struct {
        const char *begin, *words;
    } known[] = {
        {"USE TEMP B-TREE FOR DISTINCT", "remember rows for DISTINCT"},
        {"USE TEMP B-TREE FOR ", "sort for "},
        {"CO-ROUTINE ", "compute as needed: "},
        {"MATERIALIZE ", "compute first: "},
        {"SCALAR SUBQUERY ", "compute once: subquery "},
        {"CORRELATED SCALAR SUBQUERY ", "compute for each row: subquery "},
        {"CORRELATED LIST SUBQUERY ", "compute for each row: list "},
        {"LIST SUBQUERY ", "compute once: list "},
        {"RECURSIVE STEP", "repeat until nothing is new"},
        {"SETUP", "begin with"},
        {"SCAN ", "read all of "},
        {"SEARCH ", "look up "},
    };
    if (say_table(line, detail))
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(detail, known[i].begin)) {
            snprintf(line, LINE_SIZE, "%s%s", known[i].words, detail + strlen(known[i].begin));
            return;
        }
    snprintf(line, LINE_SIZE, "%s", detail);
}

/* The level of a row: one below its parent. */
static unsigned level_of(const int parents[LEVELS], unsigned *depth, int parent)
{
    while (*depth > 0 && parents[*depth - 1] != parent)
        --*depth;
    return *depth;
}

/* ---- advice ---- */

/* What a plan does that a table function of the library does faster. */
typedef struct habits {
    int reads_calls; /* with their functions */
    int reads_rows;  /* of a table that grows with the store */
    int sorts_groups;
} habits;

static const lode_table_info *table_named(const sql *s, const char *name)
{
    const lode_table_info *info;
    for (size_t i = 0; i < s->count; i++)
        for (unsigned k = 0; (info = lode_tables_at(s->sources[i]->tables, k)); k++)
            if (strcmp(info->name, name) == 0)
                return info;
    return NULL;
}

/* Whether a plan reads `call` with a column about functions: its code ends with the columns. */
static int reads_functions_of_calls(const sql *s, const char *detail)
{
    const lode_table_info *info = table_named(s, "call");
    const char *code = strstr(detail, mark), *words = code ? strchr(code + strlen(mark), ' ') : NULL;
    if (!info || !words || !begins(words, " call "))
        return 0;
    const char *columns = words;
    while (columns > code && columns[-1] != ';')
        columns--;
    unsigned long long used = strtoull(columns, NULL, 16);
    for (unsigned i = 0; i < info->field_count && i < 63; i++)
        if ((used >> i & 1) && begins(info->fields[i].name, "function"))
            return 1;
    return 0;
}

/* Whether a plan reads a table that grows with values, samples or events. */
static int reads_many_rows(const char *detail)
{
    static const char *const names[] = {" value ", " sample ", " event ", " call "};
    const char *code = strstr(detail, mark), *words = code ? strchr(code + strlen(mark), ' ') : NULL;
    for (size_t i = 0; words && i < sizeof names / sizeof *names; i++)
        if (begins(words, names[i]))
            return 1;
    return 0;
}

static void notice(habits *h, const sql *s, const char *detail)
{
    h->reads_rows |= reads_many_rows(detail);
    h->reads_calls |= reads_functions_of_calls(s, detail);
    h->sorts_groups |= strcmp(detail, "USE TEMP B-TREE FOR GROUP BY") == 0;
}

static void advise(const habits *h, sql_line_fn on_line, void *user)
{
    if (h->reads_calls && h->sorts_groups)
        on_line(user, 0,
                "advice: call_stat has calls, times and percentiles by function, without this sort: it takes "
                "as long as 'lode top'");
    else if (h->reads_rows && h->sorts_groups)
        on_line(
            user, 0,
            "advice: grouped('TABLE', 'COLUMN', 'VALUE', 'CONDITION') has counts, sums, least and greatest "
            "values by up to three columns, without this sort");
}

int sql_explain(sql *s, const char *text, sql_line_fn on_line, void *user, sql_error *error)
{
    sql_statement *statement = NULL;
    const char *rest;
    int parents[LEVELS], found = -1;
    unsigned depth = 0;
    habits seen = {0};
    char *query = sqlite3_mprintf("explain query plan %s", text);
    int status =
        query ? sql_prepare(s, query, &statement, &rest, error) : sql_fail_text(error, "out of memory");
    while (status == 0 && statement && (found = sql_step(statement, error)) == 1) {
        char line[LINE_SIZE];
        sql_cell detail = sql_cell_at(statement, 3);
        unsigned level = level_of(parents, &depth, (int)sql_cell_at(statement, 1).integer);
        say(line, detail.text ? detail.text : "");
        notice(&seen, s, detail.text ? detail.text : "");
        on_line(user, level, line);
        if (depth < LEVELS)
            parents[depth++] = (int)sql_cell_at(statement, 0).integer;
    }
    if (found == 0)
        advise(&seen, on_line, user);
    sql_finish(statement);
    sqlite3_free(query);
    return status == 0 && found < 0 && statement ? -1 : status;
}
