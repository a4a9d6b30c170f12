/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/tree.h"

#include "base/memory/hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    NODES_FIRST = 1 << 10
};

/* ---- slots ---- */

static uint32_t first_slot(const struct lode_content_tree *tree, uint32_t parent, uint32_t frame)
{
    return (uint32_t)lode_hash_pair(parent, frame) & (tree->slot_count - 1);
}

static void fill_slots(struct lode_content_tree *tree)
{
    uint32_t mask = tree->slot_count - 1;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree, i);
        uint32_t slot = first_slot(tree, node->parent, node->frame);
        while (tree->slots[slot] != 0)
            slot = (slot + 1) & mask;
        tree->slots[slot] = i;
    }
}

/* Two slots per node. */
static bool make_slots(struct lode_content_tree *tree)
{
    uint32_t *slots = calloc((size_t)tree->capacity * 2, sizeof *slots);
    if (slots == NULL)
        return false;
    free(tree->slots);
    tree->slots = slots;
    tree->slot_count = tree->capacity * 2;
    fill_slots(tree);
    return true;
}

/* ---- nodes ---- */

static bool grow(struct lode_content_tree *tree)
{
    uint32_t capacity = tree->capacity ? tree->capacity * 2 : NODES_FIRST;
    if (capacity > LODE_TREE_MAX || !lode_pages_resize(&tree->nodes, capacity * tree->node_size))
        return false;
    tree->capacity = capacity;
    return true;
}

bool lode_content_tree_open(struct lode_content_tree *tree, size_t node_size)
{
    *tree = (struct lode_content_tree){.node_size = node_size};
    if (!grow(tree))
        return false;
    lode_content_tree_append(tree, LODE_TREE_ROOT, LODE_NO_NUMBER);
    return true;
}

void lode_content_tree_close(struct lode_content_tree *tree)
{
    lode_pages_free(&tree->nodes);
    free(tree->slots);
    *tree = (struct lode_content_tree){0};
}

uint32_t lode_content_tree_append(struct lode_content_tree *tree, uint32_t parent, uint32_t frame)
{
    if (tree->count == tree->capacity && !grow(tree))
        return 0;
    struct lode_tree_node *node = lode_tree_node(tree, tree->count);
    memset(node, 0, tree->node_size);
    *node = (struct lode_tree_node){parent, frame};
    return tree->count++;
}

uint32_t lode_content_tree_child(struct lode_content_tree *tree, uint32_t parent, uint32_t frame)
{
    if (tree->count == tree->capacity && !grow(tree))
        return 0;
    if (tree->slot_count < tree->capacity * 2 && !make_slots(tree))
        return 0;
    uint32_t slot = first_slot(tree, parent, frame), mask = tree->slot_count - 1;
    for (uint32_t i; (i = tree->slots[slot]) != 0; slot = (slot + 1) & mask) {
        const struct lode_tree_node *node = lode_tree_node(tree, i);
        if (node->parent == parent && node->frame == frame)
            return i;
    }
    return tree->slots[slot] = lode_content_tree_append(tree, parent, frame);
}

void lode_content_tree_compact(struct lode_content_tree *tree, size_t node_size)
{
    unsigned char *bytes = tree->nodes.bytes;
    for (uint32_t i = 1; i < tree->count; i++)
        memmove(bytes + i * node_size, bytes + i * tree->node_size, node_size);
    tree->node_size = node_size;
    /* If this fails, the tree keeps its size. */
    lode_pages_resize(&tree->nodes, tree->capacity * node_size);
}

/* ---- merging ---- */

bool lode_content_tree_merge(struct lode_content_tree *tree, const struct lode_content_tree *from,
                             const uint32_t *frames, uint32_t *map)
{
    map[LODE_TREE_ROOT] = LODE_TREE_ROOT;
    for (uint32_t i = 1; i < from->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(from, i);
        uint32_t frame = frames ? frames[node->frame] : node->frame;
        map[i] = lode_content_tree_child(tree, map[node->parent], frame);
        if (map[i] == 0)
            return false;
    }
    return true;
}

/* ---- order ---- */

/* The rank of a node's frame, or its parent. */
static uint32_t key_of(const struct lode_content_tree *tree, const uint32_t *ranks, uint32_t node)
{
    const struct lode_tree_node *found = lode_tree_node(tree, node);
    return ranks ? ranks[found->frame] : found->parent;
}

