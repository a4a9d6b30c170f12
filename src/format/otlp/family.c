/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of the children of spans. */
#include "base/compare.h"
#include "base/error.h"
#include "format/otlp/otlp.h"
#include <stdlib.h>

void lode_otlp_family_free(struct otlp_family *family)
{
    free(family->first_child);
    free(family->next);
    free(family->order);
    *family = (struct otlp_family){0};
}

static bool reserve(struct otlp_family *family, uint32_t count)
{
    if (family->capacity > count)
        return true;
    uint32_t capacity = count + count / 2 + 16;
    bool done = lode_grow(&family->first_child, family->capacity, capacity, sizeof(uint32_t), false) &&
                lode_grow(&family->next, family->capacity, capacity, sizeof(uint32_t), false) &&
                lode_grow(&family->order, family->capacity, capacity, sizeof(uint32_t), false);
    if (done)
        family->capacity = capacity;
    return done;
}

enum {
    FEW = 32 /* spans that are sorted by insertion */
};

static int compare(const void *left, const void *right, void *argument)
{
    const uint32_t *a = left, *b = right;
    const struct otlp_span *spans = argument, *x = &spans[*a], *y = &spans[*b];
    if (x->begin != y->begin)
        return LODE_COMPARE(x->begin, y->begin);
    return x->end != y->end ? LODE_COMPARE(x->end, y->end) : LODE_COMPARE(*a, *b);
}

/* Most traces are small. */
static void sort(uint32_t *order, uint32_t count, struct otlp_span *spans)
{
    if (count > FEW) {
        qsort_r(order, count, sizeof *order, compare, spans);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t span = order[i], at = i;
        for (; at > 0 && compare(&order[at - 1], &span, spans) > 0; at--)
            order[at] = order[at - 1];
        order[at] = span;
    }
}

lode_status lode_otlp_family_of(struct otlp_family *family, const struct otlp_recording *rec,
                                const struct otlp_trace *trace, lode_error *error)
{
    LODE_TRY_ALLOC(reserve(family, trace->count + 1), error);
    family->first = trace->first;
    family->count = trace->count;
    for (uint32_t i = 0; i < trace->count; i++)
        family->order[i] = trace->first + i;
    sort(family->order, trace->count, rec->spans);
    for (uint32_t i = 0; i <= trace->count; i++)
        family->first_child[i] = OTLP_NO_SPAN;
    /* Each is put at the head of a list: the last one first. */
    for (uint32_t i = trace->count; i-- > 0;) {
        uint32_t span = family->order[i], parent = rec->spans[span].parent;
        uint32_t *head = &family->first_child[parent == OTLP_NO_SPAN ? trace->count : parent - trace->first];
        family->next[span - trace->first] = *head;
        *head = span;
    }
    return LODE_OK;
}
