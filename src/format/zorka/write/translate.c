/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings of a trace store that is rewritten: each is looked up once, and numbered at the end. */
#include "base/error.h"
#include "format/zorka/write/origin.h"
#include <stdlib.h>

enum {
    STACK_MAX = 65536
};

/* ---- opening ---- */

static _Atomic(struct zor_entry *) **make_table(const struct zor_recording *rec)
{
    _Atomic(struct zor_entry *) **table = calloc((size_t)rec->store_count + 1, sizeof *table);
    for (uint32_t i = 0; table && i < rec->store_count; i++) {
        table[i] = calloc(rec->stores[i].strings.items.count + 1, sizeof **table);
        if (table[i] == NULL)
            break;
    }
    return table;
}

static bool is_made(const struct zor_recording *rec, _Atomic(struct zor_entry *) **table)
{
    for (uint32_t i = 0; table && i < rec->store_count; i++)
        if (table[i] == NULL)
            return false;
    return table != NULL;
}

static void free_table(const struct zor_recording *rec, _Atomic(struct zor_entry *) **table)
{
    for (uint32_t i = 0; table && i < rec->store_count; i++)
        free(table[i]);
    free(table);
}

static bool make_stand_ins(struct zor_origin *source)
{
    static const char unknown[] = "<unknown>";
    struct zor_dictionary *strings = source->dictionary;
    struct zor_entry *parts[4] = {lode_zor_string(strings, ZOR_MARK_CLASS, zor_range(unknown))};
    source->unknown_text = lode_zor_string(strings, ZOR_MARK_NONE, zor_range("?"));
    source->unknown_key = lode_zor_string(strings, ZOR_MARK_NONE, zor_range("unknown attribute"));
    source->unknown_exception = parts[0] ? lode_zor_tuple(strings, ZOR_MARK_EXCEPTION, parts, 4, 0) : NULL;
    return source->unknown_text && source->unknown_key && source->unknown_exception;
}

/* ---- strings ---- */

static _Atomic(struct zor_entry *) *slot_of(const struct zor_origin *source, uint32_t store,
                                            const struct zor_text *text, _Atomic(struct zor_entry *) **table)
{
    const struct zor_strings *strings = &zor_of(source->recording)->stores[store].strings;
    return &table[store][text - LODE_ARRAY_AT(&strings->items, struct zor_text, 0)];
}

static const struct zor_text *find_text(const struct zor_origin *source, uint32_t store, uint64_t id)
{
    return lode_zor_text(&zor_of(source->recording)->stores[store].strings, id);
}

/* The marks around a string are part of it. */
struct zor_entry *lode_zor_translate_string(struct zor_origin *source, uint32_t store, uint64_t id,
                                            struct zor_entry *unknown)
{
    const struct zor_text *text = find_text(source, store, id);
    if (text == NULL)
        return id == 0 ? lode_zor_string(source->dictionary, ZOR_MARK_NONE, zor_range("")) : unknown;
    _Atomic(struct zor_entry *) *slot = slot_of(source, store, text, source->strings);
    struct zor_entry *entry = atomic_load_explicit(slot, memory_order_acquire);
    if (entry == NULL) {
        struct lode_range bytes = {(const uint8_t *)text->text, text->length};
        entry = lode_zor_string(source->dictionary, ZOR_MARK_NONE, bytes);
        atomic_store_explicit(slot, entry, memory_order_release);
    }
    return entry;
}

/* ---- tuples of strings ---- */

/* A part of a tuple: `entry` is NULL if there is none. False if out of memory. */
static bool translate_part(struct zor_origin *source, uint32_t store, uint64_t id, struct zor_entry **entry)
{
    *entry = NULL;
    if (id == 0 || find_text(source, store, id) == NULL)
        return true;
    *entry = lode_zor_translate_string(source, store, id, NULL);
    return *entry != NULL;
}

static struct zor_entry *make_item(struct zor_origin *source, uint32_t store, const struct zor_text *text)
{
    uint64_t ids[4] = {0};
    struct zor_entry *parts[3];
    lode_zor_ids(text, ids, 4);
    for (unsigned i = 0; i < 3; i++)
        if (!translate_part(source, store, ids[i], &parts[i]))
            return NULL;
    return lode_zor_tuple(source->dictionary, ZOR_MARK_STACK_ITEM, parts, 3, ids[3]);
}

static struct zor_entry *make_method(struct zor_origin *source, uint32_t store, const struct zor_text *text)
{
    uint64_t ids[3] = {0};
    struct zor_entry *parts[3];
    lode_zor_ids(text, ids, 3);
    for (unsigned i = 0; i < 3; i++)
        if (!translate_part(source, store, ids[i], &parts[i]))
            return NULL;
    return lode_zor_tuple(source->dictionary, ZOR_MARK_METHOD, parts, 3, 0);
}

typedef struct zor_entry *(*tuple_maker)(struct zor_origin *source, uint32_t store,
                                         const struct zor_text *text);

