/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Markdown as GitHub and GitLab render it, for a pull request. Names come from programs that
 * anybody can have built: in tables they are code, in sentences every special character is escaped,
 * so that nothing becomes markup, HTML, a link, a mention of a person or of another issue.
 */
#include "output/escape.h"
#include "output/out_backend.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void put(out *o, const char *text)
{
    out_raw(o, text, strlen(text));
}

/* Mentions are found after rendering, in text without markup in between. */
static const char *replacement(char character)
{
    switch (character) {
    case '@':
        return "<b></b>@<b></b>";
    case '#':
        return "<b></b>#<b></b>";
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    default:
        return NULL;
    }
}

/* Whether a character could begin markup, a link or, as the first ones of a line, a list. */
static int is_special(const char *text, const char *at)
{
    if (strchr("\\`*_{}[]!|~$^", *at))
        return 1;
    if (*at == ':')
        return at[1] == '/';
    if (*at == '.' && at - text >= 3 && strncasecmp(at - 3, "www", 3) == 0)
        return 1;
    return strchr("-+=.)", *at) && strspn(text, "0123456789 -+=") >= (size_t)(at - text);
}

void out_markdown_text(out *o, const char *text)
{
    for (const char *at = text; *at; at++) {
        const char *other = replacement(*at);
        if (other)
            put(o, other);
        else if (is_special(text, at))
            out_raw(o, (const char[]){'\\', *at}, 2);
        else
            out_raw(o, at, 1);
    }
}

/* The longest run of backticks: what encloses code has to be longer. */
static size_t longest_run(const char *text)
{
    size_t longest = 0;
    for (; *text; text++) {
        size_t run = strspn(text, "`");
        longest = run > longest ? run : longest;
        text += run ? run - 1 : 0;
    }
    return longest;
}

/* A name as code. In a table a bar ends the cell even there, unless it is escaped. */
static void put_code(out *o, const char *name)
{
    size_t fence = longest_run(name) + 1, size = strlen(name);
    int is_padded = size > 0 && (strchr("` ", name[0]) || strchr("` ", name[size - 1]));
    for (size_t i = 0; i < fence; i++)
        put(o, "`");
    put(o, is_padded ? " " : "");
    for (; *name; name++)
        out_raw(o, *name == '|' ? "\\|" : name, *name == '|' ? 2 : 1);
    put(o, is_padded ? " " : "");
    for (size_t i = 0; i < fence; i++)
        put(o, "`");
}

static int is_string(const out_column *column)
{
    return column->kind == OUT_STRING || column->kind == OUT_PROSE || column->kind == OUT_DIGITS;
}

static void markdown_begin(out *o, out_schema schema, const char *store)
{
    (void)o;
    (void)schema;
    (void)store;
}

static void markdown_nothing(out *o)
{
    (void)o;
}

static void markdown_table(out *o, const char *key)
{
    (void)key;
    for (size_t i = 0; i < o->column_count; i++) {
        if (!out_shows(o, &o->columns[i]))
            continue;
        put(o, "| ");
        out_markdown_text(o, o->columns[i].title);
        put(o, " ");
    }
    put(o, "|\n");
    for (size_t i = 0; i < o->column_count; i++)
        if (out_shows(o, &o->columns[i]))
            put(o, is_string(&o->columns[i]) && o->columns[i].kind != OUT_DIGITS ? "|---" : "|---:");
    put(o, "|\n");
}

static void markdown_row(out *o, out_style style)
{
    (void)o;
    (void)style;
}

/* Prose is the program's own words. */
static void markdown_cell(out *o, const out_column *column, const out_value *value)
{
    char number[NUMBER_SIZE] = "";
    put(o, "| ");
    if (value->type != VALUE_NONE && is_string(column) && value->text[0]) {
        char *shown = escape_text(value->text, 1);
        if (column->kind == OUT_PROSE || column->kind == OUT_DIGITS)
            out_markdown_text(o, shown);
        else
            put_code(o, shown);
        free(shown);
        put(o, " ");
    } else if (value->type != VALUE_NONE && !is_string(column)) {
        out_format_number(o, column, value, number);
        put(o, number);
        put(o, " ");
    }
}

static void markdown_row_end(out *o)
{
    put(o, "|\n");
}

static void markdown_table_end(out *o)
{
    put(o, "\n");
}

const out_backend out_backend_markdown = {
    .begin = markdown_begin,
    .end = markdown_nothing,
    .table = markdown_table,
    .row = markdown_row,
    .cell = markdown_cell,
    .row_end = markdown_row_end,
    .table_end = markdown_table_end,
};
