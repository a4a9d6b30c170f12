/* SPDX-License-Identifier: BSD-3-Clause */
/* Java property files: lines with a key and a value, escapes, and backslash continuations. */
#include "base/error.h"
#include "format/zorka/zorka.h"
#include <stdio.h>
#include <string.h>

enum {
    PROPS_MAX = 64 << 10, /* bytes that are read of a file */
    TEXT_SIZE = 256       /* of a key or a value; longer ones are cut off */
};

struct text {
    char bytes[TEXT_SIZE];
    size_t length;
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\f';
}

static bool is_end(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

static void skip_blanks(struct lode_range *in)
{
    for (; in->size > 0 && is_blank(*in->data); in->size--)
        in->data++;
}

static uint8_t take(struct lode_range *in)
{
    in->size--;
    return *in->data++;
}

/* Appends a character as UTF-8, or '?' if it is not printable. */
static void add(struct text *text, unsigned code)
{
    bool is_shown =
        code >= 0x20 && code != 0x7f && (code < 0x80 || code >= 0xa0) && (code & 0xf800) != 0xd800;
    if (text->length + 4 > sizeof text->bytes)
        return;
    char *to = text->bytes + text->length;
    if (!is_shown)
        code = '?';
    if (code < 0x80) {
        text->length += 1;
        to[0] = (char)code;
    } else if (code < 0x800) {
        text->length += 2;
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
    } else {
        text->length += 3;
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
    }
}

/* Four hexadecimal digits; false if there are none. */
static bool take_number(struct lode_range *in, unsigned *number)
{
    *number = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t byte = i < in->size ? in->data[i] : 0;
        bool is_digit = byte >= '0' && byte <= '9';
        unsigned letter = (byte | 0x20u) - 'a';
        if (!is_digit && letter > 5)
            return false;
        *number = *number << 4 | (is_digit ? byte - (unsigned)'0' : letter + 10);
    }
    in->data += 4;
    in->size -= 4;
    return true;
}

/* The character after a backslash: a line end, which is ignored, a number, or a character. */
static void add_escaped(struct text *text, struct lode_range *in)
{
    uint8_t byte = take(in);
    unsigned code;
    if (is_end(byte)) {
        if (byte == '\r' && in->size > 0 && *in->data == '\n')
            take(in);
        skip_blanks(in);
    } else if (byte == 'u' && take_number(in, &code)) {
        add(text, code);
    } else {
        add(text, byte == 't' || byte == 'n' || byte == 'r' || byte == 'f' ? ' ' : byte);
    }
}

/* Reads to the end of the line; a key, up to its separator. */
static void read_text(struct text *text, struct lode_range *in, bool is_key)
{
    text->length = 0;
    while (in->size > 0 && !is_end(*in->data)) {
        if (is_key && (is_blank(*in->data) || *in->data == '=' || *in->data == ':'))
            break;
        uint8_t byte = take(in);
        if (byte == '\\' && in->size > 0)
            add_escaped(text, in);
        else
            add(text, byte);
    }
    text->bytes[text->length] = '\0';
}

static void read_separator(struct lode_range *in)
{
    skip_blanks(in);
    if (in->size > 0 && (*in->data == '=' || *in->data == ':'))
        take(in);
    skip_blanks(in);
}

/* In a base of several stores, the store's name precedes keys. */
static bool keep(struct zor_recording *rec, const struct zor_store *store, const struct text *key,
                 const struct text *value)
{
    size_t size = ZOR_STORE_DIGITS + 2 + key->length + 1;
    lode_fact *fact = lode_array_push(&rec->properties);
    char *name = lode_arena_alloc(&rec->base.arena, size, 1);
    char *copy = lode_arena_alloc(&rec->base.arena, value->length + 1, 1);
    if (fact == NULL || name == NULL || copy == NULL)
        return false;
    snprintf(name, size, "%s%s%s", rec->store_count > 1 ? store->name : "", rec->store_count > 1 ? " " : "",
             key->bytes);
    memcpy(copy, value->bytes, value->length);
    *fact = (lode_fact){name, copy};
    return true;
}

lode_status lode_zor_read_props(struct zor_recording *rec, const struct zor_store *store,
                                struct lode_range bytes, lode_error *error)
{
    struct text key, value;
    struct lode_range in = {bytes.data, bytes.size < PROPS_MAX ? bytes.size : PROPS_MAX};
    while (in.size > 0 && rec->properties.count < ZOR_PROPERTIES_MAX) {
        skip_blanks(&in);
        bool is_comment = in.size > 0 && (*in.data == '#' || *in.data == '!');
        while (is_comment && in.size > 0 && !is_end(*in.data))
            take(&in);
        if (in.size > 0 && is_end(*in.data)) {
            take(&in);
            continue;
        }
        read_text(&key, &in, true);
        read_separator(&in);
        read_text(&value, &in, false);
        if (key.length > 0 && !keep(rec, store, &key, &value))
            return lode_fail_memory(error);
    }
    return LODE_OK;
}
