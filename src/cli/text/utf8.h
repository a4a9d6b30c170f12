/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8, as far as names in columns need it. */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stddef.h>

/* How many columns of a terminal a string takes. */
size_t utf8_width(const char *text);
size_t utf8_width_of(const char *text, size_t size);

/*
 * Shortens a string to `width` columns: replaces its middle by `mark`. The head is the larger part,
 * as names differ there first. `capacity` must hold the string and the mark.
 */
void utf8_elide(char *text, size_t capacity, size_t width, const char *mark);

#endif
