/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of address spaces as they were at any time. A version is the root of a balanced tree of
 * mappings that do not overlap; versions share what they have in common, so that a fork costs
 * nothing and a new mapping as much as the tree is deep.
 *
 * A tree is a treap: a search tree by address and a heap by random priorities.
 */
#ifndef LODE_FORMAT_PERF_MAPS_H
#define LODE_FORMAT_PERF_MAPS_H

#include "base/memory/array.h"
#include <stdint.h>

struct perf_mapping {
    uint64_t start, end;
    uint64_t shift;  /* an address minus this is the offset in the module */
    uint32_t module; /* a number that the caller gives */
    bool is_code;    /* it is executable */
};

struct perf_map_node {
    struct perf_mapping mapping;
    uint32_t left, right; /* nodes; 0: none */
    uint32_t priority;
    uint32_t edition; /* nodes of the current edition may be changed in place */
};

struct perf_maps {
    struct lode_array nodes; /* struct perf_map_node; the first one is unused */
    uint32_t editions;
};

/* False if out of memory. */
bool lode_perf_maps_init(struct perf_maps *maps, size_t most_nodes);
void lode_perf_maps_free(struct perf_maps *maps);

/* A new edition: trees of earlier ones stay as they are. */
static inline uint32_t lode_perf_maps_edition(struct perf_maps *maps)
{
    return ++maps->editions;
}

/*
 * Adds a mapping, which cuts those that it overlaps, to the tree of a root; 0 is the empty tree.
 * `edition` is that of the tree, or a newer one. False if out of memory, or there are too many.
 */
bool lode_perf_maps_insert(struct perf_maps *maps, uint32_t *root, uint32_t edition,
                           const struct perf_mapping *mapping);
/* Removes all mappings of a module that begin at an address. */
bool lode_perf_maps_remove(struct perf_maps *maps, uint32_t *root, uint32_t edition, uint64_t start,
                           uint32_t module);
/* The mapping of an address, or NULL. */
const struct perf_mapping *lode_perf_maps_find(const struct perf_maps *maps, uint32_t root, uint64_t address);

/* Calls a function for each mapping, by address, until it returns false. */
void lode_perf_maps_each(const struct perf_maps *maps, uint32_t root,
                         bool (*visit)(void *user, const struct perf_mapping *mapping), void *user);

#endif
