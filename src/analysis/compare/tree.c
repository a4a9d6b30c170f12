/* SPDX-License-Identifier: BSD-3-Clause */
/* Tree comparisons: costs of pairs, their order, and the public API. */
#include "analysis/compare/tree.h"

#include "analysis/compare/align.h"
#include "base/error.h"
#include "base/options.h"
#include "base/text/label.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LODE_NO_NUMBER

/* Where changes of children cancel each other to this share of their gross change, costs moved. */
#define MOVED_NET 0.1
/* Moves of less than this share of the larger side are not marked. */
#define MOVED_LEAST 0.01

/* ---- costs ---- */

static void sum_members(const lode_compared_tree *tree, uint32_t index)
{
    struct lode_pair_cost *cost = &tree->costs[index];
    const struct lode_pair *pair = lode_pair_at(&tree->pairing, index);
    for (unsigned side = 0; side < LODE_SIDES; side++)
        for (uint32_t node = pair->members[side]; node != NONE;
             node = tree->pairing.next_member[side][node]) {
            const struct lode_side_node *member = lode_side_node(&tree->sides[side], node);
            cost->own[side] += member->own;
            cost->calls[side] += member->calls;
        }
}

static void sum_costs(lode_compared_tree *tree)
{
    uint32_t count = (uint32_t)tree->pairing.pairs.count;
    double all[LODE_SIDES] = {0.0, 0.0};
    for (uint32_t i = 0; i < count; i++)
        sum_members(tree, i);
    /* Children follow parents. */
    for (uint32_t i = count; i-- > 0;) {
        struct lode_pair_cost *cost = &tree->costs[i];
        const struct lode_pair *pair = lode_pair_at(&tree->pairing, i);
        struct lode_pair_cost *parent = &tree->costs[pair->parent];
        bool is_matched = pair->members[0] != NONE && pair->members[1] != NONE;
        for (unsigned side = 0; side < LODE_SIDES; side++) {
            cost->inclusive[side] += cost->own[side];
            all[side] += fabs(cost->own[side]);
            if (is_matched)
                tree->matched[side] += fabs(cost->own[side]);
            if (i > 0)
                parent->inclusive[side] += cost->inclusive[side];
        }
        cost->gross += fabs(cost->own[LODE_NEW] - cost->own[LODE_BASE]);
        if (i > 0)
            parent->gross += cost->gross;
    }
    for (unsigned side = 0; side < LODE_SIDES; side++)
        tree->matched[side] = all[side] > 0.0 ? tree->matched[side] / all[side] : 1.0;
}

/* ---- order ---- */

static int compare_children(const void *left, const void *right, void *argument)
{
    const lode_compared_tree *tree = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct lode_pair_cost *x = &tree->costs[a], *y = &tree->costs[b];
    if (x->gross != y->gross)
        return x->gross > y->gross ? -1 : 1;
    double p = x->inclusive[0] + x->inclusive[1], q = y->inclusive[0] + y->inclusive[1];
    if (p != q)
        return p > q ? -1 : 1;
    int result = lode_tree_keys_compare(&tree->pairing, lode_pair_at(&tree->pairing, a)->key,
                                        lode_pair_at(&tree->pairing, b)->key);
    return result != 0 ? result : (a > b) - (a < b);
}

static lode_status order_children(lode_compared_tree *tree, lode_error *error)
{
    uint32_t count = (uint32_t)tree->pairing.pairs.count, at = 0;
    tree->children = calloc((size_t)count + 1, sizeof *tree->children);
    LODE_TRY_ALLOC(tree->children, error);
    for (uint32_t i = 1; i < count; i++)
        lode_pair_at(&tree->pairing, lode_pair_at(&tree->pairing, i)->parent)->child_count++;
    for (uint32_t i = 0; i < count; i++) {
        struct lode_pair *pair = lode_pair_at(&tree->pairing, i);
        pair->first_child = at;
        at += pair->child_count;
        pair->child_count = 0;
    }
    for (uint32_t i = 1; i < count; i++) {
        struct lode_pair *parent = lode_pair_at(&tree->pairing, lode_pair_at(&tree->pairing, i)->parent);
        tree->children[parent->first_child + parent->child_count++] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct lode_pair *pair = lode_pair_at(&tree->pairing, i);
        if (pair->child_count > 1)
            qsort_r(&tree->children[pair->first_child], pair->child_count, sizeof *tree->children,
                    compare_children, tree);
    }
    return LODE_OK;
}

