/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One canonical order: modules by path, files by path, functions by what they are, contexts depth-first with siblings by what
 * they are. What is equal keeps the order in which it was described.
 */
#include "format/hpctoolkit/write.h"
#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_strings(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* ---- symbols ---- */

typedef int (*compare_fn)(const lode_writer *writer, uint32_t a, uint32_t b);

static uint32_t module_rank(const lode_writer *writer, uint32_t module)
{
    return module == LODE_NONE ? LODE_NONE : WRITTEN(writer, modules, module, module)->rank;
}

static uint32_t file_rank(const lode_writer *writer, uint32_t file)
{
    return file == LODE_NONE ? LODE_NONE : WRITTEN(writer, sources, file, file)->rank;
}

static uint32_t function_rank(const lode_writer *writer, uint32_t function)
{
    return function == LODE_NONE ? LODE_NONE : WRITTEN(writer, functions, function, function)->rank;
}

static int compare_modules(const lode_writer *writer, uint32_t a, uint32_t b)
{
    return compare_strings(WRITTEN(writer, modules, module, a)->path,
                           WRITTEN(writer, modules, module, b)->path);
}

static int compare_files(const lode_writer *writer, uint32_t a, uint32_t b)
{
    const struct written_file *x = WRITTEN(writer, sources, file, a), *y = WRITTEN(writer, sources, file, b);
    int order = compare_strings(x->path, y->path);
    return order ? order : compare_numbers(x->copied, y->copied);
}

static int compare_functions(const lode_writer *writer, uint32_t a, uint32_t b)
{
    const struct written_function *x = WRITTEN(writer, functions, function, a);
    const struct written_function *y = WRITTEN(writer, functions, function, b);
    int order = compare_strings(x->name, y->name);
    if (order == 0)
        order = compare_numbers(module_rank(writer, x->module), module_rank(writer, y->module));
    if (order == 0)
        order = compare_numbers(x->offset, y->offset);
    if (order == 0)
        order = compare_numbers(file_rank(writer, x->file), file_rank(writer, y->file));
    return order ? order : compare_numbers(x->line, y->line);
}

struct sorting {
    const lode_writer *writer;
    compare_fn compare;
};

static int compare_indices(const void *left, const void *right, void *argument)
{
    const struct sorting *sorting = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = sorting->compare(sorting->writer, a, b);
    return order ? order : compare_numbers(a, b);
}

/* The numbers 0 .. count - 1, sorted. */
static uint32_t *sorted_indices(const lode_writer *writer, size_t count, compare_fn compare)
{
    struct sorting sorting = {writer, compare};
    uint32_t *indices = calloc(count + 1, sizeof *indices);
    for (uint32_t i = 0; indices && i < count; i++)
        indices[i] = i;
    if (indices)
        qsort_r(indices, count, sizeof *indices, compare_indices, &sorting);
    return indices;
}

static lode_status rank_symbols(lode_writer *writer, lode_error *error)
{
    uint32_t *order = sorted_indices(writer, writer->modules.count, compare_modules);
    if (order == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < writer->modules.count; i++)
        WRITTEN(writer, modules, module, order[i])->rank = i;
    free(order);
    order = sorted_indices(writer, writer->sources.count, compare_files);
    if (order == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < writer->sources.count; i++)
        WRITTEN(writer, sources, file, order[i])->rank = i;
    free(order);
    order = sorted_indices(writer, writer->functions.count, compare_functions);
    if (order == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < writer->functions.count; i++)
        WRITTEN(writer, functions, function, order[i])->rank = i;
    free(order);
    return LODE_OK;
}

/* ---- contexts ---- */

static int compare_contexts(const lode_writer *writer, uint32_t a, uint32_t b)
{
    const struct written_context *x = WRITTEN(writer, contexts, context, a);
    const struct written_context *y = WRITTEN(writer, contexts, context, b);
    int order = compare_numbers(x->entry, y->entry);
    if (order == 0 && x->parent == LODE_NONE)
        order = compare_strings(x->entry_name, y->entry_name);
    if (order == 0)
        order = compare_numbers(x->lexical, y->lexical);
    if (order == 0)
        order = compare_numbers(x->relation, y->relation);
    if (order == 0)
        order = compare_numbers(function_rank(writer, x->function), function_rank(writer, y->function));
    if (order == 0)
        order = compare_numbers(file_rank(writer, x->file), file_rank(writer, y->file));
    if (order == 0)
        order = compare_numbers(x->line, y->line);
    if (order == 0)
        order = compare_numbers(module_rank(writer, x->module), module_rank(writer, y->module));
    if (order == 0)
        order = compare_numbers(x->offset, y->offset);
    return order ? order : compare_numbers(x->propagation, y->propagation);
}

/* Children of each context, as ranges of one array of handles. Slot 0 is the global context, slot h + 1 is handle h. */
struct families {
    uint32_t *first; /* by slot; one more at the end */
    uint32_t *children;
};

