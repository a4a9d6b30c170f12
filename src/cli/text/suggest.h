/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person may have meant by a word that is not known. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* The candidate that is closest to the word, or NULL if none is close. */
const char *suggest(const char *word, const char *const *candidates, size_t count);
/* The same of a list that ends with NULL. */
const char *suggest_choice(const char *word, const char *const *choices);

#endif
