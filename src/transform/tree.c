/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/tree.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/pack.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    NODES_FIRST = 1 << 12,
    NODES_MAX = 1 << 30,
    LARGE_PAGE = 1 << 21
};

/* ---- strings ---- */

void lode_build_strings_init(struct lode_build_strings *strings)
{
    lode_arena_init(&strings->arena, SIZE_MAX);
    lode_array_init(&strings->items, sizeof(const char *), UINT32_MAX - 1);
    lode_map_init(&strings->index);
}

void lode_build_strings_free(struct lode_build_strings *strings)
{
    lode_arena_free(&strings->arena);
    lode_array_free(&strings->items);
    lode_map_free(&strings->index);
}

const char *lode_build_string(const struct lode_build_strings *strings, uint32_t number)
{
    return number == LODE_NONE ? NULL : *LODE_ARRAY_AT(&strings->items, const char *, number);
}

static uint32_t add_string(struct lode_build_strings *strings, const char *text, size_t size, uint64_t key)
{
    uint32_t number = (uint32_t)strings->items.count;
    char *copy = lode_arena_alloc(&strings->arena, size, 1);
    const char **item = copy ? lode_array_push(&strings->items) : NULL;
    if (item == NULL || lode_map_add(&strings->index, key, number, NULL) == NULL)
        return LODE_NONE;
    *item = memcpy(copy, text, size);
    return number;
}

uint32_t lode_build_strings_add(struct lode_build_strings *strings, const char *text)
{
    if (text == NULL)
        return LODE_NONE;
    size_t length = strlen(text);
    uint64_t key = lode_hash_bytes(text, length);
    /* Strings whose hashes are equal though they differ stand one behind the other: key, key + 1, ... */
    for (const uint32_t *slot; (slot = lode_map_get(&strings->index, key)) != NULL; key++)
        if (strcmp(lode_build_string(strings, *slot), text) == 0)
            return *slot;
    return add_string(strings, text, length + 1, key);
}

/* ---- functions ---- */

static void names_init(struct lode_build_names *names)
{
    lode_build_strings_init(&names->strings);
    lode_array_init(&names->functions, sizeof(struct lode_build_function), UINT32_MAX - 1);
    lode_map_init(&names->index);
}

static void names_free(struct lode_build_names *names)
{
    lode_build_strings_free(&names->strings);
    lode_array_free(&names->functions);
    lode_map_free(&names->index);
}

static bool is_same(const struct lode_build_function *a, const struct lode_build_function *b)
{
    return a->name == b->name && a->module == b->module && a->file == b->file && a->line == b->line &&
           a->offset == b->offset;
}

uint32_t lode_build_names_add(struct lode_build_names *names, const struct lode_build_function *function)
{
    uint64_t key = lode_hash_pair(function->offset, (uint64_t)function->module << 32 | function->name);
    key = lode_hash_pair(key, (uint64_t)function->file << 32 | function->line);
    for (const uint32_t *slot; (slot = lode_map_get(&names->index, key)) != NULL; key++)
        if (is_same(LODE_ARRAY_AT(&names->functions, struct lode_build_function, *slot), function))
            return *slot;
    uint32_t number = (uint32_t)names->functions.count;
    struct lode_build_function *added = lode_array_push(&names->functions);
    if (added == NULL || lode_map_add(&names->index, key, number, NULL) == NULL)
        return LODE_NONE;
    *added = *function;
    return number;
}

/* ---- nodes ---- */

static uint32_t first_slot(const struct lode_build_tree *tree, uint32_t parent, uint32_t function)
{
    return (uint32_t)lode_hash_number((uint64_t)parent << 32 | function) & (tree->slot_count - 1);
}

static void fill_slots(struct lode_build_tree *tree)
{
    for (uint32_t i = LODE_BUILD_FIRST; i < tree->count; i++) {
        uint32_t slot = first_slot(tree, tree->nodes[i].parent, tree->nodes[i].function);
        while (tree->slots[slot] != 0)
            slot = (slot + 1) & (tree->slot_count - 1);
        tree->slots[slot] = i;
    }
}

