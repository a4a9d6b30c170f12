/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/raw.h"

#include "base/comm/pack.h"
#include "base/compare.h"
#include <stdlib.h>

bool lode_hpcrun_raw_init(struct hpcrun_raw *raw)
{
    *raw = (struct hpcrun_raw){0};
    lode_strings_init(&raw->paths);
    lode_interner_init(&raw->modules, sizeof(struct hpcrun_module_key));
    lode_interner_init(&raw->frames, sizeof(struct hpcrun_raw_frame));
    lode_strings_init(&raw->metric_keys);
    lode_array_init(&raw->metrics, sizeof(struct hpcrun_raw_metric), UINT32_MAX - 1);
    lode_arena_init(&raw->arena, SIZE_MAX);
    return lode_content_tree_open(&raw->tree, sizeof(struct lode_tree_node));
}

void lode_hpcrun_raw_free(struct hpcrun_raw *raw)
{
    lode_strings_free(&raw->paths);
    lode_interner_free(&raw->modules);
    lode_interner_free(&raw->frames);
    lode_content_tree_close(&raw->tree);
    lode_strings_free(&raw->metric_keys);
    lode_array_free(&raw->metrics);
    lode_arena_free(&raw->arena);
    *raw = (struct hpcrun_raw){0};
}

static bool keep(struct hpcrun_raw *raw, const char *text, const char **out)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&raw->arena, size, 1);
    if (copy)
        memcpy(copy, text, size);
    *out = copy;
    return copy != NULL;
}

static bool is_earlier(struct hpcrun_origin a, struct hpcrun_origin b)
{
    return a.profile != b.profile ? a.profile < b.profile : a.position < b.position;
}

/* ---- adding ---- */

uint32_t lode_hpcrun_raw_add_module(struct hpcrun_raw *raw, const char *path, uint32_t directory)
{
    struct hpcrun_module_key key = {.directory = directory};
    if (!lode_strings_put(&raw->paths, path, &key.path))
        return LODE_NO_NUMBER;
    return lode_interner_add(&raw->modules, &key, NULL);
}

uint32_t lode_hpcrun_raw_module(struct hpcrun_raw *raw, const char *path, uint32_t directory)
{
    return lode_hpcrun_raw_add_module(raw, path, path[0] == '/' ? LODE_NO_NUMBER : directory);
}

static int compare_modules(const void *left, const void *right, void *argument)
{
    const struct hpcrun_raw *raw = argument;
    const struct hpcrun_module_key *keys = raw->modules.items.items, *a = &keys[*(const uint32_t *)left],
                                   *b = &keys[*(const uint32_t *)right];
    int order = strcmp(lode_strings_at(&raw->paths, a->path), lode_strings_at(&raw->paths, b->path));
    return order ? order : LODE_COMPARE(a->directory, b->directory);
}

void lode_hpcrun_raw_sort_modules(struct hpcrun_raw *raw, uint32_t *sorted)
{
    uint32_t count = (uint32_t)raw->modules.items.count;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    if (count > 1)
        qsort_r(sorted, count, sizeof *sorted, compare_modules, raw);
}

/* Measured metrics and computed ones of the same name are two. */
static uint32_t metric_number(struct hpcrun_raw *raw, const struct hpcrun_raw_metric *metric)
{
    size_t size = strlen(metric->name) + 2;
    char *key = malloc(size);
    if (key == NULL)
        return LODE_NO_NUMBER;
    key[0] = metric->formula[0] ? 'f' : 'm';
    memcpy(key + 1, metric->name, size - 1);
    uint32_t number = lode_strings_add(&raw->metric_keys, key);
    free(key);
    return number;
}

