/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of what binaries say of addresses: functions, inlined calls, loops and lines. */
#include "format/hpcrun/scopes/binary.h"
#include "format/pprof/read.h"

static const struct binary_reply *code_of(const struct pprof_reader *reader,
                                          const struct pprof_mapping *mapping)
{
    return mapping && mapping->code != LODE_NO_NUMBER
               ? *LODE_ARRAY_AT(&reader->codes, struct binary_reply *, mapping->code)
               : NULL;
}

static const struct hpcstruct_scope *scope_at(const struct binary_reply *code, uint32_t number)
{
    return LODE_ARRAY_AT(&code->module.scopes, struct hpcstruct_scope, number);
}

static const struct hpcstruct_scope *link_at(const struct pprof_reader *reader,
                                             const struct binary_reply *code, size_t at)
{
    return scope_at(code, *LODE_ARRAY_AT(&reader->chain, uint32_t, at));
}

static bool is_function(const struct hpcstruct_scope *scope)
{
    return scope->kind == HPCSTRUCT_FUNCTION || scope->kind == HPCSTRUCT_INLINED;
}

lode_status lode_pprof_find_chain(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                  const struct pprof_location *location)
{
    const struct binary_reply *code = code_of(reader, mapping);
    reader->chain.count = 0;
    if (code == NULL)
        return LODE_OK;
    for (uint32_t at = location->scope; at != LODE_NO_NUMBER; at = scope_at(code, at)->parent) {
        uint32_t *link = lode_array_push(&reader->chain);
        LODE_TRY_ALLOC(link, reader->report->error);
        *link = at;
    }
    uint32_t *links = reader->chain.items;
    for (size_t i = 0, j = reader->chain.count; i + 1 < j; i++) {
        uint32_t swapped = links[i];
        links[i] = links[--j];
        links[j] = swapped;
    }
    return LODE_OK;
}

/* The number of a string of the answer; LODE_NO_NUMBER: there is none. */
static lode_status keep_string(struct pprof_reader *reader, const struct binary_reply *code, uint32_t from,
                               uint32_t *number)
{
    const char *text = lode_strings_at(&code->strings, from);
    unsigned changes = 0;
    *number = LODE_NO_NUMBER;
    if (text == NULL)
        return LODE_OK;
    return lode_import_string(&reader->import, text, strlen(text), number, &changes, reader->report->error);
}

static lode_status push_function(struct pprof_reader *reader, const struct binary_reply *code,
                                 const struct hpcstruct_scope *scope, uint32_t module)
{
    lode_error *error = reader->report->error;
    uint32_t name, file;
    unsigned changes = 0;
    LODE_TRY(keep_string(reader, code, scope->name, &name));
    LODE_TRY(keep_string(reader, code, scope->file, &file));
    if (name == LODE_NO_NUMBER)
        LODE_TRY(lode_import_string(&reader->import, "<unknown>", 9, &name, &changes, error));
    uint32_t function =
        lode_import_function(&reader->import, name, module, file, file == LODE_NO_NUMBER ? 0 : scope->line);
    LODE_TRY_ALLOC(function != LODE_NO_NUMBER, error);
    return lode_pprof_push_frame(
        reader, lode_import_call(&reader->import, function, scope->kind == HPCSTRUCT_INLINED));
}

static lode_status push_loop(struct pprof_reader *reader, const struct binary_reply *code,
                             const struct hpcstruct_scope *scope, uint32_t module)
{
    struct lode_import_loop loop = {.module = module, .offset = scope->address};
    LODE_TRY(keep_string(reader, code, scope->file, &loop.file));
    loop.line = loop.file == LODE_NO_NUMBER ? 0 : scope->line;
    return lode_pprof_push_frame(reader, lode_import_loop(&reader->import, &loop));
}

lode_status lode_pprof_push_chain(struct pprof_reader *reader, const struct pprof_mapping *mapping)
{
    const struct binary_reply *code = code_of(reader, mapping);
    reader->is_named = true;
    for (size_t i = 0; i < reader->chain.count; i++) {
        const struct hpcstruct_scope *scope = link_at(reader, code, i);
        uint32_t file;
        if (is_function(scope)) {
            LODE_TRY(push_function(reader, code, scope, mapping->name));
            continue;
        }
        if (scope->kind == HPCSTRUCT_LOOP) {
            LODE_TRY(push_loop(reader, code, scope, mapping->name));
            continue;
        }
        LODE_TRY(keep_string(reader, code, scope->file, &file));
        if (file != LODE_NO_NUMBER && scope->line > 0)
            LODE_TRY(lode_pprof_push_frame(reader, lode_import_line(&reader->import, file, scope->line)));
    }
    return LODE_OK;
}

struct pprof_levels lode_pprof_levels(const struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                      size_t lines)
{
    struct pprof_levels levels = {.code = code_of(reader, mapping), .is_flat = lines == 1};
    size_t count = 0;
    for (size_t i = 0; i < reader->chain.count; i++)
        count += is_function(link_at(reader, levels.code, i));
    levels.is_over = count != lines && !levels.is_flat;
    return levels;
}

lode_status lode_pprof_push_loops(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                  struct pprof_levels *levels)
{
    /* A level begins with its function. If levels differ, the outermost one is certain. */
    if (levels->at >= reader->chain.count || (levels->is_over && levels->at > 0))
        return LODE_OK;
    while (++levels->at < reader->chain.count) {
        const struct hpcstruct_scope *scope = link_at(reader, levels->code, levels->at);
        if (is_function(scope) && !levels->is_flat)
            return LODE_OK;
        if (scope->kind == HPCSTRUCT_LOOP)
            LODE_TRY(push_loop(reader, levels->code, scope, mapping->name));
    }
    return LODE_OK;
}
