/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/write/place.h"

#include "base/error.h"
#include <stdlib.h>

lode_status lode_uft_places_init(struct uft_places *places, const struct uft_recording *rec,
                                 const uint64_t *shifts, lode_error *error)
{
    *places = (struct uft_places){.rec = rec, .shifts = shifts};
    places->modules = calloc((size_t)rec->base.module_count + 1, sizeof *places->modules);
    return places->modules ? LODE_OK : lode_fail_memory(error);
}

void lode_uft_places_free(struct uft_places *places)
{
    free(places->modules);
    places->modules = NULL;
}

static void forget(struct uft_places *places)
{
    memset(places->modules, 0, places->rec->base.module_count * sizeof *places->modules);
    places->next = 0;
}

void lode_uft_places_begin(struct uft_places *places, const struct uft_task *task)
{
    places->task = task;
    places->session = NULL;
    places->end = 0;
    forget(places);
}

void lode_uft_places_advance(struct uft_places *places, uint64_t time)
{
    const struct uft_recording *rec = places->rec;
    const struct uft_session *before = places->session;
    places->session = lode_uft_session_at(rec, places->task, time, &places->end);
    if (places->session != before)
        forget(places);
    if (places->session == NULL)
        return;
    for (; places->next < rec->dlopen_count && rec->dlopens[places->next].time <= time; places->next++) {
        const struct uft_dlopen *library = &rec->dlopens[places->next];
        if (library->group == places->session->group)
            places->modules[library->module] = (struct uft_place){.loaded = library->base};
    }
}

/* The map of a module that contains this offset. Non-adjacent segments are several maps. */
static const struct uft_map *find_map(const struct uft_session *session, uint32_t module, uint64_t offset)
{
    for (uint32_t i = 0; i < session->map_count; i++) {
        const struct uft_map *map = &session->maps[i];
        if (map->module == module && offset < map->end - map->start)
            return map;
    }
    return NULL;
}

/* code runs before the load is recorded: use a later load if there is no earlier one. */
static uint64_t loaded_later(const struct uft_places *places, uint32_t module)
{
    const struct uft_recording *rec = places->rec;
    for (uint32_t i = places->next; i < rec->dlopen_count; i++)
        if (rec->dlopens[i].module == module && rec->dlopens[i].group == places->session->group)
            return rec->dlopens[i].base;
    return 0;
}

void lode_uft_places_find(struct uft_places *places, uint32_t module, uint64_t offset)
{
    struct uft_place *place = &places->modules[module];
    uint64_t shift = places->shifts && offset >= places->shifts[module] ? places->shifts[module] : 0;
    const struct uft_map *map = places->session ? find_map(places->session, module, offset - shift) : NULL;
    if (map) {
        place->base = map->start - shift;
        place->limit = places->shifts ? 0 : map->end;
        return;
    }
    uint64_t base = place->loaded;
    if (base == 0 && places->session)
        base = loaded_later(places, module);
    *place = (struct uft_place){base, UINT64_MAX, base};
}

lode_status lode_uft_symbol_shifts(uint64_t **out, const struct uft_recording *rec, lode_error *error)
{
    *out = NULL;
    if (rec->info.features & UFT_FEATURE_RELATIVE)
        return LODE_OK;
    uint64_t *shifts = calloc((size_t)rec->base.module_count + 1, sizeof *shifts);
    LODE_TRY_ALLOC(shifts, error);
    for (uint32_t s = rec->session_count; s-- > 0;)
        for (uint32_t i = rec->sessions[s].map_count; i-- > 0;) {
            const struct uft_map *map = &rec->sessions[s].maps[i];
            const struct uft_symbols *symbols = &rec->modules[map->module].symbols;
            bool is_address = symbols->count > 0 && symbols->items[0].address >= map->start;
            shifts[map->module] = is_address ? map->start : 0;
        }
    *out = shifts;
    return LODE_OK;
}
