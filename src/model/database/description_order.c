/* SPDX-License-Identifier: BSD-3-Clause */
/* The canonical order of a description. */
#include "base/error.h"
#include "model/database/description.h"
#include <stdlib.h>
#include <string.h>

/* ---- the order of symbols ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_strings(const char *a, const char *b)
{
    /* Names are often the same string, which may be long. */
    return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
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

/* Entry points, then other contexts, then unlisted ones, which are siblings of entry points. */
static unsigned class_of(const struct lode_frame *frame)
{
    return frame->kind == LODE_LEXICAL_ENTRY ? 0 : 1u + (frame->kind == LODE_LEXICAL_UNLISTED);
}

static struct lode_frame *frame_at(const struct lode_description *self, uint32_t position)
{
    return &description_record(self, position)->added.frame;
}

/* Of frames whose function, file and module are ranks. */
static int compare_frames(uint32_t left, uint32_t right, const void *argument)
{
    const struct lode_description *self = argument;
    const struct lode_frame *a = frame_at(self, left), *b = frame_at(self, right);
    int order = compare_numbers(class_of(a), class_of(b));
    if (order == 0)
        order = compare_numbers(a->entry, b->entry);
    if (order == 0 && a->kind == LODE_LEXICAL_ENTRY)
        order = compare_strings(lode_strings_at(&self->entry_names, a->function),
                                lode_strings_at(&self->entry_names, b->function));
    if (order == 0)
        order = compare_numbers(a->kind, b->kind);
    if (order == 0)
        order = compare_numbers(a->relation, b->relation);
    if (order == 0)
        order = compare_numbers(a->function, b->function);
    if (order == 0)
        order = compare_numbers(a->file, b->file);
    if (order == 0)
        order = compare_numbers(a->line, b->line);
    if (order == 0)
        order = compare_numbers(a->module, b->module);
    if (order == 0)
        order = compare_numbers(a->offset, b->offset);
    return order ? order : compare_numbers(a->propagation, b->propagation);
}

static bool order_contexts(struct lode_description *self, const struct ranks *ranks,
                           struct lode_tree_order *order)
{
    for (uint32_t i = 1; i < self->nodes.count; i++) {
        struct lode_frame *frame = frame_at(self, i);
        if (frame->kind != LODE_LEXICAL_ENTRY)
            frame->function = rank_of(ranks->functions, frame->function);
        frame->file = rank_of(ranks->files, frame->file);
        frame->module = rank_of(ranks->modules, frame->module);
    }
    return lode_tree_order_compare(order, &self->nodes, compare_frames, self);
}

/* A context in its final form, all but the depth. */
static lode_context sorted_context(const struct lode_description *self, const struct lode_tree_order *order,
                                   uint32_t node)
{
    uint32_t id = order->positions[node];
    const union lode_description_record *from = description_record(self, node);
    const struct lode_frame *frame = &from->added.frame;
    lode_context context = {.id = id,
                            .index = id,
                            .parent = order->positions[from->added.node.parent],
                            .subtree_size = order->sizes[node],
                            .line = frame->line,
                            .offset = frame->offset,
                            .entry = frame->entry,
                            .propagation = frame->propagation,
                            .lexical = frame->kind,
                            .relation = (uint8_t)frame->relation};
    if (frame->kind == LODE_LEXICAL_ENTRY)
        context.entry_name = lode_strings_at(&self->entry_names, frame->function);
    else if (frame->function != LODE_NONE)
        context.function = &self->functions[frame->function];
    if (frame->file != LODE_NONE)
        context.file = &self->files[frame->file];
    if (frame->module != LODE_NONE)
        context.module = &self->modules[frame->module];
    return context;
}

/*
 * Moves every context to its position. Positions are a permutation: each of its cycles is followed
 * once, with one context in hand. A size of 0 marks what was moved.
 */
static void move_contexts(struct lode_description *self, struct lode_tree_order *order)
{
    for (uint32_t first = 1; first < self->nodes.count; first++) {
        if (order->sizes[first] == 0)
            continue;
        uint32_t node = first;
        lode_context moved = sorted_context(self, order, node);
        do {
            order->sizes[node] = 0;
            node = order->positions[node];
            lode_context next = node == first ? moved : sorted_context(self, order, node);
            description_record(self, node)->sorted = moved;
            moved = next;
        } while (node != first);
    }
}

static lode_status sort_contexts(struct lode_description *self, const struct ranks *ranks, lode_error *error)
{
    struct lode_tree_order order;
    uint32_t count = self->nodes.count;
    LODE_TRY_ALLOC(order_contexts(self, ranks, &order), error);
    move_contexts(self, &order);
    self->id_of = order.positions;
    free(order.sizes);
    lode_context *nodes = self->tree.nodes = &description_record(self, 0)->sorted;
    nodes[0] = (lode_context){.lexical = LODE_LEXICAL_GLOBAL};
    /* Unlisted contexts are the last. */
    self->id_count = self->tree.count = count;
    while (nodes[self->tree.count - 1].lexical == LODE_LEXICAL_UNLISTED)
        self->tree.count--;
    nodes[0].subtree_size = self->tree.count;
    for (uint32_t i = 1; i < self->tree.count; i++)
        nodes[i].depth = nodes[nodes[i].parent].depth + 1;
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
