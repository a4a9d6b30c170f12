/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft's meta.db: metrics, scopes, statistics. */
#include "base/memory/array.h"
#include "base/memory/hash.h"
#include "base/memory/map.h"
#include "format/hpctoolkit_drafts/metadb_read.h"
#include "format/hpctoolkit_drafts/recover.h"
#include <string.h>

enum {
    /* Minimal sizes of specifications, which bound their numbers. */
    LEAST_METRIC = 3,
    LEAST_SCOPE = 5
};

struct metrics_reader {
    struct metadb_reader *reader;
    struct metadb_cursor cursor;
    struct lode_map by_name;      /* from the hash of a scope's name to its index */
    struct lode_array statistics; /* of one metric */
    uint64_t values[UINT16_MAX / 64 + 1], summaries[UINT16_MAX / 64 + 1]; /* used ids */
};

static lode_status add_id(const struct metrics_reader *self, uint64_t *set, uint16_t id, uint64_t offset,
                          const char *what)
{
    uint64_t bit = UINT64_C(1) << (id % 64);
    bool is_new = !(set[id / 64] & bit);
    set[id / 64] |= bit;
    if (is_new)
        return LODE_OK;
    return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_ID, offset, "%s id %u is used twice", what,
                               id);
}

/* The scope of this name. The array is large enough for all that fit into the section. */
static lode_status find_scope(struct metrics_reader *self, const char *name, const lode_scope **out)
{
    struct lode_database *base = &self->reader->db->base;
    bool is_new;
    const uint32_t *index = lode_map_add(&self->by_name, lode_hash_text(name), base->scope_count, &is_new);
    LODE_TRY_ALLOC(index, self->reader->report->error);
    *out = &base->scopes[*index];
    if (!is_new && strcmp(base->scopes[*index].name, name) == 0)
        return LODE_OK;
    struct lode_scope *added = &base->scopes[base->scope_count];
    *added = (struct lode_scope){.index = base->scope_count++, .name = name};
    lode_drafts_scope(added);
    *out = added;
    return LODE_OK;
}

static lode_status load_statistic(struct metrics_reader *self, const lode_scope *scope)
{
    uint64_t offset = self->cursor.offset;
    uint16_t id = lode_metadb_u16(&self->cursor);
    int combine = lode_metadb_u8(&self->cursor);
    const char *formula = lode_metadb_text(&self->cursor);
    if (self->cursor.is_short)
        return LODE_OK;
    lode_metric_statistic *statistic = lode_array_push(&self->statistics);
    LODE_TRY_ALLOC(statistic, self->reader->report->error);
    *statistic = (lode_metric_statistic){.scope = scope, .formula = formula, .combine = combine, .id = id};
    if (lode_combine_name(combine) == NULL)
        LODE_TRY(lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_ENUM, offset,
                                     "a statistic combines by %d", combine));
    return add_id(self, self->summaries, id, offset, "statistic");
}

static lode_status load_scope(struct metrics_reader *self, struct lode_metric *metric)
{
    uint64_t offset = self->cursor.offset;
    uint16_t id = lode_metadb_u16(&self->cursor), count = lode_metadb_u16(&self->cursor);
    const char *name = lode_metadb_text(&self->cursor);
    const lode_scope *scope;
    if (self->cursor.is_short)
        return LODE_OK;
    LODE_TRY(find_scope(self, name, &scope));
    metric->scopes[metric->scope_count++] = (lode_metric_scope){.scope = scope, .id = id};
    LODE_TRY(add_id(self, self->values, id, offset, "metric"));
    for (unsigned i = 0; i < count && !self->cursor.is_short; i++)
        LODE_TRY(load_statistic(self, scope));
    return LODE_OK;
}

static lode_status keep_statistics(struct metrics_reader *self, struct lode_metric *metric)
{
    struct lode_array *list = &self->statistics;
    struct lode_database *base = &self->reader->db->base;
    metric->statistics = lode_arena_alloc(&base->arena, list->count, sizeof *metric->statistics);
    LODE_TRY_ALLOC(metric->statistics, self->reader->report->error);
    if (list->count > 0)
        memcpy(metric->statistics, list->items, list->count * sizeof *metric->statistics);
    metric->statistic_count = (uint16_t)list->count;
    list->count = 0;
    return LODE_OK;
}

static lode_status load_metric(struct metrics_reader *self, struct lode_metric *metric)
{
    struct lode_database *base = &self->reader->db->base;
    uint16_t count = lode_metadb_u16(&self->cursor);
    metric->name = lode_metadb_text(&self->cursor);
    uint64_t most = self->cursor.rest.size / LEAST_SCOPE + 1;
    metric->scopes =
        lode_arena_alloc(&base->arena, (size_t)(count < most ? count : most), sizeof *metric->scopes);
    LODE_TRY_ALLOC(metric->scopes, self->reader->report->error);
    for (unsigned i = 0; i < count && !self->cursor.is_short; i++)
        LODE_TRY(load_scope(self, metric));
    return keep_statistics(self, metric);
}

static lode_status load_all(struct metrics_reader *self)
{
    struct lode_database *base = &self->reader->db->base;
    uint32_t count = lode_metadb_u32(&self->cursor);
    uint64_t most = self->cursor.rest.size / LEAST_METRIC;
    uint64_t scopes = self->cursor.rest.size / LEAST_SCOPE + 1;
    if (count > most) {
        self->cursor.is_short = true;
        count = 0;
    }
    base->metrics = lode_arena_alloc(&base->arena, count, sizeof *base->metrics);
    base->scopes = lode_arena_alloc(&base->arena, (size_t)scopes, sizeof *base->scopes);
    LODE_TRY_ALLOC(base->metrics && base->scopes, self->reader->report->error);
    for (uint32_t i = 0; i < count && !self->cursor.is_short; i++) {
        base->metrics[i].index = i;
        LODE_TRY(load_metric(self, &base->metrics[i]));
        base->metric_count = i + 1;
    }
    return lode_metadb_ended(self->reader, &self->cursor, "the metrics");
}

lode_status lode_metadb_load_metrics(struct metadb_reader *reader)
{
    struct metrics_reader self = {.reader = reader,
                                  .cursor = lode_metadb_cursor(&reader->parts[METADB_METRICS])};
    if (reader->parts[METADB_METRICS].bytes.size == 0)
        return LODE_OK;
    lode_map_init(&self.by_name);
    lode_array_init(&self.statistics, sizeof(lode_metric_statistic), UINT16_MAX);
    lode_status status = load_all(&self);
    lode_map_free(&self.by_name);
    lode_array_free(&self.statistics);
    return status;
}
