/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the contents. Ids follow from content: the order of description does not matter. */
#include "base/error.h"
#include "transform/build/build.h"
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STORED_NAME_MAX = 4096 /* bytes; a symbol that becomes longer stays as it is */
};

static lode_status describe_metrics(struct lode_build *build, lode_error *error)
{
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    static const struct {
        const char *name;
        int type;
    } scopes[LODE_BUILD_SCOPES] = {[LODE_BUILD_FUNCTION] = {"function", LODE_SCOPE_TRANSITIVE},
                                   [LODE_BUILD_LEXICAL] = {"lex_aware", LODE_SCOPE_CUSTOM},
                                   [LODE_BUILD_EXECUTION] = {"execution", LODE_SCOPE_EXECUTION}};
    static const char *const names[LODE_BUILD_METRICS] = {
        [LODE_BUILD_TIME] = "time (sec)", [LODE_BUILD_CALLS] = "calls"};
    struct lode_description *about = build->about;
    uint32_t numbers[LODE_BUILD_SCOPES];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        LODE_TRY(lode_description_add_id_kind(about, kinds[i], NULL, error));
    for (size_t i = 0; i < LODE_BUILD_SCOPES; i++)
        LODE_TRY(lode_description_add_scope(about, scopes[i].name, scopes[i].type, 0, &numbers[i], error));
    build->value_ids = calloc(build->metric_count, sizeof *build->value_ids);
    if (build->value_ids == NULL)
        return lode_fail_memory(error);
    for (uint32_t m = 0; m < build->metric_count; m++) {
        uint32_t metric;
        const char *name =
            m < LODE_BUILD_METRICS ? names[m] : lode_strings_at(&build->changes, m - LODE_BUILD_METRICS);
        LODE_TRY(lode_description_add_metric(about, name, &metric, error));
        for (size_t i = 0; i < LODE_BUILD_SCOPES; i++)
            LODE_TRY(
                lode_description_add_metric_scope(about, metric, numbers[i], &build->value_ids[m][i], error));
        for (size_t i = 0; i < LODE_BUILD_SCOPES; i++)
            LODE_TRY(
                lode_description_add_statistic(about, metric, numbers[i], "$$", LODE_COMBINE_SUM, error));
    }
    return LODE_OK;
}

/* Numbers of strings as modules and as files in the database; LODE_NONE: not added yet. */
struct symbols {
    uint32_t *modules, *files;
    uint32_t *functions;
};

/*
 * A function's name as hpcprof stores it, since viewers show it as it is: demangled, with the
 * module if there is no source, as viewers merge functions of equal names. Other names than C++
 * stay unchanged: different ones must not become equal.
 */
static const char *stored_name(const struct lode_strings *strings, const struct lode_frame_function *function,
                               char buffer[STORED_NAME_MAX])
{
    const char *name = lode_strings_at(strings, function->name);
    const char *module = lode_strings_at(strings, function->module);
    if (name == NULL)
        return NULL;
    bool is_mangled = strncmp(name, "_Z", 2) == 0;
    size_t length = is_mangled ? lode_demangle(name, buffer, STORED_NAME_MAX) : strlen(name);
    bool has_suffix = module && function->file == LODE_NONE;
    size_t more = has_suffix ? strlen(lode_path_tail(module)) + strlen(" []") : 0;
    if (length + more >= STORED_NAME_MAX)
        return name;
    if (!is_mangled)
        memcpy(buffer, name, length + 1);
    if (has_suffix)
        snprintf(buffer + length, STORED_NAME_MAX - length, " [%s]", lode_path_tail(module));
    return buffer;
}

static lode_status describe_symbol(const struct lode_build *build, struct symbols *symbols,
                                   const struct lode_frame_function *function, uint32_t *out,
                                   lode_error *error)
{
    const struct lode_strings *strings = &build->frames.strings;
    char name[STORED_NAME_MAX];
    lode_writer_function wanted = {.name = stored_name(strings, function, name),
                                   .module = LODE_NONE,
                                   .file = LODE_NONE,
                                   .line = function->line,
                                   .offset = function->offset};
    if (function->module != LODE_NONE) {
        uint32_t *module = &symbols->modules[function->module];
        if (*module == LODE_NONE)
            LODE_TRY(lode_description_add_module(build->about, lode_strings_at(strings, function->module),
                                                 module, error));
        wanted.module = *module;
    }
    if (function->file != LODE_NONE) {
        uint32_t *file = &symbols->files[function->file];
        if (*file == LODE_NONE)
            LODE_TRY(lode_description_add_file(build->about, lode_strings_at(strings, function->file), 0,
                                               NULL, file, error));
        wanted.file = *file;
    }
    return lode_description_add_function(build->about, &wanted, out, error);
}