/* ---- marks ---- */

static double change_of(const lode_compared_tree *tree, uint32_t index)
{
    return tree->costs[index].inclusive[LODE_NEW] - tree->costs[index].inclusive[LODE_BASE];
}

/* Costs that moved from some children to others, in about the same sum. */
static void mark_moved(lode_compared_tree *tree, const struct lode_pair *pair)
{
    const double *total = tree->costs[0].inclusive;
    double gross = 0.0, net = 0.0, least = MOVED_LEAST * fmax(fabs(total[0]), fabs(total[1]));
    const uint32_t *children = &tree->children[pair->first_child];
    for (uint32_t i = 0; i < pair->child_count; i++) {
        gross += fabs(change_of(tree, children[i]));
        net += change_of(tree, children[i]);
    }
    if (!(gross > least) || fabs(net) >= MOVED_NET * gross)
        return;
    for (uint32_t i = 0; i < pair->child_count; i++)
        if (fabs(change_of(tree, children[i])) >= MOVED_NET * gross)
            lode_pair_at(&tree->pairing, children[i])->marks |= LODE_MOVED;
}

static void mark(lode_compared_tree *tree)
{
    for (uint32_t i = 0; i < tree->pairing.pairs.count; i++) {
        struct lode_pair *pair = lode_pair_at(&tree->pairing, i);
        pair->marks |= pair->members[LODE_NEW] == NONE    ? LODE_ONLY_IN_BASE
                       : pair->members[LODE_BASE] == NONE ? LODE_ONLY_IN_NEW
                                                          : 0;
        if (pair->child_count > 1)
            mark_moved(tree, pair);
    }
}

/* ---- public API ---- */

static lode_status take_side(lode_compared_tree *tree, lode_compare_side side, const lode_cost *const *costs,
                             size_t runs, const double *scales, lode_error *error)
{
    LODE_TRY(lode_side_open(&tree->sides[side], error));
    for (size_t i = 0; i < runs; i++)
        LODE_TRY(lode_side_add(&tree->sides[side], &tree->names, &tree->keys, costs[i],
                               scales ? scales[i] : 1.0, (double)runs, error));
    return lode_side_finish(&tree->sides[side], error);
}

static lode_status compare(lode_compared_tree *tree, const lode_cost *const *base_costs, size_t base_runs,
                           const lode_cost *const *new_costs, size_t new_runs,
                           const lode_compare_tree_options *options, lode_error *error)
{
    LODE_TRY(lode_normalizer_begin(&tree->names, options->rules, error));
    for (size_t i = 0; i < base_runs; i++)
        LODE_TRY(lode_normalizer_add(&tree->names, base_costs[i]->tree, LODE_BASE, error));
    for (size_t i = 0; i < new_runs; i++)
        LODE_TRY(lode_normalizer_add(&tree->names, new_costs[i]->tree, LODE_NEW, error));
    LODE_TRY(lode_normalizer_rank(&tree->names, error));
    tree->sides[LODE_BASE].fold_loops = tree->sides[LODE_NEW].fold_loops = options->fold_loops != 0;
    LODE_TRY(take_side(tree, LODE_BASE, base_costs, base_runs, options->base_scales, error));
    LODE_TRY(take_side(tree, LODE_NEW, new_costs, new_runs, options->new_scales, error));
    tree->pairing.sides = tree->sides;
    tree->pairing.keys = &tree->keys;
    tree->pairing.names = &tree->names;
    LODE_TRY(lode_pairing_make(&tree->pairing, error));
    tree->costs = calloc(tree->pairing.pairs.count, sizeof *tree->costs);
    LODE_TRY_ALLOC(tree->costs, error);
    sum_costs(tree);
    LODE_TRY(order_children(tree, error));
    mark(tree);
    return LODE_OK;
}