/* The entry of a tuple. NULL if it is absent or, with `*has_memory` false, out of memory. */
static struct zor_entry *translate_tuple(struct zor_origin *source, uint32_t store, uint64_t id,
                                         enum zor_mark mark, tuple_maker make, bool *has_memory)
{
    const struct zor_text *text = find_text(source, store, id);
    *has_memory = true;
    if (text == NULL || lode_zor_mark(text) != mark)
        return NULL;
    _Atomic(struct zor_entry *) *slot = slot_of(source, store, text, source->tuples);
    struct zor_entry *entry = atomic_load_explicit(slot, memory_order_acquire);
    if (entry == NULL) {
        entry = make(source, store, text);
        *has_memory = entry != NULL;
        atomic_store_explicit(slot, entry, memory_order_release);
    }
    return entry;
}

/* Skips invalid items. */
static struct zor_entry *make_stack(struct zor_origin *source, uint32_t store, const struct zor_text *text)
{
    size_t count = lode_zor_ids(text, NULL, 0), kept = 0;
    bool has_memory = true;
    count = count < STACK_MAX ? count : STACK_MAX;
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    struct zor_entry **items = calloc(count + 1, sizeof(struct zor_entry *)), *entry = NULL;
    if (ids && items) {
        lode_zor_ids(text, ids, count);
        for (size_t i = 0; i < count && has_memory; i++) {
            items[kept] = translate_tuple(source, store, ids[i], ZOR_MARK_STACK_ITEM, make_item, &has_memory);
            kept += items[kept] != NULL;
        }
        entry = has_memory ? lode_zor_tuple(source->dictionary, ZOR_MARK_STACK, items, kept, 0) : NULL;
    }
    free(ids);
    free(items);
    return entry;
}

/* An exception that links to its cause. */
static struct zor_entry *make_exception(struct zor_origin *source, uint32_t store, const uint64_t ids[4],
                                        struct zor_entry *cause)
{
    struct zor_entry *parts[4];
    bool has_memory;
    if (!translate_part(source, store, ids[0], &parts[0]) ||
        !translate_part(source, store, ids[1], &parts[1]))
        return NULL;
    parts[2] = translate_tuple(source, store, ids[2], ZOR_MARK_STACK, make_stack, &has_memory);
    parts[3] = cause;
    return has_memory ? lode_zor_tuple(source->dictionary, ZOR_MARK_EXCEPTION, parts, 4, 0) : NULL;
}

/* From the last cause to the first. */
static struct zor_entry *make_exceptions(struct zor_origin *source, uint32_t store,
                                         const struct zor_text *text)
{
    uint64_t ids[ZOR_CAUSES_MAX][4] = {0};
    unsigned count = 0;
    struct zor_entry *entry = NULL;
    while (count < ZOR_CAUSES_MAX && text && lode_zor_mark(text) == ZOR_MARK_EXCEPTION) {
        lode_zor_ids(text, ids[count], 4);
        text = find_text(source, store, ids[count++][3]);
    }
    while (count-- > 0) {
        entry = make_exception(source, store, ids[count], entry);
        if (entry == NULL)
            return NULL;
    }
    return entry;
}

struct zor_entry *lode_zor_translate_exception(struct zor_origin *source, uint32_t store, uint64_t id)
{
    bool has_memory;
    struct zor_entry *entry =
        translate_tuple(source, store, id, ZOR_MARK_EXCEPTION, make_exceptions, &has_memory);
    return entry == NULL && has_memory ? source->unknown_exception : entry;
}

/* ---- methods ---- */

static lode_status add_method(struct zor_origin *source, uint32_t store, const struct zor_text *text,
                              lode_error *error)
{
    bool is_known, has_memory;
    const lode_function *function = lode_zor_function(zor_of(source->recording), store, text->id, &is_known);
    LODE_TRY_ALLOC(function, error);
    if (!is_known)
        return LODE_OK;
    if (function->index >= source->method_count) {
        LODE_TRY_ALLOC(LODE_GROW_ZEROED(source->methods, source->method_count, 2 * function->index + 64),
                       error);
    }
    if (source->methods[function->index])
        return LODE_OK;
    source->methods[function->index] =
        translate_tuple(source, store, text->id, ZOR_MARK_METHOD, make_method, &has_memory);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}

/* Functions are identified by name. Of several methods of one name, the first is used. */
static lode_status find_methods(struct zor_origin *source, lode_error *error)
{
    const struct zor_recording *rec = zor_of(source->recording);
    for (uint32_t i = 0; i < rec->store_count; i++)
        for (size_t k = 0; k < rec->stores[i].strings.items.count; k++) {
            const struct zor_text *text = LODE_ARRAY_AT(&rec->stores[i].strings.items, struct zor_text, k);
            if (lode_zor_mark(text) == ZOR_MARK_METHOD)
                LODE_TRY(add_method(source, i, text, error));
        }
    return LODE_OK;
}

lode_status lode_zor_translation_open(struct zor_origin *source, lode_error *error)
{
    const struct zor_recording *rec = zor_of(source->recording);
    source->strings = make_table(rec);
    source->tuples = make_table(rec);
    if (!is_made(rec, source->strings) || !is_made(rec, source->tuples) || !make_stand_ins(source))
        return lode_fail_memory(error);
    return find_methods(source, error);
}

void lode_zor_translation_close(struct zor_origin *source)
{
    const struct zor_recording *rec = zor_of(source->recording);
    free_table(rec, source->strings);
    free_table(rec, source->tuples);
    free(source->methods);
}
