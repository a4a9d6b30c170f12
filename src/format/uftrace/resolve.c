/* SPDX-License-Identifier: BSD-3-Clause */
/* From an address to a function: by session, map or loaded library, and symbol. */
#include "base/error.h"
#include "format/uftrace/read.h"
#include <stdio.h>
#include <stdlib.h>

#define STATE_BASE (UINT64_C(1) << 48) /* above all addresses */

enum {
    UNNAMED_MAX =
        1 << 20, /* functions, beyond which addresses without a name share one: damage can bring any number */
    STATE_OTHER = 2 /* that one */
};

/* What a function is made from. */
struct place {
    struct uft_recording *rec;
    const struct uft_symbol *symbol; /* or NULL */
    uint64_t address;
};

/* ---- sessions ---- */

/* The last of `count` rising times that is not above `time`: its index + 1, or 0. */
static uint32_t times_until(const uint64_t *times, uint32_t count, uint64_t time)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* When the next library is loaded after `time`. */
static uint64_t next_dlopen(const struct uft_recording *rec, uint32_t group, uint64_t time)
{
    uint32_t low = 0, high = rec->dlopen_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rec->dlopens[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < rec->dlopen_count; low++)
        if (rec->dlopens[low].group == group)
            return rec->dlopens[low].time;
    return UINT64_MAX;
}

const struct uft_session *lode_uft_session_at(const struct uft_recording *rec, const struct uft_task *task,
                                              uint64_t time, uint64_t *until)
{
    uint32_t passed = times_until(task->times, task->session_count, time);
    uint32_t index = passed                             ? task->sessions[passed - 1]
                     : task->inherited != LODE_NO_INDEX ? task->inherited
                     : task->session_count              ? task->sessions[0]
                                                        : LODE_NO_INDEX;
    *until = passed < task->session_count ? task->times[passed] : UINT64_MAX;
    if (index == LODE_NO_INDEX)
        return NULL;
    const struct uft_session *session = &rec->sessions[index];
    uint64_t loaded = next_dlopen(rec, session->group, time);
    *until = loaded < *until ? loaded : *until;
    return session;
}

/* ---- symbols ---- */

