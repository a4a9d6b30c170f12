/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over requests, of a worker or of all. */
#include "analysis/diagnose/requests/tables.h"

void lode_diagnose_request_tables_init(struct request_tables *tables)
{
    *tables = (struct request_tables){0};
    lode_map_init(&tables->method_index);
    lode_array_init(&tables->methods, sizeof(struct method_sum), SIZE_MAX);
    lode_strings_init(&tables->keys);
    lode_strings_init(&tables->values);
    lode_strings_init(&tables->statements);
    lode_interner_init(&tables->value_keys, sizeof(struct value_key));
    lode_array_init(&tables->value_sums, sizeof(struct value_sum), SIZE_MAX);
    lode_interner_init(&tables->site_keys, sizeof(struct site_key));
    lode_array_init(&tables->site_sums, sizeof(struct site_sum), SIZE_MAX);
}

void lode_diagnose_request_tables_free(struct request_tables *tables)
{
    lode_map_free(&tables->method_index);
    lode_array_free(&tables->methods);
    lode_strings_free(&tables->keys);
    lode_strings_free(&tables->values);
    lode_strings_free(&tables->statements);
    lode_interner_free(&tables->value_keys);
    lode_array_free(&tables->value_sums);
    lode_interner_free(&tables->site_keys);
    lode_array_free(&tables->site_sums);
}

/* ---- methods ---- */

static uint64_t method_key(uint32_t entry, uint32_t function)
{
    return (uint64_t)entry << 32 | function;
}

struct method_sum *lode_diagnose_tables_add_method(struct request_tables *tables, uint32_t entry,
                                                   uint32_t function)
{
    bool is_new = false;
    uint32_t *at = lode_map_add(&tables->method_index, method_key(entry, function),
                                (uint32_t)tables->methods.count, &is_new);
    if (at == NULL)
        return NULL;
    struct method_sum *sum =
        is_new ? lode_array_push(&tables->methods) : LODE_ARRAY_AT(&tables->methods, struct method_sum, *at);
    if (sum) {
        sum->entry = entry;
        sum->function = function;
    }
    return sum;
}

const struct method_sum *lode_diagnose_tables_find_method(const struct request_tables *tables, uint32_t entry,
                                                          uint32_t function)
{
    const uint32_t *at = lode_map_get(&tables->method_index, method_key(entry, function));
    return at ? LODE_ARRAY_AT(&tables->methods, struct method_sum, *at) : NULL;
}

/* ---- attributes ---- */

/* The number of a key; LODE_NO_NUMBER and true: there are too many. */
static bool add_key(struct request_tables *tables, const char *text, uint32_t *key)
{
    *key = lode_strings_find(&tables->keys, text);
    if (*key != LODE_NO_NUMBER)
        return true;
    if (tables->keys.items.count == KEYS_MAX) {
        tables->has_many_keys = true;
        return true;
    }
    return lode_strings_put(&tables->keys, text, key);
}

bool lode_diagnose_tables_add_value(struct request_tables *tables, uint32_t entry, const char *key,
                                    const char *value, const struct value_sum *sum)
{
    struct value_key id = {.entry = entry};
    bool is_new = false;
    if (!add_key(tables, key, &id.key))
        return false;
    if (id.key == LODE_NO_NUMBER || tables_has_many_values(tables, id.key))
        return true;
    if (!lode_strings_put(&tables->values, value, &id.value))
        return false;
    uint32_t at = lode_interner_add(&tables->value_keys, &id, &is_new);
    if (at == LODE_NO_NUMBER)
        return false;
    tables->values_of[id.key] += is_new;
    struct value_sum *to = is_new ? lode_array_push(&tables->value_sums)
                                  : LODE_ARRAY_AT(&tables->value_sums, struct value_sum, at);
    if (to == NULL)
        return false;
    to->requests += sum->requests;
    to->time += sum->time;
    to->squares += sum->squares;
    return true;
}

/* ---- repeated calls ---- */

