/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a display string in a caller's buffer. The length also counts what was truncated. */
#ifndef LODE_BASE_LABEL_H
#define LODE_BASE_LABEL_H

#include <stddef.h>

struct lode_label {
    char *buffer;
    size_t capacity, length;
};

/* Appends whole characters; replaces control characters and invalid UTF-8 by '?'. */
void lode_label_bytes(struct lode_label *label, const char *bytes, size_t count);
void lode_label_text(struct lode_label *label, const char *text);
/* Appends at most 63 characters. */
void lode_label_format(struct lode_label *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Terminates the string, never inside a UTF-8 character. Returns the untruncated length. */
size_t lode_label_end(struct lode_label *label);

#endif
