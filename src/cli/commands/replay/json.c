/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, results and fields of events, as JSON with their types. */
#include "commands/replay/words.h"
#include "output/out.h"

#include <string.h>

static void write_hex(out *o, const char *key, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * 256 + 1];
    size_t count = size < 256 ? size : 256;
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    out_field_bytes(o, key, text, 2 * count);
}

/* Booleans are enumerations with two words, and what has no value is a structure that says so. */
static const char *type_of(const lode_argument *argument, const char *text)
{
    static const char *const types[] = {
        [LODE_VALUE_SIGNED] = "integer",      [LODE_VALUE_UNSIGNED] = "integer",
        [LODE_VALUE_HEX] = "integer",         [LODE_VALUE_OCTAL] = "integer",
        [LODE_VALUE_AUTO] = "integer",        [LODE_VALUE_CHARACTER] = "character",
        [LODE_VALUE_REAL] = "number",         [LODE_VALUE_TEXT] = "string",
        [LODE_VALUE_POINTER] = "address",     [LODE_VALUE_ENUM] = "enum",
        [LODE_VALUE_BYTES] = "bytes",         [LODE_VALUE_CHANGE] = "integer",
        [LODE_VALUE_STRUCTURE] = "structure",
    };
    if (argument->kind == LODE_VALUE_ENUM && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        return "boolean";
    if (argument->kind == LODE_VALUE_STRUCTURE && strcmp(text, "null") == 0)
        return "null";
    return types[argument->kind];
}

static void write_value(out *o, const lode_argument *argument)
{
    switch (argument->kind) {
    case LODE_VALUE_SIGNED:
    case LODE_VALUE_AUTO:
    case LODE_VALUE_CHARACTER:
    case LODE_VALUE_CHANGE:
    case LODE_VALUE_ENUM:
        OUT_FIELDS(o, "value", argument->signed_value);
        break;
    case LODE_VALUE_UNSIGNED:
    case LODE_VALUE_HEX:
    case LODE_VALUE_OCTAL:
        OUT_FIELDS(o, "value", argument->unsigned_value);
        break;
    case LODE_VALUE_POINTER:
        OUT_FIELDS(o, "value", out_digits(argument->unsigned_value));
        break;
    case LODE_VALUE_REAL:
        OUT_FIELDS(o, "value", argument->real);
        break;
    case LODE_VALUE_TEXT:
        if (argument->bytes)
            out_field_bytes(o, "value", argument->bytes, argument->length);
        else
            OUT_FIELDS(o, "value", out_none());
        break;
    case LODE_VALUE_BYTES:
        write_hex(o, "value", argument->bytes, argument->bytes ? argument->length : 0);
        break;
    case LODE_VALUE_STRUCTURE:
        OUT_FIELDS(o, "value", out_none());
        break;
    }
}

void replay_write_arguments(out *o, replay_words *w, const replay_event *shown)
{
    size_t count = 0;
    lode_argument *arguments = replay_arguments(w, shown, &count);
    out_array(o, "arguments");
    for (size_t i = 0; i < count; i++) {
        const char *text = replay_value(w, &arguments[i]), *type = type_of(&arguments[i], text);
        out_object(o, NULL);
        OUT_FIELDS(o, "name", arguments[i].name[0] ? arguments[i].name : NULL, "type", type);
        if (strcmp(type, "boolean") == 0)
            OUT_FIELDS(o, "value", strcmp(text, "true") == 0);
        else
            write_value(o, &arguments[i]);
        OUT_FIELDS(o, "text", text);
        out_object_end(o);
    }
    out_array_end(o);
}
