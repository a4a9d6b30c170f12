/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the program itself: where it ends, so does the program, with a message. */
#ifndef CLI_ALLOC_H
#define CLI_ALLOC_H

#include <stddef.h>

/* Zeroed. Never NULL; free() it. */
void *alloc_array(size_t count, size_t element_size);

/* A copy. Never NULL; free() it. */
char *alloc_text(const char *text);

/* Makes space after `count` elements; returns the array. `capacity` starts at 0, with NULL. */
void *alloc_grow(void *array, size_t *capacity, size_t count, size_t element_size);

#endif
