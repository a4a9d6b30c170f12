/* SPDX-License-Identifier: BSD-3-Clause */
/* From a growth to contexts: linear in their number but for the names of functions, and without recursion. */
#include "analysis/calls.h"
#include "analysis/calltree.h"
#include "base/error.h"
#include <stdlib.h>

struct arranging {
    const struct lode_growth *growth;
    const lode_recording *recording;
    uint32_t functions;  /* indices are below this */
    uint32_t *ranks;     /* by index of function */
    uint32_t *siblings;  /* all sprouts but the first: by rising parent, then by rank */
    uint32_t *sizes;     /* by sprout: of its subtree */
    uint32_t *positions; /* by sprout: index of its context */
};

static lode_status rank(struct arranging *self, lode_error *error)
{
    const struct lode_growth *growth = self->growth;
    for (uint32_t i = 1; i < growth->count; i++)
        if (growth->sprouts[i].function >= self->functions)
            self->functions = growth->sprouts[i].function + 1;
    const lode_function **functions = calloc((size_t)self->functions + 1, sizeof *functions);
    self->ranks = calloc((size_t)self->functions + 1, sizeof *self->ranks);
    if (functions == NULL || self->ranks == NULL) {
        free(functions);
        return lode_fail_memory(error);
    }
    uint32_t count = 0;
    for (uint32_t i = 1; i < growth->count; i++) {
        uint32_t function = growth->sprouts[i].function;
        if (self->ranks[function]++ == 0)
            functions[count++] = lode_function_table_at(recording_functions(self->recording), function);
    }
    lode_status status = lode_rank_functions(functions, count, self->ranks, error);
    free(functions);
    return status;
}

/*
 * One round of sorting by counting: `from` in order, by `key`, which is below `keys`. Equal keys stay in their order. The first sprout has
 * no place.
 */
static bool sort_by(uint32_t *to, const uint32_t *from, uint32_t count, const uint32_t *key, uint32_t keys)
{
    uint32_t *starts = calloc((size_t)keys + 1, sizeof *starts);
    if (starts == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        starts[key[from[i]] + 1]++;
    for (uint32_t i = 0; i < keys; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < count; i++)
        to[starts[key[from[i]]]++] = from[i];
    free(starts);
    return true;
}

static lode_status sort_siblings(struct arranging *self, lode_error *error)
{
    const struct lode_growth *growth = self->growth;
    uint32_t count = growth->count - 1;
    uint32_t *key = calloc(growth->count, sizeof *key), *first = calloc(growth->count, sizeof *first),
             *second = calloc(growth->count, sizeof *second);
    bool done = key && first && second;
    for (uint32_t i = 0; done && i < count; i++) {
        first[i] = i + 1;
        key[i + 1] = self->ranks[growth->sprouts[i + 1].function];
    }
    done = done && sort_by(second, first, count, key, self->functions);
    for (uint32_t i = 1; done && i <= count; i++)
        key[i] = growth->sprouts[i].parent;
    done = done && sort_by(first, second, count, key, growth->count);
    self->siblings = first;
    free(key);
    free(second);
    return done ? LODE_OK : lode_fail_memory(error);
}

/* Parents come before their children, so sizes add up backwards and positions follow forwards. */
static lode_status place(struct arranging *self, lode_error *error)
{
    const struct lode_growth *growth = self->growth;
    self->sizes = calloc(growth->count, sizeof *self->sizes);
    self->positions = calloc(growth->count, sizeof *self->positions);
    if (self->sizes == NULL || self->positions == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = growth->count; i-- > 0;) {
        self->sizes[i]++;
        if (i > 0)
            self->sizes[growth->sprouts[i].parent] += self->sizes[i];
    }
    uint32_t parent = 0, next = 1;
    for (uint32_t i = 0; i + 1 < growth->count; i++) {
        uint32_t sprout = self->siblings[i];
        if (growth->sprouts[sprout].parent != parent) {
            parent = growth->sprouts[sprout].parent;
            next = self->positions[parent] + 1;
        }
        self->positions[sprout] = next;
        next += self->sizes[sprout];
    }
    return LODE_OK;
}

static void fill_context(const struct arranging *self, lode_calltree *tree, uint32_t sprout)
{
    const struct lode_sprout *from = &self->growth->sprouts[sprout];
    uint32_t index = self->positions[sprout], parent = self->positions[from->parent];
    lode_context *context = &tree->contexts.nodes[index];
    context->id = context->index = index;
    context->parent = parent;
    context->subtree_size = self->sizes[sprout];
    context->lexical = sprout == 0 ? LODE_LEXICAL_GLOBAL : LODE_LEXICAL_FUNCTION;
    context->relation = sprout == 0 ? LODE_RELATION_LEXICAL : LODE_RELATION_CALL;
    if (sprout > 0) {
        context->function = lode_function_table_at(recording_functions(self->recording), from->function);
        context->module = context->function->module;
        context->offset = context->function->offset;
    }
    tree->calls[index] = from->calls;
    tree->total[index] = tree->self[index] = from->total;
}

static lode_status fill(const struct arranging *self, lode_calltree *tree, lode_error *error)
{
    uint32_t count = self->growth->count;
    tree->contexts.nodes = calloc(count, sizeof *tree->contexts.nodes);
    tree->calls = calloc(count, sizeof *tree->calls);
    tree->total = calloc(count, sizeof *tree->total);
    tree->self = calloc(count, sizeof *tree->self);
    tree->cost.inclusive = calloc(count, sizeof *tree->cost.inclusive);
    tree->cost.own = calloc(count, sizeof *tree->cost.own);
    if (!tree->contexts.nodes || !tree->calls || !tree->total || !tree->self || !tree->cost.inclusive ||
        !tree->cost.own)
        return lode_fail_memory(error);
    tree->contexts.count = count;
    for (uint32_t i = 0; i < count; i++)
        fill_context(self, tree, i);
    for (uint32_t i = 1; i < count; i++) {
        lode_context *context = &tree->contexts.nodes[i];
        context->depth = tree->contexts.nodes[context->parent].depth + 1;
        tree->self[context->parent] -= tree->total[i];
        if (context->parent == 0) {
            tree->calls[0] += tree->calls[i];
            tree->total[0] += tree->total[i];
        }
    }
    tree->self[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        tree->cost.inclusive[i] = (double)tree->total[i];
        tree->cost.own[i] = (double)tree->self[i];
    }
    tree->cost.tree = &tree->contexts;
    tree->cost.calls = tree->calls;
    return LODE_OK;
}

lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_growth *growth,
                                  const lode_recording *recording, lode_error *error)
{
    struct arranging self = {.growth = growth, .recording = recording};
    lode_status status = rank(&self, error);
    if (status == LODE_OK)
        status = sort_siblings(&self, error);
    if (status == LODE_OK)
        status = place(&self, error);
    if (status == LODE_OK)
        status = fill(&self, tree, error);
    free(self.ranks);
    free(self.siblings);
    free(self.sizes);
    free(self.positions);
    return status;
}
