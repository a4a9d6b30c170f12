/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/compare/side.h"

#include "analysis/cost/key.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

enum {
    LISTED_MAX = 8 /* children of a node that are found without hashing */
};

struct adding {
    struct lode_side *side;
    struct lode_normalizer *normalizer;
    struct lode_interner *keys;
    const lode_cost *cost;
    const struct lode_tree_names *names;
    uint32_t *frame_of; /* by function: its key */
    uint32_t *node_of;  /* by context */
    double factor, runs;
    uint32_t tree;
};

static lode_status intern_key(struct adding *self, const struct lode_tree_key *key, uint32_t *frame,
                              lode_error *error)
{
    *frame = lode_interner_add(self->keys, key, NULL);
    return *frame == LODE_NO_NUMBER ? lode_fail_memory(error) : LODE_OK;
}

static lode_status function_frame(struct adding *self, const lode_context *context, uint32_t *frame,
                                  lode_error *error)
{
    const lode_function *function = function_identity(lode_context_function(context));
    struct lode_tree_key key = {.kind = LODE_TREE_FUNCTION};
    uint32_t *known = function ? &self->frame_of[function->index] : frame;
    if (function && *known != LODE_NO_NUMBER) {
        *frame = *known;
        return LODE_OK;
    }
    LODE_TRY(lode_normal_function(self->normalizer, self->names, context, &key.name, error));
    LODE_TRY(intern_key(self, &key, known, error));
    *frame = *known;
    return LODE_OK;
}

/* A loop by its line relative to its function, if that is known. */
static lode_status loop_frame(struct adding *self, const lode_context *context, uint32_t *frame,
                              lode_error *error)
{
    const lode_context *above = context;
    struct lode_tree_key key = {.kind = LODE_TREE_LOOP, .line = context->line};
    while (above->index > 0 && !begins_function(above))
        above = &self->cost->tree->nodes[above->parent];
    const lode_function *function = function_identity(lode_context_function(above));
    bool is_relative = function && function->file && function->file == context->file && function->line > 0 &&
                       context->line >= function->line;
    if (is_relative) {
        key.line = context->line - function->line;
        key.name = self->names->functions[function->index];
    }
    if (context->file)
        LODE_TRY(lode_normal_file(self->normalizer, self->names, context->file, &key.file, error));
    else
        LODE_TRY(lode_normal_module(self->normalizer, self->names, context->module, &key.file, error));
    return intern_key(self, &key, frame, error);
}

/*
 * The child of a node, added if new; 0 if out of memory. Most nodes have few children, and contexts
 * are in depth-first order, so a list of siblings is still in a cache.
 */
static uint32_t find_child(struct lode_side *side, uint32_t parent, uint32_t frame)
{
    uint32_t last = LODE_TREE_ROOT, count = 0, *known = NULL;
    for (uint32_t i = lode_side_node(side, parent)->first_child; i != 0; count++) {
        const struct lode_side_node *node = lode_side_node(side, i);
        if (node->node.frame == frame)
            return i;
        last = i;
        i = node->next_sibling;
    }
    if (count == LISTED_MAX) {
        bool added;
        known = lode_map_add(&side->others, (uint64_t)parent << 32 | frame, LODE_TREE_ROOT, &added);
        if (known == NULL || !added)
            return known ? *known : LODE_TREE_ROOT;
    }
    uint32_t node = lode_content_tree_append(&side->tree, parent, frame);
    if (known)
        *known = node;
    else if (last != LODE_TREE_ROOT)
        lode_side_node(side, last)->next_sibling = node;
    else
        lode_side_node(side, parent)->first_child = node;
    return node;
}

