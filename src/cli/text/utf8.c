/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/utf8.h"

#include <string.h>
#include <wchar.h>

/* The length that the first byte promises, and the bits of the character that it holds. */
static size_t lead(unsigned char byte, uint32_t *bits)
{
    if (byte < 0x80) {
        *bits = byte;
        return 1;
    }
    if (byte >= 0xc2 && byte <= 0xdf) {
        *bits = byte & 0x1f;
        return 2;
    }
    if (byte >= 0xe0 && byte <= 0xef) {
        *bits = byte & 0x0f;
        return 3;
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
        *bits = byte & 0x07;
        return 4;
    }
    return 0;
}

size_t utf8_decode(const char *text, size_t size, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = 0;
    size_t length = size ? lead((unsigned char)text[0], &value) : 0;
    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (byte & 0x3f);
    }
    int is_surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[length] || is_surrogate || value > 0x10ffff)
        return 0;
    *character = value;
    return length;
}

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
        size_t length = (unsigned char)*text < 0x80 ? 1 : utf8_decode(text, size, &character);
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
        size_t length = utf8_decode(text + at, size - at, &character);
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
