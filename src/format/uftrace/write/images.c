/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the modules and sessions of recordings: equal ones are written once, others renamed. */
#include "format/uftrace/write/merge.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SESSION_ID_LENGTH = 16,
    BUILD_ID_LENGTH = 40
};

static struct uft_text text_of(const char *text)
{
    return (struct uft_text){text, text + strlen(text)};
}

/* ---- modules ---- */

static bool same_symbols(const struct uft_written_module *a, const struct uft_written_module *b)
{
    if (a->symbol_count != b->symbol_count)
        return false;
    for (uint32_t i = 0; i < a->symbol_count; i++) {
        const struct uft_symbol *x = &a->symbols[i], *y = &b->symbols[i];
        if (x->address != y->address || x->size != y->size || x->type != y->type ||
            x->name_length != y->name_length || memcmp(x->name, y->name, x->name_length) != 0)
            return false;
    }
    return true;
}

/* A build id that no file can contain: for any module of the path. */
static const char any_id[] = "\n";

static uint64_t key_of(const char *path, const char *build_id)
{
    return lode_hash_pair(uft_hash(text_of(path)), uft_hash(text_of(build_id)));
}

/* The data of a module in its own recording. */
static lode_status describe_module(struct uft_merge *merge, const struct uft_origin *source, uint32_t index,
                                   struct uft_written_module *out, lode_error *error)
{
    const struct uft_module *module = &source->rec->modules[index];
    uint64_t shift = source->shifts ? source->shifts[index] : 0;
    *out = (struct uft_written_module){
        .path = module->module->path,
        .build_id = strlen(module->build_id) <= BUILD_ID_LENGTH ? module->build_id : "",
        .symbols = module->symbols.items,
        .symbol_count = module->symbols.count,
        .debug = module->debug_source.bytes};
    if (shift == 0)
        return LODE_OK;
    struct uft_symbol *moved = lode_arena_alloc(&merge->arena, out->symbol_count, sizeof *moved);
    LODE_TRY_ALLOC(moved, error);
    for (uint32_t i = 0; i < out->symbol_count; i++) {
        moved[i] = out->symbols[i];
        moved[i].address -= shift;
    }
    out->symbols = moved;
    return LODE_OK;
}

/* Renames a module that readers would confuse with another. */
static lode_status rename_module(struct uft_merge *merge, struct uft_written_module *module,
                                 const struct lode_map *by_path, lode_error *error)
{
    size_t size = strlen(module->path) + 24;
    char *path = lode_arena_alloc(&merge->arena, size, 1);
    LODE_TRY_ALLOC(path, error);
    uint32_t number = 2;
    do
        snprintf(path, size, "%s~%" PRIu32, module->path, number++);
    while (lode_map_get(by_path, key_of(path, any_id)));
    LODE_TRY(lode_uft_merge_find(
        merge, UFT_MERGE_NAMES, module->path, error,
        "two recordings have different modules of this path, and no build ids; the second is written as %s",
        path));
    module->path = path;
    return LODE_OK;
}

/* The module that readers would confuse with this one: same path, and no different build ids. */
static struct uft_written_module *find_alike(const struct uft_merge *merge,
                                             const struct uft_written_module *module,
                                             const struct lode_map *by_path)
{
    const uint32_t *found = lode_map_get(by_path, key_of(module->path, module->build_id));
    if (found == NULL)
        found = lode_map_get(by_path, key_of(module->path, *module->build_id ? "" : any_id));
    if (found == NULL)
        return NULL;
    struct uft_written_module *other = &merge->modules[*found];
    bool knows_ids = *other->build_id && *module->build_id;
    return knows_ids && strcmp(other->build_id, module->build_id) != 0 ? NULL : other;
}

static lode_status add_module(struct uft_merge *merge, const struct uft_written_module *module,
                              struct lode_map *by_path, lode_error *error)
{
    uint32_t index = merge->module_count++;
    merge->modules[index] = *module;
    bool fits = lode_map_add(by_path, key_of(module->path, module->build_id), index, NULL) &&
                lode_map_add(by_path, key_of(module->path, any_id), index, NULL);
    return fits ? LODE_OK : lode_fail_memory(error);
}

static lode_status place_module(struct uft_merge *merge, struct uft_written_module *module,
                                struct lode_map *by_path, uint32_t *out, lode_error *error)
{
    struct uft_written_module *other = find_alike(merge, module, by_path);
    *out = other ? (uint32_t)(other - merge->modules) : merge->module_count;
    if (other == NULL)
        return add_module(merge, module, by_path, error);
    if ((*module->build_id && strcmp(other->build_id, module->build_id) == 0) ||
        same_symbols(other, module)) {
        other->build_id = *other->build_id ? other->build_id : module->build_id;
        other->debug = other->debug.size ? other->debug : module->debug;
        return lode_map_add(by_path, key_of(other->path, other->build_id), *out, NULL)
                   ? LODE_OK
                   : lode_fail_memory(error);
    }
    *out = merge->module_count;
    LODE_TRY(rename_module(merge, module, by_path, error));
    return add_module(merge, module, by_path, error);
}

static lode_status say_unnamed(const struct uft_merge *merge, lode_error *error)
{
    for (uint32_t i = 0; i < merge->module_count; i++)
        if (merge->modules[i].file == NULL && merge->modules[i].symbol_count > 0)
            LODE_TRY(lode_uft_merge_find(
                merge, UFT_MERGE_NAMES, merge->modules[i].path, error,
                "another module already uses the name of its file; its functions have no names"));
    return LODE_OK;
}

