/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/array.h"

#include "base/checked.h"
#include <stdlib.h>
#include <string.h>

void lode_array_init(struct lode_array *array, size_t item_size, size_t max)
{
    *array = (struct lode_array){.item_size = item_size, .max = max};
}

static bool array_grow(struct lode_array *array)
{
    size_t capacity = array->capacity ? array->capacity * 2 : 16;
    if (capacity > array->max || capacity < array->capacity)
        capacity = array->max;
    size_t bytes;
    if (capacity <= array->count || !checked_mul_size(capacity, array->item_size, &bytes))
        return false;
    void *items = realloc(array->items, bytes);
    if (items == NULL)
        return false;
    array->items = items;
    array->capacity = capacity;
    return true;
}

void *lode_array_push(struct lode_array *array)
{
    if (array->count == array->capacity && !array_grow(array))
        return NULL;
    void *item = (unsigned char *)array->items + array->count++ * array->item_size;
    return memset(item, 0, array->item_size);
}

void lode_array_pop(struct lode_array *array)
{
    array->count--;
}

void lode_array_free(struct lode_array *array)
{
    free(array->items);
    array->items = NULL;
    array->count = array->capacity = 0;
}
