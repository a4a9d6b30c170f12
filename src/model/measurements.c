/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/measurements.h"

#include <stdlib.h>
#include <string.h>

lode_measurements *lode_measurements_new(void)
{
    lode_measurements *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    lode_arena_init(&self->arena, SIZE_MAX);
    lode_strings_init(&self->strings);
    lode_array_init(&self->profiles, sizeof(lode_measured_profile), UINT32_MAX - 1);
    lode_array_init(&self->metrics, sizeof(lode_measured_metric), UINT32_MAX - 1);
    lode_array_init(&self->modules, sizeof(lode_measured_module), UINT32_MAX - 1);
    lode_array_init(&self->structures, sizeof(lode_measured_structure), UINT32_MAX - 1);
    lode_array_init(&self->skips, sizeof(lode_measured_skip), UINT32_MAX - 1);
    lode_map_init(&self->metric_of);
    lode_map_init(&self->module_of);
    lode_map_init(&self->id_kinds);
    return self;
}

void lode_measurements_close(lode_measurements *self)
{
    if (self == NULL)
        return;
    lode_array_free(&self->profiles);
    lode_array_free(&self->metrics);
    lode_array_free(&self->modules);
    lode_array_free(&self->structures);
    lode_array_free(&self->skips);
    lode_map_free(&self->metric_of);
    lode_map_free(&self->module_of);
    lode_map_free(&self->id_kinds);
    lode_blob_free(&self->buffer);
    lode_strings_free(&self->strings);
    lode_arena_free(&self->arena);
    free(self);
}

/* ---- adding ---- */

const char *lode_measurements_string(lode_measurements *self, struct lode_range bytes, uint32_t *number)
{
    uint32_t added;
    size_t size = (size_t)bytes.size;
    self->buffer.size = 0;
    if (lode_blob_extend(&self->buffer, size + 1) == LODE_BLOB_FULL)
        return NULL;
    if (size > 0)
        memcpy(self->buffer.bytes, bytes.data, size);
    self->buffer.bytes[size] = '\0';
    if (!lode_strings_put(&self->strings, (const char *)self->buffer.bytes, &added))
        return NULL;
    if (number)
        *number = added;
    return lode_strings_at(&self->strings, added);
}

/* The item of a name in an array; `text` gets the name. */
static void *add_named(lode_measurements *self, struct lode_range name, struct lode_map *map,
                       struct lode_array *items, const char **text, bool *added)
{
    uint32_t number = 0;
    *added = false;
    *text = lode_measurements_string(self, name, &number);
    uint32_t *slot = *text ? lode_map_add(map, number, (uint32_t)items->count, added) : NULL;
    if (slot == NULL || (*added && lode_array_push(items) == NULL))
        return NULL;
    return (char *)items->items + *slot * items->item_size;
}

lode_measured_metric *lode_measurements_add_metric(lode_measurements *self, struct lode_range name,
                                                   bool *added)
{
    const char *text;
    lode_measured_metric *metric = add_named(self, name, &self->metric_of, &self->metrics, &text, added);
    if (metric)
        metric->name = text;
    return metric;
}

lode_measured_module *lode_measurements_add_module(lode_measurements *self, struct lode_range path)
{
    const char *text;
    bool added;
    lode_measured_module *module = add_named(self, path, &self->module_of, &self->modules, &text, &added);
    if (module)
        module->path = text;
    return module;
}

bool lode_measurements_add_id_kind(lode_measurements *self, unsigned kind, struct lode_range name)
{
    uint32_t number;
    bool added;
    return lode_measurements_string(self, name, &number) &&
           lode_map_add(&self->id_kinds, kind, number, &added);
}

bool lode_measurements_add_skip(lode_measurements *self, const char *file, const char *text)
{
    const struct lode_range names[] = {{(const uint8_t *)file, strlen(file)},
                                       {(const uint8_t *)text, strlen(text)}};
    lode_measured_skip skip = {lode_measurements_string(self, names[0], NULL),
                               lode_measurements_string(self, names[1], NULL)};
    lode_measured_skip *slot = skip.file && skip.text ? lode_array_push(&self->skips) : NULL;
    if (slot)
        *slot = skip;
    return slot != NULL;
}

/* ---- what there is ---- */

uint32_t lode_measurements_profile_count(const lode_measurements *self)
{
    return (uint32_t)self->profiles.count;
}

const lode_measured_profile *lode_measurements_profile(const lode_measurements *self, uint32_t index)
{
    return index < self->profiles.count ? LODE_ARRAY_AT(&self->profiles, lode_measured_profile, index) : NULL;
}

uint32_t lode_measurements_metric_count(const lode_measurements *self)
{
    return (uint32_t)self->metrics.count;
}

const lode_measured_metric *lode_measurements_metric(const lode_measurements *self, uint32_t index)
{
    return index < self->metrics.count ? LODE_ARRAY_AT(&self->metrics, lode_measured_metric, index) : NULL;
}

uint32_t lode_measurements_module_count(const lode_measurements *self)
{
    return (uint32_t)self->modules.count;
}

const lode_measured_module *lode_measurements_module(const lode_measurements *self, uint32_t index)
{
    return index < self->modules.count ? LODE_ARRAY_AT(&self->modules, lode_measured_module, index) : NULL;
}

uint32_t lode_measurements_structure_count(const lode_measurements *self)
{
    return (uint32_t)self->structures.count;
}

const lode_measured_structure *lode_measurements_structure(const lode_measurements *self, uint32_t index)
{
    return index < self->structures.count ? LODE_ARRAY_AT(&self->structures, lode_measured_structure, index)
                                          : NULL;
}

uint32_t lode_measurements_skip_count(const lode_measurements *self)
{
    return (uint32_t)self->skips.count;
}

const lode_measured_skip *lode_measurements_skip(const lode_measurements *self, uint32_t index)
{
    return index < self->skips.count ? LODE_ARRAY_AT(&self->skips, lode_measured_skip, index) : NULL;
}

const char *lode_measurements_id_kind_name(const lode_measurements *self, unsigned kind)
{
    const uint32_t *number = lode_map_get(&self->id_kinds, kind);
    return number ? lode_strings_at(&self->strings, *number) : NULL;
}