lode_status lode_compare_trees(lode_compared_tree **out, const lode_cost *const *base_costs, size_t base_runs,
                               const lode_cost *const *new_costs, size_t new_runs,
                               const lode_compare_tree_options *given, lode_error *error)
{
    lode_compare_tree_options options = LODE_COMPARE_TREE_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    if (base_runs == 0 || new_runs == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "nothing to compare");
    lode_compared_tree *tree = calloc(1, sizeof *tree);
    LODE_TRY_ALLOC(tree, error);
    lode_interner_init(&tree->keys, sizeof(struct lode_tree_key));
    lode_status status = compare(tree, base_costs, base_runs, new_costs, new_runs, &options, error);
    if (status == LODE_OK)
        *out = tree;
    else
        lode_compared_tree_free(tree);
    return status;
}

void lode_compared_tree_free(lode_compared_tree *tree)
{
    if (tree == NULL)
        return;
    lode_pairing_free(&tree->pairing);
    lode_side_close(&tree->sides[LODE_BASE]);
    lode_side_close(&tree->sides[LODE_NEW]);
    lode_interner_free(&tree->keys);
    lode_normalizer_end(&tree->names);
    free(tree->costs);
    free(tree->children);
    free(tree);
}

uint32_t lode_compared_tree_count(const lode_compared_tree *tree)
{
    return (uint32_t)tree->pairing.pairs.count;
}

static const lode_context *context_of(const lode_compared_tree *tree, const struct lode_pair *pair,
                                      lode_compare_side side)
{
    return pair->members[side] == NONE ? NULL : lode_side_context(&tree->sides[side], pair->members[side]);
}

lode_status lode_compared_tree_node(const lode_compared_tree *tree, uint32_t index, lode_compare_node *node,
                                    size_t node_size)
{
    if (index >= tree->pairing.pairs.count)
        return LODE_NOT_FOUND;
    const struct lode_pair *pair = lode_pair_at(&tree->pairing, index);
    const struct lode_pair_cost *cost = &tree->costs[index];
    lode_compare_node result = {.parent = pair->parent,
                                .child_count = pair->child_count,
                                .marks = pair->marks,
                                .base_context = context_of(tree, pair, LODE_BASE),
                                .new_context = context_of(tree, pair, LODE_NEW),
                                .gross = cost->gross,
                                .renamed = pair->renamed};
    memcpy(result.own, cost->own, sizeof result.own);
    memcpy(result.inclusive, cost->inclusive, sizeof result.inclusive);
    memcpy(result.calls, cost->calls, sizeof result.calls);
    for (uint32_t at = index; at > 0; at = lode_pair_at(&tree->pairing, at)->parent)
        result.depth++;
    lode_result_give(node, node_size, &result, sizeof result);
    return LODE_OK;
}

const uint32_t *lode_compared_tree_children(const lode_compared_tree *tree, uint32_t index, uint32_t *count)
{
    *count = index < tree->pairing.pairs.count ? lode_pair_at(&tree->pairing, index)->child_count : 0;
    return *count ? &tree->children[lode_pair_at(&tree->pairing, index)->first_child] : NULL;
}

size_t lode_compared_tree_name(const lode_compared_tree *tree, uint32_t index, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    const struct lode_strings *strings = &tree->names.strings;
    if (index == 0 || index >= tree->pairing.pairs.count) {
        lode_label_text(&label, "<program root>");
        return lode_label_end(&label);
    }
    const struct lode_tree_key *key =
        LODE_ARRAY_AT(&tree->keys.items, struct lode_tree_key, lode_pair_at(&tree->pairing, index)->key);
    bool is_loop = key->kind == LODE_TREE_LOOP;
    lode_label_text(&label, is_loop ? "loop at " : lode_strings_at(strings, key->name));
    if (is_loop) {
        lode_label_text(&label, lode_strings_at(strings, key->file));
        lode_label_text(&label, ":");
        lode_label_text(&label, lode_strings_at(strings, key->name));
        lode_label_format(&label, "%s%" PRIu32, key->name ? "+" : "", key->line);
    }
    return lode_label_end(&label);
}

double lode_compared_tree_total(const lode_compared_tree *tree, lode_compare_side side)
{
    return side == LODE_BASE || side == LODE_NEW ? tree->sides[side].total : 0.0;
}

double lode_compared_tree_matched(const lode_compared_tree *tree, lode_compare_side side)
{
    return side == LODE_BASE || side == LODE_NEW ? tree->matched[side] : 1.0;
}
