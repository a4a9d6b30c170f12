/* SPDX-License-Identifier: BSD-3-Clause */
/* From a function to an address: the location of its module, for a task at a time. */
#ifndef LODE_UFTRACE_WRITE_PLACE_H
#define LODE_UFTRACE_WRITE_PLACE_H

#include "format/uftrace/read.h"

/* The location of a module. */
struct uft_place {
    uint64_t base, limit; /* covers offsets below limit - base; limit 0: look it up each time */
    uint64_t loaded;      /* base of the last load while the program ran; 0: none */
};

/* For one task, whose times do not go back. */
struct uft_places {
    const struct uft_recording *rec;
    const struct uft_task *task;
    const struct uft_session *session; /* applies until `end`; or NULL */
    uint64_t end;
    uint32_t next; /* library that is loaded next */
    struct uft_place *modules;
    const uint64_t *shifts; /* by module, or NULL */
};

/* `shifts` is borrowed. */
lode_status lode_uft_places_init(struct uft_places *places, const struct uft_recording *rec,
                                 const uint64_t *shifts, lode_error *error);
void lode_uft_places_free(struct uft_places *places);
/* Starts another task. */
void lode_uft_places_begin(struct uft_places *places, const struct uft_task *task);
/* Advances to a time at or after `end`. */
void lode_uft_places_advance(struct uft_places *places, uint64_t time);
/* Looks up the location of an offset in a module; 0 if it is not mapped. */
void lode_uft_places_find(struct uft_places *places, uint32_t module, uint64_t offset);

/* How much each module's symbols exceed offsets in it, to be freed. NULL: they are offsets. */
lode_status lode_uft_symbol_shifts(uint64_t **out, const struct uft_recording *rec, lode_error *error);

static inline uint64_t lode_uft_address(struct uft_places *places, const lode_function *function,
                                        uint64_t time)
{
    if (time >= places->end)
        lode_uft_places_advance(places, time);
    if (function->module == NULL)
        return function->offset;
    const struct uft_place *place = &places->modules[function->module->index];
    if (function->offset >= place->limit - place->base || place->limit == 0)
        lode_uft_places_find(places, function->module->index, function->offset);
    return place->base + function->offset;
}

#endif