/*
 * A stable counting sort of all nodes but the root from `from` to `to`, by rank of the frame or, if
 * `ranks` is NULL, by parent. Keys are below `keys`. `from` NULL means 1, 2, 3...
 */
static bool sort_nodes(const struct lode_content_tree *tree, const uint32_t *ranks, uint32_t keys,
                       const uint32_t *from, uint32_t *to)
{
    uint32_t *starts = calloc((size_t)keys + 1, sizeof *starts);
    if (starts == NULL)
        return false;
    for (uint32_t i = 1; i < tree->count; i++)
        starts[key_of(tree, ranks, i) + 1]++;
    for (uint32_t i = 0; i < keys; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t node = from ? from[i - 1] : i;
        to[starts[key_of(tree, ranks, node)]++] = node;
    }
    free(starts);
    return true;
}

/* Parents precede children: sizes accumulate backwards, positions forwards. */
static void place_nodes(struct lode_tree_order *order, const struct lode_content_tree *tree,
                        const uint32_t *siblings)
{
    for (uint32_t i = tree->count; i-- > 1;)
        order->sizes[lode_tree_node(tree, i)->parent] += ++order->sizes[i];
    order->sizes[LODE_TREE_ROOT]++;
    uint32_t parent = LODE_TREE_ROOT, next = 1;
    for (uint32_t i = 0; i + 1 < tree->count; i++) {
        uint32_t node = siblings[i], above = lode_tree_node(tree, node)->parent;
        next = above == parent ? next : order->positions[above] + 1;
        parent = above;
        order->positions[node] = next;
        next += order->sizes[node];
    }
}

/* From siblings, in ascending order of their parents, to positions. */
static bool make_order(struct lode_tree_order *order, const struct lode_content_tree *tree,
                       const uint32_t *siblings)
{
    *order = (struct lode_tree_order){calloc(tree->count, sizeof *order->positions),
                                      calloc(tree->count, sizeof *order->sizes)};
    bool done = siblings && order->positions && order->sizes;
    if (done)
        place_nodes(order, tree, siblings);
    else
        lode_tree_order_free(order);
    return done;
}

bool lode_tree_order_make(struct lode_tree_order *order, const struct lode_content_tree *tree,
                          const uint32_t *ranks, uint32_t rank_count)
{
    uint32_t *by_rank = calloc(tree->count, sizeof *by_rank);
    uint32_t *siblings = calloc(tree->count, sizeof *siblings);
    bool done = by_rank && siblings && sort_nodes(tree, ranks, rank_count, NULL, by_rank) &&
                sort_nodes(tree, NULL, tree->count, by_rank, siblings);
    free(by_rank);
    done = make_order(order, tree, done ? siblings : NULL);
    free(siblings);
    return done;
}

struct comparison {
    const struct lode_content_tree *tree;
    lode_frame_compare_fn compare;
    const void *argument;
};

static int compare_nodes(const void *left, const void *right, void *argument)
{
    const struct comparison *self = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = self->compare(lode_tree_node(self->tree, a)->frame, lode_tree_node(self->tree, b)->frame,
                              self->argument);
    return order ? order : (a > b) - (a < b);
}

bool lode_tree_order_compare(struct lode_tree_order *order, const struct lode_content_tree *tree,
                             lode_frame_compare_fn compare, const void *argument)
{
    struct comparison comparison = {tree, compare, argument};
    uint32_t *siblings = calloc(tree->count, sizeof *siblings);
    bool done = siblings && sort_nodes(tree, NULL, tree->count, NULL, siblings);
    for (uint32_t i = 0, end; done && i + 1 < tree->count; i = end) {
        uint32_t parent = lode_tree_node(tree, siblings[i])->parent;
        for (end = i + 1; end + 1 < tree->count && lode_tree_node(tree, siblings[end])->parent == parent;)
            end++;
        if (end - i > 1)
            qsort_r(siblings + i, end - i, sizeof *siblings, compare_nodes, &comparison);
    }
    done = make_order(order, tree, done ? siblings : NULL);
    free(siblings);
    return done;
}

void lode_tree_order_free(struct lode_tree_order *order)
{
    free(order->positions);
    free(order->sizes);
    *order = (struct lode_tree_order){0};
}
