/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/opened.h"

#include <lode/private/utf8.h>
#include <lode/unstable.h>
#include <string.h>

/* C0, C1, separators, and what changes the direction of text. */
static int is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void sql_clean_message(char *text)
{
    size_t left = strlen(text);
    char *end = text;
    while (left > 0) {
        uint32_t character;
        size_t length = lode_utf8_decode(text, left, &character);
        if (length > 0 && !is_control(character)) {
            memmove(end, text, length);
            end += length;
        } else {
            *end++ = '?';
        }
        text += length ? length : 1;
        left -= length ? length : 1;
    }
    *end = '\0';
}
