/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/frames.h"

#include "base/text/utf8.h"
#include <lode/private/utf8.h>
#include <stdint.h>
#include <string.h>

/* Numbers of strings. Without padding: compared byte by byte. */
struct frame_key {
    uint32_t name, symbol, file, module, line;
    uint32_t is_code;
    uint64_t address;
};

enum {
    FIRST_LABEL = 512
};

void lode_export_frames_init(struct lode_export_frames *frames, lode_name_form form)
{
    frames->form = form;
    lode_strings_init(&frames->strings);
    lode_interner_init(&frames->keys, sizeof(struct frame_key));
    lode_map_init(&frames->by_function);
    lode_array_init(&frames->text, 1, SIZE_MAX / 2);
}

void lode_export_frames_free(struct lode_export_frames *frames)
{
    lode_strings_free(&frames->strings);
    lode_interner_free(&frames->keys);
    lode_map_free(&frames->by_function);
    lode_array_free(&frames->text);
}

uint32_t lode_export_frames_count(const struct lode_export_frames *frames)
{
    return (uint32_t)frames->keys.items.count;
}

struct lode_export_frame lode_export_frames_at(const struct lode_export_frames *frames, uint32_t frame)
{
    const struct frame_key *key = LODE_ARRAY_AT(&frames->keys.items, struct frame_key, frame);
    return (struct lode_export_frame){
        lode_strings_at(&frames->strings, key->name),
        lode_strings_at(&frames->strings, key->symbol),
        lode_strings_at(&frames->strings, key->file),
        lode_strings_at(&frames->strings, key->module),
        key->line,
        key->is_code != 0,
        key->address,
    };
}

/* ---- text ---- */

static char *reserve_text(struct lode_export_frames *frames, size_t size)
{
    while (frames->text.count < size)
        if (lode_array_push(&frames->text) == NULL)
            return NULL;
    return frames->text.items;
}

static bool is_plain(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0, step; i < length; i += step) {
        uint32_t character;
        step = lode_utf8_decode(text + i, length - i, &character);
        if (step == 0 || lode_utf8_is_control(character))
            return false;
    }
    return true;
}

void lode_export_clean(char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0, step; i < length; i += step) {
        uint32_t character;
        step = lode_utf8_decode(text + i, length - i, &character);
        bool is_bad = step == 0 || lode_utf8_is_control(character);
        step = step == 0 ? 1 : step;
        if (is_bad)
            memset(text + i, '?', step);
    }
}

/* Text of a store, cleaned. */
static lode_status put_text(struct lode_export_frames *frames, const char *text, uint32_t *number,
                            lode_error *error)
{
    if (text == NULL)
        text = "";
    if (!is_plain(text)) {
        size_t length = strlen(text);
        char *copy = reserve_text(frames, length + 1);
        LODE_TRY_ALLOC(copy, error);
        memcpy(copy, text, length + 1);
        lode_export_clean(copy);
        text = copy;
    }
    LODE_TRY_ALLOC(lode_strings_put(&frames->strings, text, number), error);
    return LODE_OK;
}

typedef size_t (*label_fn)(const void *what, lode_name_form form, char *buffer, size_t capacity);

static size_t label_function(const void *what, lode_name_form form, char *buffer, size_t capacity)
{
    return lode_function_label_as(what, form, buffer, capacity);
}

static size_t label_context(const void *what, lode_name_form form, char *buffer, size_t capacity)
{
    return lode_context_label_as(what, form, buffer, capacity);
}

static lode_status put_label(struct lode_export_frames *frames, label_fn label, const void *what,
                             uint32_t *number, lode_error *error)
{
    char *text = reserve_text(frames, FIRST_LABEL);
    LODE_TRY_ALLOC(text, error);
    size_t length = label(what, frames->form, text, frames->text.count);
    if (length >= frames->text.count) {
        text = reserve_text(frames, length + 1);
        LODE_TRY_ALLOC(text, error);
        label(what, frames->form, text, length + 1);
    }
    LODE_TRY_ALLOC(lode_strings_put(&frames->strings, text, number), error);
    return LODE_OK;
}

