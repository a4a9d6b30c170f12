/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_BASE_UTF8_H
#define LODE_BASE_UTF8_H

#include <lode/name.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many leading bytes are valid UTF-8 (no overlong forms, no surrogates); `length` if all. */
size_t lode_utf8_valid_prefix(const char *text, size_t length);

/* Control characters, line separators and bidirectional controls: terminals interpret them. */
bool lode_utf8_is_control(uint32_t character);

/* Whether this is a continuation byte. */
static inline int utf8_is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

#endif
