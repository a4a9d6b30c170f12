/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of what was imported: metrics, names and contexts. */
#include "base/error.h"
#include "model/import/parts.h"
#include <stdlib.h>

/* The id kinds that other databases have, too. */
static const char *const id_kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};

/* By string, its number as a module and as a file; by function, its number. */
struct numbers {
    uint32_t *modules, *files, *functions;
};

static lode_status describe_metrics(const struct lode_import *import, struct lode_description *about,
                                    lode_error *error)
{
    static const struct {
        const char *name;
        int type;
    } scopes[SCOPES] = {[SCOPE_POINT] = {"point", LODE_SCOPE_POINT},
                        [SCOPE_FUNCTION] = {"function", LODE_SCOPE_TRANSITIVE},
                        [SCOPE_LEXICAL] = {"lex_aware", LODE_SCOPE_CUSTOM},
                        [SCOPE_EXECUTION] = {"execution", LODE_SCOPE_EXECUTION}};
    uint32_t numbers[SCOPES];
    for (size_t i = 0; i < sizeof id_kinds / sizeof *id_kinds; i++)
        LODE_TRY(lode_description_add_id_kind(about, id_kinds[i], NULL, error));
    for (size_t i = 0; i < SCOPES; i++)
        LODE_TRY(lode_description_add_scope(about, scopes[i].name, scopes[i].type, 0, &numbers[i], error));
    for (size_t m = 0; m < import->metrics.count; m++) {
        uint32_t metric;
        uint16_t id;
        const char *name = *LODE_ARRAY_AT(&import->metrics, const char *, m);
        LODE_TRY(lode_description_add_metric(about, name, &metric, error));
        for (size_t i = 0; i < SCOPES; i++)
            LODE_TRY(lode_description_add_metric_scope(about, metric, numbers[i], &id, error));
        for (size_t i = 0; i < SCOPES; i++)
            LODE_TRY(
                lode_description_add_statistic(about, metric, numbers[i], "$$", LODE_COMBINE_SUM, error));
    }
    return LODE_OK;
}

static lode_status module_of(const struct lode_import *import, struct lode_description *about,
                             struct numbers *numbers, uint32_t string, uint32_t *out, lode_error *error)
{
    *out = LODE_NONE;
    if (string == LODE_NO_NUMBER)
        return LODE_OK;
    if (numbers->modules[string] == LODE_NONE)
        LODE_TRY(lode_description_add_module(about, lode_strings_at(&import->frames.strings, string),
                                             &numbers->modules[string], error));
    *out = numbers->modules[string];
    return LODE_OK;
}

static lode_status file_of(const struct lode_import *import, struct lode_description *about,
                           struct numbers *numbers, uint32_t string, uint32_t *out, lode_error *error)
{
    *out = LODE_NONE;
    if (string == LODE_NO_NUMBER)
        return LODE_OK;
    if (numbers->files[string] == LODE_NONE)
        LODE_TRY(lode_description_add_file(about, lode_strings_at(&import->frames.strings, string), 0, NULL,
                                           &numbers->files[string], error));
    *out = numbers->files[string];
    return LODE_OK;
}

static lode_status describe_functions(const struct lode_import *import, struct lode_description *about,
                                      struct numbers *numbers, lode_error *error)
{
    for (size_t i = 0; i < import->frames.functions.items.count; i++) {
        const struct lode_frame_function *from =
            LODE_ARRAY_AT(&import->frames.functions.items, struct lode_frame_function, i);
        lode_writer_function function = {.name = lode_strings_at(&import->frames.strings, from->name),
                                         .line = from->line,
                                         .offset = from->offset};
        LODE_TRY(module_of(import, about, numbers, from->module, &function.module, error));
        LODE_TRY(file_of(import, about, numbers, from->file, &function.file, error));
        LODE_TRY(lode_description_add_function(about, &function, &numbers->functions[i], error));
    }
    return LODE_OK;
}

/* Nodes have the numbers of contexts plus 1: all are added, in their order. */
static lode_status describe_contexts(const struct lode_import *import, struct lode_description *about,
                                     struct numbers *numbers, lode_error *error)
{
    for (uint32_t i = 1; i < import->tree.count; i++) {
        const struct lode_tree_node *node = lode_tree_node(&import->tree, i);
        const struct lode_frame *frame = lode_frames_at(&import->frames, node->frame);
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        uint32_t number;
        context.parent = node->parent == LODE_TREE_ROOT ? LODE_NONE : node->parent - 1;
        context.propagation = frame->propagation;
        if (frame->kind == LODE_LEXICAL_ENTRY) {
            context.entry = frame->entry;
            context.entry_name = lode_strings_at(&import->frames.strings, frame->function);
        } else {
            context.lexical = frame->kind;
            context.relation = frame->relation;
            if (frame->function != LODE_NO_NUMBER)
                context.function = numbers->functions[frame->function];
        }
        context.line = frame->line;
        context.offset = frame->offset;
        LODE_TRY(file_of(import, about, numbers, frame->file, &context.file, error));
        LODE_TRY(module_of(import, about, numbers, frame->module, &context.module, error));
        LODE_TRY(lode_description_add_context(about, &context, &number, error));
    }
    return LODE_OK;
}

static lode_status describe_with(const struct lode_import *import, struct lode_description *about,
                                 struct numbers *numbers, lode_error *error)
{
    size_t strings = import->frames.strings.items.count, functions = import->frames.functions.items.count;
    numbers->modules = malloc((strings + 1) * sizeof *numbers->modules);
    numbers->files = malloc((strings + 1) * sizeof *numbers->files);
    numbers->functions = malloc((functions + 1) * sizeof *numbers->functions);
    LODE_TRY_ALLOC(numbers->modules && numbers->files && numbers->functions, error);
    for (size_t i = 0; i < strings; i++)
        numbers->modules[i] = numbers->files[i] = LODE_NONE;
    LODE_TRY(describe_metrics(import, about, error));
    LODE_TRY(describe_functions(import, about, numbers, error));
    LODE_TRY(describe_contexts(import, about, numbers, error));
    return lode_description_seal(about, error);
}

lode_status lode_import_describe(const struct lode_import *import, struct lode_description *about,
                                 lode_error *error)
{
    struct numbers numbers = {0};
    about->keeps_strings = true;
    lode_status status = describe_with(import, about, &numbers, error);
    free(numbers.modules);
    free(numbers.files);
    free(numbers.functions);
    return status;
}
