/* SPDX-License-Identifier: BSD-3-Clause */
/* Substring search, case-insensitive for ASCII letters; compares other bytes exactly. */
#ifndef LODE_BASE_SUBSTRING_H
#define LODE_BASE_SUBSTRING_H

#include <stdbool.h>
#include <stddef.h>

struct lode_substring {
    char *letters; /* lower case; NULL: matches everything */
    size_t *back;  /* KMP failure function */
    size_t length;
};

/* `text` may be NULL. False if there is no memory. */
bool lode_substring_init(struct lode_substring *substring, const char *text);
void lode_substring_free(struct lode_substring *substring);
/* Linear in `count`. An empty substring is in every string. */
bool lode_substring_is_in(const struct lode_substring *substring, const char *bytes, size_t count);

#endif
