/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/array.h"

#include "base/checked.h"
#include <stdlib.h>
#include <string.h>

bool lode_grow(void *items, size_t before, size_t after, size_t item_size, bool is_zeroed)
{
    size_t bytes;
    unsigned char *old, *grown;
    memcpy(&old, items, sizeof old);
    if (!checked_mul_size(after, item_size, &bytes) || (grown = realloc(old, bytes)) == NULL)
        return false;
    if (is_zeroed && after > before)
        memset(grown + before * item_size, 0, (after - before) * item_size);
    memcpy(items, &grown, sizeof grown);
    return true;
}

void lode_array_init(struct lode_array *array, size_t item_size, size_t max)
{
    *array = (struct lode_array){.item_size = item_size, .max = max};
}

static bool array_grow(struct lode_array *array)
{
    size_t capacity = array->capacity ? array->capacity * 2 : 16;
    if (capacity > array->max || capacity < array->capacity)
        capacity = array->max;
    if (capacity <= array->count)
        return false;
    if (!lode_grow(&array->items, array->capacity, capacity, array->item_size, false))
        return false;
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