uint32_t lode_hpcrun_raw_metric(struct hpcrun_raw *raw, const struct hpcrun_raw_metric *metric)
{
    uint32_t number = metric_number(raw, metric);
    if (number == LODE_NO_NUMBER)
        return number;
    bool is_new = number == raw->metrics.count;
    if (is_new && lode_array_push(&raw->metrics) == NULL)
        return LODE_NO_NUMBER;
    struct hpcrun_raw_metric *known = LODE_ARRAY_AT(&raw->metrics, struct hpcrun_raw_metric, number);
    if (!is_new && !is_earlier(metric->origin, known->origin))
        return number;
    *known = *metric;
    bool done = keep(raw, metric->name, &known->name) &&
                keep(raw, metric->description, &known->description) &&
                keep(raw, metric->format, &known->format) && keep(raw, metric->formula, &known->formula);
    return done ? number : LODE_NO_NUMBER;
}

bool lode_hpcrun_raw_kind(struct hpcrun_raw *raw, unsigned kind, const char *name,
                          struct hpcrun_origin origin)
{
    struct hpcrun_raw_kind_name *known = &raw->kinds[kind];
    if (known->name && !is_earlier(origin, known->origin))
        return true;
    bool is_same = known->name && strcmp(known->name, name) == 0;
    known->origin = origin;
    return is_same || keep(raw, name, &known->name);
}

bool lode_hpcrun_raw_title(struct hpcrun_raw *raw, const char *title, struct hpcrun_origin origin)
{
    if (raw->title && !is_earlier(origin, raw->title_origin))
        return true;
    bool is_same = raw->title && strcmp(raw->title, title) == 0;
    raw->title_origin = origin;
    return is_same || keep(raw, title, &raw->title);
}

/* ---- merging ---- */

static bool merge_modules(struct hpcrun_raw *raw, const struct hpcrun_raw *from, uint32_t *map)
{
    bool done = true;
    for (size_t i = 0; i < from->modules.items.count && done; i++) {
        const struct hpcrun_module_key *key =
            LODE_ARRAY_AT(&from->modules.items, struct hpcrun_module_key, i);
        const char *path = lode_strings_at(&from->paths, key->path);
        map[i] = path ? lode_hpcrun_raw_add_module(raw, path, key->directory) : LODE_NO_NUMBER;
        done = map[i] != LODE_NO_NUMBER;
    }
    return done;
}

static bool merge_frames(struct hpcrun_raw *raw, const struct hpcrun_raw *from, const uint32_t *modules,
                         uint32_t *map)
{
    bool done = true;
    for (uint32_t i = 0; i < from->frames.items.count && done; i++) {
        struct hpcrun_raw_frame frame = *lode_hpcrun_raw_frame(from, i);
        if (frame.module != LODE_NO_NUMBER)
            frame.module = modules[frame.module];
        done = (map[i] = lode_interner_add(&raw->frames, &frame, NULL)) != LODE_NO_NUMBER;
    }
    return done;
}

static bool merge_facts(struct hpcrun_raw *raw, const struct hpcrun_raw *from, uint32_t *metrics)
{
    bool done = from->title == NULL || lode_hpcrun_raw_title(raw, from->title, from->title_origin);
    for (unsigned i = 0; i < HPCRUN_ID_KINDS_MOST && done; i++)
        done = from->kinds[i].name == NULL ||
               lode_hpcrun_raw_kind(raw, i, from->kinds[i].name, from->kinds[i].origin);
    for (size_t i = 0; i < from->metrics.count && done; i++) {
        uint32_t number =
            lode_hpcrun_raw_metric(raw, LODE_ARRAY_AT(&from->metrics, struct hpcrun_raw_metric, i));
        if (metrics)
            metrics[i] = number;
        done = number != LODE_NO_NUMBER;
    }
    return done;
}

bool lode_hpcrun_raw_merge(struct hpcrun_raw *raw, const struct hpcrun_raw *from, uint32_t *nodes,
                           uint32_t *metrics)
{
    uint32_t *modules = calloc(from->modules.items.count + 1, sizeof *modules);
    uint32_t *frames = calloc(from->frames.items.count + 1, sizeof *frames);
    bool done =
        modules && frames && merge_modules(raw, from, modules) && merge_frames(raw, from, modules, frames) &&
        lode_content_tree_merge(&raw->tree, &from->tree, frames, nodes) && merge_facts(raw, from, metrics);
    free(modules);
    free(frames);
    return done;
}

