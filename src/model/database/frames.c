/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of contexts, each stored once. */
#include "base/comm/pack.h"
#include "model/database/tree.h"
#include <lode/context.h>
#include <stdlib.h>

void lode_frames_init(struct lode_frames *frames)
{
    lode_strings_init(&frames->strings);
    lode_interner_init(&frames->functions, sizeof(struct lode_frame_function));
    lode_interner_init(&frames->frames, sizeof(struct lode_frame));
}

void lode_frames_free(struct lode_frames *frames)
{
    lode_strings_free(&frames->strings);
    lode_interner_free(&frames->functions);
    lode_interner_free(&frames->frames);
}

/* ---- merging ---- */

static uint32_t look_up(const uint32_t *map, uint32_t number)
{
    return number == LODE_NO_NUMBER ? LODE_NO_NUMBER : map[number];
}

static bool merge_strings(struct lode_strings *strings, const struct lode_strings *from, uint32_t *map)
{
    bool done = true;
    for (uint32_t i = 0; i < from->items.count && done; i++)
        done = (map[i] = lode_strings_add(strings, lode_strings_at(from, i))) != LODE_NO_NUMBER;
    return done;
}

static bool merge_functions(struct lode_frames *frames, const struct lode_frames *from,
                            const uint32_t *strings, uint32_t *map)
{
    bool done = true;
    for (size_t i = 0; i < from->functions.items.count && done; i++) {
        struct lode_frame_function function =
            *LODE_ARRAY_AT(&from->functions.items, struct lode_frame_function, i);
        function.name = look_up(strings, function.name);
        function.module = look_up(strings, function.module);
        function.file = look_up(strings, function.file);
        done = (map[i] = lode_interner_add(&frames->functions, &function, NULL)) != LODE_NO_NUMBER;
    }
    return done;
}

static bool merge_frames(struct lode_frames *frames, const struct lode_frames *from, const uint32_t *strings,
                         const uint32_t *functions, uint32_t *map)
{
    bool done = true;
    for (uint32_t i = 0; i < from->frames.items.count && done; i++) {
        struct lode_frame frame = *lode_frames_at(from, i);
        frame.function = look_up(frame.kind == LODE_LEXICAL_ENTRY ? strings : functions, frame.function);
        frame.file = look_up(strings, frame.file);
        frame.module = look_up(strings, frame.module);
        done = (map[i] = lode_interner_add(&frames->frames, &frame, NULL)) != LODE_NO_NUMBER;
    }
    return done;
}

bool lode_frames_merge(struct lode_frames *frames, const struct lode_frames *from, uint32_t *map)
{
    uint32_t *strings = calloc(from->strings.items.count + 1, sizeof *strings);
    uint32_t *functions = calloc(from->functions.items.count + 1, sizeof *functions);
    bool done = strings && functions && merge_strings(&frames->strings, &from->strings, strings) &&
                merge_functions(frames, from, strings, functions) &&
                merge_frames(frames, from, strings, functions, map);
    free(strings);
    free(functions);
    return done;
}

/* ---- packing ---- */

bool lode_strings_pack(const struct lode_strings *strings, struct lode_blob *blob)
{
    bool done = pack_number(blob, strings->items.count);
    for (uint32_t i = 0; i < strings->items.count && done; i++)
        done = pack_string(blob, lode_strings_at(strings, i));
    return done;
}

bool lode_strings_unpack(struct lode_strings *strings, const unsigned char **at)
{
    bool done = true;
    for (uint64_t left = unpack_number(at); left > 0 && done; left--)
        done = lode_strings_add(strings, unpack_string(at)) != LODE_NO_NUMBER;
    return done;
}

bool lode_interner_pack(const struct lode_interner *interner, struct lode_blob *blob)
{
    const struct lode_array *items = &interner->items;
    return pack_number(blob, items->count) && pack_bytes(blob, items->items, items->count * items->item_size);
}

bool lode_interner_unpack(struct lode_interner *interner, const unsigned char **at)
{
    bool done = true;
    for (uint64_t left = unpack_number(at); left > 0 && done; left--) {
        done = lode_interner_add(interner, *at, NULL) != LODE_NO_NUMBER;
        *at += interner->items.item_size;
    }
    return done;
}

bool lode_frames_pack(const struct lode_frames *frames, struct lode_blob *blob)
{
    return lode_strings_pack(&frames->strings, blob) && lode_interner_pack(&frames->functions, blob) &&
           lode_interner_pack(&frames->frames, blob);
}

bool lode_frames_unpack(struct lode_frames *frames, const unsigned char **at)
{
    return lode_strings_unpack(&frames->strings, at) && lode_interner_unpack(&frames->functions, at) &&
           lode_interner_unpack(&frames->frames, at);
}
