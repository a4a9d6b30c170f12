/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/escape.h"
#include "output/json.h"
#include "output/out_backend.h"

#include <lode/name.h>
#include <lode/private/utf8.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(out *o, const char *text)
{
    out_raw(o, text, strlen(text));
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
        out_raw(o, text, plain);
        put(o, escape);
        plain += length ? length : 1;
        text += plain;
        size -= plain;
        plain = 0;
    }
    out_raw(o, text, size);
    put(o, "\"");
}

static void put_string(out *o, const char *text)
{
    put_bytes(o, text, strlen(text));
}

/* What comes before a value: the comma, the line break, the key. */
static void lead_in(out *o, const char *key)
{
    if (!o->has_begun)
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

void json_object(out *o, const char *key)
{
    open_level(o, key, "{");
}

void json_object_end(out *o)
{
    close_level(o, "}");
}

void json_array(out *o, const char *key)
{
    open_level(o, key, "[");
}

void json_array_end(out *o)
{
    close_level(o, "]");
}

void json_text(out *o, const char *key, const char *value)
{
    lead_in(o, key);
    if (value)
        put_string(o, value);
    else
        put(o, "null");
}

void json_bytes(out *o, const char *key, const char *bytes, size_t size)
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
    out_raw(o, digits + at, sizeof digits - at);
}

static void put_real(out *o, double value)
{
    char buffer[NUMBER_SIZE];
    format_exact(buffer, value);
    put(o, buffer[0] ? buffer : "null");
}

void json_u64(out *o, const char *key, uint64_t value)
{
    if (value > LARGEST_NUMBER) {
        json_digits(o, key, value);
        return;
    }
    lead_in(o, key);
    put_u64(o, value);
}

void json_i64(out *o, const char *key, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    const char *quote = size > LARGEST_NUMBER ? "\"" : "";
    lead_in(o, key);
    put(o, quote);
    put(o, value < 0 ? "-" : "");
    put_u64(o, size);
    put(o, quote);
}

void json_digits(out *o, const char *key, uint64_t value)
{
    lead_in(o, key);
    put(o, "\"");
    put_u64(o, value);
    put(o, "\"");
}

void json_real(out *o, const char *key, double value)
{
    lead_in(o, key);
    put_real(o, value);
}

void json_bool(out *o, const char *key, int value)
{
    lead_in(o, key);
    put(o, value ? "true" : "false");
}

void json_null(out *o, const char *key)
{
    lead_in(o, key);
    put(o, "null");
}

static void number_key(out *o, uint64_t key)
{
    lead_in(o, NULL);
    put(o, "\"");
    put_u64(o, key);
    put(o, "\": ");
}

void json_number_key_object(out *o, uint64_t key)
{
    number_key(o, key);
    put(o, "{");
    o->is_first = 1;
}

void json_number_key_real(out *o, uint64_t key, double value)
{
    number_key(o, key);
    put_real(o, value);
}

void json_line(out *o)
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
    json_object(o, NULL);
    json_object(o, "schema");
    json_text(o, "name", schemas[schema].name);
    json_u64(o, "version", schemas[schema].version);
    json_object_end(o);
    json_text(o, "command", schemas[schema].command);
    if (store)
        json_text(o, o->store_key, store);
}

static void json_finish(out *o)
{
    json_object_end(o);
    put(o, "\n");
}

static void json_table(out *o, const char *key)
{
    json_line(o);
    json_array(o, key);
}

static void json_row(out *o, out_style style)
{
    (void)style;
    json_line(o);
    json_object(o, NULL);
}

static void json_cell(out *o, const out_column *column, const out_value *value)
{
    if (value->is_none) {
        json_null(o, column->key);
        return;
    }
    switch (column->kind) {
    case OUT_STRING:
    case OUT_DIGITS:
    case OUT_PROSE:
        json_text(o, column->key, value->text);
        break;
    case OUT_INTEGER:
    case OUT_NUMBER:
    case OUT_TIME:
    case OUT_BYTES:
        json_u64(o, column->key, value->integer);
        break;
    case OUT_MOMENT:
    case OUT_ADDRESS:
        json_digits(o, column->key, value->integer);
        break;
    case OUT_REAL:
    case OUT_CHANGE:
    case OUT_RATIO:
        json_real(o, column->key, value->real);
        break;
    case OUT_PERCENT:
        json_real(o, column->key, value->real * 100);
        break;
    case OUT_BOOL:
        json_bool(o, column->key, value->integer != 0);
        break;
    }
}

static void json_table_end(out *o)
{
    json_array_end(o);
}

const out_backend out_backend_json = {
    .begin = json_begin,
    .end = json_finish,
    .table = json_table,
    .row = json_row,
    .cell = json_cell,
    .row_end = json_object_end,
    .table_end = json_table_end,
};
