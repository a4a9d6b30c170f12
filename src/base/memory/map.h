/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash map from 64-bit keys to 32-bit values: open addressing, linear probing, no removal. The
 * hash is seeded (base/memory/hash.h) as keys may come from a file, so the slot order varies
 * between processes.
 */
#ifndef LODE_BASE_MAP_H
#define LODE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lode_map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used;
};

struct lode_map {
    struct lode_map_slot *slots;
    size_t count, capacity; /* capacity is 0 or a power of two */
};

void lode_map_init(struct lode_map *map);
/* Reserves space for `count` keys in all. */
bool lode_map_reserve(struct lode_map *map, size_t count);
/* The value of a key, added with `initial` if new. NULL if out of memory. */
uint32_t *lode_map_add(struct lode_map *map, uint64_t key, uint32_t initial, bool *added);
/* The value of a key, or NULL. */
const uint32_t *lode_map_get(const struct lode_map *map, uint64_t key);
/* Removes all keys and keeps the memory. */
void lode_map_clear(struct lode_map *map);
void lode_map_free(struct lode_map *map);

#endif
