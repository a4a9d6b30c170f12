/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scaling loss by context, as in Coarfa, Mellor-Crummey, Froyd and Dotsenko, "Scalability analysis
 * of SPMD codes using expectations" (2007).
 */
#include "analysis/compare/align.h"
#include "analysis/compare/tree.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/memory/map.h"
#include "base/options.h"
#include <lode/unstable/scaling.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE      LODE_NO_NUMBER
#define HOT_SHARE 0.5

struct lode_scaling_table {
    struct lode_array rows; /* lode_scaling_row */
};

static lode_status take_options(lode_scaling_options *options, const lode_scaling_options *given,
                                lode_error *error)
{
    *options = (lode_scaling_options)LODE_SCALING_OPTIONS_INIT;
    LODE_TRY(lode_options_take(options, given, error));
    if (!(options->base_ranks > 0.0) || !(options->new_ranks > 0.0))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a number of ranks is not positive");
    return LODE_OK;
}

/* Costs of both sides as a loss; 0 if the new side costs nothing. */
static double loss_of(const lode_compared_tree *tree, const lode_scaling_options *options,
                      const double cost[LODE_SIDES])
{
    bool is_weak = options->how == LODE_SCALING_WEAK;
    double p = is_weak ? options->base_ranks : 1.0, q = is_weak ? options->new_ranks : 1.0;
    double total = tree->costs[0].inclusive[LODE_NEW] / q;
    return total != 0.0 ? (cost[LODE_NEW] / q - cost[LODE_BASE] / p) / total : 0.0;
}

lode_status lode_scaling_loss_of(const lode_compared_tree *tree, uint32_t node,
                                 const lode_scaling_options *given, lode_scaling_loss *loss,
                                 lode_error *error)
{
    lode_scaling_options options;
    LODE_TRY(take_options(&options, given, error));
    if (node >= tree->pairing.pairs.count)
        return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "there is no node %u", node);
    loss->own = loss_of(tree, &options, tree->costs[node].own);
    loss->inclusive = loss_of(tree, &options, tree->costs[node].inclusive);
    return LODE_OK;
}

/* The child with the largest inclusive loss; NONE if there is none. */
static uint32_t hottest_child(const lode_compared_tree *tree, const lode_scaling_options *options,
                              uint32_t node)
{
    const struct lode_pair *pair = lode_pair_at(&tree->pairing, node);
    uint32_t hottest = NONE;
    double largest = 0.0;
    for (uint32_t i = 0; i < pair->child_count; i++) {
        uint32_t child = tree->children[pair->first_child + i];
        double loss = loss_of(tree, options, tree->costs[child].inclusive);
        if (loss > largest) {
            hottest = child;
            largest = loss;
        }
    }
    return hottest;
}

lode_status lode_scaling_hot_path(const lode_compared_tree *tree, const lode_scaling_options *given,
                                  uint32_t *nodes, size_t capacity, size_t *count, lode_error *error)
{
    lode_scaling_options options;
    *count = 0;
    LODE_TRY(take_options(&options, given, error));
    double above = 0.0;
    for (uint32_t node = 0; node != NONE; node = hottest_child(tree, &options, node)) {
        double loss = loss_of(tree, &options, tree->costs[node].inclusive);
        if (node > 0 && loss < HOT_SHARE * above)
            break;
        if (*count < capacity)
            nodes[*count] = node;
        ++*count;
        above = loss;
    }
    return LODE_OK;
}

/* ---- by function ---- */

struct summing {
    const lode_compared_tree *tree;
    lode_scaling_options options;
    struct lode_array *rows;
    struct lode_map row_of; /* by key, or by key and key of the caller */
    struct lode_array path; /* struct step */
    struct lode_map active; /* by row: how often it is on the path */
};

/* A node on the path, and what of it was looked at. */
struct step {
    uint32_t node, next_child;
    uint32_t function; /* the node that begins its function */
    uint32_t row;
};

static const struct lode_tree_key *key_of(const lode_compared_tree *tree, uint32_t node)
{
    return LODE_ARRAY_AT(&tree->keys.items, struct lode_tree_key, lode_pair_at(&tree->pairing, node)->key);
}

static bool is_function(const lode_compared_tree *tree, uint32_t node)
{
    return node == 0 || key_of(tree, node)->kind == LODE_TREE_FUNCTION;
}

/* The row of a function, added if new; NONE if out of memory. */
static uint32_t find_row(struct summing *self, uint32_t node, uint32_t caller)
{
    const struct lode_pairing *pairing = &self->tree->pairing;
    bool added, by_callers = self->options.by_callers != 0;
    uint64_t key = (uint64_t)lode_pair_at(pairing, node)->key << 32;
    key |= by_callers ? lode_pair_at(pairing, caller)->key : 0;
    uint32_t *row = lode_map_add(&self->row_of, key, (uint32_t)self->rows->count, &added);
    lode_scaling_row *fresh = row && added ? lode_array_push(self->rows) : NULL;
    if (row == NULL || (added && fresh == NULL))
        return NONE;
    if (added)
        *fresh = (lode_scaling_row){.node = node, .caller = by_callers ? caller : 0};
    return *row;
}

