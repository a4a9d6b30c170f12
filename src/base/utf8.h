/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_BASE_UTF8_H
#define LODE_BASE_UTF8_H

#include <lode/name.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes from the start are valid UTF-8 (no overlong forms, no surrogates); `length` if all are. */
size_t lode_utf8_valid_prefix(const char *text, size_t length);

/* Control characters, those that end lines, and those that change the direction of text: a terminal acts on them. */
bool lode_utf8_is_control(uint32_t character);

/* Whether this byte continues a character. */
static inline int utf8_is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

#endif
