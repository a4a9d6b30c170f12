/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/read/maps.h"

#include "base/memory/hash.h"

bool lode_perf_maps_init(struct perf_maps *maps, size_t most_nodes)
{
    *maps = (struct perf_maps){0};
    lode_array_init(&maps->nodes, sizeof(struct perf_map_node), most_nodes);
    return lode_array_push(&maps->nodes) != NULL;
}

void lode_perf_maps_free(struct perf_maps *maps)
{
    lode_array_free(&maps->nodes);
}

static struct perf_map_node *node_at(const struct perf_maps *maps, uint32_t number)
{
    return LODE_ARRAY_AT(&maps->nodes, struct perf_map_node, number);
}

/* 0 if out of memory. */
static uint32_t add_node(struct perf_maps *maps, const struct perf_map_node *node)
{
    uint32_t number = (uint32_t)maps->nodes.count;
    struct perf_map_node copy = *node, *slot = lode_array_push(&maps->nodes);
    if (slot == NULL)
        return 0;
    *slot = copy;
    return number;
}

static uint32_t add_mapping(struct perf_maps *maps, uint32_t edition, const struct perf_mapping *mapping)
{
    struct perf_map_node node = {
        .mapping = *mapping, .priority = (uint32_t)lode_hash_number(maps->nodes.count), .edition = edition};
    return add_node(maps, &node);
}

/* The node, or a copy if it belongs to an older edition; 0 if out of memory. */
static uint32_t own(struct perf_maps *maps, uint32_t number, uint32_t edition)
{
    if (node_at(maps, number)->edition == edition)
        return number;
    uint32_t copy = add_node(maps, node_at(maps, number));
    if (copy)
        node_at(maps, copy)->edition = edition;
    return copy;
}

/* Random priorities keep trees flat, and so the recursion. NOLINTBEGIN(misc-no-recursion) */

/* Divides a tree: mappings that begin below an address, and the others. */
static bool split(struct perf_maps *maps, uint32_t root, uint32_t edition, uint64_t address, uint32_t *below,
                  uint32_t *above)
{
    uint32_t part;
    *below = *above = 0;
    if (root == 0)
        return true;
    uint32_t mine = own(maps, root, edition);
    if (mine == 0)
        return false;
    if (node_at(maps, mine)->mapping.start < address) {
        if (!split(maps, node_at(maps, mine)->right, edition, address, &part, above))
            return false;
        node_at(maps, mine)->right = part;
        *below = mine;
    } else {
        if (!split(maps, node_at(maps, mine)->left, edition, address, below, &part))
            return false;
        node_at(maps, mine)->left = part;
        *above = mine;
    }
    return true;
}

/* Joins trees, the first of which is below the second. */
static bool join(struct perf_maps *maps, uint32_t below, uint32_t above, uint32_t edition, uint32_t *root)
{
    uint32_t part;
    *root = below ? below : above;
    if (below == 0 || above == 0)
        return true;
    bool is_below = node_at(maps, below)->priority > node_at(maps, above)->priority;
    uint32_t mine = own(maps, is_below ? below : above, edition);
    if (mine == 0)
        return false;
    *root = mine;
    if (is_below) {
        if (!join(maps, node_at(maps, mine)->right, above, edition, &part))
            return false;
        node_at(maps, mine)->right = part;
    } else {
        if (!join(maps, below, node_at(maps, mine)->left, edition, &part))
            return false;
        node_at(maps, mine)->left = part;
    }
    return true;
}

/* NOLINTEND(misc-no-recursion) */

/* The last mapping of a tree. */
static const struct perf_mapping *last_of(const struct perf_maps *maps, uint32_t root)
{
    if (root == 0)
        return NULL;
    while (node_at(maps, root)->right)
        root = node_at(maps, root)->right;
    return &node_at(maps, root)->mapping;
}

/* Joins a tree, a mapping that is not empty, and a tree. */
static bool append(struct perf_maps *maps, uint32_t *root, uint32_t edition, struct perf_mapping mapping)
{
    if (mapping.start >= mapping.end)
        return true;
    uint32_t node = add_mapping(maps, edition, &mapping);
    return node && join(maps, *root, node, edition, root);
}

bool lode_perf_maps_insert(struct perf_maps *maps, uint32_t *root, uint32_t edition,
                           const struct perf_mapping *mapping)
{
    uint32_t below, rest, covered, above, last;
    struct perf_mapping before = {0}, tail = {0};
    if (!split(maps, *root, edition, mapping->start, &below, &rest) ||
        !split(maps, rest, edition, mapping->end, &covered, &above))
        return false;
    const struct perf_mapping *found = last_of(maps, below);
    if (found && found->end > mapping->start) {
        /* Its end is cut off; what is beyond the new mapping stays. */
        before = tail = *found;
        before.end = mapping->start;
        if (!split(maps, below, edition, before.start, &below, &last))
            return false;
    }
    found = last_of(maps, covered);
    if (found && found->end > mapping->end)
        tail = *found;
    tail.start = mapping->end;
    *root = below;
    return append(maps, root, edition, before) && append(maps, root, edition, *mapping) &&
           append(maps, root, edition, tail) && join(maps, *root, above, edition, root);
}

bool lode_perf_maps_remove(struct perf_maps *maps, uint32_t *root, uint32_t edition, uint64_t start,
                           uint32_t module)
{
    uint32_t below, rest, found, above;
    const struct perf_mapping *mapping = lode_perf_maps_find(maps, *root, start);
    if (mapping == NULL || mapping->start != start || mapping->module != module)
        return true;
    return split(maps, *root, edition, start, &below, &rest) &&
           split(maps, rest, edition, start + 1, &found, &above) && join(maps, below, above, edition, root);
}

const struct perf_mapping *lode_perf_maps_find(const struct perf_maps *maps, uint32_t root, uint64_t address)
{
    const struct perf_mapping *found = NULL;
    while (root) {
        const struct perf_map_node *node = node_at(maps, root);
        if (node->mapping.start <= address) {
            found = &node->mapping;
            root = node->right;
        } else {
            root = node->left;
        }
    }
    return found && address < found->end ? found : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static bool visit_all(const struct perf_maps *maps, uint32_t root,
                      bool (*visit)(void *user, const struct perf_mapping *mapping), void *user)
{
    return root == 0 || (visit_all(maps, node_at(maps, root)->left, visit, user) &&
                         visit(user, &node_at(maps, root)->mapping) &&
                         visit_all(maps, node_at(maps, root)->right, visit, user));
}

void lode_perf_maps_each(const struct perf_maps *maps, uint32_t root,
                         bool (*visit)(void *user, const struct perf_mapping *mapping), void *user)
{
    (void)visit_all(maps, root, visit, user);
}
