/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable array with a fixed maximum size. */
#ifndef LODE_BASE_ARRAY_H
#define LODE_BASE_ARRAY_H

#include <stddef.h>

struct lode_array {
    void *items;
    size_t count, capacity, item_size, max;
};

void lode_array_init(struct lode_array *array, size_t item_size, size_t max);
/* Appends a zeroed item; NULL if out of memory or beyond max. Invalidates pointers to items. */
void *lode_array_push(struct lode_array *array);
/* Removes the last item. The array must not be empty. */
void lode_array_pop(struct lode_array *array);
void lode_array_free(struct lode_array *array);

/* The item at `index`, as a pointer to `type`. */
#define LODE_ARRAY_AT(array, type, index) ((type *)(array)->items + (index))

#endif
