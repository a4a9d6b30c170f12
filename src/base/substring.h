/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking for a substring in a text in any case of ASCII letters; other bytes are compared as they are. */
#ifndef LODE_BASE_PHRASE_H
#define LODE_BASE_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

/* What is looked for. */
struct lode_substring {
    char *letters; /* small; NULL: nothing is asked for */
    size_t *back;  /* by how many match: how many still do when the next one does not */
    size_t length;
};

/* `text` may be NULL. False if there is no memory. */
bool lode_substring_init(struct lode_substring *substring, const char *text);
void lode_substring_free(struct lode_substring *substring);
/* One step a byte, whatever they are. An empty one is in every text. */
bool lode_substring_is_in(const struct lode_substring *substring, const char *bytes, size_t count);

#endif
