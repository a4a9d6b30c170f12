/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols and source lines of modules. Symbols are written without sizes, which every version
 * reads: one ends where the next begins, or at an end marker.
 */
#include "format/uftrace/write/write.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_MAX_LENGTH = 240, /* of a file name without ".sym" */
    SUFFIX_LENGTH = 5      /* "-1f2e" */
};

/* ---- file names ---- */

/* The suffix that distinguishes modules with the same file name. */
static void put_suffix(char *suffix, const struct uft_written_module *module)
{
    unsigned sum = 0;
    if (strlen(module->build_id) >= SUFFIX_LENGTH - 1) {
        snprintf(suffix, SUFFIX_LENGTH + 1, "-%.4s", module->build_id);
        return;
    }
    for (const char *at = module->path; *at; at++)
        sum += (unsigned char)*at;
    snprintf(suffix, SUFFIX_LENGTH + 1, "-%04x", sum & 0xffff);
}

struct named {
    const char *name;
    struct uft_written_module *module;
    bool has_suffix;
};

/* By name; a plain one before an equal one with a suffix. Independent of the order of modules. */
static int compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = a->has_suffix - b->has_suffix;
    if (order == 0)
        order = strcmp(a->module->path, b->module->path);
    return order ? order : strcmp(a->module->build_id, b->module->build_id);
}

/* Of equal names, all but the first get a suffix. */
static lode_status add_suffixes(struct named *names, uint32_t count, struct lode_arena *arena,
                                lode_error *error)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(names[i].name);
        if (first == NULL || strcmp(first, names[i].name) != 0) {
            first = names[i].name;
            continue;
        }
        char *longer = lode_arena_alloc(arena, length + SUFFIX_LENGTH + 1, 1);
        LODE_TRY_ALLOC(longer, error);
        memcpy(longer, names[i].name, length);
        put_suffix(longer + length, names[i].module);
        names[i] = (struct named){longer, names[i].module, true};
    }
    return LODE_OK;
}

lode_status lode_uft_name_files(struct uft_written_module *modules, uint32_t count, struct lode_arena *arena,
                                lode_error *error)
{
    struct named *names = calloc((size_t)count + 1, sizeof *names);
    uint32_t named = 0;
    LODE_TRY_ALLOC(names, error);
    for (uint32_t i = 0; i < count; i++) {
        const char *tail = lode_path_tail(modules[i].path);
        modules[i].file = NULL;
        bool is_needed = modules[i].symbol_count > 0 || modules[i].debug.size > 0;
        if (is_needed && *tail && strlen(tail) <= NAME_MAX_LENGTH)
            names[named++] = (struct named){tail, &modules[i], false};
    }
    qsort(names, named, sizeof *names, compare_named);
    lode_status status = add_suffixes(names, named, arena, error);
    if (status == LODE_OK)
        qsort(names, named, sizeof *names, compare_named);
    for (uint32_t i = 0; i < named && status == LODE_OK; i++)
        if (i == 0 || strcmp(names[i].name, names[i - 1].name) != 0)
            names[i].module->file = names[i].name;
    free(names);
    return status;
}

/* ---- files ---- */

static void put_heading(struct uft_text_file *text, const struct uft_written_module *module)
{
    lode_uft_text_put(text, "# path name: %s\n", module->path);
    if (*module->build_id)
        lode_uft_text_put(text, "# build-id: %s\n", module->build_id);
}

static void put_symbol(struct uft_text_file *text, uint64_t address, char type, const char *name,
                       size_t length)
{
    lode_uft_text_put(text, "%016" PRIx64 " %c ", address, type);
    lode_uft_text_put_bytes(text, name, length);
    lode_uft_text_put_bytes(text, "\n", 1);
}

static lode_status write_symbol_file(struct uft_writer *writer, const struct uft_written_module *module,
                                     const char *name, lode_error *error)
{
    static const char marker[] = "__sym_end";
    struct uft_text_file text;
    lode_uft_text_open(&text, writer, name, error);
    lode_uft_text_put(&text, "# symbols: %" PRIu32 "\n", module->symbol_count);
    put_heading(&text, module);
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const struct uft_symbol *symbol = &module->symbols[i];
        uint64_t end = symbol->address + symbol->size;
        put_symbol(&text, symbol->address, symbol->type, symbol->name, symbol->name_length);
        if (i + 1 == module->symbol_count || end < module->symbols[i + 1].address)
            put_symbol(&text, end, '?', marker, sizeof marker - 1);
    }
    return lode_uft_text_close(&text);
}

/* Regenerates the comment lines from the module; the rest is unchanged. */
static lode_status write_debug_file(struct uft_writer *writer, const struct uft_written_module *module,
                                    const char *name, lode_error *error)
{
    struct uft_text_file text;
    struct uft_lines lines = {.text = module->debug};
    struct uft_text line;
    lode_uft_text_open(&text, writer, name, error);
    put_heading(&text, module);
    while (uft_next_line(&lines, &line)) {
        if (uft_length(line) == 0 || *line.at == '#')
            continue;
        lode_uft_text_put_bytes(&text, line.at, uft_length(line));
        lode_uft_text_put_bytes(&text, "\n", 1);
    }
    return lode_uft_text_close(&text);
}

lode_status lode_uft_write_symbols(struct uft_writer *writer, const struct uft_description *description,
                                   lode_error *error)
{
    char name[NAME_MAX_LENGTH + SUFFIX_LENGTH + sizeof ".sym"];
    for (uint32_t i = 0; i < description->module_count; i++) {
        const struct uft_written_module *module = &description->modules[i];
        if (module->file == NULL)
            continue;
        snprintf(name, sizeof name, "%s.sym", module->file);
        if (module->symbol_count > 0)
            LODE_TRY(write_symbol_file(writer, module, name, error));
        snprintf(name, sizeof name, "%s.dbg", module->file);
        if (module->debug.size > 0)
            LODE_TRY(write_debug_file(writer, module, name, error));
    }
    return LODE_OK;
}
