/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/import/carried.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_BYTES = 32 /* of an item and its entry in a table, about */
};

struct lode_carried *lode_carried_new(size_t metrics, uint64_t most_bytes)
{
    struct lode_carried *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->most = most_bytes;
    self->default_type = self->drop_frames = self->keep_frames = self->url = "";
    self->period_type = (struct lode_carried_type){"", ""};
    lode_array_init(&self->types, sizeof(struct lode_carried_type), SIZE_MAX);
    lode_array_init(&self->comments, sizeof(const char *), SIZE_MAX);
    lode_interner_init(&self->labels, sizeof(struct lode_carried_label));
    lode_interner_init(&self->sets, sizeof(struct lode_carried_set));
    lode_map_init(&self->row_of);
    lode_array_init(&self->rows, sizeof(struct lode_carried_row), UINT32_MAX - 1);
    lode_array_init(&self->sums, (metrics ? metrics : 1) * sizeof(lode_wide), UINT32_MAX - 1);
    return self;
}

void lode_carried_free(struct lode_carried *self)
{
    if (self == NULL)
        return;
    lode_array_free(&self->types);
    lode_array_free(&self->comments);
    lode_interner_free(&self->labels);
    lode_interner_free(&self->sets);
    lode_map_free(&self->row_of);
    lode_array_free(&self->rows);
    lode_array_free(&self->sums);
    free(self);
}

bool lode_carried_extend(struct lode_carried *self, uint32_t *set, const struct lode_carried_label *label)
{
    bool added;
    uint32_t number = lode_interner_add(&self->labels, label, &added);
    if (number == LODE_NO_NUMBER)
        return false;
    self->bytes += added ? sizeof *label + ENTRY_BYTES : 0;
    struct lode_carried_set longer = {*set, number};
    *set = lode_interner_add(&self->sets, &longer, &added);
    self->bytes += added ? ENTRY_BYTES : 0;
    return *set != LODE_NO_NUMBER;
}

bool lode_carried_add(struct lode_carried *self, uint32_t context, uint32_t set, const lode_wide *values)
{
    uint64_t key = (uint64_t)context << 32 | set, overflows = 0;
    size_t metrics = self->sums.item_size / sizeof(lode_wide);
    const uint32_t *known = lode_map_get(&self->row_of, key);
    uint32_t row = known ? *known : (uint32_t)self->rows.count;
    if (known == NULL) {
        self->bytes += self->sums.item_size + ENTRY_BYTES;
        self->is_cut |= self->bytes > self->most;
        if (self->is_cut)
            return true;
        struct lode_carried_row *slot = lode_array_push(&self->rows);
        if (slot == NULL || lode_array_push(&self->sums) == NULL ||
            lode_map_add(&self->row_of, key, row, NULL) == NULL)
            return false;
        *slot = (struct lode_carried_row){context, set};
    }
    lode_wide *sums = (lode_wide *)self->sums.items + (size_t)row * metrics;
    for (size_t i = 0; i < metrics; i++)
        lode_wide_add(&sums[i], values[i], &overflows);
    return true;
}
