/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/context.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "model/database/database.h"
#include <stdlib.h>

const char *lode_lexical_name(int lexical)
{
    switch (lexical) {
    case LODE_LEXICAL_FUNCTION:
        return "function";
    case LODE_LEXICAL_LOOP:
        return "loop";
    case LODE_LEXICAL_LINE:
        return "line";
    case LODE_LEXICAL_INSTRUCTION:
        return "instruction";
    case LODE_LEXICAL_ENTRY:
        return "entry";
    case LODE_LEXICAL_GLOBAL:
        return "global";
    default:
        return NULL;
    }
}

const char *lode_relation_name(int relation)
{
    static const char *const names[] = {"lexical", "call", "inlined_call"};
    return relation >= 0 && relation < 3 ? names[relation] : NULL;
}

const char *lode_entry_name(int entry)
{
    static const char *const names[] = {"unknown_entry", "main_thread", "application_thread"};
    return entry >= 0 && entry < 3 ? names[entry] : NULL;
}

/* ---- ids ---- */

static uint32_t max_id(const struct lode_context_tree *tree)
{
    uint32_t max = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        max = tree->nodes[i].id > max ? tree->nodes[i].id : max;
    return max;
}

static lode_status index_by_table(struct lode_context_tree *tree, lode_duplicate_fn on_duplicate, void *user)
{
    for (uint64_t i = 0; i < tree->table_size; i++)
        tree->by_id[i] = LODE_NO_INDEX;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t *slot = &tree->by_id[tree->nodes[i].id];
        lode_status status = LODE_OK;
        if (*slot == LODE_NO_INDEX)
            *slot = i;
        else
            status = on_duplicate(user, &tree->nodes[i]);
        if (status != LODE_OK)
            return status;
    }
    return LODE_OK;
}

static int compare_by_id(const void *left, const void *right, void *argument)
{
    const lode_context *nodes = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (nodes[a].id != nodes[b].id)
        return nodes[a].id < nodes[b].id ? -1 : 1;
    return a < b ? -1 : a > b;
}

static lode_status index_by_sorting(struct lode_context_tree *tree, lode_duplicate_fn on_duplicate,
                                    void *user)
{
    for (uint32_t i = 0; i < tree->count; i++)
        tree->by_id[i] = i;
    qsort_r(tree->by_id, tree->count, sizeof *tree->by_id, compare_by_id, tree->nodes);
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[tree->by_id[i]];
        if (context->id != tree->nodes[tree->by_id[i - 1]].id)
            continue;
        lode_status status = on_duplicate(user, context);
        if (status != LODE_OK)
            return status;
    }
    return LODE_OK;
}

lode_status lode_context_tree_index_ids(struct lode_context_tree *tree, lode_duplicate_fn on_duplicate,
                                        void *user, lode_error *error)
{
    uint64_t ids = (uint64_t)max_id(tree) + 1;
    /* Writers list about half of all numbered contexts; a sparser table would waste memory. */
    bool dense = ids <= (uint64_t)tree->count * 8 + 1024;
    tree->table_size = dense ? ids : 0;
    tree->by_id = calloc((size_t)(dense ? ids : tree->count), sizeof *tree->by_id);
    LODE_TRY_ALLOC(tree->by_id, error);
    return dense ? index_by_table(tree, on_duplicate, user) : index_by_sorting(tree, on_duplicate, user);
}

uint32_t lode_context_tree_find(const struct lode_context_tree *tree, uint32_t id)
{
    if (tree->table_size > 0)
        return id < tree->table_size ? tree->by_id[id] : LODE_NO_INDEX;
    uint32_t low = 0, high = tree->count;
    LODE_BISECT(low, high, tree->nodes[tree->by_id[middle]].id < id);
    bool found = low < tree->count && tree->nodes[tree->by_id[low]].id == id;
    return found ? tree->by_id[low] : LODE_NO_INDEX;
}

void lode_context_tree_free(struct lode_context_tree *tree)
{
    free(tree->nodes);
    free(tree->by_id);
    *tree = (struct lode_context_tree){0};
}

/* ---- the public API of the tree ---- */

LODE_GETTER(uint32_t, lode_database_context_count, lode_database, tree.count);
LODE_GETTER(const lode_context *, lode_database_root, lode_database, tree.nodes);

const lode_context *lode_database_context_at(const lode_database *db, uint32_t index)
{
    return index < db->tree.count ? &db->tree.nodes[index] : NULL;
}

const lode_context *lode_database_context(const lode_database *db, uint32_t id)
{
    uint32_t index = lode_context_tree_find(&db->tree, id);
    return index == LODE_NO_INDEX ? NULL : &db->tree.nodes[index];
}

LODE_GETTER(uint32_t, lode_context_id, lode_context, id);
LODE_GETTER(uint32_t, lode_context_index, lode_context, index);
LODE_GETTER(uint32_t, lode_context_depth, lode_context, depth);
LODE_GETTER(uint32_t, lode_context_subtree_size, lode_context, subtree_size);

const lode_context *lode_context_parent(const lode_context *context)
{
    return context->index == 0 ? NULL : context - (context->index - context->parent);
}

const lode_context *lode_context_first_child(const lode_context *context)
{
    return context->subtree_size > 1 ? context + 1 : NULL;
}

const lode_context *lode_context_next_sibling(const lode_context *context)
{
    const lode_context *parent = lode_context_parent(context);
    if (parent == NULL || context->index + context->subtree_size >= parent->index + parent->subtree_size)
        return NULL;
    return context + context->subtree_size;
}

LODE_GETTER(int, lode_context_lexical, lode_context, lexical);
LODE_GETTER(int, lode_context_relation, lode_context, relation);
LODE_GETTER(unsigned, lode_context_flags, lode_context, flags);
LODE_GETTER(unsigned, lode_context_propagation, lode_context, propagation);

const lode_function *lode_context_function(const lode_context *context)
{
    return context->lexical == LODE_LEXICAL_ENTRY ? NULL : context->function;
}

LODE_GETTER(const lode_file *, lode_context_file, lode_context, file);
LODE_GETTER(const lode_module *, lode_context_module, lode_context, module);
LODE_GETTER(uint32_t, lode_context_line, lode_context, line);
LODE_GETTER(uint64_t, lode_context_offset, lode_context, offset);

int lode_context_entry(const lode_context *context)
{
    return context->lexical == LODE_LEXICAL_ENTRY ? context->entry : -1;
}

const char *lode_context_entry_name(const lode_context *context)
{
    return context->lexical == LODE_LEXICAL_ENTRY ? context->entry_name : NULL;
}
