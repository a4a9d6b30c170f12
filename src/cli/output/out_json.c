/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/escape.h"
#include "output/out_backend.h"

#include <lode/name.h>
#include <lode/private/utf8.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields are no part of other formats. */
static void put_size(out *o, const char *text, size_t size)
{
    if (o->format == OUT_JSON)
        out_raw(o, text, size);
}

static void put(out *o, const char *text)
{
    put_size(o, text, strlen(text));
}

#define JSON_ESCAPE_SIZE 16
#define LARGEST_NUMBER   UINT64_C(9007199254740991) /* 2^53 - 1: every reader has it exactly */

/* An escape that is as short as JSON has it; NULL for a character that stands for itself. */
static const char *escape_of(uint32_t character, char buffer[JSON_ESCAPE_SIZE])
{
    static const char letters[] = "\b\f\n\r\t\"\\";
    static const char *const escapes[] = {"\\b", "\\f", "\\n", "\\r", "\\t", "\\\"", "\\\\"};
    const char *found = character && character < 0x80 ? strchr(letters, (int)character) : NULL;
    if (found)
        return escapes[found - letters];
    if (!escape_is_due(character))
        return NULL;
    if (character > 0xffff)
        snprintf(buffer, JSON_ESCAPE_SIZE, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (character >> 10)),
                 (unsigned)(0xdc00 + (character & 0x3ff)));
    else
        snprintf(buffer, JSON_ESCAPE_SIZE, "\\u%04x", (unsigned)character);
    return buffer;
}

/* What most names are made of stands for itself. */
static int is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void put_bytes(out *o, const char *text, size_t size)
{
    size_t plain = 0;
    put(o, "\"");
    while (plain < size) {
        if (is_plain((unsigned char)text[plain])) {
            plain++;
            continue;
        }
        uint32_t character = 0;
        char buffer[JSON_ESCAPE_SIZE];
        size_t length = lode_utf8_decode(text + plain, size - plain, &character);
        const char *escape = length ? escape_of(character, buffer) : "\xef\xbf\xbd"; /* U+FFFD */
        if (!escape) {
            plain += length;
            continue;
        }
        put_size(o, text, plain);
        put(o, escape);
        plain += length ? length : 1;
        text += plain;
        size -= plain;
        plain = 0;
    }
    put_size(o, text, size);
    put(o, "\"");
}

static void put_string(out *o, const char *text)
{
    put_bytes(o, text, strlen(text));
}

/* What comes before a value: the comma, the line break, the key. */
static void lead_in(out *o, const char *key)
{
    if (!o->has_begun && o->format == OUT_JSON)
        abort();
    if (!o->is_first)
        put(o, o->breaks ? "," : ", ");
    if (o->breaks)
        put(o, "\n");
    o->is_first = o->breaks = 0;
    if (key) {
        put_string(o, key);
        put(o, ": ");
    }
}

static void open_level(out *o, const char *key, const char *bracket)
{
    lead_in(o, key);
    put(o, bracket);
    o->is_first = 1;
}

static void close_level(out *o, const char *bracket)
{
    put(o, bracket);
    o->is_first = o->breaks = 0;
}

void out_object(out *o, const char *key)
{
    open_level(o, key, "{");
}

void out_object_end(out *o)
{
    close_level(o, "}");
}

void out_array(out *o, const char *key)
{
    open_level(o, key, "[");
}

void out_array_end(out *o)
{
    close_level(o, "]");
}

void out_field_text(out *o, const char *key, const char *value)
{
    lead_in(o, key);
    if (value)
        put_string(o, value);
    else
        put(o, "null");
}

void out_field_bytes(out *o, const char *key, const char *bytes, size_t size)
{
    lead_in(o, key);
    put_bytes(o, bytes, size);
}

static void put_u64(out *o, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_size(o, digits + at, sizeof digits - at);
}

static void put_real(out *o, double value)
{
    char buffer[NUMBER_SIZE];
    format_exact(buffer, value);
    put(o, buffer[0] ? buffer : "null");
}

static void digits(out *o, const char *key, uint64_t value)
{
    lead_in(o, key);
    put(o, "\"");
    put_u64(o, value);
    put(o, "\"");
}

