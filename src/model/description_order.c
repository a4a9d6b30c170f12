/* SPDX-License-Identifier: BSD-3-Clause */
/* The canonical order of a description. */
#include "base/error.h"
#include "model/description.h"
#include <stdlib.h>
#include <string.h>

/* ---- the order of symbols ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_strings(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Until modules and files are sorted, `index` is their number. */
static int compare_modules(const void *left, const void *right)
{
    const struct lode_module *a = left, *b = right;
    int order = compare_strings(a->path, b->path);
    return order ? order : compare_numbers(a->index, b->index);
}

static int compare_files(const void *left, const void *right)
{
    const struct lode_file *a = left, *b = right;
    int order = compare_strings(a->path, b->path);
    if (order == 0)
        order = compare_numbers(a->copied, b->copied);
    return order ? order : compare_numbers(a->index, b->index);
}

/* By content: equal ones are the same function. */
static int compare_functions(const struct lode_function *a, const struct lode_function *b)
{
    int order = compare_strings(a->name, b->name);
    if (order == 0)
        order = compare_numbers(a->index, b->index);
    if (order == 0)
        order = compare_numbers(a->offset, b->offset);
    if (order == 0)
        order = compare_numbers(a->identity, b->identity);
    return order ? order : compare_numbers(a->line, b->line);
}

static int compare_function_numbers(const void *left, const void *right, void *argument)
{
    const struct lode_function *functions = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_functions(&functions[a], &functions[b]);
    return order ? order : compare_numbers(a, b);
}

/* By number: the position after sorting. */
struct ranks {
    uint32_t *modules, *files, *functions;
};

static uint32_t rank_of(const uint32_t *ranks, uint32_t number)
{
    return number == LODE_NONE ? LODE_NONE : ranks[number];
}

static void sort_paths(struct lode_description *self, const struct ranks *ranks)
{
    struct lode_module *modules = self->module_list.items;
    struct lode_file *files = self->file_list.items;
    if (self->module_count > 1)
        qsort(modules, self->module_count, sizeof *modules, compare_modules);
    if (self->file_count > 1)
        qsort(files, self->file_count, sizeof *files, compare_files);
    for (uint32_t i = 0; i < self->module_count; i++) {
        ranks->modules[modules[i].index] = i;
        modules[i].index = i;
    }
    for (uint32_t i = 0; i < self->file_count; i++) {
        ranks->files[files[i].index] = i;
        files[i].index = i;
    }
    self->modules = modules;
    self->files = files;
}

static void complete_function(const struct lode_description *self, struct lode_function *function,
                              uint32_t index, bool is_repeated)
{
    function->module = function->index == LODE_NONE ? NULL : &self->modules[function->index];
    function->file = function->identity == LODE_NONE ? NULL : &self->files[function->identity];
    function->index = index;
    function->identity = is_repeated ? function[-1].identity : index;
}

static lode_status sort_functions(struct lode_description *self, const struct ranks *ranks, lode_error *error)
{
    struct lode_function *functions = self->function_list.items;
    uint32_t count = self->function_count, *order = calloc((size_t)count + 1, sizeof *order);
    struct lode_function *sorted = lode_arena_alloc(&self->arena, (size_t)count + 1, sizeof *sorted);
    bool *repeated = calloc((size_t)count + 1, sizeof *repeated);
    bool enough = order && sorted && repeated;
    for (uint32_t i = 0; enough && i < count; i++) {
        functions[i].index = rank_of(ranks->modules, functions[i].index);
        functions[i].identity = rank_of(ranks->files, functions[i].identity);
        order[i] = i;
    }
    if (enough && count > 1)
        qsort_r(order, count, sizeof *order, compare_function_numbers, functions);
    for (uint32_t i = 0; enough && i < count; i++) {
        ranks->functions[order[i]] = i;
        sorted[i] = functions[order[i]];
        repeated[i] = i > 0 && compare_functions(&functions[order[i - 1]], &functions[order[i]]) == 0;
    }
    for (uint32_t i = 0; enough && i < count; i++)
        complete_function(self, &sorted[i], i, repeated[i]);
    free(order);
    free(repeated);
    lode_array_free(&self->function_list);
    self->functions = sorted;
    return enough ? LODE_OK : lode_fail_memory(error);
}

/* ---- the order of contexts ---- */

static int compare_contexts(const void *left, const void *right, void *argument)
{
    const lode_context *contexts = argument;
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const lode_context *a = &contexts[i], *b = &contexts[k];
    int order = compare_numbers(a->entry, b->entry);
    if (order == 0 && a->lexical == LODE_LEXICAL_ENTRY)
        order = compare_strings(a->entry_name, b->entry_name);
    if (order == 0)
        order = compare_numbers(a->lexical, b->lexical);
    if (order == 0)
        order = compare_numbers(a->relation, b->relation);
    if (order == 0)
        order = compare_numbers(a->id, b->id);
    if (order == 0)
        order = compare_numbers(a->subtree_size, b->subtree_size);
    if (order == 0)
        order = compare_numbers(a->line, b->line);
    if (order == 0)
        order = compare_numbers(a->depth, b->depth);
    if (order == 0)
        order = compare_numbers(a->offset, b->offset);
    if (order == 0)
        order = compare_numbers(a->propagation, b->propagation);
    return order ? order : compare_numbers(i, k);
}

/* Children of each context, as ranges of one array. */
struct families {
    uint32_t *first; /* by position; one more at the end */
    uint32_t *children;
};

