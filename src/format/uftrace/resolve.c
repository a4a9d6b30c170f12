/* SPDX-License-Identifier: BSD-3-Clause */
/* From an address to a function: by session, map or loaded library, and symbol. */
#include "base/compare.h"
#include "base/error.h"
#include "format/uftrace/read.h"
#include <stdio.h>
#include <stdlib.h>

#define STATE_BASE (UINT64_C(1) << 48) /* above all addresses */

enum {
    UNNAMED_MAX = 1 << 20, /* functions; all further addresses without a name share one */
    STATE_OTHER = 2,       /* the shared one */
    PLACES_MAX = 64        /* loaded libraries below an address that are searched */
};

/* An address in a module. */
struct location {
    const lode_module *module; /* NULL: in none */
    uint64_t offset;           /* of the symbol, or of the address itself */
    const struct uft_symbol *symbol;
};

/* The parts of a function. */
struct place {
    struct uft_recording *rec;
    const struct uft_symbol *symbol; /* or NULL */
    uint64_t address;
};

/* The number of `count` rising times that are not above `time`. */
static uint32_t times_until(const uint64_t *times, uint32_t count, uint64_t time)
{
    uint32_t low = 0, high = count;
    LODE_BISECT(low, high, times[middle] <= time);
    return low;
}

/* ---- loaded libraries ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By group, base (if `by_base`) and time. */
static int compare_loaded(const struct uft_dlopen *a, const struct uft_dlopen *b, bool by_base)
{
    int order = compare_numbers(a->group, b->group);
    if (order == 0 && by_base)
        order = compare_numbers(a->base, b->base);
    return order ? order : compare_numbers(a->time, b->time);
}

static int compare_by_group(const void *left, const void *right, void *dlopens)
{
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    int order = compare_loaded((struct uft_dlopen *)dlopens + i, (struct uft_dlopen *)dlopens + k, false);
    return order ? order : compare_numbers(i, k);
}

static int compare_by_base(const void *left, const void *right, void *dlopens)
{
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    int order = compare_loaded((struct uft_dlopen *)dlopens + i, (struct uft_dlopen *)dlopens + k, true);
    return order ? order : compare_numbers(i, k);
}

lode_status lode_uft_index_dlopens(struct uft_opening *opening)
{
    struct uft_recording *rec = opening->rec;
    uint32_t count = rec->dlopen_count;
    rec->dlopens_by_group = lode_arena_alloc(opening->arena, count, sizeof *rec->dlopens_by_group);
    rec->dlopens_by_base = lode_arena_alloc(opening->arena, count, sizeof *rec->dlopens_by_base);
    LODE_TRY_ALLOC(rec->dlopens_by_group && rec->dlopens_by_base, opening->error);
    for (uint32_t i = 0; i < count; i++)
        rec->dlopens_by_group[i] = rec->dlopens_by_base[i] = i;
    if (count > 0) {
        qsort_r(rec->dlopens_by_group, count, sizeof(uint32_t), compare_by_group, rec->dlopens);
        qsort_r(rec->dlopens_by_base, count, sizeof(uint32_t), compare_by_base, rec->dlopens);
    }
    return LODE_OK;
}

/* How many of the sorted libraries do not come after `last`. */
static uint32_t loaded_until(const struct uft_recording *rec, const uint32_t *sorted, bool by_base,
                             const struct uft_dlopen *last)
{
    uint32_t low = 0, high = rec->dlopen_count;
    LODE_BISECT(low, high, compare_loaded(&rec->dlopens[sorted[middle]], last, by_base) <= 0);
    return low;
}

/* The time of the next load after `time`. */
static uint64_t next_dlopen(const struct uft_recording *rec, uint32_t group, uint64_t time)
{
    const struct uft_dlopen last = {.group = group, .time = time};
    uint32_t next = loaded_until(rec, rec->dlopens_by_group, false, &last);
    const struct uft_dlopen *loaded =
        next < rec->dlopen_count ? &rec->dlopens[rec->dlopens_by_group[next]] : NULL;
    return loaded && loaded->group == group ? loaded->time : UINT64_MAX;
}

/* ---- sessions ---- */

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
    LODE_BISECT(low, high, symbols->items[middle].address <= offset);
    if (low == 0)
        return NULL;
    const struct uft_symbol *symbol = &symbols->items[low - 1];
    return offset - symbol->address < symbol->size ? symbol : NULL;
}

static const struct uft_map *find_map(const struct uft_session *session, uint64_t address)
{
    uint32_t low = 0, high = session->map_count;
    LODE_BISECT(low, high, session->maps[middle].start <= address);
    return low > 0 && address < session->maps[low - 1].end ? &session->maps[low - 1] : NULL;
}

