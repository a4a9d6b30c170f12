/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db: metrics, scopes, statistics. */
#include "base/error.h"
#include "format/hpctoolkit/read.h"
#include <inttypes.h>

struct metrics_reader {
    struct hpct_database *db;
    struct lode_report *report;
    struct hpct_id_set values, statistics; /* two namespaces */
    uint64_t scope_count, statistic_count; /* so far, of all metrics */
};

static const char *meta_name(void)
{
    return lode_hpct_specs[HPCT_META].name;
}

static lode_status load_scopes(struct hpct_database *db, struct lode_report *report)
{
    size_t count = (size_t)db->scopes.count;
    db->base.scopes = lode_arena_alloc(&db->base.arena, count, sizeof *db->base.scopes);
    LODE_TRY_ALLOC(db->base.scopes, report->error);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = db->scopes.offset + i * db->scopes.stride;
        struct wire_Scope wire;
        lode_wire_read_Scope(&wire, hpct_record(&db->scopes, i), db->scopes.stride);
        struct lode_scope *scope = &db->base.scopes[i];
        *scope =
            (struct lode_scope){.index = i, .type = wire.type, .propagation_index = wire.propagationIndex};
        LODE_TRY(
            lode_hpct_string(db, META_METRICS, wire.pScopeName, "the name of a scope", &scope->name, report));
        if (wire.type == LODE_SCOPE_TRANSITIVE && wire.propagationIndex >= 16)
            LODE_TRY(lode_report_add(
                report, RULE_SCOPE_BIT, meta_name(), offset + WIRE_Scope_propagationIndex,
                "scope '%s' follows propagation bit %u of 16", scope->name, wire.propagationIndex));
        if (lode_scope_type_name(wire.type) == NULL)
            LODE_TRY(lode_report_add(report, RULE_ENUM_UNKNOWN, meta_name(), offset + WIRE_Scope_type,
                                     "scope '%s' is of type %u", scope->name, wire.type));
    }
    db->base.scope_count = (uint32_t)count;
    return LODE_OK;
}

static lode_status find_scope(struct metrics_reader *reader, uint64_t pointer, uint64_t offset,
                              const lode_scope **out)
{
    struct hpct_database *db = reader->db;
    uint32_t index = lode_hpct_record_index(&db->scopes, pointer);
    *out = index == LODE_NO_INDEX ? NULL : &db->base.scopes[index];
    if (*out)
        return LODE_OK;
    return lode_report_add(reader->report, RULE_RECORD_POINTER, meta_name(), offset,
                           "0x%" PRIx64 " is not a scope", pointer);
}

lode_status lode_hpct_add_id(struct hpct_id_set *set, uint16_t id, uint64_t offset, const char *what,
                             struct lode_report *report)
{
    uint64_t bit = UINT64_C(1) << (id % 64);
    bool is_new = !(set->bits[id / 64] & bit);
    set->bits[id / 64] |= bit;
    if (is_new)
        return LODE_OK;
    return lode_report_add(report, RULE_METRIC_ID, meta_name(), offset, "%s id %u is used twice", what, id);
}

/* Instances with an unusable scope are skipped. */
static lode_status load_metric_scopes(struct metrics_reader *reader, const struct hpct_table *table,
                                      struct lode_metric *metric)
{
    struct hpct_database *db = reader->db;
    metric->scopes = lode_arena_alloc(&db->base.arena, (size_t)table->count, sizeof *metric->scopes);
    LODE_TRY_ALLOC(metric->scopes, reader->report->error);
    for (uint64_t i = 0; i < table->count; i++) {
        uint64_t offset = table->offset + i * table->stride;
        struct wire_ScopeInst wire;
        lode_wire_read_ScopeInst(&wire, hpct_record(table, i), table->stride);
        lode_metric_scope *instance = &metric->scopes[metric->scope_count];
        LODE_TRY(find_scope(reader, wire.pScope, offset, &instance->scope));
        if (instance->scope == NULL)
            continue;
        instance->id = wire.propMetricId;
        metric->scope_count++;
        LODE_TRY(lode_hpct_add_id(&reader->values, wire.propMetricId, offset + WIRE_ScopeInst_propMetricId,
                                  "metric", reader->report));
    }
    return LODE_OK;
}

