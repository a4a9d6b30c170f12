/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/otlp/table.h"

#include "base/memory/hash.h"

void lode_otlp_table_init(struct otlp_table *table)
{
    *table = (struct otlp_table){0};
    lode_arena_init(&table->arena, SIZE_MAX);
    lode_array_init(&table->items, sizeof(struct lode_range), UINT32_MAX / 2);
}

void lode_otlp_table_free(struct otlp_table *table)
{
    lode_arena_free(&table->arena);
    lode_array_free(&table->items);
    lode_index_free(&table->index);
}

static bool is_at(const struct otlp_table *table, uint32_t number, struct lode_range bytes)
{
    struct lode_range item = otlp_table_at(table, number);
    return item.size == bytes.size &&
           (bytes.size == 0 || memcmp(item.data, bytes.data, (size_t)bytes.size) == 0);
}

uint32_t lode_otlp_table_add(struct otlp_table *table, struct lode_range bytes)
{
    uint64_t hash = lode_hash_bytes(bytes.size > 0 ? (const void *)bytes.data : "", (size_t)bytes.size);
    struct lode_index_probe probe = lode_index_begin(&table->index, hash);
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (is_at(table, number, bytes))
            return number;
    uint8_t *copy = lode_arena_alloc(&table->arena, (size_t)bytes.size + 1, 1);
    if (copy == NULL || !lode_index_reserve(&table->index))
        return LODE_NO_NUMBER;
    struct lode_range *item = lode_array_push(&table->items);
    if (item == NULL)
        return LODE_NO_NUMBER;
    if (bytes.size > 0)
        memcpy(copy, bytes.data, (size_t)bytes.size);
    *item = (struct lode_range){copy, bytes.size};
    uint32_t number = (uint32_t)table->items.count - 1;
    lode_index_put(&table->index, hash, number);
    return number;
}
