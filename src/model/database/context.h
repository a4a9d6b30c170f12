/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling context tree in memory, and the functions, files and modules that contexts name. */
#ifndef LODE_MODEL_CONTEXT_H
#define LODE_MODEL_CONTEXT_H

#include <lode/context.h>
#include <stdbool.h>

#define LODE_NO_INDEX UINT32_MAX

struct lode_module {
    uint32_t index;
    const char *path;
};

struct lode_file {
    uint32_t index;
    bool copied;
    const char *path;
    const char *source; /* of a new database: the file to copy from; NULL: none */
    uint32_t origin;    /* and which of the sink's origins has it */
};

struct lode_function {
    uint32_t index;
    uint32_t identity; /* index of the first equal function: writers repeat records */
    uint32_t line;
    bool is_stub;      /* of a recording: calls of a library function, by the PLT of `module` */
    bool is_operation; /* of a service, its module: the name is shown with it, and never parsed */
    const char *name;  /* NULL: anonymous */
    const lode_module *module;
    uint64_t offset;
    const lode_file *file;
};

/* 64 bytes. Nodes are in one array in depth-first order; relatives are found by distance. */
struct lode_context {
    uint32_t id;
    uint32_t index;
    uint32_t parent; /* index; the root is its own parent */
    uint32_t subtree_size;
    uint32_t depth;
    uint32_t line;
    uint16_t lexical;
    uint16_t propagation;
    uint16_t entry; /* of an entry point */
    uint8_t relation;
    uint8_t flags;
    union {
        const lode_function *function;
        const char *entry_name; /* of an entry point */
    };
    const lode_file *file;
    const lode_module *module;
    uint64_t offset;
};

struct lode_context_tree {
    lode_context *nodes; /* nodes[0] is the global context */
    uint32_t count;
    /* From id to index: a table, or indices sorted by id if ids are too sparse. */
    uint32_t *by_id;
    uint64_t table_size; /* 0: sorted */
};

/* The first function that is equal to this one. */
static inline const lode_function *function_identity(const lode_function *function)
{
    return function ? function - (function->index - function->identity) : NULL;
}

/* Sets the identity of all functions: equal name, module, offset, file and line. */
lode_status lode_identify_functions(struct lode_function *functions, uint32_t count, lode_error *error);

/* Called for a context whose id was used before. */
typedef lode_status (*lode_duplicate_fn)(void *user, const lode_context *context);

/* Builds the index of ids. The first context of an id is found. */
lode_status lode_context_tree_index_ids(struct lode_context_tree *tree, lode_duplicate_fn on_duplicate,
                                        void *user, lode_error *error);
/* The index of the context with this id, or LODE_NO_INDEX. */
uint32_t lode_context_tree_find(const struct lode_context_tree *tree, uint32_t id);
void lode_context_tree_free(struct lode_context_tree *tree);

#endif
