/* SPDX-License-Identifier: BSD-3-Clause */
/* Argument vectors: what is run, and how it is typed. */
#ifndef RECORD_WORDS_H
#define RECORD_WORDS_H

#include <stddef.h>

/* Starts as all zero. The items are followed by a NULL, as exec wants it. */
typedef struct words {
    char **items;
    size_t count, capacity;
} words;

void words_add(words *list, const char *text);
void words_print(words *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_add_all(words *list, const char *const *items, size_t count);
void words_free(words *list);

/* The line that a shell reads back as these words; safe to show. free() it. */
char *words_spell(const words *list);

#endif
