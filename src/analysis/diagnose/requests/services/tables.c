/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over requests of services, of a worker or of all. */
#include "analysis/diagnose/requests/services/services.h"

void lode_diagnose_service_tables_init(struct service_tables *tables)
{
    *tables = (struct service_tables){0};
    lode_interner_init(&tables->keys, sizeof(struct service_key));
    lode_array_init(&tables->sums, sizeof(struct service_sum), SIZE_MAX);
    lode_strings_init(&tables->texts);
    lode_interner_init(&tables->feature_keys, sizeof(struct feature_key));
    lode_array_init(&tables->features, sizeof(struct feature), SIZE_MAX);
    lode_strings_init(&tables->names);
    lode_strings_init(&tables->values);
}

void lode_diagnose_service_tables_free(struct service_tables *tables)
{
    lode_interner_free(&tables->keys);
    lode_array_free(&tables->sums);
    lode_strings_free(&tables->texts);
    lode_interner_free(&tables->feature_keys);
    lode_array_free(&tables->features);
    lode_strings_free(&tables->names);
    lode_strings_free(&tables->values);
}

/* ---- sums ---- */

bool lode_diagnose_service_text(struct service_tables *tables, const char *text, uint32_t *number)
{
    uint32_t at = lode_strings_find(&tables->texts, text);
    *number = 0;
    if (at == LODE_NO_NUMBER && tables->texts.items.count == SERVICE_TEXTS_MAX) {
        tables->has_many_sums = true;
        return true;
    }
    if (at == LODE_NO_NUMBER && !lode_strings_put(&tables->texts, text, &at))
        return false;
    *number = at + 1;
    return true;
}

bool lode_diagnose_service_sum(struct service_tables *tables, const struct service_key *key,
                               struct service_sum **out, uint32_t *number)
{
    *out = NULL;
    *number = lode_interner_find(&tables->keys, key);
    if (*number == LODE_NO_NUMBER) {
        if (tables->keys.items.count == SERVICE_SUMS_MAX) {
            tables->has_many_sums = true;
            return true;
        }
        *number = lode_interner_add(&tables->keys, key, NULL);
        if (*number == LODE_NO_NUMBER || lode_array_push(&tables->sums) == NULL)
            return false;
    }
    *out = LODE_ARRAY_AT(&tables->sums, struct service_sum, *number);
    return true;
}

static bool merge_sum(struct service_tables *tables, const struct service_tables *worker, size_t index)
{
    struct service_key key = *LODE_ARRAY_AT(&worker->keys.items, struct service_key, index);
    const struct service_sum *sum = LODE_ARRAY_AT(&worker->sums, struct service_sum, index);
    struct service_sum *to;
    uint32_t number;
    if (key.text &&
        !lode_diagnose_service_text(tables, lode_strings_at(&worker->texts, key.text - 1), &key.text))
        return false;
    if (!lode_diagnose_service_sum(tables, &key, &to, &number))
        return false;
    if (to) {
        to->requests += sum->requests;
        to->calls += sum->calls;
        to->failed += sum->failed;
        to->groups += sum->groups;
        to->most = sum->most > to->most ? sum->most : to->most;
        to->time += sum->time;
        to->extent += sum->extent;
        to->saved += sum->saved;
        to->squares += sum->squares;
        to->products += sum->products;
    }
    return true;
}

/* ---- features ---- */

unsigned lode_diagnose_service_bucket(uint64_t duration)
{
    uint64_t micros = duration / 1000;
    if (micros == 0)
        return 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll(micros);
    bool is_upper = octave > 0 && (micros >> (octave - 1) & 1);
    unsigned bucket = 2 * octave + is_upper + 1;
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static bool add_feature(struct service_tables *tables, const struct feature_key *key,
                        const struct feature *more, bool *is_new)
{
    *is_new = false;
    if (tables->features.count == FEATURES_MAX &&
        lode_interner_find(&tables->feature_keys, key) == LODE_NO_NUMBER) {
        tables->has_many_features = true;
        return true;
    }
    uint32_t at = lode_interner_add(&tables->feature_keys, key, is_new);
    if (at == LODE_NO_NUMBER)
        return false;
    struct feature *to =
        *is_new ? lode_array_push(&tables->features) : LODE_ARRAY_AT(&tables->features, struct feature, at);
    if (to == NULL)
        return false;
    to->calls += more->calls;
    to->failed += more->failed;
    to->time += more->time;
    for (unsigned i = 0; i < BUCKETS; i++)
        to->buckets[i] += more->buckets[i];
    return true;
}

bool lode_diagnose_service_feature(struct service_tables *tables, const struct feature_key *key,
                                   const struct feature *more)
{
    bool is_new;
    return add_feature(tables, key, more, &is_new);
}

bool lode_diagnose_service_value(struct service_tables *tables, uint32_t endpoint, const char *key,
                                 const char *value, const struct feature *more)
{
    struct feature_key id = {FEATURE_VALUE, endpoint, lode_strings_find(&tables->names, key), 0};
    bool is_new = false;
    if (id.key == LODE_NO_NUMBER) {
        if (tables->names.items.count == FEATURE_KEYS_MAX) {
            tables->has_many_features = true;
            return true;
        }
        if (!lode_strings_put(&tables->names, key, &id.key))
            return false;
    }
    if (service_has_many_values(tables, id.key))
        return true;
    if (!lode_strings_put(&tables->values, value, &id.what) || !add_feature(tables, &id, more, &is_new))
        return false;
    tables->values_of[id.key] += is_new;
    return true;
}

static bool merge_feature(struct service_tables *tables, const struct service_tables *worker, size_t index)
{
    const struct feature_key *key = LODE_ARRAY_AT(&worker->feature_keys.items, struct feature_key, index);
    const struct feature *feature = LODE_ARRAY_AT(&worker->features, struct feature, index);
    if (key->kind != FEATURE_VALUE)
        return lode_diagnose_service_feature(tables, key, feature);
    return lode_diagnose_service_value(tables, key->endpoint, lode_strings_at(&worker->names, key->key),
                                       lode_strings_at(&worker->values, key->what), feature);
}

/* Keys that have too many values on one worker have too many on all. */
static bool merge_names(struct service_tables *tables, const struct service_tables *worker)
{
    for (uint32_t i = 0; i < worker->names.items.count; i++) {
        const char *name = lode_strings_at(&worker->names, i);
        uint32_t number = lode_strings_find(&tables->names, name);
        if (!service_has_many_values(worker, i))
            continue;
        if (number == LODE_NO_NUMBER && tables->names.items.count == FEATURE_KEYS_MAX) {
            tables->has_many_features = true;
            continue;
        }
        if (number == LODE_NO_NUMBER && !lode_strings_put(&tables->names, name, &number))
            return false;
        tables->values_of[number] = FEATURE_VALUES_MAX + 1;
    }
    return true;
}

bool lode_diagnose_service_tables_merge(struct service_tables *tables, const struct service_tables *worker)
{
    tables->has_many_sums |= worker->has_many_sums;
    tables->has_many_features |= worker->has_many_features;
    for (size_t i = 0; i < worker->sums.count; i++)
        if (!merge_sum(tables, worker, i))
            return false;
    if (!merge_names(tables, worker))
        return false;
    for (size_t i = 0; i < worker->features.count; i++)
        if (!merge_feature(tables, worker, i))
            return false;
    return true;
}
