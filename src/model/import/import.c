/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings, frames, contexts and sums of what is imported. */
#include "model/import/import.h"

#include "base/error.h"
#include "base/text/utf8.h"
#include <inttypes.h>
#include <lode/private/utf8.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool add_entry(struct lode_import *self)
{
    struct lode_frame frame = {.file = LODE_NO_NUMBER,
                               .module = LODE_NO_NUMBER,
                               .kind = LODE_LEXICAL_ENTRY,
                               .entry = LODE_ENTRY_UNKNOWN};
    frame.function = lode_strings_add(&self->frames.strings, "unknown entry");
    uint32_t number = frame.function == LODE_NO_NUMBER
                          ? LODE_NO_NUMBER
                          : lode_interner_add(&self->frames.frames, &frame, NULL);
    return number != LODE_NO_NUMBER &&
           lode_content_tree_child(&self->tree, LODE_TREE_ROOT, number) == LODE_IMPORT_ENTRY;
}

bool lode_import_open(struct lode_import *self)
{
    *self = (struct lode_import){
        .default_metric = LODE_NONE, .most_contexts = LODE_IMPORT_CONTEXTS, .most_cells = LODE_IMPORT_CELLS};
    lode_frames_init(&self->frames);
    lode_map_init(&self->row_of);
    lode_arena_init(&self->arena, SIZE_MAX);
    lode_array_init(&self->metrics, sizeof(const char *), LODE_IMPORT_METRICS);
    lode_array_init(&self->profiles, sizeof(lode_id), UINT32_MAX - 1);
    lode_array_init(&self->rows, sizeof(uint64_t), LODE_IMPORT_CELLS);
    return lode_content_tree_open(&self->tree, sizeof(struct lode_tree_node)) && add_entry(self);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void lode_import_limit(struct lode_import *self, uint64_t file_size, uint64_t bytes)
{
    self->counted = file_size < bytes / LODE_IMPORT_PACKED ? file_size * LODE_IMPORT_PACKED : bytes;
    self->most_contexts =
        smaller(LODE_IMPORT_FLOOR + self->counted / LODE_IMPORT_CONTEXT, LODE_IMPORT_CONTEXTS);
    self->most_cells = smaller(LODE_IMPORT_FLOOR + self->counted / LODE_IMPORT_CELL, LODE_IMPORT_CELLS);
}

void lode_import_close(struct lode_import *self)
{
    lode_frames_free(&self->frames);
    lode_content_tree_close(&self->tree);
    lode_map_free(&self->row_of);
    lode_array_free(&self->metrics);
    lode_array_free(&self->profiles);
    lode_array_free(&self->rows);
    lode_array_free(&self->sums);
    lode_blob_free(&self->buffer);
    lode_arena_free(&self->arena);
    lode_carried_free(self->carried);
}

/* ---- strings ---- */

/* The length of valid text without NUL. */
static size_t clean_prefix(const char *text, size_t size, unsigned *changes)
{
    size_t at = 0;
    while (at < size) {
        uint32_t character;
        size_t step = lode_utf8_decode(text + at, size - at, &character);
        if (step == 0 || character == 0)
            return at;
        *changes |= lode_utf8_is_control(character) ? LODE_IMPORT_HAS_CONTROL : 0;
        at += step;
    }
    return at;
}

static bool append(struct lode_blob *blob, const char *text, size_t size)
{
    size_t at = lode_blob_reserve(blob, size, 1);
    if (at != LODE_BLOB_FULL && size > 0)
        memcpy(blob->bytes + at, text, size);
    return at != LODE_BLOB_FULL;
}

lode_status lode_import_string(struct lode_import *self, const void *bytes, size_t size, uint32_t *number,
                               unsigned *changes, lode_error *error)
{
    const char *text = bytes;
    size_t at = 0;
    self->buffer.size = 0;
    if (size > LODE_IMPORT_NAME) {
        *changes |= LODE_IMPORT_IS_CUT;
        for (size = LODE_IMPORT_NAME; size > 0 && utf8_is_continuation(text[size]);)
            size--;
    }
    while (at < size) {
        size_t valid = clean_prefix(text + at, size - at, changes);
        LODE_TRY_ALLOC(append(&self->buffer, text + at, valid), error);
        at += valid;
        if (at == size)
            break;
        *changes |= LODE_IMPORT_IS_INVALID;
        LODE_TRY_ALLOC(append(&self->buffer, REPLACEMENT, strlen(REPLACEMENT)), error);
        for (at++; at < size && utf8_is_continuation(text[at]);)
            at++;
    }
    LODE_TRY_ALLOC(append(&self->buffer, "", 1), error);
    *number = lode_strings_add(&self->frames.strings, (const char *)self->buffer.bytes);
    return *number == LODE_NO_NUMBER ? lode_fail_memory(error) : LODE_OK;
}

const char *lode_import_keep(struct lode_import *self, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&self->arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

lode_status lode_import_metric(struct lode_import *self, const char *name, lode_error *error)
{
    /* With the other strings, which the database keeps. */
    uint32_t number = lode_strings_add(&self->frames.strings, name);
    const char **slot = number == LODE_NO_NUMBER ? NULL : lode_array_push(&self->metrics);
    LODE_TRY_ALLOC(slot, error);
    *slot = lode_strings_at(&self->frames.strings, number);
    return LODE_OK;
}

lode_status lode_import_profile(struct lode_import *self, const lode_id *id, uint32_t *profile,
                                lode_error *error)
{
    lode_id *slot = lode_array_push(&self->profiles);
    LODE_TRY_ALLOC(slot, error);
    *slot = *id;
    *profile = (uint32_t)self->profiles.count;
    return LODE_OK;
}

/* ---- frames ---- */

uint32_t lode_import_function(struct lode_import *self, uint32_t name, uint32_t module, uint32_t file,
                              uint32_t line)
{
    struct lode_frame_function function = {.name = name, .module = module, .file = file, .line = line};
    return lode_interner_add(&self->frames.functions, &function, NULL);
}

uint32_t lode_import_call(struct lode_import *self, uint32_t function, bool is_inlined)
{
    struct lode_frame frame = {.function = function,
                               .file = LODE_NO_NUMBER,
                               .module = LODE_NO_NUMBER,
                               .kind = LODE_LEXICAL_FUNCTION,
                               .relation = is_inlined ? LODE_RELATION_INLINED : LODE_RELATION_CALL};
    return lode_interner_add(&self->frames.frames, &frame, NULL);
}

uint32_t lode_import_line(struct lode_import *self, uint32_t file, uint32_t line)
{
    struct lode_frame frame = {.function = LODE_NO_NUMBER,
                               .file = file,
                               .module = LODE_NO_NUMBER,
                               .line = line,
                               .propagation = 1,
                               .kind = LODE_LEXICAL_LINE,
                               .relation = LODE_RELATION_LEXICAL};
    return lode_interner_add(&self->frames.frames, &frame, NULL);
}

uint32_t lode_import_loop(struct lode_import *self, const struct lode_import_loop *loop)
{
    struct lode_frame frame = {.function = LODE_NO_NUMBER,
                               .file = loop->file,
                               .module = loop->module,
                               .offset = loop->offset,
                               .line = loop->line,
                               .propagation = 1,
                               .kind = LODE_LEXICAL_LOOP,
                               .relation = LODE_RELATION_LEXICAL};
    return lode_interner_add(&self->frames.frames, &frame, NULL);
}

uint32_t lode_import_instruction(struct lode_import *self, uint32_t module, uint64_t offset)
{
    struct lode_frame frame = {.function = LODE_NO_NUMBER,
                               .file = LODE_NO_NUMBER,
                               .module = module,
                               .offset = offset,
                               .propagation = 1,
                               .kind = LODE_LEXICAL_INSTRUCTION,
                               .relation = LODE_RELATION_LEXICAL};
    return lode_interner_add(&self->frames.frames, &frame, NULL);
}

/* ---- samples ---- */

lode_status lode_import_step(struct lode_import *self, uint32_t frame, uint32_t *context, lode_error *error)
{
    uint32_t child = lode_content_tree_child(&self->tree, *context, frame);
    LODE_TRY_ALLOC(child != 0, error);
    *context = child;
    if (self->tree.count > self->most_contexts)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "the samples have more than %" PRIu64 " calling contexts", self->most_contexts);
    return LODE_OK;
}

static lode_status find_row(struct lode_import *self, uint64_t key, uint32_t *row, lode_error *error)
{
    bool added;
    uint32_t *slot = lode_map_add(&self->row_of, key, (uint32_t)self->rows.count, &added);
    LODE_TRY_ALLOC(slot, error);
    *row = *slot;
    if (!added)
        return LODE_OK;
    if ((self->rows.count + 1) * self->metrics.count > self->most_cells)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "the samples have more than %" PRIu64 " values", self->most_cells);
    if (self->sums.item_size == 0)
        lode_array_init(&self->sums, self->metrics.count * sizeof(lode_wide), LODE_IMPORT_CELLS);
    uint64_t *kept = lode_array_push(&self->rows);
    LODE_TRY_ALLOC(kept && lode_array_push(&self->sums), error);
    *kept = key;
    return LODE_OK;
}

lode_status lode_import_add(struct lode_import *self, uint32_t profile, uint32_t context,
                            const lode_wide *values, lode_error *error)
{
    uint32_t row;
    bool has_any = false;
    for (size_t i = 0; i < self->metrics.count && !has_any; i++)
        has_any = values[i] != 0;
    if (!has_any)
        return LODE_OK;
    LODE_TRY(find_row(self, (uint64_t)profile << 32 | context, &row, error));
    lode_wide *sums = (lode_wide *)self->sums.items + (size_t)row * self->metrics.count;
    for (size_t i = 0; i < self->metrics.count; i++)
        if (values[i] != 0)
            lode_wide_add(&sums[i], values[i], &self->overflows);
    return LODE_OK;
}
