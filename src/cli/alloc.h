/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the program itself: where it ends, so does the program, with a message. */
#ifndef CLI_ALLOC_H
#define CLI_ALLOC_H

#include <stddef.h>

/* Zeroed. Never NULL; free() it. */
void *alloc_array(size_t count, size_t element_size);

/*
 * Makes room for one more element in an array that holds `count` of them, and returns the array, moved if need be.
 * `capacity` starts at 0 with a NULL array.
 */
void *alloc_grow(void *array, size_t *capacity, size_t count, size_t element_size);

#endif
