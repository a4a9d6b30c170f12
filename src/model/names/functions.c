/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/names/functions.h"

#include "base/memory/hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SEGMENT = 64
};

void lode_function_table_init(struct lode_function_table *table, size_t item_size)
{
    *table = (struct lode_function_table){.item_size = item_size};
    pthread_mutex_init(&table->lock, NULL);
    lode_arena_init(&table->names, SIZE_MAX);
}

void lode_function_table_free(struct lode_function_table *table)
{
    for (unsigned i = 0; i < LODE_FUNCTION_SEGMENTS; i++)
        free(table->segments[i]);
    lode_index_free(&table->index);
    lode_arena_free(&table->names);
    pthread_mutex_destroy(&table->lock);
}

/* Segment s begins at index 64 * (2^s - 1). */
static void *item_at(const struct lode_function_table *table, uint32_t index)
{
    uint32_t n = index / FIRST_SEGMENT + 1;
    unsigned segment = 31u - (unsigned)__builtin_clz(n);
    uint32_t first = FIRST_SEGMENT * ((1u << segment) - 1);
    return (char *)table->segments[segment] + (size_t)(index - first) * table->item_size;
}

static lode_function *append(struct lode_function_table *table)
{
    uint32_t index = table->count;
    unsigned segment = 31u - (unsigned)__builtin_clz(index / FIRST_SEGMENT + 1);
    if (index >= LODE_FUNCTIONS_MAX || segment >= LODE_FUNCTION_SEGMENTS)
        return NULL;
    if (table->segments[segment] == NULL)
        table->segments[segment] = calloc((size_t)FIRST_SEGMENT << segment, table->item_size);
    if (table->segments[segment] == NULL)
        return NULL;
    lode_function *function = item_at(table, index);
    function->index = function->identity = index;
    table->count++;
    return function;
}

static uint64_t hash_of(const struct lode_function_place *place)
{
    uint64_t number = place->module ? place->module->index + UINT64_C(1) : 0;
    uint64_t hash = lode_hash_pair(place->offset, number);
    return place->name ? lode_hash_pair(hash, lode_hash_text(place->name)) : hash;
}

static bool is_at(const lode_function *function, const struct lode_function_place *place)
{
    return function->module == place->module && function->offset == place->offset &&
           (place->name == NULL || (function->name && strcmp(function->name, place->name) == 0));
}

static const lode_function *find_locked(struct lode_function_table *table,
                                        const struct lode_function_place *place, lode_function_make make,
                                        void *user)
{
    uint64_t hash = hash_of(place);
    struct lode_index_probe probe = lode_index_begin(&table->index, hash);
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (is_at(item_at(table, number), place))
            return item_at(table, number);
    lode_function *made = lode_index_reserve(&table->index) ? append(table) : NULL;
    if (made == NULL)
        return NULL;
    made->module = place->module;
    made->offset = place->offset;
    if (!make(table, made, user))
        return NULL;
    lode_index_put(&table->index, hash, made->index);
    return made;
}

const lode_function *lode_function_table_find(struct lode_function_table *table,
                                              const struct lode_function_place *place,
                                              lode_function_make make, void *user)
{
    pthread_mutex_lock(&table->lock);
    const lode_function *function = find_locked(table, place, make, user);
    pthread_mutex_unlock(&table->lock);
    return function;
}

const lode_function *lode_function_table_at(const struct lode_function_table *table, uint32_t index)
{
    return item_at(table, index);
}

uint32_t lode_function_table_count(struct lode_function_table *table)
{
    pthread_mutex_lock(&table->lock);
    uint32_t count = table->count;
    pthread_mutex_unlock(&table->lock);
    return count;
}