/* Marks the modules that a map or a loaded library refers to; readers would not find others. */
static void find_used(struct uft_origin *source)
{
    const struct uft_recording *rec = source->rec;
    for (uint32_t i = 0; i < rec->base.module_count; i++)
        source->modules[i] = LODE_NO_INDEX;
    for (uint32_t i = 0; i < rec->session_count; i++)
        for (uint32_t k = 0; rec->sessions[i].group == i && k < rec->sessions[i].map_count; k++)
            source->modules[rec->sessions[i].maps[k].module] = 0;
    for (uint32_t i = 0; i < rec->dlopen_count; i++)
        if (rec->dlopens[i].group != LODE_NO_INDEX)
            source->modules[rec->dlopens[i].module] = 0;
    /* A line of a map needs a path. */
    for (uint32_t i = 0; i < rec->base.module_count; i++)
        if (*rec->base.modules[i].path == '\0' || *rec->base.modules[i].path == '[')
            source->modules[i] = LODE_NO_INDEX;
}

static lode_status place_modules(struct uft_merge *merge, struct lode_map *by_path, lode_error *error)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct uft_origin *source = &merge->sources[i];
        find_used(source);
        for (uint32_t k = 0; k < source->rec->base.module_count; k++) {
            struct uft_written_module module;
            if (source->modules[k] == LODE_NO_INDEX)
                continue;
            LODE_TRY(describe_module(merge, source, k, &module, error));
            LODE_TRY(place_module(merge, &module, by_path, &source->modules[k], error));
        }
    }
    LODE_TRY(lode_uft_name_files(merge->modules, merge->module_count, &merge->arena, error));
    return say_unnamed(merge, error);
}

lode_status lode_uft_merge_modules(struct uft_merge *merge, lode_error *error)
{
    struct lode_map by_path;
    size_t most = 0;
    for (size_t i = 0; i < merge->count; i++)
        most += merge->sources[i].rec->base.module_count;
    merge->modules = lode_arena_alloc(&merge->arena, most + 1, sizeof *merge->modules);
    LODE_TRY_ALLOC(merge->modules, error);
    lode_map_init(&by_path);
    lode_status status = place_modules(merge, &by_path, error);
    lode_map_free(&by_path);
    return status;
}

/* ---- sessions ---- */

/* Ids become names of files. */
static bool is_session_id(const char *id)
{
    size_t length = strlen(id);
    return length > 0 && length <= SESSION_ID_LENGTH &&
           strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == length;
}

/* FNV-1a: it is written to a file, so it must be the same in every process. */
static uint64_t number_of(const char *id)
{
    uint64_t number = UINT64_C(0xcbf29ce484222325);
    for (; *id; id++)
        number = (number ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
    return number;
}

/* The id of a session and of those that share it: its own if unique. */
static lode_status name_session(struct uft_merge *merge, struct uft_session *session, struct lode_map *taken,
                                lode_error *error)
{
    char *made = NULL;
    uint64_t number = number_of(session->id);
    bool is_new = false;
    if (is_session_id(session->id) && !lode_map_add(taken, uft_hash(text_of(session->id)), 0, &is_new))
        return lode_fail_memory(error);
    while (!is_new) {
        if (made == NULL)
            made = lode_arena_alloc(&merge->arena, SESSION_ID_LENGTH + 1, 1);
        LODE_TRY_ALLOC(made, error);
        snprintf(made, SESSION_ID_LENGTH + 1, "%016" PRIx64, ++number);
        if (!lode_map_add(taken, uft_hash(text_of(made)), 0, &is_new))
            return lode_fail_memory(error);
        session->id = made;
    }
    return LODE_OK;
}

static lode_status move_maps(struct uft_merge *merge, const struct uft_origin *source,
                             struct uft_session *session, lode_error *error)
{
    struct uft_map *maps = lode_arena_alloc(&merge->arena, session->map_count, sizeof *maps);
    LODE_TRY_ALLOC(maps, error);
    uint32_t count = 0;
    for (uint32_t i = 0; i < session->map_count; i++) {
        maps[count] = session->maps[i];
        maps[count].module = source->modules[maps[count].module];
        count += maps[count].module != LODE_NO_INDEX;
    }
    session->maps = maps;
    session->map_count = count;
    return LODE_OK;
}

static lode_status add_session(struct uft_merge *merge, const struct uft_origin *source, uint32_t index,
                               struct lode_map *taken, lode_error *error)
{
    struct uft_session *session = &merge->sessions[merge->session_count++];
    *session = source->rec->sessions[index];
    session->pid = lode_uft_merge_id(source, session->pid);
    session->group += source->first_session;
    if (__builtin_add_overflow(session->time, source->clock, &session->time))
        session->time = 0;
    if (source->rec->sessions[index].group < index) {
        const struct uft_session *same = &merge->sessions[session->group];
        session->id = same->id;
        session->maps = same->maps;
        session->map_count = same->map_count;
        return LODE_OK;
    }
    LODE_TRY(name_session(merge, session, taken, error));
    return move_maps(merge, source, session, error);
}

lode_status lode_uft_merge_sessions(struct uft_merge *merge, lode_error *error)
{
    struct lode_map taken;
    size_t most = 0;
    for (size_t i = 0; i < merge->count; i++)
        most += merge->sources[i].rec->session_count;
    merge->sessions = lode_arena_alloc(&merge->arena, most + 1, sizeof *merge->sessions);
    LODE_TRY_ALLOC(merge->sessions, error);
    lode_map_init(&taken);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < merge->count; i++) {
        merge->sources[i].first_session = merge->session_count;
        for (uint32_t k = 0; k < merge->sources[i].rec->session_count && status == LODE_OK; k++)
            status = add_session(merge, &merge->sources[i], k, &taken, error);
    }
    merge->nobody = (struct uft_session){.id = "0000000000000000", .program = ""};
    if (status == LODE_OK)
        status = name_session(merge, &merge->nobody, &taken, error);
    lode_map_free(&taken);
    return status;
}
