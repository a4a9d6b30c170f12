/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON, appended to a buffer. */
#ifndef LODE_EXPORT_JSON_H
#define LODE_EXPORT_JSON_H

#include "export/timelines/tracks.h"
#include <stdarg.h>
#include <stdio.h>

static inline void json_text(struct lode_wire *out, const char *text)
{
    wire_raw(out, text, strlen(text));
}

/* Text as the inside of a string, clean as lode_wire_clean makes it. */
static inline void json_escaped(struct lode_wire *out, const char *text)
{
    size_t from = out->count, more = 0;
    lode_wire_clean(out, text, strlen(text));
    for (size_t i = from; !out->failed && i < out->count; i++)
        more += out->bytes[i] == '"' || out->bytes[i] == '\\';
    if (more == 0 || out->failed || !wire_reserve(out, more))
        return;
    size_t to = out->count + more;
    for (size_t i = out->count; i-- > from && to > i + 1;) {
        out->bytes[--to] = out->bytes[i];
        if (out->bytes[i] == '"' || out->bytes[i] == '\\')
            out->bytes[--to] = '\\';
    }
    out->count += more;
}

static inline void json_string(struct lode_wire *out, const char *text)
{
    wire_raw(out, "\"", 1);
    json_escaped(out, text);
    wire_raw(out, "\"", 1);
}

/* Text that is clean already, as a string. */
static inline void json_clean_string(struct lode_wire *out, const char *text, size_t length)
{
    wire_raw(out, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        size_t plain = i;
        while (plain < length && text[plain] != '"' && text[plain] != '\\')
            plain++;
        wire_raw(out, text + i, plain - i);
        i = plain;
        if (i < length) {
            wire_raw(out, "\\", 1);
            wire_raw(out, text + i, 1);
        }
    }
    wire_raw(out, "\"", 1);
}

/* A short piece; longer ones are cut. */
__attribute__((format(printf, 2, 3))) static inline void json_format(struct lode_wire *out,
                                                                     const char *format, ...)
{
    char text[64];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    json_text(out, text);
}

/* A whole number, with a point before the last `decimals` digits. */
static inline void json_decimal(struct lode_wire *out, uint64_t value, unsigned decimals)
{
    char text[32], *at = text + sizeof text;
    unsigned digits = 0;
    do {
        if (digits == decimals && digits > 0)
            *--at = '.';
        *--at = (char)('0' + value % 10);
        value /= 10;
        digits++;
    } while (value > 0 || digits <= decimals);
    wire_raw(out, at, (size_t)(text + sizeof text - at));
}

static inline void json_number(struct lode_wire *out, uint64_t value)
{
    json_decimal(out, value, 0);
}

#endif