static lode_status load_statistics(struct metrics_reader *reader, const struct hpct_table *table,
                                   struct lode_metric *metric)
{
    struct hpct_database *db = reader->db;
    metric->statistics = lode_arena_alloc(&db->base.arena, (size_t)table->count, sizeof *metric->statistics);
    LODE_TRY_ALLOC(metric->statistics, reader->report->error);
    for (uint64_t i = 0; i < table->count; i++) {
        uint64_t offset = table->offset + i * table->stride;
        struct wire_Summary wire;
        lode_wire_read_Summary(&wire, hpct_record(table, i), table->stride);
        lode_metric_statistic *statistic = &metric->statistics[metric->statistic_count];
        LODE_TRY(find_scope(reader, wire.pScope, offset, &statistic->scope));
        if (statistic->scope == NULL)
            continue;
        LODE_TRY(lode_hpct_string(db, META_METRICS, wire.pFormula, "the formula of a statistic",
                                  &statistic->formula, reader->report));
        statistic->combine = wire.combine;
        statistic->id = wire.statMetricId;
        metric->statistic_count++;
        if (lode_combine_name(wire.combine) == NULL)
            LODE_TRY(lode_report_add(reader->report, RULE_ENUM_UNKNOWN, meta_name(),
                                     offset + WIRE_Summary_combine, "a statistic combines by %u",
                                     wire.combine));
        LODE_TRY(lode_hpct_add_id(&reader->statistics, wire.statMetricId, offset + WIRE_Summary_statMetricId,
                                  "statistic", reader->report));
    }
    return LODE_OK;
}

/*
 * Locates an array of a metric, and counts the records of all; empty if that exceeds the possible
 * ids. Without this bound, metrics of a hostile file could share a long one.
 */
static lode_status find_array(struct metrics_reader *reader, struct hpct_table *table, const char *what,
                              uint64_t pointer, uint64_t count, unsigned stride, unsigned least,
                              uint64_t *sum)
{
    const struct hpct_section *section = &reader->db->files[HPCT_META].sections[META_METRICS];
    *table = (struct hpct_table){0};
    *sum += count;
    if (*sum > UINT16_MAX + UINT64_C(1))
        return lode_report_add(reader->report, RULE_METRIC_ID, meta_name(), pointer,
                               "metrics have more %s than there are ids", what);
    return lode_hpct_table(table, HPCT_META, section, what, pointer, count, stride, least, reader->report);
}

static lode_status load_metric(struct metrics_reader *reader, uint32_t index)
{
    struct hpct_database *db = reader->db;
    struct lode_metric *metric = &db->base.metrics[index];
    struct wire_Metric wire;
    lode_wire_read_Metric(&wire, hpct_record(&db->metrics, index), db->metrics.stride);
    metric->index = index;
    LODE_TRY(lode_hpct_string(db, META_METRICS, wire.pName, "the name of a metric", &metric->name,
                              reader->report));
    struct hpct_table table;
    LODE_TRY(find_array(reader, &table, "scope instances", wire.pScopeInsts, wire.nScopeInsts,
                        db->scope_inst_stride, WIRE_ScopeInst_SIZE, &reader->scope_count));
    LODE_TRY(load_metric_scopes(reader, &table, metric));
    LODE_TRY(find_array(reader, &table, "statistics", wire.pSummaries, wire.nSummaries, db->summary_stride,
                        WIRE_Summary_SIZE, &reader->statistic_count));
    return load_statistics(reader, &table, metric);
}

lode_status lode_hpct_load_metrics(struct hpct_database *db, struct lode_report *report)
{
    struct metrics_reader reader = {.db = db, .report = report};
    size_t count = (size_t)db->metrics.count;
    LODE_TRY(load_scopes(db, report));
    db->base.metrics = lode_arena_alloc(&db->base.arena, count, sizeof *db->base.metrics);
    LODE_TRY_ALLOC(db->base.metrics, report->error);
    for (uint32_t i = 0; i < count; i++) {
        LODE_TRY(load_metric(&reader, i));
        db->base.metric_count = i + 1;
    }
    return LODE_OK;
}
