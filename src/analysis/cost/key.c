/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/key.h"

#include "base/memory/hash.h"
#include <string.h>

/* Bytes of entry point names that are compared: a hostile file can have many huge ones. */
#define NAME_BYTES 256

struct lode_key lode_key_of_function(const lode_context *context)
{
    if (context->lexical == LODE_LEXICAL_GLOBAL)
        return (struct lode_key){.kind = LODE_KEY_GLOBAL};
    if (context->lexical == LODE_LEXICAL_ENTRY)
        return (struct lode_key){
            .kind = LODE_KEY_ENTRY, .number = context->entry, .name = context->entry_name};
    if (context->function)
        return (struct lode_key){.kind = LODE_KEY_FUNCTION, .function = function_identity(context->function)};
    if (context->module)
        return (struct lode_key){.kind = LODE_KEY_ADDRESS,
                                 .lexical = context->lexical,
                                 .module = context->module,
                                 .number = context->offset};
    return (struct lode_key){.kind = LODE_KEY_UNKNOWN,
                             .lexical = context->lexical,
                             .file = context->file,
                             .number = context->file ? context->line : 0};
}

struct lode_key lode_key_of_loop(const lode_context *context)
{
    return (struct lode_key){.kind = LODE_KEY_LOOP,
                             .module = context->module,
                             .file = context->file,
                             .number = context->file ? context->line : context->offset};
}

struct lode_key lode_key_of_line(const lode_context *context)
{
    if (context->file)
        return (struct lode_key){.kind = LODE_KEY_LINE, .file = context->file, .number = context->line};
    return (struct lode_key){.kind = LODE_KEY_LINE, .module = context->module, .number = context->offset};
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strncmp(a, b, NAME_BYTES) == 0);
}

bool lode_key_is_same(const struct lode_key *a, const struct lode_key *b)
{
    return a->kind == b->kind && a->lexical == b->lexical && a->is_inlined == b->is_inlined &&
           a->function == b->function && a->module == b->module && a->file == b->file &&
           a->number == b->number && same_name(a->name, b->name);
}

/* ---- numbers ---- */

static uint64_t key_hash(const struct lode_key *key)
{
    uint64_t function = key->function ? key->function->index + UINT64_C(1) : 0;
    uint64_t module = key->module ? key->module->index + UINT64_C(1) : 0;
    uint64_t file = key->file ? key->file->index + UINT64_C(1) : 0;
    uint64_t what = lode_hash_pair(key->kind * 2 + key->is_inlined, key->lexical);
    uint64_t where = lode_hash_pair(lode_hash_pair(module, file), key->number);
    uint64_t hash = lode_hash_pair(lode_hash_pair(what, function), where);
    if (key->name == NULL)
        return hash;
    return lode_hash_pair(hash, lode_hash_bytes(key->name, strnlen(key->name, NAME_BYTES)));
}

void lode_keys_init(struct lode_keys *keys)
{
    *keys = (struct lode_keys){0};
    lode_array_init(&keys->items, sizeof(struct lode_key), LODE_NO_INDEX - 1);
}

uint32_t lode_keys_add(struct lode_keys *keys, const struct lode_key *key, bool *added)
{
    uint64_t hash = key_hash(key);
    struct lode_index_probe probe = lode_index_begin(&keys->index, hash);
    *added = false;
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (lode_key_is_same(LODE_ARRAY_AT(&keys->items, struct lode_key, number), key))
            return number;
    struct lode_key *item = lode_index_reserve(&keys->index) ? lode_array_push(&keys->items) : NULL;
    if (item == NULL)
        return LODE_NO_INDEX;
    *item = *key;
    *added = true;
    uint32_t number = (uint32_t)keys->items.count - 1;
    lode_index_put(&keys->index, hash, number);
    return number;
}

void lode_keys_clear(struct lode_keys *keys)
{
    lode_index_clear(&keys->index);
    keys->items.count = 0;
}

void lode_keys_free(struct lode_keys *keys)
{
    lode_index_free(&keys->index);
    lode_array_free(&keys->items);
}