static uint32_t parent_slot(const struct written_context *context)
{
    return context->parent == LODE_NONE ? 0 : context->parent + 1;
}

static lode_status find_families(const lode_writer *writer, struct families *families, lode_error *error)
{
    size_t count = writer->contexts.count;
    struct sorting sorting = {writer, compare_contexts};
    families->first = calloc(count + 3, sizeof *families->first);
    families->children = calloc(count + 1, sizeof *families->children);
    if (families->first == NULL || families->children == NULL)
        return lode_fail_memory(error);
    /* Counted one slot ahead, so that filling in moves each start to its place. */
    for (size_t i = 0; i < count; i++) {
        const struct written_context *context = WRITTEN(writer, contexts, context, i);
        if (!context->unlisted)
            families->first[parent_slot(context) + 2]++;
    }
    for (size_t i = 2; i < count + 3; i++)
        families->first[i] += families->first[i - 1];
    for (uint32_t i = 0; i < count; i++) {
        const struct written_context *context = WRITTEN(writer, contexts, context, i);
        if (!context->unlisted)
            families->children[families->first[parent_slot(context) + 1]++] = i;
    }
    for (size_t i = 0; i <= count; i++)
        if (families->first[i + 1] - families->first[i] > 1)
            qsort_r(families->children + families->first[i], families->first[i + 1] - families->first[i],
                    sizeof *families->children, compare_indices, &sorting);
    return LODE_OK;
}

static void number_context(lode_writer *writer, uint32_t handle, uint32_t id)
{
    const struct written_context *context = WRITTEN(writer, contexts, context, handle);
    writer->id_of[handle] = id;
    writer->handle_of[id] = handle;
    writer->numbered[id] = (struct numbered_context){
        .parent = context->parent == LODE_NONE ? 0 : writer->id_of[context->parent],
        .propagation = context->propagation,
        .loop = context->parent != LODE_NONE && context->lexical == LODE_LEXICAL_LOOP};
}

/* Numbers listed contexts depth-first; a stack holds what is still to be visited, the next one last. */
static void number_listed(lode_writer *writer, const struct families *families, uint32_t *stack)
{
    size_t depth = 0;
    uint32_t slot = 0;
    for (;;) {
        for (uint32_t i = families->first[slot + 1]; i-- > families->first[slot];)
            stack[depth++] = families->children[i];
        if (depth == 0)
            return;
        uint32_t handle = stack[--depth];
        number_context(writer, handle, ++writer->listed);
        slot = handle + 1;
    }
}

static lode_status number_contexts(lode_writer *writer, const struct families *families, lode_error *error)
{
    size_t count = writer->contexts.count;
    uint32_t *stack = calloc(count + 1, sizeof *stack);
    writer->id_of = calloc(count + 1, sizeof *writer->id_of);
    writer->handle_of = calloc(count + 1, sizeof *writer->handle_of);
    writer->numbered = calloc(count + 1, sizeof *writer->numbered);
    writer->values_of = calloc(count + 1, sizeof *writer->values_of);
    if (!stack || !writer->id_of || !writer->handle_of || !writer->numbered || !writer->values_of) {
        free(stack);
        return lode_fail_memory(error);
    }
    number_listed(writer, families, stack);
    free(stack);
    writer->id_count = writer->listed + 1;
    for (uint32_t i = 0; i < count; i++)
        if (WRITTEN(writer, contexts, context, i)->unlisted)
            number_context(writer, i, writer->id_count++);
    return LODE_OK;
}

static lode_status index_value_ids(lode_writer *writer, lode_error *error)
{
    writer->ids_of_values = calloc((size_t)writer->value_ids + 1, sizeof *writer->ids_of_values);
    if (writer->ids_of_values == NULL)
        return lode_fail_memory(error);
    writer->columns = writer->value_ids;
    for (uint32_t m = 0; m < writer->metrics.count; m++) {
        struct written_metric *metric = WRITTEN(writer, metrics, metric, m);
        for (size_t i = 0; i < metric->scopes.count; i++) {
            const struct written_metric_scope *instance =
                LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, i);
            const struct written_scope *scope = WRITTEN(writer, scopes, scope, instance->scope);
            writer->ids_of_values[instance->id] = (struct value_id){m, scope->type, scope->bit, 0};
            if (scope->type == LODE_SCOPE_CUSTOM)
                writer->ids_of_values[instance->id].loopless = writer->columns++;
            metric->opaque |= lode_scope_type_name(scope->type) == NULL ||
                              (scope->type == LODE_SCOPE_CUSTOM && strcmp(scope->name, "lex_aware") != 0);
        }
    }
    return LODE_OK;
}

lode_status lode_writer_number(lode_writer *writer, lode_error *error)
{
    struct families families = {0};
    LODE_TRY(rank_symbols(writer, error));
    LODE_TRY(index_value_ids(writer, error));
    lode_status status = find_families(writer, &families, error);
    if (status == LODE_OK)
        status = number_contexts(writer, &families, error);
    free(families.first);
    free(families.children);
    return status;
}