void out_field_u64(out *o, const char *key, uint64_t value)
{
    if (value > LARGEST_NUMBER) {
        digits(o, key, value);
        return;
    }
    lead_in(o, key);
    put_u64(o, value);
}

void out_field_i64(out *o, const char *key, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    const char *quote = size > LARGEST_NUMBER ? "\"" : "";
    lead_in(o, key);
    put(o, quote);
    put(o, value < 0 ? "-" : "");
    put_u64(o, size);
    put(o, quote);
}

void out_field_real(out *o, const char *key, double value)
{
    lead_in(o, key);
    put_real(o, value);
}

void out_field_bool(out *o, const char *key, int value)
{
    lead_in(o, key);
    put(o, value ? "true" : "false");
}

static void null(out *o, const char *key)
{
    lead_in(o, key);
    put(o, "null");
}

void out_field_value(out *o, const char *key, out_value value)
{
    switch (value.type) {
    case VALUE_NONE:
        null(o, key);
        break;
    case VALUE_TEXT:
        out_field_text(o, key, value.text);
        break;
    case VALUE_U64:
        out_field_u64(o, key, value.integer);
        break;
    case VALUE_I64:
        out_field_i64(o, key, (int64_t)value.integer);
        break;
    case VALUE_REAL:
        out_field_real(o, key, value.real);
        break;
    case VALUE_DIGITS:
        digits(o, key, value.integer);
        break;
    }
}

static void number_key(out *o, uint64_t key)
{
    lead_in(o, NULL);
    put(o, "\"");
    put_u64(o, key);
    put(o, "\": ");
}

void out_number_key_object(out *o, uint64_t key)
{
    number_key(o, key);
    put(o, "{");
    o->is_first = 1;
}

void out_number_key_real(out *o, uint64_t key, double value)
{
    number_key(o, key);
    put_real(o, value);
}

void out_break(out *o)
{
    o->breaks = 1;
}

static void json_begin(out *o, out_schema schema, const char *store)
{
    static const struct {
        const char *name, *command;
        unsigned version;
    } schemas[SCHEMA_COUNT] = {
#define SCHEMA(id, name, command, version) {name, command, version},
#include "output/schemas.def"
#undef SCHEMA
    };
    out_object(o, NULL);
    out_object(o, "schema");
    out_field_text(o, "name", schemas[schema].name);
    out_field_u64(o, "version", schemas[schema].version);
    out_object_end(o);
    out_field_text(o, "command", schemas[schema].command);
    if (store)
        out_field_text(o, o->store_key, store);
}

static void json_finish(out *o)
{
    out_object_end(o);
    put(o, "\n");
}

static void json_table(out *o, const char *key)
{
    out_break(o);
    out_array(o, key);
}

static void json_row(out *o, out_style style)
{
    (void)style;
    out_break(o);
    out_object(o, NULL);
}

static void json_cell(out *o, const out_column *column, const out_value *value)
{
    if (value->type == VALUE_NONE) {
        null(o, column->key);
        return;
    }
    switch (column->kind) {
    case OUT_STRING:
    case OUT_DIGITS:
    case OUT_PROSE:
        out_field_text(o, column->key, value->text);
        break;
    case OUT_INTEGER:
    case OUT_NUMBER:
    case OUT_TIME:
    case OUT_BYTES:
        out_field_u64(o, column->key, value->integer);
        break;
    case OUT_MOMENT:
    case OUT_ADDRESS:
        digits(o, column->key, value->integer);
        break;
    case OUT_REAL:
    case OUT_CHANGE:
    case OUT_RATIO:
        out_field_real(o, column->key, value->real);
        break;
    case OUT_PERCENT:
        out_field_real(o, column->key, value->real * 100);
        break;
    case OUT_BOOL:
        out_field_bool(o, column->key, value->integer != 0);
        break;
    }
}

static void json_table_end(out *o)
{
    out_array_end(o);
}

const out_backend out_backend_json = {
    .begin = json_begin,
    .end = json_finish,
    .table = json_table,
    .row = json_row,
    .cell = json_cell,
    .row_end = out_object_end,
    .table_end = json_table_end,
};
