/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_BASE_UTF8_H
#define LODE_BASE_UTF8_H

#include <stddef.h>

/* How many bytes from the start are valid UTF-8 (no overlong forms, no surrogates); `length` if all are. */
size_t lode_utf8_valid_prefix(const char *text, size_t length);

/* Whether this byte continues a character. */
static inline int utf8_is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

#endif