static lode_status describe_symbols(const struct lode_build *build, struct symbols *symbols,
                                    lode_error *error)
{
    const struct lode_array *list = &build->frames.functions.items;
    size_t strings = build->frames.strings.items.count, functions = list->count;
    symbols->modules = calloc(strings + 1, sizeof *symbols->modules);
    symbols->files = calloc(strings + 1, sizeof *symbols->files);
    symbols->functions = calloc(functions + 1, sizeof *symbols->functions);
    if (symbols->modules == NULL || symbols->files == NULL || symbols->functions == NULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < strings; i++)
        symbols->modules[i] = symbols->files[i] = LODE_NONE;
    for (size_t i = 0; i < functions; i++)
        LODE_TRY(describe_symbol(build, symbols, LODE_ARRAY_AT(list, struct lode_frame_function, i),
                                 &symbols->functions[i], error));
    return LODE_OK;
}

static lode_status describe_context(const struct lode_build *build, const struct symbols *symbols,
                                    const struct lode_frame *frame, uint32_t parent, uint32_t *handle,
                                    lode_error *error)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    context.parent = parent;
    if (frame->kind == LODE_LEXICAL_ENTRY) {
        context.entry = frame->entry;
        context.entry_name = lode_strings_at(&build->frames.strings, frame->function);
    } else {
        context.lexical = frame->kind;
        context.relation = frame->relation;
        context.function = symbols->functions[frame->function];
    }
    return lode_description_add_context(build->about, &context, handle, error);
}

/* All but entry points that no track has. `handles` is by node. */
static lode_status describe_contexts(const struct lode_build *build, const struct symbols *symbols,
                                     uint32_t *handles, lode_error *error)
{
    bool has[LODE_BUILD_FIRST] = {false};
    const struct lode_build_inputs *inputs = &build->inputs;
    for (uint32_t i = 0; i < inputs->track_count; i++)
        has[inputs->tracks[i].entry] = true;
    handles[LODE_BUILD_GLOBAL] = LODE_NONE;
    for (uint32_t i = LODE_BUILD_MAIN; i < build_all(build)->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(build_all(build), i);
        handles[i] = LODE_NONE;
        if (i >= LODE_BUILD_FIRST || has[i])
            LODE_TRY(describe_context(build, symbols, lode_frames_at(&build->frames, node->frame),
                                      handles[node->parent], &handles[i], error));
    }
    return LODE_OK;
}

/* What is known to rank 0 alone: the tree of all. */
static lode_status describe_tree(struct lode_build *build, uint32_t *handles, lode_error *error)
{
    struct symbols symbols = {0};
    lode_status status = describe_symbols(build, &symbols, error);
    if (status == LODE_OK)
        status = describe_contexts(build, &symbols, handles, error);
    free(symbols.modules);
    free(symbols.files);
    free(symbols.functions);
    return status;
}

/* A profile for each track, with a trace line. */
static lode_status describe_profiles(struct lode_build *build, lode_error *error)
{
    const struct lode_build_inputs *inputs = &build->inputs;
    struct lode_description *about = build->about;
    about->profiles =
        lode_arena_alloc(&about->arena, (size_t)inputs->track_count + 1, sizeof *about->profiles);
    if (about->profiles == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < inputs->track_count; i++)
        about->profiles[i] = (struct lode_id_tuple){inputs->tracks[inputs->profiles[i]].ids, LODE_BUILD_IDS};
    about->profile_count = about->line_count = inputs->track_count;
    return LODE_OK;
}

lode_status lode_build_describe(struct lode_build *build, lode_error *error)
{
    build->about->title = build->options->title;
    build->result.metrics = build->metric_count;
    LODE_TRY(describe_metrics(build, error));
    LODE_TRY(describe_profiles(build, error));
    if (build->comm->place.rank > 0)
        return LODE_OK;
    build->final = calloc(build_all(build)->count, sizeof *build->final);
    return build->final ? describe_tree(build, build->final, error) : lode_fail_memory(error);
}

/* From handles to ids, in place; then to all ranks. */
lode_status lode_build_number(struct lode_profile_source *base, const struct lode_description *sealed,
                              lode_error *error)
{
    struct lode_build *build = build_of(base);
    if (build->comm->place.rank == 0) {
        for (uint32_t i = 0; i < build_all(build)->count; i++)
            if (build->final[i] != LODE_NONE)
                build->final[i] = description_id(sealed, build->final[i]);
        build->final[LODE_BUILD_GLOBAL] = 0;
        build->result.functions = build->frames.functions.items.count;
        build->result.contexts = build_all(build)->count - LODE_BUILD_FIRST;
    }
    return lode_build_spread(build, sealed->id_count, error);
}
