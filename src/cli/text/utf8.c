/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/utf8.h"

#include <lode/name.h>
#include <lode/private/utf8.h>

#include <string.h>
#include <wchar.h>

/* A character the locale cannot judge counts as one column. */
static size_t columns_of(uint32_t character)
{
    int width = character < 0x80 ? 1 : wcwidth((wchar_t)character);
    return width < 0 ? 1 : (size_t)width;
}

size_t utf8_width_of(const char *text, size_t size)
{
    size_t width = 0;
    while (size) {
        uint32_t character = '?';
        size_t length = (unsigned char)*text < 0x80 ? 1 : lode_utf8_decode(text, size, &character);
        width += columns_of(character);
        text += length ? length : 1;
        size -= length ? length : 1;
    }
    return width;
}

size_t utf8_width(const char *text)
{
    return utf8_width_of(text, strlen(text));
}

/* The byte at which the first `width` columns end. */
static size_t byte_at_column(const char *text, size_t width)
{
    size_t size = strlen(text), at = 0, used = 0;
    while (at < size) {
        uint32_t character = '?';
        size_t length = lode_utf8_decode(text + at, size - at, &character);
        used += columns_of(character);
        if (used > width)
            break;
        at += length ? length : 1;
    }
    return at;
}

void utf8_elide(char *text, size_t capacity, size_t width, const char *mark)
{
    size_t whole = utf8_width(text), mark_width = utf8_width(mark), mark_size = strlen(mark);
    if (whole <= width)
        return;
    size_t kept = width > mark_width ? width - mark_width : 0;
    size_t tail = kept / 3;
    size_t head_end = byte_at_column(text, kept - tail);
    size_t tail_start = byte_at_column(text, whole - tail);
    size_t tail_size = strlen(text + tail_start);
    if (head_end + mark_size + tail_size >= capacity)
        return;
    memmove(text + head_end + mark_size, text + tail_start, tail_size + 1);
    memcpy(text + head_end, mark, mark_size);
}