/* ---- frames ---- */

static lode_status put_key(struct lode_export_frames *frames, const struct frame_key *key, uint32_t *frame,
                           lode_error *error)
{
    *frame = lode_interner_add(&frames->keys, key, NULL);
    return *frame == LODE_NO_NUMBER ? lode_fail_memory(error) : LODE_OK;
}

/* The name in the store is worth a field if it is another one, as a mangled name is. */
static lode_status put_symbol(struct lode_export_frames *frames, const lode_function *function,
                              struct frame_key *key, lode_error *error)
{
    const char *name = lode_function_name(function);
    bool differs = name != NULL && strcmp(name, lode_strings_at(&frames->strings, key->name)) != 0;
    return put_text(frames, differs && is_plain(name) ? name : "", &key->symbol, error);
}

/* A frame that is nothing but a name. */
static lode_status put_name(struct lode_export_frames *frames, uint32_t name, uint32_t *known,
                            uint32_t *frame, lode_error *error)
{
    struct frame_key key = {.name = name};
    LODE_TRY(put_text(frames, NULL, &key.symbol, error));
    key.file = key.module = key.symbol;
    LODE_TRY(put_key(frames, &key, frame, error));
    if (known)
        *known = *frame;
    return LODE_OK;
}

lode_status lode_export_frames_function(struct lode_export_frames *frames, const lode_function *function,
                                        uint32_t *frame, lode_error *error)
{
    struct frame_key key = {.line = lode_function_line(function)};
    bool added;
    uint32_t *known = lode_map_add(&frames->by_function, (uintptr_t)function, 0, &added);
    LODE_TRY_ALLOC(known, error);
    if (!added) {
        *frame = *known;
        return LODE_OK;
    }
    const lode_file *file = lode_function_file(function);
    const lode_module *module = lode_function_module(function);
    LODE_TRY(put_label(frames, label_function, function, &key.name, error));
    if (frames->by_name)
        return put_name(frames, key.name, known, frame, error);
    LODE_TRY(put_symbol(frames, function, &key, error));
    LODE_TRY(put_text(frames, file ? lode_file_path(file) : NULL, &key.file, error));
    LODE_TRY(put_text(frames, module ? lode_module_path(module) : NULL, &key.module, error));
    LODE_TRY(put_key(frames, &key, frame, error));
    *known = *frame;
    return LODE_OK;
}

lode_status lode_export_frames_context(struct lode_export_frames *frames, const lode_context *context,
                                       uint32_t *frame, lode_error *error)
{
    struct frame_key key = {0};
    const lode_file *file = lode_context_file(context);
    const lode_module *module = lode_context_module(context);
    bool is_loop = lode_context_lexical(context) == LODE_LEXICAL_LOOP;
    LODE_TRY(put_label(frames, label_context, context, &key.name, error));
    if (frames->by_name)
        return put_name(frames, key.name, NULL, frame, error);
    LODE_TRY(put_text(frames, NULL, &key.symbol, error));
    LODE_TRY(put_text(frames, file ? lode_file_path(file) : NULL, &key.file, error));
    LODE_TRY(put_text(frames, module ? lode_module_path(module) : NULL, &key.module, error));
    key.line = is_loop ? lode_context_line(context) : 0;
    key.is_code = lode_context_lexical(context) == LODE_LEXICAL_INSTRUCTION && module != NULL;
    key.address = key.is_code ? lode_context_offset(context) : 0;
    return put_key(frames, &key, frame, error);
}

lode_status lode_export_frames_named(struct lode_export_frames *frames, const char *name, uint32_t *frame,
                                     lode_error *error)
{
    uint32_t number;
    LODE_TRY(put_text(frames, name, &number, error));
    return put_name(frames, number, NULL, frame, error);
}
