/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit_drafts/recover.h"

#include <string.h>

void lode_drafts_scope(struct lode_scope *scope)
{
    static const struct {
        const char *name;
        uint8_t type, bit;
    } known[] = {
        {"point", LODE_SCOPE_POINT, UINT8_MAX},
        {"function", LODE_SCOPE_TRANSITIVE, 0},
        {"execution", LODE_SCOPE_EXECUTION, UINT8_MAX},
    };
    scope->type = LODE_SCOPE_CUSTOM;
    scope->propagation_index = UINT8_MAX;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(scope->name, known[i].name) == 0) {
            scope->type = known[i].type;
            scope->propagation_index = known[i].bit;
        }
}

void lode_drafts_propagation(struct lode_context_tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++)
        tree->nodes[i].propagation = tree->nodes[i].relation == LODE_RELATION_LEXICAL;
}

static const struct {
    const char *function;
    uint16_t entry;
    const char *name;
} entry_functions[] = {
    {"<program root>", LODE_ENTRY_MAIN_THREAD, "main thread"},
    {"<thread root>", LODE_ENTRY_APPLICATION_THREAD, "application thread"},
    {"<partial call paths>", LODE_ENTRY_UNKNOWN, "unknown entry"},
};

const char *lode_drafts_entry_function(unsigned entry, const char *name)
{
    for (size_t i = 0; i < sizeof entry_functions / sizeof *entry_functions; i++) {
        bool own = entry == LODE_ENTRY_UNKNOWN && name && *name && strcmp(name, entry_functions[i].name) != 0;
        if (entry_functions[i].entry == entry && !own)
            return entry_functions[i].function;
    }
    return name ? name : "";
}

static bool is_stand_in(const lode_function *function)
{
    if (function->name == NULL || function->module || function->file)
        return false;
    for (size_t i = 0; i < sizeof entry_functions / sizeof *entry_functions; i++)
        if (strcmp(function->name, entry_functions[i].function) == 0)
            return true;
    return strcmp(function->name, DRAFTS_NO_ACTIVITY) == 0;
}

void lode_drafts_trim_functions(lode_database *db)
{
    uint32_t used = 0;
    for (uint32_t i = 1; i < db->tree.count; i++) {
        const lode_function *function = lode_context_function(&db->tree.nodes[i]);
        if (function && function->index >= used)
            used = function->index + 1;
    }
    while (db->function_count > used && is_stand_in(&db->functions[db->function_count - 1]))
        db->function_count--;
}

/* Unless the function is a stand-in, its name becomes that of the entry point. */
static void make_entry(lode_context *node)
{
    const char *function = node->function ? node->function->name : NULL;
    node->entry = LODE_ENTRY_UNKNOWN;
    const char *name = function ? function : "unknown entry";
    for (size_t i = 0; function && i < sizeof entry_functions / sizeof *entry_functions; i++)
        if (strcmp(function, entry_functions[i].function) == 0) {
            node->entry = entry_functions[i].entry;
            name = entry_functions[i].name;
        }
    node->entry_name = name;
    node->lexical = LODE_LEXICAL_ENTRY;
    node->relation = LODE_RELATION_CALL;
    node->propagation = 0;
    node->flags = 0;
    node->file = NULL;
    node->module = NULL;
    node->line = 0;
    node->offset = 0;
}

static bool is_idle(const lode_context *node)
{
    return node->subtree_size == 1 && node->function && node->function->name &&
           strcmp(node->function->name, DRAFTS_NO_ACTIVITY) == 0;
}

/* A leaf below the global context: the nodes after it move up by one. */
static void remove_leaf(struct lode_context_tree *tree, uint32_t index)
{
    tree->count--;
    tree->nodes[0].subtree_size = tree->count;
    for (uint32_t i = index; i < tree->count; i++) {
        tree->nodes[i] = tree->nodes[i + 1];
        tree->nodes[i].index = i;
        if (tree->nodes[i].parent > index)
            tree->nodes[i].parent--;
    }
}

uint32_t lode_drafts_entries(struct lode_context_tree *tree)
{
    uint32_t idle = 0;
    for (uint32_t i = 1; i < tree->count;) {
        lode_context *node = &tree->nodes[i];
        if (idle == 0 && is_idle(node)) {
            idle = node->id;
            remove_leaf(tree, i);
            continue;
        }
        i += node->subtree_size;
        make_entry(node);
    }
    return idle;
}
