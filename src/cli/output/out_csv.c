/* SPDX-License-Identifier: BSD-3-Clause */
/* Comma-separated values as RFC 4180 has them: lines end with CR LF, and quotes are doubled. */
#include "output/escape.h"
#include "output/out_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void csv_begin(out *o, out_schema schema, const char *store)
{
    (void)o;
    (void)schema;
    (void)store;
}

static void csv_nothing(out *o)
{
    (void)o;
}

/* RFC 4180: fields with separators are quoted; also with outer spaces, which some readers drop. */
static void put_field(out *o, const char *text, const char *before)
{
    size_t size = strlen(text);
    if (!before[0] && !strpbrk(text, ",\"\r\n") && text[0] != ' ' && !(size && text[size - 1] == ' ')) {
        out_raw(o, text, size);
        return;
    }
    out_raw(o, "\"", 1);
    out_raw(o, before, strlen(before));
    for (; *text; text++)
        out_raw(o, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    out_raw(o, "\"", 1);
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

/* A number is one to a spreadsheet too, and does nothing there. */
static int is_number(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+'), *at = skip_digits(digits);
    if (at == digits)
        return 0;
    if (*at == '.')
        at = skip_digits(at + 1);
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        at = skip_digits(exponent);
        if (at == exponent)
            return 0;
    }
    return *at == '\0';
}

/*
 * Whether a spreadsheet would run a cell as a formula, by its first character, as listed by OWASP
 * ("CSV Injection"). Tabs and carriage returns are escaped; leading spaces are skipped, since some
 * programs drop them.
 */
static int is_formula(const char *text)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    const char *first = text + strspn(text, " ");
    switch (*first) {
    case '=':
    case '@':
        return 1;
    case '+':
    case '-':
        return !is_number(text);
    case '\xef':
        break;
    default:
        return 0;
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(first, wide[i], 3) == 0)
            return 1;
    return 0;
}

/* A text out of a store. */
static void put_text(out *o, const char *text)
{
    size_t size = strlen(text);
    if (o->is_raw) {
        put_field(o, text, "");
    } else if (escape_plain(text, size, 1) == size) {
        put_field(o, text, is_formula(text) ? "'" : "");
    } else {
        char *shown = escape_text(text, 1);
        put_field(o, shown, is_formula(shown) ? "'" : "");
        free(shown);
    }
}

static void csv_table(out *o, const char *key)
{
    int is_first = 1;
    (void)key;
    for (size_t i = 0; i < o->column_count; i++) {
        if (!out_shows(o, &o->columns[i]))
            continue;
        if (!is_first)
            out_raw(o, ",", 1);
        put_field(o, o->columns[i].key, "");
        is_first = 0;
    }
    out_raw(o, "\r\n", 2);
}

static void csv_row(out *o, out_style style)
{
    (void)style;
    o->is_first = 1;
}

static void csv_cell(out *o, const out_column *column, const out_value *value)
{
    char number[NUMBER_SIZE] = "";
    if (!o->is_first)
        out_raw(o, ",", 1);
    o->is_first = 0;
    if (value->type == VALUE_NONE)
        return;
    switch (column->kind) {
    case OUT_STRING:
    case OUT_DIGITS:
    case OUT_PROSE:
        put_text(o, value->text);
        break;
    case OUT_INTEGER:
    case OUT_NUMBER:
    case OUT_TIME:
    case OUT_MOMENT:
    case OUT_ADDRESS:
    case OUT_BYTES:
        snprintf(number, sizeof number, "%llu", (unsigned long long)value->integer);
        break;
    case OUT_REAL:
    case OUT_CHANGE:
    case OUT_RATIO:
        format_exact(number, value->real);
        break;
    case OUT_PERCENT:
        format_exact(number, value->real * 100);
        break;
    case OUT_BOOL:
        snprintf(number, sizeof number, "%s", value->integer ? "true" : "false");
        break;
    }
    out_raw(o, number, strlen(number));
}

static void csv_row_end(out *o)
{
    out_raw(o, "\r\n", 2);
}

const out_backend out_backend_csv = {
    .begin = csv_begin,
    .end = csv_nothing,
    .table = csv_table,
    .row = csv_row,
    .cell = csv_cell,
    .row_end = csv_row_end,
    .table_end = csv_nothing,
};
