/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/label.h"

#include "base/text/utf8.h"
#include <lode/private/utf8.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct lode_label *label, char byte)
{
    if (label->length + 1 < label->capacity)
        label->buffer[label->length] = byte;
    label->length++;
}

void lode_label_bytes(struct lode_label *label, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count;) {
        uint32_t character;
        size_t length = lode_utf8_decode(bytes + i, count - i, &character);
        if (length == 0 || lode_utf8_is_control(character))
            put(label, '?');
        else
            for (size_t k = 0; k < length; k++)
                put(label, bytes[i + k]);
        i += length ? length : 1;
    }
}

void lode_label_text(struct lode_label *label, const char *text)
{
    lode_label_bytes(label, text, strlen(text));
}

void lode_label_format(struct lode_label *label, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lode_label_text(label, text);
}

size_t lode_label_end(struct lode_label *label)
{
    if (label->capacity == 0)
        return label->length;
    size_t end = label->length < label->capacity ? label->length : label->capacity - 1;
    if (end < label->length)
        end = lode_utf8_valid_prefix(label->buffer, end);
    label->buffer[end] = '\0';
    return label->length;
}