/* The node of a context: its own for a call or a loop, else that of its parent. */
static lode_status place(struct adding *self, const lode_context *context, lode_error *error)
{
    uint32_t parent = self->node_of[context->parent], frame = LODE_NO_NUMBER;
    bool is_function = begins_function(context);
    bool is_loop = context->lexical == LODE_LEXICAL_LOOP && !self->side->fold_loops;
    uint32_t *node = &self->node_of[context->index];
    *node = parent;
    if (context->index == 0 || (!is_function && !is_loop))
        return LODE_OK;
    if (is_function)
        LODE_TRY(function_frame(self, context, &frame, error));
    else
        LODE_TRY(loop_frame(self, context, &frame, error));
    /* The same loop directly inside itself was peeled or unrolled. */
    if (!is_function && parent != LODE_TREE_ROOT && lode_side_node(self->side, parent)->node.frame == frame)
        return LODE_OK;
    uint32_t before = self->side->tree.count;
    *node = find_child(self->side, parent, frame);
    LODE_TRY_ALLOC(*node != LODE_TREE_ROOT, error);
    if (self->side->tree.count > before) {
        lode_side_node(self->side, *node)->tree = self->tree;
        lode_side_node(self->side, *node)->context = context->index;
    }
    return LODE_OK;
}

/* Functions and their keys are far apart in memory. */
static void fetch(const struct adding *self, const lode_context *context)
{
    const lode_function *function = lode_context_function(context + LODE_AHEAD / 2);
    __builtin_prefetch(context[LODE_AHEAD].function);
    if (function)
        __builtin_prefetch(&self->frame_of[function->identity]);
}

static lode_status add_contexts(struct adding *self, lode_error *error)
{
    const lode_cost *cost = self->cost;
    uint32_t count = cost->tree->count;
    self->node_of = calloc(count, sizeof *self->node_of);
    self->frame_of = malloc(((size_t)self->names->function_count + 1) * sizeof *self->frame_of);
    LODE_TRY_ALLOC(self->node_of && self->frame_of, error);
    memset(self->frame_of, 0xff, ((size_t)self->names->function_count + 1) * sizeof *self->frame_of);
    for (uint32_t i = 0; i < count; i++) {
        if (count - i > LODE_AHEAD)
            fetch(self, &cost->tree->nodes[i]);
        LODE_TRY(place(self, &cost->tree->nodes[i], error));
        struct lode_side_node *node = lode_side_node(self->side, self->node_of[i]);
        node->own += cost->own[i] * self->factor / self->runs;
        if (cost->calls)
            node->calls += (double)cost->calls[i] / self->runs;
    }
    return LODE_OK;
}

lode_status lode_side_add(struct lode_side *side, struct lode_normalizer *names, struct lode_interner *keys,
                          const lode_cost *cost, double factor, double runs, lode_error *error)
{
    struct adding self = {.side = side,
                          .normalizer = names,
                          .keys = keys,
                          .cost = cost,
                          .names = lode_normalizer_tree(names, cost->tree->nodes),
                          .factor = factor,
                          .runs = runs,
                          .tree = (uint32_t)side->trees.count};
    const struct lode_context_tree **tree = lode_array_push(&side->trees);
    LODE_TRY_ALLOC(tree, error);
    *tree = cost->tree;
    lode_status status = add_contexts(&self, error);
    side->total += lode_cost_total(cost) * factor / runs;
    free(self.node_of);
    free(self.frame_of);
    return status;
}

lode_status lode_side_finish(struct lode_side *side, lode_error *error)
{
    uint32_t count = side->tree.count;
    lode_map_free(&side->others);
    side->first_child = calloc((size_t)count + 2, sizeof *side->first_child);
    side->children = calloc((size_t)count + 1, sizeof *side->children);
    LODE_TRY_ALLOC(side->first_child && side->children, error);
    /* Counts, shifted by one, become positions while children are placed. */
    for (uint32_t i = 1; i < count; i++)
        side->first_child[lode_side_node(side, i)->node.parent + 2]++;
    for (uint32_t i = 2; i < count + 2; i++)
        side->first_child[i] += side->first_child[i - 1];
    for (uint32_t i = 1; i < count; i++)
        side->children[side->first_child[lode_side_node(side, i)->node.parent + 1]++] = i;
    return LODE_OK;
}

lode_status lode_side_open(struct lode_side *side, lode_error *error)
{
    lode_array_init(&side->trees, sizeof(const struct lode_context_tree *), SIZE_MAX);
    lode_map_init(&side->others);
    return lode_content_tree_open(&side->tree, sizeof(struct lode_side_node)) ? LODE_OK
                                                                              : lode_fail_memory(error);
}

void lode_side_close(struct lode_side *side)
{
    lode_content_tree_close(&side->tree);
    lode_map_free(&side->others);
    lode_array_free(&side->trees);
    free(side->first_child);
    free(side->children);
}
