/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/map.h"

#include "base/memory/hash.h"
#include <stdlib.h>
#include <string.h>

void lode_map_init(struct lode_map *map)
{
    *map = (struct lode_map){0};
}

static struct lode_map_slot *map_slot(const struct lode_map *map, uint64_t key)
{
    size_t mask = map->capacity - 1;
    size_t i = (size_t)lode_hash_number(key) & mask;
    while (map->slots[i].used && map->slots[i].key != key)
        i = (i + 1) & mask;
    return &map->slots[i];
}

static bool map_resize(struct lode_map *map, size_t capacity)
{
    struct lode_map bigger = {.capacity = capacity, .count = map->count};
    bigger.slots = calloc(capacity, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            *map_slot(&bigger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = bigger;
    return true;
}

bool lode_map_reserve(struct lode_map *map, size_t count)
{
    if (count > SIZE_MAX / 4 / sizeof(struct lode_map_slot))
        return false;
    size_t capacity = map->capacity ? map->capacity : 16;
    while (capacity - capacity / 4 < count)
        capacity *= 2;
    return capacity == map->capacity || map_resize(map, capacity);
}

uint32_t *lode_map_add(struct lode_map *map, uint64_t key, uint32_t initial, bool *added)
{
    if (!lode_map_reserve(map, map->count + 1))
        return NULL;
    struct lode_map_slot *slot = map_slot(map, key);
    if (added)
        *added = !slot->used;
    if (!slot->used) {
        *slot = (struct lode_map_slot){.key = key, .value = initial, .used = 1};
        map->count++;
    }
    return &slot->value;
}

const uint32_t *lode_map_get(const struct lode_map *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    const struct lode_map_slot *slot = map_slot(map, key);
    return slot->used ? &slot->value : NULL;
}

void lode_map_clear(struct lode_map *map)
{
    if (map->count)
        memset(map->slots, 0, map->capacity * sizeof *map->slots);
    map->count = 0;
}

void lode_map_free(struct lode_map *map)
{
    free(map->slots);
    lode_map_init(map);
}
