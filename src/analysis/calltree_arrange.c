/* SPDX-License-Identifier: BSD-3-Clause */
/* From a builder to contexts: linear in their number but for the names of functions, and without recursion. */
#include "analysis/calls.h"
#include "analysis/calltree.h"
#include "base/error.h"
#include <stdlib.h>

struct arranging {
    const struct lode_calltree_builder *builder;
    const lode_recording *recording;
    uint32_t functions;  /* indices are below this */
    uint32_t *ranks;     /* by index of function */
    uint32_t *siblings;  /* all nodes but the first: by rising parent, then by rank */
    uint32_t *sizes;     /* by node: of its subtree */
    uint32_t *positions; /* by node: index of its context */
};

static lode_status rank(struct arranging *self, lode_error *error)
{
    const struct lode_calltree_builder *builder = self->builder;
    for (uint32_t i = 1; i < builder->count; i++)
        if (builder->nodes[i].function >= self->functions)
            self->functions = builder->nodes[i].function + 1;
    const lode_function **functions = calloc((size_t)self->functions + 1, sizeof *functions);
    self->ranks = calloc((size_t)self->functions + 1, sizeof *self->ranks);
    if (functions == NULL || self->ranks == NULL) {
        free(functions);
        return lode_fail_memory(error);
    }
    uint32_t count = 0;
    for (uint32_t i = 1; i < builder->count; i++) {
        uint32_t function = builder->nodes[i].function;
        if (self->ranks[function]++ == 0)
            functions[count++] = lode_function_table_at(recording_functions(self->recording), function);
    }
    lode_status status = lode_rank_functions(functions, count, self->ranks, error);
    free(functions);
    return status;
}

/*
 * One round of sorting by counting: `from` in order, by `key`, which is below `keys`. Equal keys stay in their order. The first node has
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
    const struct lode_calltree_builder *builder = self->builder;
    uint32_t count = builder->count - 1;
    uint32_t *key = calloc(builder->count, sizeof *key), *first = calloc(builder->count, sizeof *first),
             *second = calloc(builder->count, sizeof *second);
    bool done = key && first && second;
    for (uint32_t i = 0; done && i < count; i++) {
        first[i] = i + 1;
        key[i + 1] = self->ranks[builder->nodes[i + 1].function];
    }
    done = done && sort_by(second, first, count, key, self->functions);
    for (uint32_t i = 1; done && i <= count; i++)
        key[i] = builder->nodes[i].parent;
    done = done && sort_by(first, second, count, key, builder->count);
    self->siblings = first;
    free(key);
    free(second);
    return done ? LODE_OK : lode_fail_memory(error);
}

/* Parents come before their children, so sizes add up backwards and positions follow forwards. */
static lode_status place(struct arranging *self, lode_error *error)
{
    const struct lode_calltree_builder *builder = self->builder;
    self->sizes = calloc(builder->count, sizeof *self->sizes);
    self->positions = calloc(builder->count, sizeof *self->positions);
    if (self->sizes == NULL || self->positions == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = builder->count; i-- > 0;) {
        self->sizes[i]++;
        if (i > 0)
            self->sizes[builder->nodes[i].parent] += self->sizes[i];
    }
    uint32_t parent = 0, next = 1;
    for (uint32_t i = 0; i + 1 < builder->count; i++) {
        uint32_t node = self->siblings[i];
        if (builder->nodes[node].parent != parent) {
            parent = builder->nodes[node].parent;
            next = self->positions[parent] + 1;
        }
        self->positions[node] = next;
        next += self->sizes[node];
    }
    return LODE_OK;
}

static void fill_context(const struct arranging *self, lode_calltree *tree, uint32_t node)
{
    const struct lode_calltree_node *from = &self->builder->nodes[node];
    uint32_t index = self->positions[node], parent = self->positions[from->parent];
    lode_context *context = &tree->contexts.nodes[index];
    context->id = context->index = index;
    context->parent = parent;
    context->subtree_size = self->sizes[node];
    context->lexical = node == 0 ? LODE_LEXICAL_GLOBAL : LODE_LEXICAL_FUNCTION;
    context->relation = node == 0 ? LODE_RELATION_LEXICAL : LODE_RELATION_CALL;
    if (node > 0) {
        context->function = lode_function_table_at(recording_functions(self->recording), from->function);
        context->module = context->function->module;
        context->offset = context->function->offset;
    }
    tree->calls[index] = from->calls;
    tree->total[index] = tree->self[index] = from->total;
}

static lode_status fill(const struct arranging *self, lode_calltree *tree, lode_error *error)
{
    uint32_t count = self->builder->count;
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

lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_calltree_builder *builder,
                                  const lode_recording *recording, lode_error *error)
{
    struct arranging self = {.builder = builder, .recording = recording};
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
