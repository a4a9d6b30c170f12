/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte strings, each kept once and numbered: 0, 1, 2... in the order of first addition. */
#ifndef LODE_OTLP_TABLE_H
#define LODE_OTLP_TABLE_H

#include "base/io/range.h"
#include "base/memory/intern.h"

struct otlp_table {
    struct lode_arena arena;
    struct lode_array items; /* struct lode_range */
    struct lode_index index;
};

void lode_otlp_table_init(struct otlp_table *table);
void lode_otlp_table_free(struct otlp_table *table);
/* LODE_NO_NUMBER if out of memory. */
uint32_t lode_otlp_table_add(struct otlp_table *table, struct lode_range bytes);
static inline struct lode_range otlp_table_at(const struct otlp_table *table, uint32_t number)
{
    return *LODE_ARRAY_AT(&table->items, struct lode_range, number);
}

#endif
