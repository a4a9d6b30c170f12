/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of calls that know nothing of where their events came from: functions by what they are, contexts by parent and function. Each
 * worker grows one; they are merged by content, with a map from the numbers of one to those of the other.
 */
#ifndef LODE_TRANSFORM_TREE_H
#define LODE_TRANSFORM_TREE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/blob.h"
#include "base/map.h"
#include <lode/status.h>
#include <lode/writer.h>
#include <stdbool.h>

/* Strings, each once. */
struct lode_build_strings {
    struct lode_arena arena;
    struct lode_array items; /* of const char * */
    struct lode_map index;
};

void lode_build_strings_init(struct lode_build_strings *strings);
void lode_build_strings_free(struct lode_build_strings *strings);
/* The number of a text, which is added if it is not there; LODE_NONE for NULL, or if there is no memory. */
uint32_t lode_build_strings_add(struct lode_build_strings *strings, const char *text);
/* NULL for LODE_NONE. */
const char *lode_build_string(const struct lode_build_strings *strings, uint32_t number);

/* A function by what it is. */
struct lode_build_function {
    uint32_t name, module, file; /* strings, or LODE_NONE */
    uint32_t line;
    uint64_t offset;
};

struct lode_build_names {
    struct lode_build_strings strings;
    struct lode_array functions; /* of struct lode_build_function */
    struct lode_map index;
};

/* The number of a function, added if it is not there; LODE_NONE if there is no memory. */
uint32_t lode_build_names_add(struct lode_build_names *names, const struct lode_build_function *function);

enum {
    LODE_BUILD_KIN = 8 /* children that a node remembers: more than most callers call */
};

/* A context: one cache line. */
struct lode_build_node {
    uint32_t children[LODE_BUILD_KIN]; /* some that were called; 0 where there are fewer */
    uint64_t tags;        /* a byte for each, made from its function; which may be that of another too */
    uint64_t self, calls; /* on the track that is being read; 0 between tracks */
    uint32_t parent;
    uint32_t function; /* LODE_NONE for the global context and entry points */
};

/* The first nodes. */
enum {
    LODE_BUILD_GLOBAL,
    LODE_BUILD_MAIN,   /* the entry point of main threads */
    LODE_BUILD_THREAD, /* of all others */
    LODE_BUILD_FIRST   /* of those that are functions */
};

/* Parents are before their children. */
struct lode_build_tree {
    struct lode_build_names names;
    struct lode_build_node *nodes;
    uint32_t *depths; /* by node */
    uint32_t count, capacity;
    uint32_t *slots; /* nodes, hashed by parent and function; 0: free */
    uint32_t slot_count;
};

static inline uint8_t build_tag(uint32_t function)
{
    return (uint8_t)(function * UINT32_C(0x9e3779b1) >> 24);
}

/*
 * The child of a node whose function has the tag of this one, if the node remembers one: perhaps the right one, perhaps 0. No branch
 * depends on which it is.
 */
static inline uint32_t build_recall(const struct lode_build_node *node, uint32_t function)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t differing = node->tags ^ ones * build_tag(function);
    /* The lowest byte that is zero is found for certain; there is always an end. */
    uint64_t zeros = (differing - ones) & ~differing & tops;
    return node->children[(unsigned)__builtin_ctzll(zeros | UINT64_C(1) << 63) / 8];
}

lode_status lode_build_tree_open(struct lode_build_tree *tree, lode_error *error);
void lode_build_tree_close(struct lode_build_tree *tree);
/* The child of a node, added if it is not there; 0 if there is no memory. Nodes may move. */
uint32_t lode_build_tree_child(struct lode_build_tree *tree, uint32_t parent, uint32_t function);
/* Lets a node remember one of its children. */
void lode_build_tree_remember(struct lode_build_tree *tree, uint32_t node, uint32_t child);
/* Adds what is in `from`. `map` is by node of that: its node in `tree`. */
lode_status lode_build_tree_merge(struct lode_build_tree *tree, const struct lode_build_tree *from,
                                  uint32_t *map, lode_error *error);

/* For another process: what lode_build_tree_merge_packed needs. False if there is no memory. */
bool lode_build_tree_pack(const struct lode_build_tree *tree, struct lode_blob *blob);
/* Adds what was packed. `*map` is by node of that, `*count` of them, and the caller's to free. */
lode_status lode_build_tree_merge_packed(struct lode_build_tree *tree, const unsigned char *bytes,
                                         uint32_t **map, uint32_t *count, lode_error *error);
/* Strings, in their order; behind the others. */
bool lode_build_strings_pack(const struct lode_build_strings *strings, struct lode_blob *blob);
/* Adds what was packed; `at` moves on. */
bool lode_build_strings_unpack(struct lode_build_strings *strings, const unsigned char **at);

#endif
