/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of calls that know nothing of where their events came from: functions by what they are, contexts by parent and function. Each
 * worker grows one; they are merged by content, with a map from the numbers of one to those of the other.
 */
#ifndef LODE_BUILD_TREE_H
#define LODE_BUILD_TREE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include <lode/status.h>
#include <lode/writer.h>
#include <stdbool.h>

/* Texts, each once. */
struct lode_build_texts {
    struct lode_arena arena;
    struct lode_array items; /* of const char * */
    struct lode_map index;
};

void lode_build_texts_init(struct lode_build_texts *texts);
void lode_build_texts_free(struct lode_build_texts *texts);
/* The number of a text, which is added if it is not there; LODE_NONE for NULL, or if there is no memory. */
uint32_t lode_build_texts_add(struct lode_build_texts *texts, const char *text);
/* NULL for LODE_NONE. */
const char *lode_build_text(const struct lode_build_texts *texts, uint32_t number);

/* A function by what it is. */
struct lode_build_function {
    uint32_t name, module, file; /* texts, or LODE_NONE */
    uint32_t line;
    uint64_t offset;
};

struct lode_build_names {
    struct lode_build_texts texts;
    struct lode_array functions; /* of struct lode_build_function */
    struct lode_map index;
};

/* The number of a function, added if it is not there; LODE_NONE if there is no memory. */
uint32_t lode_build_names_add(struct lode_build_names *names, const struct lode_build_function *function);

/* A context. 32 bytes, so that none lies across two cache lines. */
struct lode_build_node {
    uint32_t parent;
    uint32_t function;    /* LODE_NONE for the global context and entry points */
    uint32_t last;        /* the child that was called last; 0: none */
    uint32_t successor;   /* the sibling that was called after this one the last time; 0: none */
    uint64_t self, calls; /* on the track that is being read; 0 between tracks */
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
    uint32_t *depths;
    uint32_t count, capacity;
    uint32_t *slots; /* nodes, hashed by parent and function; 0: free */
    uint32_t slot_count;
};

lode_status lode_build_tree_open(struct lode_build_tree *tree, lode_error *error);
void lode_build_tree_close(struct lode_build_tree *tree);
/* The child of a node, added if it is not there; 0 if there is no memory. Nodes may move. */
uint32_t lode_build_tree_child(struct lode_build_tree *tree, uint32_t parent, uint32_t function);
/* Adds what is in `from`. `map` is by node of that: its node in `tree`. */
lode_status lode_build_tree_merge(struct lode_build_tree *tree, const struct lode_build_tree *from,
                                  uint32_t *map, lode_error *error);

#endif
