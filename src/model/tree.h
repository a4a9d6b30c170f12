/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content tree: a context is its parent and what it is, so that contexts of different threads, recordings or runs are matched by
 * comparing them. What contexts are is kept apart, as frames, each of them once: there are far fewer of them than contexts.
 */
#ifndef LODE_MODEL_TREE_H
#define LODE_MODEL_TREE_H

#include "base/blob.h"
#include "base/intern.h"
#include "base/pages.h"

/* ---- frames ---- */

/* A function by what it is. */
struct lode_frame_function {
    uint64_t offset;
    uint32_t name, module, file; /* strings, or LODE_NO_NUMBER */
    uint32_t line;
};

/* What a context is, without padding. */
struct lode_frame {
    uint64_t offset;
    uint32_t function;     /* or LODE_NO_NUMBER; of an entry point a string: its name */
    uint32_t file, module; /* strings, or LODE_NO_NUMBER */
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
/* Adds what is in `from`. `map` is by frame of that: its number in `frames`. False if there is no memory. */
bool lode_frames_merge(struct lode_frames *frames, const struct lode_frames *from, uint32_t *map);
/* For another process. False if there is no memory. */
bool lode_frames_pack(const struct lode_frames *frames, struct lode_blob *blob);
/* Adds what was packed to frames that are empty; `at` moves on. */
bool lode_frames_unpack(struct lode_frames *frames, const unsigned char **at);
bool lode_strings_pack(const struct lode_strings *strings, struct lode_blob *blob);
/* Adds what was packed; `at` moves on. */
bool lode_strings_unpack(struct lode_strings *strings, const unsigned char **at);

static inline const struct lode_frame *lode_frames_at(const struct lode_frames *frames, uint32_t number)
{
    return LODE_ARRAY_AT(&frames->frames.items, struct lode_frame, number);
}

/* ---- contexts ---- */

/* What every node begins with. */
struct lode_tree_node {
    uint32_t parent;
    uint32_t frame; /* a number of the caller's frames, or of what else stands for them */
};

enum {
    LODE_TREE_ROOT /* the global context, which has no frame */
};

/* Parents are before their children. */
struct lode_content_tree {
    struct lode_pages nodes;
    size_t node_size; /* of the caller's struct, which begins with a struct lode_tree_node */
    uint32_t count, capacity;
    uint32_t *slots; /* nodes, hashed by parent and frame; 0: free */
    uint32_t slot_count;
};

static inline struct lode_tree_node *lode_tree_node(const struct lode_content_tree *tree, uint32_t number)
{
    return (void *)((unsigned char *)tree->nodes.bytes + number * tree->node_size);
}

/* A tree with a root. False if there is no memory. */
bool lode_content_tree_open(struct lode_content_tree *tree, size_t node_size);
void lode_content_tree_close(struct lode_content_tree *tree);
/* The child of a node, added if it is new, zeroed beyond its beginning; 0 if there is no memory. Nodes may move. */
uint32_t lode_content_tree_child(struct lode_content_tree *tree, uint32_t parent, uint32_t frame);
/* A node of its own, even if there is an equal one: for trees whose equal siblings stay apart. 0 if there is no memory. */
uint32_t lode_content_tree_append(struct lode_content_tree *tree, uint32_t parent, uint32_t frame);
/* Leaves the first `node_size` bytes of each node. */
void lode_content_tree_compact(struct lode_content_tree *tree, size_t node_size);
/*
 * Adds the nodes in `from`. `frames` is by frame of that: its number for `tree`; NULL if they are the same. `map` is by node of `from`: its
 * node in `tree`. False if there is no memory.
 */
bool lode_content_tree_merge(struct lode_content_tree *tree, const struct lode_content_tree *from,
                             const uint32_t *frames, uint32_t *map);
/* Parents and frames, for another process. False if there is no memory. */
bool lode_content_tree_pack(const struct lode_content_tree *tree, struct lode_blob *blob);
/* A tree of bare nodes from what was packed, by appending; `at` moves on. */
bool lode_content_tree_unpack(struct lode_content_tree *tree, const unsigned char **at);

/* ---- order ---- */

/* By node. The global context is at position 0. */
struct lode_tree_order {
    uint32_t *positions; /* in depth-first order */
    uint32_t *sizes;     /* nodes of the subtree, with its root */
};

/*
 * Depth first, siblings by the ranks of their frames, which are below `rank_count`; equal ones by their numbers. Ranks that are made from
 * content make an order that does not depend on when a context was met. Linear, and without recursion. False if there is no memory.
 */
bool lode_tree_order_make(struct lode_tree_order *order, const struct lode_content_tree *tree,
                          const uint32_t *ranks, uint32_t rank_count);
void lode_tree_order_free(struct lode_tree_order *order);

#endif