/* The newest library at a base, or else a later one: code runs before its load is recorded. */
static const struct uft_dlopen *newest_at(const struct uft_recording *rec, uint32_t group, uint64_t base,
                                          uint64_t time)
{
    const struct uft_dlopen last = {.group = group, .base = base, .time = time};
    uint32_t next = loaded_until(rec, rec->dlopens_by_base, true, &last);
    const struct uft_dlopen *newest = next > 0 ? &rec->dlopens[rec->dlopens_by_base[next - 1]] : NULL;
    if (newest && newest->group == group && newest->base == base)
        return newest;
    return &rec->dlopens[rec->dlopens_by_base[next]];
}

/*
 * The library loaded nearest below an address. Its end is not recorded, so it must have a symbol
 * there. A library that was loaded later is used only if no other fits.
 */
static const struct uft_dlopen *find_dlopen(const struct uft_recording *rec,
                                            const struct uft_session *session, uint64_t time,
                                            uint64_t address, const struct uft_symbol **symbol)
{
    const struct uft_dlopen *best = NULL;
    struct uft_dlopen below = {.group = session->group, .base = address, .time = UINT64_MAX};
    for (unsigned places = 0; places < PLACES_MAX; places++) {
        uint32_t count = loaded_until(rec, rec->dlopens_by_base, true, &below);
        const struct uft_dlopen *loaded = count ? &rec->dlopens[rec->dlopens_by_base[count - 1]] : NULL;
        if (loaded == NULL || loaded->group != session->group)
            break;
        below.base = loaded->base - 1;
        loaded = newest_at(rec, session->group, loaded->base, time);
        const struct uft_symbol *found =
            find_symbol(&rec->modules[loaded->module].symbols, address - loaded->base);
        if (found && (best == NULL || loaded->time <= time)) {
            best = loaded;
            *symbol = found;
        }
        if ((best && best->time <= time) || loaded->base == 0)
            break;
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
    /* An entry that could not be allocated earlier is missing. */
    if (!is_new)
        return *slot < index ? *LODE_ARRAY_AT(&rec->files, const lode_file *, *slot) : NULL;
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
    function->function.is_stub = function->type == 'P';
    function->is_jump = is_jump(place->symbol);
    function->arguments =
        lode_uft_specs_choose(rec->specs, name, module->path, false, debug ? debug->arguments : NULL);
    function->result =
        lode_uft_specs_choose(rec->specs, name, module->path, true, debug ? debug->result : NULL);
    if (debug == NULL)
        return true;
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

static struct location locate(const struct uft_recording *rec, const struct uft_session *session,
                              uint64_t time, uint64_t address)
{
    struct location place = {NULL, address, NULL};
    const struct uft_map *map = session ? find_map(session, address) : NULL;
    const struct uft_dlopen *loaded =
        session && !map ? find_dlopen(rec, session, time, address, &place.symbol) : NULL;
    if (map) {
        const struct uft_module *module = &rec->modules[map->module];
        place.module = module->module;
        place.offset = address - map->start;
        place.symbol = find_symbol(&module->symbols, place.offset);
        /* Symbols of old recordings are absolute addresses. */
        if (place.symbol == NULL && !(rec->info.features & UFT_FEATURE_RELATIVE))
            place.symbol = find_symbol(&module->symbols, address);
    } else if (loaded) {
        place.module = rec->modules[loaded->module].module;
    }
    if (place.symbol)
        place.offset = place.symbol->address;
    return place;
}

bool lode_uft_is_mapped(const struct uft_session *session, uint64_t address)
{
    return session && find_map(session, address) != NULL;
}

const lode_function *lode_uft_other_address(const struct uft_recording *rec)
{
    struct uft_recording *grows = (struct uft_recording *)(uintptr_t)rec; // NOLINT(performance-no-int-to-ptr)
    return lode_uft_state_function(grows, "<other addresses>", STATE_OTHER);
}

static const lode_function *function_at(const struct uft_recording *rec, const struct location *location,
                                        uint64_t address)
{
    /* The tables of functions and source files are the only parts of a recording that grow. */
    struct uft_recording *grows = (struct uft_recording *)(uintptr_t)rec; // NOLINT(performance-no-int-to-ptr)
    struct place place = {grows, location->symbol, address};
    if (location->symbol == NULL && lode_function_table_count(&grows->base.functions) >= UNNAMED_MAX)
        return lode_uft_other_address(rec);
    struct lode_function_place known_by = {.module = location->module, .offset = location->offset};
    return lode_function_table_find(&grows->base.functions, &known_by, make_function, &place);
}

const lode_function *lode_uft_resolve(const struct uft_recording *rec, const struct uft_session *session,
                                      uint64_t time, uint64_t address)
{
    struct location location = locate(rec, session, time, address);
    return function_at(rec, &location, address);
}

const lode_function *lode_uft_find_named(const struct uft_recording *rec, const struct uft_session *session,
                                         uint64_t time, uint64_t address)
{
    struct location location = locate(rec, session, time, address);
    return location.symbol ? function_at(rec, &location, address) : NULL;
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
    struct lode_function_place place = {.offset = STATE_BASE + number};
    return lode_function_table_find(&rec->base.functions, &place, make_state, &name);
}
