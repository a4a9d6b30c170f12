/* SPDX-License-Identifier: BSD-3-Clause */
/* Comma-separated values as RFC 4180 has them: lines end with CR LF, and quotes are doubled. */
#include "out_backend.h"

#include <stdio.h>
#include <string.h>

static void csv_begin(out *o, const char *command, const char *store)
{
    (void)o;
    (void)command;
    (void)store;
}

static void csv_nothing(out *o)
{
    (void)o;
}

static void put_field(out *o, const char *text)
{
    size_t size = strlen(text);
    if (!strpbrk(text, ",\"\r\n") && text[0] != ' ' && !(size && text[size - 1] == ' ')) {
        out_write(o, text, size);
        return;
    }
    out_write(o, "\"", 1);
    for (; *text; text++)
        out_write(o, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    out_write(o, "\"", 1);
}

static void csv_table(out *o, const char *key)
{
    int is_first = 1;
    (void)key;
    for (size_t i = 0; i < o->column_count; i++) {
        if (!out_shows(o, &o->columns[i]))
            continue;
        if (!is_first)
            out_write(o, ",", 1);
        put_field(o, o->columns[i].key);
        is_first = 0;
    }
    out_write(o, "\r\n", 2);
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
        out_write(o, ",", 1);
    o->is_first = 0;
    if (value->is_none)
        return;
    switch (column->kind) {
    case OUT_STRING:
    case OUT_PROSE:
        put_field(o, value->text);
        break;
    case OUT_INTEGER:
    case OUT_NUMBER:
    case OUT_TIME:
    case OUT_BYTES:
        snprintf(number, sizeof number, "%llu", (unsigned long long)value->integer);
        break;
    case OUT_REAL:
        format_exact(number, value->real);
        break;
    case OUT_PERCENT:
        format_exact(number, value->real * 100);
        break;
    case OUT_BOOL:
        snprintf(number, sizeof number, "%s", value->integer ? "true" : "false");
        break;
    }
    out_write(o, number, strlen(number));
}

static void csv_row_end(out *o)
{
    out_write(o, "\r\n", 2);
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