/* Contexts are met in no order that can be foreseen: with large pages their addresses are found faster. */
static struct lode_build_node *alloc_nodes(size_t count)
{
    size_t size = count * sizeof(struct lode_build_node);
    struct lode_build_node *nodes = aligned_alloc(size < LARGE_PAGE ? sizeof *nodes : LARGE_PAGE, size);
    if (nodes && size >= LARGE_PAGE)
        madvise(nodes, size, MADV_HUGEPAGE); /* where the system does not, nothing is lost */
    return nodes;
}

static bool grow(struct lode_build_tree *tree)
{
    uint32_t capacity = tree->capacity ? tree->capacity * 2 : NODES_FIRST;
    if (capacity > NODES_MAX)
        return false;
    struct lode_build_node *nodes = alloc_nodes(capacity);
    uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
    uint32_t *depths = realloc(tree->depths, capacity * sizeof *depths);
    tree->depths = depths ? depths : tree->depths;
    if (nodes == NULL || slots == NULL || depths == NULL) {
        free(nodes);
        free(slots);
        return false;
    }
    if (tree->count > 0)
        memcpy(nodes, tree->nodes, tree->count * sizeof *nodes);
    free(tree->nodes);
    free(tree->slots);
    tree->nodes = nodes;
    tree->slots = slots;
    tree->slot_count = capacity * 2;
    tree->capacity = capacity;
    fill_slots(tree);
    return true;
}

static uint32_t add_node(struct lode_build_tree *tree, uint32_t parent, uint32_t function)
{
    tree->nodes[tree->count] = (struct lode_build_node){.parent = parent, .function = function};
    tree->depths[tree->count] = tree->count > 0 ? tree->depths[parent] + 1 : 0;
    return tree->count++;
}

lode_status lode_build_tree_open(struct lode_build_tree *tree, lode_error *error)
{
    *tree = (struct lode_build_tree){0};
    names_init(&tree->names);
    if (!grow(tree))
        return lode_fail_memory(error);
    for (unsigned i = 0; i < LODE_BUILD_FIRST; i++)
        add_node(tree, LODE_BUILD_GLOBAL, LODE_NONE);
    return LODE_OK;
}

void lode_build_tree_close(struct lode_build_tree *tree)
{
    names_free(&tree->names);
    free(tree->nodes);
    free(tree->depths);
    free(tree->slots);
    *tree = (struct lode_build_tree){0};
}

uint32_t lode_build_tree_child(struct lode_build_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->count == tree->capacity && !grow(tree))
        return 0;
    uint32_t slot = first_slot(tree, parent, function), mask = tree->slot_count - 1;
    for (uint32_t i; (i = tree->slots[slot]) != 0; slot = (slot + 1) & mask)
        if (tree->nodes[i].parent == parent && tree->nodes[i].function == function)
            return i;
    tree->slots[slot] = tree->count;
    return add_node(tree, parent, function);
}

void lode_build_tree_remember(struct lode_build_tree *tree, uint32_t node, uint32_t child)
{
    struct lode_build_node *from = &tree->nodes[node];
    uint8_t tag = build_tag(tree->nodes[child].function);
    unsigned place = 0;
    /* One with the same tag would hide it; one that is free is best; else any will do. */
    while (place < LODE_BUILD_KIN && (uint8_t)(from->tags >> place * 8) != tag)
        place++;
    for (unsigned i = LODE_BUILD_KIN; place == LODE_BUILD_KIN && i-- > 0;)
        place = from->children[i] == 0 ? i : place;
    place = place == LODE_BUILD_KIN ? child % LODE_BUILD_KIN : place;
    from->tags = (from->tags & ~(UINT64_C(0xff) << place * 8)) | (uint64_t)tag << place * 8;
    from->children[place] = child;
}

/* ---- merging ---- */

static bool merge_functions(struct lode_build_names *names, const struct lode_build_names *from,
                            uint32_t *map)
{
    const struct lode_build_strings *strings = &from->strings;
    for (size_t i = 0; i < from->functions.count; i++) {
        const struct lode_build_function *old =
            LODE_ARRAY_AT(&from->functions, struct lode_build_function, i);
        struct lode_build_function function = *old;
        function.name = lode_build_strings_add(&names->strings, lode_build_string(strings, old->name));
        function.module = lode_build_strings_add(&names->strings, lode_build_string(strings, old->module));
        function.file = lode_build_strings_add(&names->strings, lode_build_string(strings, old->file));
        bool has_all = (function.name == LODE_NONE) == (old->name == LODE_NONE) &&
                       (function.module == LODE_NONE) == (old->module == LODE_NONE) &&
                       (function.file == LODE_NONE) == (old->file == LODE_NONE);
        map[i] = has_all ? lode_build_names_add(names, &function) : LODE_NONE;
        if (map[i] == LODE_NONE)
            return false;
    }
    return true;
}

