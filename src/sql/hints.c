/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages about names that are not there say which are. */
#include "sql/engine.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void append(sql_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What does not fit is left out: the message says where all of it is. */
static void append(sql_error *error, const char *format, ...)
{
    size_t length = strlen(error->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text + length, sizeof error->text - length, format, arguments);
    va_end(arguments);
}

static int is_part_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a statement has a word, in any case. */
static int has_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = text; *at; at++) {
        if (sqlite3_strnicmp(at, word, (int)size) == 0 && !is_part_of_name(at[size]))
            return 1;
        while (is_part_of_name(at[0]) && is_part_of_name(at[1]))
            at++;
    }
    return 0;
}

/* The tables of each store, by its name if there are several. */
static void list_tables(const sql *s, sql_error *error)
{
    const lode_table_info *info;
    for (size_t i = 0; i < s->count; i++) {
        if (s->count > 1)
            append(error, "; '%s' has ", s->names[i]);
        else
            append(error, "; there are ");
        for (unsigned k = 0; (info = lode_tables_at(s->sources[i]->tables, k)); k++)
            append(error, "%s%s", k ? ", " : "", info->name);
    }
}

/* The columns of the tables that a statement names. */
static void list_columns(const sql *s, const char *text, sql_error *error)
{
    const lode_table_info *info;
    for (size_t i = 0; i < s->count; i++)
        for (unsigned k = 0; (info = lode_tables_at(s->sources[i]->tables, k)); k++) {
            if (!has_word(text, info->name) || (s->count > 1 && !has_word(text, s->names[i])))
                continue;
            append(error, "; '%s' has ", info->name);
            for (unsigned n = 0; n < info->field_count; n++)
                append(error, "%s%s", n ? ", " : "", info->fields[n].name);
        }
}

void sql_add_hint(const sql *s, const char *text, sql_error *error)
{
    if (begins(error->text, "no such table: "))
        list_tables(s, error);
    else if (begins(error->text, "no such column: "))
        list_columns(s, text, error);
    else
        return;
    /* Words that were cut off at the end would be wrong names. */
    size_t length = strlen(error->text);
    if (length + 1 < sizeof error->text)
        return;
    error->text[sizeof error->text - sizeof "..."] = '\0';
    char *comma = strrchr(error->text, ',');
    if (comma)
        memcpy(comma, "...", sizeof "...");
}
