/* SPDX-License-Identifier: BSD-3-Clause */
/* What a function or loop looks like beside its name: its file, and what it calls. */
#ifndef LODE_ANALYSIS_COMPARE_CALLEES_H
#define LODE_ANALYSIS_COMPARE_CALLEES_H

#include <stdint.h>
#include <string.h>

enum {
    LODE_CALLEES_MAX = 64 /* that are compared */
};

struct lode_callees {
    uint32_t file; /* string */
    uint32_t count;
    uint32_t items[LODE_CALLEES_MAX]; /* numbers, ascending, each once */
};

static inline void lode_callees_add(struct lode_callees *self, uint32_t callee)
{
    uint32_t at = 0;
    while (at < self->count && self->items[at] < callee)
        at++;
    if (self->count == LODE_CALLEES_MAX || (at < self->count && self->items[at] == callee))
        return;
    memmove(&self->items[at + 1], &self->items[at], (self->count - at) * sizeof *self->items);
    self->items[at] = callee;
    self->count++;
}

/* An order in which those that look the same are equal. */
static inline int lode_callees_compare(const struct lode_callees *a, const struct lode_callees *b)
{
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i] != b->items[i])
            return a->items[i] < b->items[i] ? -1 : 1;
    return 0;
}

#endif
