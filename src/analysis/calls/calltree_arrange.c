/* SPDX-License-Identifier: BSD-3-Clause */
/* From a content tree to contexts: linear, except for sorting functions by name. */
#include "analysis/calls/calls.h"
#include "analysis/calls/calltree.h"
#include "analysis/calls/calltree_builder.h"
#include "base/error.h"
#include <stdlib.h>

struct arranging {
    const struct lode_content_tree *nodes;
    const uint64_t *elapsed;
    const lode_recording *recording;
    uint32_t functions; /* indices are below this */
    uint32_t *ranks;    /* by index of function */
    struct lode_tree_order order;
};

static lode_status rank(struct arranging *self, lode_error *error)
{
    const struct lode_content_tree *nodes = self->nodes;
    for (uint32_t i = 1; i < nodes->count; i++)
        if (lode_tree_node(nodes, i)->frame >= self->functions)
            self->functions = lode_tree_node(nodes, i)->frame + 1;
    const lode_function **functions = calloc((size_t)self->functions + 1, sizeof *functions);
    self->ranks = calloc((size_t)self->functions + 1, sizeof *self->ranks);
    if (functions == NULL || self->ranks == NULL) {
        free(functions);
        return lode_fail_memory(error);
    }
    uint32_t count = 0;
    for (uint32_t i = 1; i < nodes->count; i++) {
        uint32_t function = lode_tree_node(nodes, i)->frame;
        if (self->ranks[function]++ == 0)
            functions[count++] = lode_function_table_at(recording_functions(self->recording), function);
    }
    lode_status status = lode_rank_functions(functions, count, self->ranks, error);
    free(functions);
    return status;
}

static void fill_context(const struct arranging *self, lode_calltree *tree, uint32_t node)
{
    const struct lode_calltree_counts *from = (const void *)lode_tree_node(self->nodes, node);
    uint32_t index = self->order.positions[node], parent = self->order.positions[from->base.parent];
    lode_context *context = &tree->contexts.nodes[index];
    context->id = context->index = index;
    context->parent = parent;
    context->subtree_size = self->order.sizes[node];
    context->lexical = node == LODE_TREE_ROOT ? LODE_LEXICAL_GLOBAL : LODE_LEXICAL_FUNCTION;
    context->relation = node == LODE_TREE_ROOT ? LODE_RELATION_LEXICAL : LODE_RELATION_CALL;
    if (self->elapsed)
        tree->elapsed[index] = self->elapsed[node];
    if (node == LODE_TREE_ROOT)
        return;
    context->function = lode_function_table_at(recording_functions(self->recording), from->base.frame);
    context->module = context->function->module;
    context->offset = context->function->offset;
    tree->calls[index] = from->calls & ~LODE_CALLTREE_OFF_CPU;
    tree->is_off_cpu[index] = (from->calls & LODE_CALLTREE_OFF_CPU) != 0;
    tree->self[index] = tree->total[index] = from->self;
}

static lode_status fill(const struct arranging *self, lode_calltree *tree, lode_error *error)
{
    uint32_t count = self->nodes->count;
    tree->contexts.nodes = calloc(count, sizeof *tree->contexts.nodes);
    tree->calls = calloc(count, sizeof *tree->calls);
    tree->is_off_cpu = calloc(count, sizeof *tree->is_off_cpu);
    tree->total = calloc(count, sizeof *tree->total);
    tree->self = calloc(count, sizeof *tree->self);
    tree->elapsed = self->elapsed ? calloc(count, sizeof *tree->elapsed) : NULL;
    tree->cost.inclusive = calloc(count, sizeof *tree->cost.inclusive);
    tree->cost.own = calloc(count, sizeof *tree->cost.own);
    if (!tree->contexts.nodes || !tree->calls || !tree->is_off_cpu || !tree->total || !tree->self ||
        !tree->cost.inclusive || !tree->cost.own || (self->elapsed && !tree->elapsed))
        return lode_fail_memory(error);
    tree->contexts.count = count;
    for (uint32_t i = 0; i < count; i++)
        fill_context(self, tree, i);
    for (uint32_t i = count; i-- > 1;)
        tree->total[tree->contexts.nodes[i].parent] += tree->total[i];
    for (uint32_t i = 1; i < count; i++) {
        lode_context *context = &tree->contexts.nodes[i];
        context->depth = tree->contexts.nodes[context->parent].depth + 1;
        if (context->parent == 0)
            tree->calls[0] += tree->calls[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        tree->cost.inclusive[i] = (double)tree->total[i];
        tree->cost.own[i] = (double)tree->self[i];
    }
    tree->cost.tree = &tree->contexts;
    tree->cost.calls = tree->calls;
    return LODE_OK;
}

lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_content_tree *nodes,
                                  const uint64_t *elapsed, const lode_recording *recording, lode_error *error)
{
    struct arranging self = {.nodes = nodes, .elapsed = elapsed, .recording = recording};
    lode_status status = rank(&self, error);
    if (status == LODE_OK && !lode_tree_order_make(&self.order, nodes, self.ranks, self.functions))
        status = lode_fail_memory(error);
    if (status == LODE_OK)
        status = fill(&self, tree, error);
    free(self.ranks);
    lode_tree_order_free(&self.order);
    return status;
}
