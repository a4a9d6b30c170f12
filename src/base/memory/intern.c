/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/intern.h"

#include "base/memory/hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_FIRST = 16,
    SLOTS_MAX = 1 << 30
};

/* ---- numbers by hash ---- */

static void put(struct lode_index *index, uint32_t hash, uint32_t number)
{
    uint32_t mask = index->slot_count - 1, at = hash & mask;
    while (index->slots[at].number > 0)
        at = (at + 1) & mask;
    index->slots[at] = (struct lode_index_slot){hash, number};
}

bool lode_index_reserve(struct lode_index *index)
{
    struct lode_index larger = {.count = index->count,
                                .slot_count = index->slot_count ? index->slot_count * 2 : SLOTS_FIRST};
    if (index->count < index->slot_count / 4 * 3)
        return true;
    larger.slots = larger.slot_count <= SLOTS_MAX ? calloc(larger.slot_count, sizeof *larger.slots) : NULL;
    if (larger.slots == NULL)
        return false;
    for (uint32_t i = 0; i < index->slot_count; i++)
        if (index->slots[i].number > 0)
            put(&larger, index->slots[i].hash, index->slots[i].number);
    free(index->slots);
    *index = larger;
    return true;
}

void lode_index_put(struct lode_index *index, uint64_t hash, uint32_t number)
{
    put(index, (uint32_t)(hash >> 32), number + 1);
    index->count++;
}

void lode_index_clear(struct lode_index *index)
{
    if (index->count > 0)
        memset(index->slots, 0, index->slot_count * sizeof *index->slots);
    index->count = 0;
}

void lode_index_free(struct lode_index *index)
{
    free(index->slots);
    *index = (struct lode_index){0};
}

/* ---- structs ---- */

void lode_interner_init(struct lode_interner *interner, size_t item_size)
{
    *interner = (struct lode_interner){0};
    lode_array_init(&interner->items, item_size, LODE_NO_NUMBER - 1);
}

void lode_interner_free(struct lode_interner *interner)
{
    lode_array_free(&interner->items);
    lode_index_free(&interner->index);
}

void lode_interner_clear(struct lode_interner *interner)
{
    interner->items.count = 0;
    lode_index_clear(&interner->index);
}

static uint64_t hash_item(const void *item, size_t size)
{
    uint64_t number;
    if (size != sizeof number)
        return lode_hash_bytes(item, size);
    memcpy(&number, item, sizeof number);
    return lode_hash_number(number);
}

static uint32_t find_item(const struct lode_interner *interner, const void *item, uint64_t hash)
{
    struct lode_index_probe probe = lode_index_begin(&interner->index, hash);
    const unsigned char *items = interner->items.items;
    size_t size = interner->items.item_size;
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (memcmp(items + number * size, item, size) == 0)
            return number;
    return LODE_NO_NUMBER;
}

uint32_t lode_interner_find(const struct lode_interner *interner, const void *item)
{
    return find_item(interner, item, hash_item(item, interner->items.item_size));
}

uint32_t lode_interner_add(struct lode_interner *interner, const void *item, bool *added)
{
    uint64_t hash = hash_item(item, interner->items.item_size);
    uint32_t number = find_item(interner, item, hash);
    if (added)
        *added = number == LODE_NO_NUMBER;
    if (number != LODE_NO_NUMBER)
        return number;
    void *copy = lode_index_reserve(&interner->index) ? lode_array_push(&interner->items) : NULL;
    if (copy == NULL)
        return LODE_NO_NUMBER;
    memcpy(copy, item, interner->items.item_size);
    number = (uint32_t)interner->items.count - 1;
    lode_index_put(&interner->index, hash, number);
    return number;
}

/* ---- strings ---- */

void lode_strings_init(struct lode_strings *strings)
{
    *strings = (struct lode_strings){0};
    lode_arena_init(&strings->arena, SIZE_MAX);
    lode_array_init(&strings->items, sizeof(const char *), LODE_NO_NUMBER - 1);
}

void lode_strings_free(struct lode_strings *strings)
{
    lode_arena_free(&strings->arena);
    lode_array_free(&strings->items);
    lode_index_free(&strings->index);
}

static uint32_t add_string(struct lode_strings *strings, const char *string, size_t size, uint64_t hash)
{
    char *copy = lode_index_reserve(&strings->index) ? lode_arena_alloc(&strings->arena, size, 1) : NULL;
    const char **item = copy ? lode_array_push(&strings->items) : NULL;
    if (item == NULL)
        return LODE_NO_NUMBER;
    *item = memcpy(copy, string, size);
    uint32_t number = (uint32_t)strings->items.count - 1;
    lode_index_put(&strings->index, hash, number);
    return number;
}

uint32_t lode_strings_add(struct lode_strings *strings, const char *string)
{
    if (string == NULL)
        return LODE_NO_NUMBER;
    size_t length = strlen(string);
    uint64_t hash = lode_hash_bytes(string, length);
    struct lode_index_probe probe = lode_index_begin(&strings->index, hash);
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (strcmp(lode_strings_at(strings, number), string) == 0)
            return number;
    return add_string(strings, string, length + 1, hash);
}

uint32_t lode_strings_find(const struct lode_strings *strings, const char *string)
{
    struct lode_index_probe probe = lode_index_begin(&strings->index, lode_hash_text(string));
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (strcmp(lode_strings_at(strings, number), string) == 0)
            return number;
    return LODE_NO_NUMBER;
}

bool lode_strings_put(struct lode_strings *strings, const char *string, uint32_t *number)
{
    *number = lode_strings_add(strings, string);
    return *number != LODE_NO_NUMBER || string == NULL;
}
