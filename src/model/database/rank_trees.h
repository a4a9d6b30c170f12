/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content trees of all ranks as one on rank 0, without merging trees. A node is known by a hash
 * of its path, and each rank owns a range of hashes: owners find the distinct nodes and number
 * them, rank 0 gets each once, and what it answers about nodes goes back through the owners.
 *
 * Paths that collide are detected, and hashed with another seed: see
 * doc/decisions/0085-trees-of-ranks.md. No result depends on hashes.
 */
#ifndef LODE_MODEL_RANK_TREES_H
#define LODE_MODEL_RANK_TREES_H

#include "base/comm/comm.h"
#include "model/database/tree.h"

/* The tree of a rank. */
struct lode_rank_tree {
    const struct lode_content_tree *tree;
    /* Its first nodes, at least the root, are the same in all trees; numbers stay. */
    uint32_t fixed;
    /* By frame: bytes that are equal on all ranks if and only if the frames are. */
    const void *contents;
    size_t content_size;
    uint32_t frame_count;
};

/* Zeroed before use. */
struct lode_rank_trees {
    struct lode_comm *comm;
    uint32_t fixed;
    uint32_t *order; /* the other nodes of this rank, in the order of their owners */
    uint32_t count;
    uint64_t *sent, *arrived; /* by rank: nodes of this rank that it owns; the other way round */
    uint32_t *owned;          /* by arrived node: its number, among those that this rank owns */
    uint64_t owned_count;     /* arrived nodes */
    uint32_t distinct;        /* owned numbers */
    /* Rank 0. */
    uint32_t total;      /* distinct nodes, with the fixed ones */
    uint32_t *shares;    /* by rank: owned numbers, which rise by rank */
    uint32_t *parents;   /* by number */
    uint8_t *contents;   /* by number; both until the tree is built */
    unsigned attempts;   /* seeds that were used */
    unsigned weak_first; /* for tests: so many attempts have a hash with many collisions */
};

/* Collective. Sets what is above, of `tree` and those of the other ranks. */
lode_status lode_rank_trees_unite(struct lode_rank_trees *self, struct lode_comm *comm,
                                  const struct lode_rank_tree *tree, lode_error *error);
/*
 * On rank 0: adds all nodes to a tree that has the fixed ones, parents first, siblings in the order
 * of their frames. `frames` is by number, and may be the contents, which are freed. `nodes` gets
 * the node by number; the caller frees it.
 */
lode_status lode_rank_trees_build(struct lode_rank_trees *self, const uint32_t *frames, uint32_t frame_count,
                                  struct lode_content_tree *tree, uint32_t **nodes, lode_error *error);
/*
 * Collective. Rank 0 has an answer for each number but the fixed ones, in their order. `size_of`
 * tells the size of an answer from its bytes. Each rank gets those for its nodes but the fixed
 * ones, in the order of `order`, and frees them.
 */
typedef size_t (*lode_answer_size_fn)(const uint8_t *answer);
lode_status lode_rank_trees_answer(const struct lode_rank_trees *self, const struct lode_blob *answers,
                                   lode_answer_size_fn size_of, uint8_t **out, lode_error *error);
void lode_rank_trees_free(struct lode_rank_trees *self);

#endif
