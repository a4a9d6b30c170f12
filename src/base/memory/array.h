/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable array with a fixed maximum size. */
#ifndef LODE_BASE_ARRAY_H
#define LODE_BASE_ARRAY_H

#include <stdbool.h>
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

/*
 * Makes `*items` an allocation of `after` items, of which the first `before` are kept, and those
 * behind them zeroed if `is_zeroed`. False if out of memory: then it is as before.
 */
bool lode_grow(void *items, size_t before, size_t after, size_t item_size, bool is_zeroed);
/* The same for a pointer to items and its capacity; `wanted` is computed twice. */
#define LODE_GROW_AS(items, capacity, wanted, is_zeroed)                                                     \
    (lode_grow(&(items), capacity, wanted, sizeof *(items), is_zeroed) &&                                    \
     ((capacity) = (__typeof__(capacity))(wanted), true))
#define LODE_GROW(items, capacity, wanted)        LODE_GROW_AS(items, capacity, wanted, false)
#define LODE_GROW_ZEROED(items, capacity, wanted) LODE_GROW_AS(items, capacity, wanted, true)

/* The item at `index`, as a pointer to `type`. */
#define LODE_ARRAY_AT(array, type, index) ((type *)(array)->items + (index))

#endif
