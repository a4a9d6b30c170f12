/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts in texts for people: "1 finding", "1,000 findings". */
#ifndef LODE_BASE_COUNT_H
#define LODE_BASE_COUNT_H

#include <stdint.h>

#define LODE_COUNTED_SIZE 160

/*
 * A count and what it counts, with the words that follow if they depend on it: "2 threads wait".
 * Returns the buffer.
 */
const char *lode_format_counted(char buffer[LODE_COUNTED_SIZE], uint64_t count, const char *one,
                                const char *many);
/* The same as an argument of a printf, with a buffer of its own. */
#define LODE_COUNTED(count, one, many) lode_format_counted((char[LODE_COUNTED_SIZE]){0}, count, one, many)

#endif
