/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Normalised names of the contexts of several trees, as numbers: equal names have one number,
 * whatever tree they are from.
 */
#ifndef LODE_ANALYSIS_COMPARE_NORMAL_H
#define LODE_ANALYSIS_COMPARE_NORMAL_H

#include "analysis/compare/name_rules.h"
#include "analysis/cost/cost.h"
#include "base/memory/intern.h"

enum {
    LODE_SIDES = 2,
    LODE_AHEAD = 32 /* contexts, in passes that fetch functions before they are needed */
};

/* What is known of the names of one tree, by index; LODE_NO_NUMBER: nothing yet. */
struct lode_tree_names {
    const struct lode_context_tree *tree;
    lode_compare_side side;
    uint32_t function_count, module_count, file_count;
    uint32_t *functions, *modules, *files;
    uint32_t *unknown; /* by module: its code without a function */
};

/* A name with something that counts. */
struct lode_counted_name {
    uint32_t side;
    uint32_t stem, slots; /* strings: the name without it, and it */
    uint32_t final;       /* string, with its rank; before: LODE_NO_NUMBER */
};

struct lode_normalizer {
    lode_name_form names; /* simple: of functions */
    const lode_name_rules *rules;
    lode_name_rules *own_rules; /* NULL: given */
    struct lode_strings strings;
    struct lode_array trees;          /* struct lode_tree_names */
    struct lode_interner counted;     /* struct lode_counted_name */
    struct lode_normal_name *scratch; /* allocated once: it is large */
    bool is_ranked;
};

/* Trees of either side; the same tree may be given more than once. */
lode_status lode_normalizer_begin(struct lode_normalizer *self, const lode_name_rules *rules,
                                  lode_error *error);
lode_status lode_normalizer_add(struct lode_normalizer *self, const struct lode_context_tree *tree,
                                lode_compare_side side, lode_error *error);
/* After all trees: gives what counts its ranks. */
lode_status lode_normalizer_rank(struct lode_normalizer *self, lode_error *error);
void lode_normalizer_end(struct lode_normalizer *self);

/* The names of a tree that was added. */
const struct lode_tree_names *lode_normalizer_tree(const struct lode_normalizer *self,
                                                   const lode_context *context);
/* The tree that a context is of: the array that it is in. */
static inline const lode_context *lode_tree_of(const lode_context *context)
{
    return context - context->index;
}

/* Numbers of strings; 0 is the empty string. For a context that begins a function. */
lode_status lode_normal_function(struct lode_normalizer *self, const struct lode_tree_names *names,
                                 const lode_context *context, uint32_t *number, lode_error *error);
/* The same without adding strings; LODE_NO_NUMBER if it is none that was asked for. */
uint32_t lode_normal_function_known(const struct lode_normalizer *self, const struct lode_tree_names *names,
                                    const lode_context *context);
lode_status lode_normal_module(struct lode_normalizer *self, const struct lode_tree_names *names,
                               const lode_module *module, uint32_t *number, lode_error *error);
lode_status lode_normal_file(struct lode_normalizer *self, const struct lode_tree_names *names,
                             const lode_file *file, uint32_t *number, lode_error *error);
/* Interns a text. */
lode_status lode_normal_text(struct lode_normalizer *self, const char *text, uint32_t *number,
                             lode_error *error);

/* A normalised name without parameters and template arguments; as lode_simple_name. */
size_t lode_normal_simple(const char *name, char *buffer, size_t capacity);

#endif