lode_status lode_build_tree_merge(struct lode_build_tree *tree, const struct lode_build_tree *from,
                                  uint32_t *map, lode_error *error)
{
    uint32_t *functions = calloc(from->names.functions.count + 1, sizeof *functions);
    bool done = functions && merge_functions(&tree->names, &from->names, functions);
    for (uint32_t i = 0; i < LODE_BUILD_FIRST; i++)
        map[i] = i;
    for (uint32_t i = LODE_BUILD_FIRST; i < from->count && done; i++) {
        const struct lode_build_node *node = &from->nodes[i];
        map[i] = lode_build_tree_child(tree, map[node->parent], functions[node->function]);
        done = map[i] != 0;
    }
    free(functions);
    return done ? LODE_OK : lode_fail_memory(error);
}

/* ---- over the wire ---- */

bool lode_build_strings_pack(const struct lode_build_strings *strings, struct lode_blob *blob)
{
    bool done = pack_number(blob, strings->items.count);
    for (uint32_t i = 0; i < strings->items.count && done; i++)
        done = pack_string(blob, lode_build_string(strings, i));
    return done;
}

bool lode_build_strings_unpack(struct lode_build_strings *strings, const unsigned char **at)
{
    bool done = true;
    for (uint64_t left = unpack_number(at); left > 0 && done; left--)
        done = lode_build_strings_add(strings, unpack_string(at)) != LODE_NONE;
    return done;
}

/* Parent and function of a node: what another process need not find out by itself. */
struct bare_node {
    uint32_t parent, function;
};

bool lode_build_tree_pack(const struct lode_build_tree *tree, struct lode_blob *blob)
{
    const struct lode_array *functions = &tree->names.functions;
    bool done = lode_build_strings_pack(&tree->names.strings, blob) && pack_number(blob, functions->count) &&
                pack_bytes(blob, functions->items, functions->count * functions->item_size) &&
                pack_number(blob, tree->count);
    size_t at = done ? lode_blob_reserve(blob, tree->count * sizeof(struct bare_node), 1) : LODE_BLOB_FULL;
    if (at == LODE_BLOB_FULL)
        return false;
    for (uint32_t i = 0; i < tree->count; i++) {
        struct bare_node node = {tree->nodes[i].parent, tree->nodes[i].function};
        memcpy(blob->bytes + at + i * sizeof node, &node, sizeof node);
    }
    return true;
}

static bool unpack_functions(struct lode_build_names *names, const unsigned char **at)
{
    bool done = lode_build_strings_unpack(&names->strings, at);
    for (uint64_t left = done ? unpack_number(at) : 0; left > 0 && done; left--) {
        struct lode_build_function function;
        unpack_bytes(at, &function, sizeof function);
        done = lode_build_names_add(names, &function) != LODE_NONE;
    }
    return done;
}

static bool merge_nodes(struct lode_build_tree *tree, const unsigned char *at, const uint32_t *functions,
                        uint32_t *map, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct bare_node node;
        unpack_bytes(&at, &node, sizeof node);
        map[i] = i < LODE_BUILD_FIRST
                     ? i
                     : lode_build_tree_child(tree, map[node.parent], functions[node.function]);
        if (map[i] == 0 && i > 0)
            return false;
    }
    return true;
}

lode_status lode_build_tree_merge_packed(struct lode_build_tree *tree, const unsigned char *bytes,
                                         uint32_t **map, uint32_t *count, lode_error *error)
{
    struct lode_build_names names;
    names_init(&names);
    *map = NULL;
    bool done = unpack_functions(&names, &bytes);
    uint32_t *functions = calloc(names.functions.count + 1, sizeof *functions);
    done = done && functions && merge_functions(&tree->names, &names, functions);
    *count = done ? (uint32_t)unpack_number(&bytes) : 0;
    if (done)
        *map = calloc(*count, sizeof **map);
    done = done && *map && merge_nodes(tree, bytes, functions, *map, *count);
    free(functions);
    names_free(&names);
    return done ? LODE_OK : lode_fail_memory(error);
}
