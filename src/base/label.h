/* SPDX-License-Identifier: BSD-3-Clause */
/* A text for people that is put together in a buffer of the caller; its length counts what did not fit too. */
#ifndef LODE_BASE_LABEL_H
#define LODE_BASE_LABEL_H

#include <stddef.h>

struct lode_label {
    char *buffer;
    size_t capacity, length;
};

/* Whole characters: control characters, and bytes that are not UTF-8, become '?'. */
void lode_label_bytes(struct lode_label *label, const char *bytes, size_t count);
void lode_label_text(struct lode_label *label, const char *text);
/* At most 63 characters. */
void lode_label_format(struct lode_label *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Terminates the text, never inside a UTF-8 character. Returns the length of the whole. */
size_t lode_label_end(struct lode_label *label);

#endif