/* The last symbol at or below an offset that covers it. */
static const struct uft_symbol *find_symbol(const struct uft_symbols *symbols, uint64_t offset)
{
    uint32_t low = 0, high = symbols->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (symbols->items[middle].address <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct uft_symbol *symbol = &symbols->items[low - 1];
    return offset - symbol->address < symbol->size ? symbol : NULL;
}

static const struct uft_map *find_map(const struct uft_session *session, uint64_t address)
{
    uint32_t low = 0, high = session->map_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (session->maps[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < session->maps[low - 1].end ? &session->maps[low - 1] : NULL;
}

/*
 * The library that was loaded at the nearest place below an address, the newest of several. Where one ends is not recorded, so it must
 * have a symbol there. What was loaded later counts if nothing else does: code runs before its loading is noted.
 */
static const struct uft_dlopen *find_dlopen(const struct uft_recording *rec,
                                            const struct uft_session *session, uint64_t time,
                                            uint64_t address, const struct uft_symbol **symbol)
{
    const struct uft_dlopen *best = NULL;
    for (uint32_t i = 0; i < rec->dlopen_count; i++) {
        const struct uft_dlopen *loaded = &rec->dlopens[i];
        if (loaded->group != session->group || loaded->base > address || (loaded->time > time && best))
            continue;
        if (best && loaded->base < best->base)
            continue;
        const struct uft_symbol *found =
            find_symbol(&rec->modules[loaded->module].symbols, address - loaded->base);
        if (found == NULL)
            continue;
        best = loaded;
        *symbol = found;
    }
    return best;
}

/* ---- functions ---- */

static bool is_jump(const struct uft_symbol *symbol)
{
    static const char *const names[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", NULL};
    for (const char *const *name = names; *name; name++)
        if (symbol->name_length == strlen(*name) && memcmp(symbol->name, *name, symbol->name_length) == 0)
            return true;
    return false;
}

static const lode_file *find_file(struct uft_recording *rec, struct lode_arena *arena, const char *path)
{
    struct uft_text text = {path, path + strlen(path)};
    bool is_new;
    uint32_t index = (uint32_t)rec->files.count;
    const uint32_t *slot = lode_map_add(&rec->file_index, uft_hash(text), index, &is_new);
    if (slot == NULL)
        return NULL;
    if (!is_new)
        return *LODE_ARRAY_AT(&rec->files, const lode_file *, *slot);
    struct lode_file *file = lode_arena_alloc(arena, 1, sizeof *file);
    const lode_file **added = file ? lode_array_push(&rec->files) : NULL;
    if (added == NULL)
        return NULL;
    *file = (struct lode_file){.index = index, .path = path};
    *added = file;
    return file;
}

static bool add_details(struct lode_function_table *table, struct uft_function *function,
                        const struct place *place)
{
    struct uft_recording *rec = place->rec;
    const lode_module *module = function->function.module;
    const struct lode_uft_debug_entry *debug =
        lode_uft_debug_find(&rec->modules[module->index].debug, function->function.offset);
    const char *name = function->function.name;
    function->type = place->symbol->type;
    function->is_jump = is_jump(place->symbol);
    function->arguments = lode_uft_specs_find(rec->specs, name, module->path, false);
    function->result = lode_uft_specs_find(rec->specs, name, module->path, true);
    if (debug == NULL)
        return true;
    if (function->arguments == NULL)
        function->arguments = debug->arguments;
    if (function->result == NULL)
        function->result = debug->result;
    function->function.line = debug->line;
    function->function.file = debug->file ? find_file(rec, &table->names, debug->file) : NULL;
    return debug->file == NULL || function->function.file != NULL;
}

static bool make_function(struct lode_function_table *table, lode_function *made, void *user)
{
    const struct place *place = user;
    struct uft_function *function = (struct uft_function *)made;
    if (place->symbol) {
        struct uft_text name = {place->symbol->name, place->symbol->name + place->symbol->name_length};
        made->name = uft_copy(&table->names, name);
        return made->name != NULL && add_details(table, function, place);
    }
    if (made->module)
        return true;
    char text[32];
    int length = snprintf(text, sizeof text, "<%llx>", (unsigned long long)place->address);
    made->name = uft_copy(&table->names, (struct uft_text){text, text + length});
    return made->name != NULL;
}

static const lode_function *find_function(const struct uft_recording *rec, const lode_module *module,
                                          uint64_t offset, const struct uft_symbol *symbol, uint64_t address)
{
    /* The table of functions, and what they name, are the parts of an open recording that grow. */
    struct uft_recording *grows = (struct uft_recording *)(uintptr_t)rec; // NOLINT(performance-no-int-to-ptr)
    struct place place = {grows, symbol, address};
    if (symbol == NULL && lode_function_table_count(&grows->base.functions) >= UNNAMED_MAX)
        return lode_uft_state_function(grows, "<other addresses>", STATE_OTHER);
    return lode_function_table_find(&grows->base.functions, module, offset, make_function, &place);
}

const lode_function *lode_uft_resolve(const struct uft_recording *rec, const struct uft_session *session,
                                      uint64_t time, uint64_t address)
{
    const struct uft_map *map = session ? find_map(session, address) : NULL;
    if (map) {
        const struct uft_module *module = &rec->modules[map->module];
        uint64_t offset = address - map->start;
        const struct uft_symbol *symbol = find_symbol(&module->symbols, offset);
        /* Symbols of old recordings are addresses. */
        if (symbol == NULL && !(rec->info.features & UFT_FEATURE_RELATIVE))
            symbol = find_symbol(&module->symbols, address);
        return find_function(rec, module->module, symbol ? symbol->address : offset, symbol, address);
    }
    const struct uft_symbol *symbol = NULL;
    const struct uft_dlopen *loaded = session ? find_dlopen(rec, session, time, address, &symbol) : NULL;
    if (loaded)
        return find_function(rec, rec->modules[loaded->module].module, symbol->address, symbol, address);
    return find_function(rec, NULL, address, NULL, address);
}

static bool make_state(struct lode_function_table *table, lode_function *made, void *user)
{
    const char *const *name = user;
    (void)table;
    made->name = *name;
    return true;
}

const lode_function *lode_uft_state_function(struct uft_recording *rec, const char *name, uint64_t number)
{
    return lode_function_table_find(&rec->base.functions, NULL, STATE_BASE + number, make_state, &name);
}
