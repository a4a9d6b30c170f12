/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content tree: a context is identified by its parent and its content, so that contexts of
 * different threads, recordings or runs match. Contents are stored once, as frames: there are far
 * fewer frames than contexts.
 */
#ifndef LODE_MODEL_TREE_H
#define LODE_MODEL_TREE_H

#include "base/memory/blob.h"
#include "base/memory/intern.h"
#include "base/memory/pages.h"

/* ---- frames ---- */

/* A function by content. */
struct lode_frame_function {
    uint64_t offset;
    uint32_t name, module, file; /* strings, or LODE_NO_NUMBER */
    uint32_t line;
};

/* The content of a context, without padding. */
struct lode_frame {
    uint64_t offset;
    uint32_t function;     /* or LODE_NO_NUMBER; for an entry point, its name */
    uint32_t file, module; /* in struct lode_frames strings; or LODE_NO_NUMBER */
    uint32_t line;
    uint16_t entry, propagation;
    uint16_t kind, relation; /* enum lode_lexical, enum lode_relation */
};

struct lode_frames {
    struct lode_strings strings;
    struct lode_interner functions; /* of struct lode_frame_function */
    struct lode_interner frames;    /* of struct lode_frame */
};

void lode_frames_init(struct lode_frames *frames);
void lode_frames_free(struct lode_frames *frames);
/* Adds the frames of `from`; `map` maps their numbers to new ones. False if out of memory. */
bool lode_frames_merge(struct lode_frames *frames, const struct lode_frames *from, uint32_t *map);
/* Packs for another process. False if out of memory. */
bool lode_frames_pack(const struct lode_frames *frames, struct lode_blob *blob);
/* Unpacks into empty frames; `at` advances. */
bool lode_frames_unpack(struct lode_frames *frames, const unsigned char **at);
bool lode_strings_pack(const struct lode_strings *strings, struct lode_blob *blob);
/* Adds packed strings; `at` advances. */
bool lode_strings_unpack(struct lode_strings *strings, const unsigned char **at);
/* The same for items of one size. */
bool lode_interner_pack(const struct lode_interner *interner, struct lode_blob *blob);
bool lode_interner_unpack(struct lode_interner *interner, const unsigned char **at);

static inline const struct lode_frame *lode_frames_at(const struct lode_frames *frames, uint32_t number)
{
    return LODE_ARRAY_AT(&frames->frames.items, struct lode_frame, number);
}

/* ---- contexts ---- */

/* The beginning of every node. */
struct lode_tree_node {
    uint32_t parent;
    uint32_t frame; /* a number that the caller interprets */
};

enum {
    LODE_TREE_ROOT,         /* the global context, without a frame */
    LODE_TREE_MAX = 1 << 30 /* nodes */
};

/* Parents precede children. */
struct lode_content_tree {
    struct lode_pages nodes;
    size_t node_size; /* of the caller's struct that begins with a struct lode_tree_node */
    uint32_t count, capacity;
    uint32_t *slots; /* hash table of nodes by parent and frame; 0: free */
    uint32_t slot_count;
};

static inline struct lode_tree_node *lode_tree_node(const struct lode_content_tree *tree, uint32_t number)
{
    return (void *)((unsigned char *)tree->nodes.bytes + number * tree->node_size);
}

/* A tree with a root. False if out of memory. */
bool lode_content_tree_open(struct lode_content_tree *tree, size_t node_size);
void lode_content_tree_close(struct lode_content_tree *tree);
/* The child of a node, zeroed and added if new; 0 if out of memory. Nodes may move. */
uint32_t lode_content_tree_child(struct lode_content_tree *tree, uint32_t parent, uint32_t frame);
/* Adds a node even if an equal one exists, to keep equal siblings separate. 0 if out of memory. */
uint32_t lode_content_tree_append(struct lode_content_tree *tree, uint32_t parent, uint32_t frame);
/* Truncates each node to `node_size` bytes. */
void lode_content_tree_compact(struct lode_content_tree *tree, size_t node_size);
/*
 * Adds the nodes of `from`. `frames` maps frames of `from` to frames of `tree`; NULL if they are
 * the same. `map` gets the node in `tree` of each node of `from`. False if out of memory.
 */
bool lode_content_tree_merge(struct lode_content_tree *tree, const struct lode_content_tree *from,
                             const uint32_t *frames, uint32_t *map);

/* ---- order ---- */

/* Indexed by node. The global context is at position 0. */
struct lode_tree_order {
    uint32_t *positions; /* in depth-first order */
    uint32_t *sizes;     /* nodes in the subtree, including its root */
};

/*
 * Depth-first order; siblings by the ranks of their frames, which are below `rank_count`, then by
 * number. Ranks from content give an order that does not depend on the order of addition. Linear,
 * without recursion. False if out of memory.
 */
bool lode_tree_order_make(struct lode_tree_order *order, const struct lode_content_tree *tree,
                          const uint32_t *ranks, uint32_t rank_count);
/* The same by comparing frames, which takes less where most siblings have frames of their own. */
typedef int (*lode_frame_compare_fn)(uint32_t a, uint32_t b, const void *argument);
bool lode_tree_order_compare(struct lode_tree_order *order, const struct lode_content_tree *tree,
                             lode_frame_compare_fn compare, const void *argument);
void lode_tree_order_free(struct lode_tree_order *order);

#endif
