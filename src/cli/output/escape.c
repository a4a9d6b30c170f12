/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/escape.h"

#include "alloc.h"

#include <lode/name.h>
#include <lode/private/utf8.h>

#include <langinfo.h>
#include <stdio.h>
#include <string.h>

int escape_has_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int escape_is_due(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},       {0x7f, 0x9f}, {0xad, 0xad}, /* soft hyphen */
        {0x61c, 0x61c},                                 /* Arabic letter mark */
        {0x115f, 0x1160},                               /* Hangul fillers */
        {0x17b4, 0x17b5},                               /* Khmer vowels that are not shown */
        {0x180e, 0x180e},                               /* Mongolian vowel separator */
        {0x200b, 0x200b},                               /* zero width space */
        {0x200e, 0x200f},                               /* left-to-right, right-to-left mark */
        {0x2028, 0x202e},   /* line and paragraph separator, embeddings and overrides */
        {0x2060, 0x206f},   /* word joiner, invisible operators, isolates */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xffa0, 0xffa0},   /* Hangul filler, half width */
        {0xfff0, 0xfffb},   /* unassigned; interlinear annotations */
        {0x13430, 0x1343f}, /* controls of hieroglyphs */
        {0x1bca0, 0x1bca3}, /* controls of shorthand */
        {0x1d173, 0x1d17a}, /* controls of musical notation */
        {0xe0000, 0xe0fff}, /* tags, and variation selectors that no emoji needs */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && ranges[i].first <= character; i++)
        if (character <= ranges[i].last)
            return 1;
    return 0;
}

/* Nonzero unless eight bytes are printable ASCII: high bit set, below ' ', or DEL. */
static uint64_t unusual(const char *text)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x80 * ones;
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return (word | (word - ' ' * ones) | (word + ones)) & highs;
}

/* Whether the first character stands for itself; sets its length. */
static int is_plain(const char *text, size_t size, int has_utf8, size_t *length)
{
    uint32_t character = (unsigned char)text[0];
    *length = 1;
    if (character >= ' ' && character < 0x7f)
        return 1;
    *length = lode_utf8_decode(text, size, &character);
    return *length > 0 && (*length == 1 || has_utf8) && !escape_is_due(character);
}

size_t escape_plain(const char *text, size_t size, int has_utf8)
{
    size_t at = 0, length;
    for (;;) {
        while (at + 16 <= size && !(unusual(text + at) | unusual(text + at + 8)))
            at += 16;
        if (at + 8 <= size && !unusual(text + at))
            at += 8;
        /* What is left at the end is checked together with what is before it, eight bytes again. */
        if (at == size || (at + 8 > size && size >= 8 && !unusual(text + size - 8)))
            return size;
        if (!is_plain(text + at, size - at, has_utf8, &length))
            return at;
        at += length;
    }
}

size_t escape_first(const char *text, size_t size, char escape[ESCAPE_SIZE])
{
    uint32_t character = 0;
    size_t length = lode_utf8_decode(text, size, &character);
    const char *letter = strchr("\nn\tt\rr", text[0]);
    if (letter && text[0])
        snprintf(escape, ESCAPE_SIZE, "\\%c", letter[1]);
    else if (length <= 1)
        snprintf(escape, ESCAPE_SIZE, "\\x%02x", (unsigned char)text[0]);
    else
        snprintf(escape, ESCAPE_SIZE, character > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)character);
    return length ? length : 1;
}

char *escape_text(const char *text, int has_utf8)
{
    size_t size = strlen(text), used = 0, capacity = size + ESCAPE_SIZE + 1;
    char *copy = alloc_array(capacity, 1);
    for (;;) {
        size_t plain = escape_plain(text, size, has_utf8);
        copy = alloc_grow(copy, &capacity, used + plain + ESCAPE_SIZE, 1);
        memcpy(copy + used, text, plain);
        used += plain;
        text += plain;
        size -= plain;
        if (size == 0)
            break;
        size_t length = escape_first(text, size, copy + used);
        used += strlen(copy + used);
        text += length;
        size -= length;
    }
    copy[used] = '\0';
    return copy;
}