static lode_status enter(struct summing *self, uint32_t node, lode_error *error)
{
    const struct step *above =
        self->path.count > 0 ? LODE_ARRAY_AT(&self->path, struct step, self->path.count - 1) : NULL;
    struct step step = {node, 0, node, NONE};
    const struct lode_pair_cost *cost = &self->tree->costs[node];
    bool begins = is_function(self->tree, node);
    if (!begins && above) {
        step.function = above->function;
        step.row = above->row;
    } else {
        step.row = find_row(self, node, above ? above->function : 0);
        LODE_TRY_ALLOC(step.row != NONE, error);
    }
    lode_scaling_row *row = LODE_ARRAY_AT(self->rows, lode_scaling_row, step.row);
    row->own += loss_of(self->tree, &self->options, cost->own);
    if (begins) {
        bool added;
        uint32_t *active = lode_map_add(&self->active, step.row, 0, &added);
        LODE_TRY_ALLOC(active, error);
        if ((*active)++ == 0)
            row->inclusive += loss_of(self->tree, &self->options, cost->inclusive);
        row->nodes++;
    }
    struct step *pushed = lode_array_push(&self->path);
    LODE_TRY_ALLOC(pushed, error);
    *pushed = step;
    return LODE_OK;
}

static void leave(struct summing *self)
{
    const struct step *last = LODE_ARRAY_AT(&self->path, struct step, self->path.count - 1);
    bool added;
    uint32_t *active =
        last->function == last->node ? lode_map_add(&self->active, last->row, 0, &added) : NULL;
    if (active)
        --*active;
    lode_array_pop(&self->path);
}

static lode_status walk(struct summing *self, lode_error *error)
{
    LODE_TRY(enter(self, 0, error));
    while (self->path.count > 0) {
        struct step *last = LODE_ARRAY_AT(&self->path, struct step, self->path.count - 1);
        const struct lode_pair *pair = lode_pair_at(&self->tree->pairing, last->node);
        if (last->next_child < pair->child_count)
            LODE_TRY(enter(self, self->tree->children[pair->first_child + last->next_child++], error));
        else
            leave(self);
    }
    return LODE_OK;
}

static int compare_keys_of(const lode_compared_tree *tree, uint32_t a, uint32_t b)
{
    uint32_t x = lode_pair_at(&tree->pairing, a)->key, y = lode_pair_at(&tree->pairing, b)->key;
    if (x == NONE || y == NONE)
        return (y == NONE) - (x == NONE);
    return lode_tree_keys_compare(&tree->pairing, x, y);
}

/* What rows are of, for sorting. */
struct order {
    const lode_compared_tree *tree;
};

static int compare_rows(const void *left, const void *right, void *argument)
{
    const struct order *order = argument;
    const lode_scaling_row *a = left, *b = right;
    if (a->own != b->own)
        return a->own > b->own ? -1 : 1;
    if (a->inclusive != b->inclusive)
        return a->inclusive > b->inclusive ? -1 : 1;
    int result = compare_keys_of(order->tree, a->node, b->node);
    return result != 0 ? result : compare_keys_of(order->tree, a->caller, b->caller);
}

static void keep_rows(struct lode_array *rows)
{
    lode_scaling_row *items = rows->items;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (items[i].own != 0.0 || items[i].inclusive != 0.0)
            items[kept++] = items[i];
    rows->count = kept;
}

lode_status lode_scaling_compute(lode_scaling_table **out, const lode_compared_tree *tree,
                                 const lode_scaling_options *given, lode_error *error)
{
    struct summing self = {.tree = tree};
    *out = NULL;
    LODE_TRY(take_options(&self.options, given, error));
    lode_scaling_table *table = calloc(1, sizeof *table);
    LODE_TRY_ALLOC(table, error);
    self.rows = &table->rows;
    lode_array_init(&table->rows, sizeof(lode_scaling_row), NONE - 1);
    lode_array_init(&self.path, sizeof(struct step), SIZE_MAX);
    lode_map_init(&self.row_of);
    lode_map_init(&self.active);
    lode_status status = walk(&self, error);
    lode_array_free(&self.path);
    lode_map_free(&self.row_of);
    lode_map_free(&self.active);
    if (status != LODE_OK) {
        lode_scaling_table_free(table);
        return status;
    }
    keep_rows(&table->rows);
    struct order order = {tree};
    if (table->rows.count > 1)
        qsort_r(table->rows.items, table->rows.count, sizeof(lode_scaling_row), compare_rows, &order);
    *out = table;
    return LODE_OK;
}

void lode_scaling_table_free(lode_scaling_table *table)
{
    if (table == NULL)
        return;
    lode_array_free(&table->rows);
    free(table);
}

LODE_GETTER(size_t, lode_scaling_table_count, lode_scaling_table, rows.count);

const lode_scaling_row *lode_scaling_table_at(const lode_scaling_table *table, size_t index)
{
    return index < table->rows.count ? LODE_ARRAY_AT(&table->rows, lode_scaling_row, index) : NULL;
}