bool lode_diagnose_tables_add_statement(struct request_tables *tables, const char *text, uint32_t *number)
{
    uint32_t at = lode_strings_find(&tables->statements, text);
    *number = 0;
    if (at == LODE_NO_NUMBER && tables->statements.items.count == STATEMENTS_MAX) {
        tables->has_many_statements = true;
        return true;
    }
    if (at == LODE_NO_NUMBER && !lode_strings_put(&tables->statements, text, &at))
        return false;
    *number = at + 1;
    return true;
}

bool lode_diagnose_tables_add_site(struct request_tables *tables, const struct site_key *key,
                                   struct site_sum **out, uint32_t *number)
{
    bool is_new = false;
    *out = NULL;
    *number = lode_interner_find(&tables->site_keys, key);
    if (*number == LODE_NO_NUMBER) {
        if (tables->site_keys.items.count == SITES_MAX) {
            tables->has_many_statements = true;
            return true;
        }
        *number = lode_interner_add(&tables->site_keys, key, &is_new);
        if (*number == LODE_NO_NUMBER || lode_array_push(&tables->site_sums) == NULL)
            return false;
    }
    *out = LODE_ARRAY_AT(&tables->site_sums, struct site_sum, *number);
    return true;
}

/* ---- workers ---- */

static bool merge_values(struct request_tables *tables, const struct request_tables *worker)
{
    for (size_t i = 0; i < worker->value_sums.count; i++) {
        const struct value_key *id = LODE_ARRAY_AT(&worker->value_keys.items, struct value_key, i);
        if (!lode_diagnose_tables_add_value(tables, id->entry, lode_strings_at(&worker->keys, id->key),
                                            lode_strings_at(&worker->values, id->value),
                                            LODE_ARRAY_AT(&worker->value_sums, struct value_sum, i)))
            return false;
    }
    return true;
}

static bool merge_site(struct request_tables *tables, const struct request_tables *worker, size_t index)
{
    struct site_key key = *LODE_ARRAY_AT(&worker->site_keys.items, struct site_key, index);
    const struct site_sum *sum = LODE_ARRAY_AT(&worker->site_sums, struct site_sum, index);
    struct site_sum *to;
    uint32_t number;
    if (key.statement) {
        const char *text = lode_strings_at(&worker->statements, key.statement - 1);
        if (!lode_diagnose_tables_add_statement(tables, text, &key.statement))
            return false;
        if (key.statement == 0)
            return true;
    }
    if (!lode_diagnose_tables_add_site(tables, &key, &to, &number))
        return false;
    if (to) {
        to->requests += sum->requests;
        to->calls += sum->calls;
        to->time += sum->time;
        to->saved += sum->saved;
        to->squares += sum->squares;
        to->products += sum->products;
    }
    return true;
}

/* All statements, since the limit is one of all that were met. */
static bool merge_statements(struct request_tables *tables, const struct request_tables *worker)
{
    uint32_t number;
    for (uint32_t i = 0; i < worker->statements.items.count; i++)
        if (!lode_diagnose_tables_add_statement(tables, lode_strings_at(&worker->statements, i), &number))
            return false;
    for (size_t i = 0; i < worker->site_sums.count; i++)
        if (!merge_site(tables, worker, i))
            return false;
    return true;
}

bool lode_diagnose_tables_merge(struct request_tables *tables, const struct request_tables *worker)
{
    tables->has_many_keys |= worker->has_many_keys;
    tables->has_many_statements |= worker->has_many_statements;
    for (size_t i = 0; i < worker->methods.count; i++) {
        const struct method_sum *sum = LODE_ARRAY_AT(&worker->methods, struct method_sum, i);
        struct method_sum *to = lode_diagnose_tables_add_method(tables, sum->entry, sum->function);
        if (to == NULL)
            return false;
        to->calls += sum->calls;
        to->own += sum->own;
    }
    for (uint32_t key = 0; key < worker->keys.items.count; key++) {
        uint32_t number;
        if (!add_key(tables, lode_strings_at(&worker->keys, key), &number))
            return false;
        if (number != LODE_NO_NUMBER && tables_has_many_values(worker, key))
            tables->values_of[number] = VALUES_MAX + 1;
    }
    return merge_values(tables, worker) && merge_statements(tables, worker);
}