static lode_status find_families(const struct lode_description *self, struct families *families,
                                 lode_error *error)
{
    size_t count = self->context_list.count;
    lode_context *contexts = self->context_list.items;
    families->first = calloc(count + 2, sizeof *families->first);
    families->children = calloc(count + 1, sizeof *families->children);
    LODE_TRY_ALLOC(families->first && families->children, error);
    /* Counted one position ahead, so that filling in moves each start to its place. */
    for (size_t i = 1; i < count; i++)
        if (contexts[i].lexical != LODE_LEXICAL_UNLISTED)
            families->first[contexts[i].parent + 2]++;
    for (size_t i = 2; i < count + 2; i++)
        families->first[i] += families->first[i - 1];
    for (uint32_t i = 1; i < count; i++)
        if (contexts[i].lexical != LODE_LEXICAL_UNLISTED)
            families->children[families->first[contexts[i].parent + 1]++] = i;
    for (size_t i = 0; i < count; i++)
        if (families->first[i + 1] - families->first[i] > 1)
            qsort_r(families->children + families->first[i], families->first[i + 1] - families->first[i],
                    sizeof *families->children, compare_contexts, contexts);
    return LODE_OK;
}

/* Numbers listed contexts depth-first; the stack holds those to be visited, the next one last. */
static uint32_t number_listed(const struct lode_description *self, const struct families *families,
                              uint32_t *stack)
{
    size_t depth = 0;
    uint32_t at = 0, count = 1;
    for (;;) {
        for (uint32_t i = families->first[at + 1]; i-- > families->first[at];)
            stack[depth++] = families->children[i];
        if (depth == 0)
            return count;
        at = stack[--depth];
        self->id_of[at] = count++;
    }
}

/* Unlisted contexts come after all others, in order of addition. */
static lode_status number_contexts(struct lode_description *self, const struct families *families,
                                   lode_error *error)
{
    size_t count = self->context_list.count;
    const lode_context *contexts = self->context_list.items;
    uint32_t *stack = calloc(count + 1, sizeof *stack);
    self->id_of = calloc(count + 1, sizeof *self->id_of);
    if (stack == NULL || self->id_of == NULL) {
        free(stack);
        return lode_fail_memory(error);
    }
    self->tree.count = number_listed(self, families, stack);
    free(stack);
    self->id_count = self->tree.count;
    for (size_t i = 1; i < count; i++)
        if (contexts[i].lexical == LODE_LEXICAL_UNLISTED)
            self->id_of[i] = self->id_count++;
    return LODE_OK;
}

/* From numbers to references. */
static void complete_contexts(struct lode_description *self)
{
    lode_context *contexts = self->context_list.items;
    for (size_t i = 1; i < self->context_list.count; i++) {
        lode_context *context = &contexts[i];
        bool is_listed = context->lexical != LODE_LEXICAL_UNLISTED;
        if (is_listed && context->lexical != LODE_LEXICAL_ENTRY && context->id != LODE_NONE)
            context->function = &self->functions[context->id];
        if (is_listed && context->subtree_size != LODE_NONE)
            context->file = &self->files[context->subtree_size];
        if (is_listed && context->depth != LODE_NONE)
            context->module = &self->modules[context->depth];
        context->parent = self->id_of[context->parent];
        context->id = self->id_of[i];
    }
}

/* Moves each context to its id, in place, as there may be many. */
static void move_contexts(struct lode_context_tree *tree, size_t count)
{
    lode_context *nodes = tree->nodes;
    for (size_t i = 1; i < count; i++)
        while (nodes[i].id != i) {
            lode_context moved = nodes[i];
            nodes[i] = nodes[moved.id];
            nodes[moved.id] = moved;
        }
    for (uint32_t i = 0; i < tree->count; i++) {
        nodes[i].index = i;
        nodes[i].subtree_size = 1;
        nodes[i].depth = i == 0 ? 0 : nodes[nodes[i].parent].depth + 1;
    }
    for (uint32_t i = tree->count; i-- > 1;)
        nodes[nodes[i].parent].subtree_size += nodes[i].subtree_size;
}

static lode_status sort_contexts(struct lode_description *self, const struct ranks *ranks, lode_error *error)
{
    struct families families = {0};
    lode_context *contexts = self->context_list.items;
    for (size_t i = 1; i < self->context_list.count; i++) {
        if (contexts[i].lexical == LODE_LEXICAL_UNLISTED)
            continue;
        contexts[i].id = rank_of(ranks->functions, contexts[i].id);
        contexts[i].subtree_size = rank_of(ranks->files, contexts[i].subtree_size);
        contexts[i].depth = rank_of(ranks->modules, contexts[i].depth);
    }
    lode_status status = find_families(self, &families, error);
    if (status == LODE_OK)
        status = number_contexts(self, &families, error);
    free(families.first);
    free(families.children);
    LODE_TRY(status);
    complete_contexts(self);
    self->tree.nodes = contexts;
    move_contexts(&self->tree, self->context_list.count);
    return LODE_OK;
}

lode_status lode_description_sort(struct lode_description *self, lode_error *error)
{
    struct ranks ranks = {.modules = calloc((size_t)self->module_count + 1, sizeof(uint32_t)),
                          .files = calloc((size_t)self->file_count + 1, sizeof(uint32_t)),
                          .functions = calloc((size_t)self->function_count + 1, sizeof(uint32_t))};
    lode_status status = LODE_OK;
    if (ranks.modules == NULL || ranks.files == NULL || ranks.functions == NULL)
        status = lode_fail_memory(error);
    if (status == LODE_OK) {
        sort_paths(self, &ranks);
        status = sort_functions(self, &ranks, error);
    }
    if (status == LODE_OK)
        status = sort_contexts(self, &ranks, error);
    free(ranks.modules);
    free(ranks.files);
    free(ranks.functions);
    return status;
}
