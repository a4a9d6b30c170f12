/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 text. */
#ifndef LODE_PRIVATE_UTF8_H
#define LODE_PRIVATE_UTF8_H

#include <lode/status.h>

LODE_BEGIN_DECLS

/*
 * Decodes the first character of UTF-8 text, of which `available` bytes are there. Returns its
 * length in bytes; 0 if it is not valid (then skip one byte) or there is nothing. Overlong forms
 * and surrogates are not valid. For programs that print names as they are in the files. MT: any
 * thread.
 */
LODE_API size_t lode_utf8_decode(const char *bytes, size_t available, uint32_t *character);

LODE_END_DECLS
#endif