/* ---- packing ---- */

static bool pack_origin(struct lode_blob *blob, struct hpcrun_origin origin)
{
    return pack_number(blob, origin.profile) && pack_number(blob, origin.position);
}

static struct hpcrun_origin unpack_origin(const unsigned char **at)
{
    uint64_t profile = unpack_number(at);
    return (struct hpcrun_origin){profile, (uint32_t)unpack_number(at)};
}

static bool pack_metric(struct lode_blob *blob, const struct hpcrun_raw_metric *metric)
{
    return pack_string(blob, metric->name) && pack_string(blob, metric->description) &&
           pack_string(blob, metric->format) && pack_string(blob, metric->formula) &&
           pack_origin(blob, metric->origin) && pack_number(blob, metric->show) &&
           pack_number(blob, metric->percent);
}

static struct hpcrun_raw_metric unpack_metric(const unsigned char **at)
{
    struct hpcrun_raw_metric metric = {.name = unpack_string(at)};
    metric.description = unpack_string(at);
    metric.format = unpack_string(at);
    metric.formula = unpack_string(at);
    metric.origin = unpack_origin(at);
    metric.show = (uint8_t)unpack_number(at);
    metric.percent = (uint8_t)unpack_number(at);
    return metric;
}

static bool pack_facts(const struct hpcrun_raw *raw, struct lode_blob *blob)
{
    bool done = pack_string(blob, raw->title ? raw->title : "") && pack_number(blob, raw->title != NULL) &&
                pack_origin(blob, raw->title_origin);
    for (unsigned i = 0; i < HPCRUN_ID_KINDS_MOST && done; i++) {
        const char *name = raw->kinds[i].name;
        done = pack_number(blob, name != NULL) && pack_string(blob, name ? name : "") &&
               pack_origin(blob, raw->kinds[i].origin);
    }
    done = done && pack_number(blob, raw->metrics.count);
    for (size_t i = 0; i < raw->metrics.count && done; i++)
        done = pack_metric(blob, LODE_ARRAY_AT(&raw->metrics, struct hpcrun_raw_metric, i));
    return done;
}

static bool unpack_facts(struct hpcrun_raw *raw, const unsigned char **at)
{
    const char *title = unpack_string(at);
    bool has_title = unpack_number(at) != 0;
    struct hpcrun_origin origin = unpack_origin(at);
    bool done = !has_title || lode_hpcrun_raw_title(raw, title, origin);
    for (unsigned i = 0; i < HPCRUN_ID_KINDS_MOST && done; i++) {
        bool has_name = unpack_number(at) != 0;
        const char *name = unpack_string(at);
        origin = unpack_origin(at);
        done = !has_name || lode_hpcrun_raw_kind(raw, i, name, origin);
    }
    uint64_t metrics = done ? unpack_number(at) : 0;
    for (uint64_t i = 0; i < metrics && done; i++) {
        struct hpcrun_raw_metric metric = unpack_metric(at);
        done = lode_hpcrun_raw_metric(raw, &metric) != LODE_NO_NUMBER;
    }
    return done;
}

bool lode_hpcrun_raw_pack(const struct hpcrun_raw *raw, struct lode_blob *blob)
{
    return lode_strings_pack(&raw->paths, blob) && lode_interner_pack(&raw->modules, blob) &&
           pack_facts(raw, blob);
}

bool lode_hpcrun_raw_unpack(struct hpcrun_raw *raw, const unsigned char **at)
{
    return lode_strings_unpack(&raw->paths, at) && lode_interner_unpack(&raw->modules, at) &&
           unpack_facts(raw, at);
}
