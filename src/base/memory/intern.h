/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interning: equal items get one number; 0, 1, 2... in order of first addition. Items are compared
 * by content; the hash only selects where to look, and is keyed (base/memory/hash.h).
 */
#ifndef LODE_BASE_INTERN_H
#define LODE_BASE_INTERN_H

#include "base/memory/arena.h"
#include "base/memory/array.h"
#include <stdbool.h>
#include <stdint.h>

/* No number: no item, or out of memory. */
#define LODE_NO_NUMBER UINT32_MAX

/* Numbers by hash, for items that are stored elsewhere. */
struct lode_index {
    struct lode_index_slot {
        uint32_t hash;   /* the upper half */
        uint32_t number; /* plus 1; 0: free */
    } * slots;
    uint32_t count, slot_count; /* slot_count is 0 or a power of two */
};

/* Iterates over the numbers that were added with a hash. */
struct lode_index_probe {
    const struct lode_index *index;
    uint32_t hash, at;
};

/*
 * Usage: struct lode_index_probe probe = lode_index_begin(&index, hash);
 *        for (uint32_t number; lode_index_next(&probe, &number);) if (number is the one) ...
 */
static inline struct lode_index_probe lode_index_begin(const struct lode_index *index, uint64_t hash)
{
    uint32_t upper = (uint32_t)(hash >> 32);
    return (struct lode_index_probe){index, upper, upper & (index->slot_count - 1)};
}

static inline bool lode_index_next(struct lode_index_probe *probe, uint32_t *number)
{
    const struct lode_index *index = probe->index;
    uint32_t mask = index->slot_count - 1;
    while (index->slot_count > 0 && index->slots[probe->at].number > 0) {
        const struct lode_index_slot *slot = &index->slots[probe->at];
        probe->at = (probe->at + 1) & mask;
        if (slot->hash == probe->hash) {
            *number = slot->number - 1;
            return true;
        }
    }
    return false;
}

/* Reserves space for one more. False if out of memory. */
bool lode_index_reserve(struct lode_index *index);
/* Adds a number; space must be reserved. */
void lode_index_put(struct lode_index *index, uint64_t hash, uint32_t number);
/* Removes all numbers and keeps the memory. */
void lode_index_clear(struct lode_index *index);
void lode_index_free(struct lode_index *index);

/* Structs of one size without padding, compared byte by byte. */
struct lode_interner {
    struct lode_array items;
    struct lode_index index;
};

void lode_interner_init(struct lode_interner *interner, size_t item_size);
void lode_interner_free(struct lode_interner *interner);
/* Removes all items and keeps the memory. */
void lode_interner_clear(struct lode_interner *interner);
/* The number of an item, added if new; LODE_NO_NUMBER if out of memory. `added` may be NULL. */
uint32_t lode_interner_add(struct lode_interner *interner, const void *item, bool *added);
/* The number of an item; LODE_NO_NUMBER if it was not added. */
uint32_t lode_interner_find(const struct lode_interner *interner, const void *item);

/* Strings. */
struct lode_strings {
    struct lode_arena arena;
    struct lode_array items; /* of const char * */
    struct lode_index index;
};

void lode_strings_init(struct lode_strings *strings);
void lode_strings_free(struct lode_strings *strings);
/* The number of a string, added if new; LODE_NO_NUMBER for NULL or if out of memory. */
uint32_t lode_strings_add(struct lode_strings *strings, const char *string);
/* The number of a string; LODE_NO_NUMBER if it was not added. */
uint32_t lode_strings_find(const struct lode_strings *strings, const char *string);
/* As lode_strings_add, but returns false if out of memory. */
bool lode_strings_put(struct lode_strings *strings, const char *string, uint32_t *number);
/* The string of a number; NULL for LODE_NO_NUMBER. */
static inline const char *lode_strings_at(const struct lode_strings *strings, uint32_t number)
{
    return number == LODE_NO_NUMBER ? NULL : *LODE_ARRAY_AT(&strings->items, const char *, number);
}

#endif
