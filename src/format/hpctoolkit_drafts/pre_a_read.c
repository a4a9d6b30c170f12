/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db of early 2022: metrics, and the roots of contexts. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "format/hpctoolkit_drafts/pre_a.h"
#include "format/hpctoolkit_drafts/recover.h"
#include <string.h>

/* Sizes and offsets that differ from version 4.0. */
enum {
    METRIC_SIZE = 24,
    METRIC_NAME = 0x00,
    METRIC_SCOPE_COUNT = 0x08,
    METRIC_SCOPES = 0x10,
    SCOPE_SIZE = 24,
    SCOPE_NAME = 0x00,
    SCOPE_STATISTIC_COUNT = 0x08,
    SCOPE_ID = 0x0a,
    SCOPE_STATISTICS = 0x10,
    STATISTIC_SIZE = 16,
    STATISTIC_FORMULA = 0x00,
    STATISTIC_COMBINE = 0x08,
    STATISTIC_ID = 0x0a,
    ROOTS_SIZE = 16,
    CONTEXT_SIZE = 0x18
};

static const char *meta_name(void)
{
    return lode_hpct_specs[HPCT_META].name;
}

static bool is_pre_a(const struct wire_Metrics *header)
{
    return header->szMetric == METRIC_SIZE && header->szSummary == STATISTIC_SIZE;
}

bool lode_drafts_is_pre_a(const struct lode_folder *folder)
{
    enum {
        AT = WIRE_FileHeader_SIZE + META_METRICS * WIRE_Section_SIZE
    };
    struct lode_input source;
    struct wire_Section section = {0};
    struct wire_Metrics metrics = {0};
    struct lode_range part;
    if (lode_input_open(&source, folder, meta_name(), NULL) != LODE_OK)
        return false;
    bool is_meta = source.bytes.size >= AT + WIRE_Section_SIZE &&
                   memcmp(source.bytes.data, HPCT_MAGIC "meta", HPCT_MAGIC_SIZE + HPCT_FORMAT_SIZE) == 0;
    if (is_meta)
        lode_wire_read_Section(&section, source.bytes.data + AT, WIRE_Section_SIZE);
    if (is_meta && lode_range_part(source.bytes, section.p, section.sz, &part))
        lode_wire_read_Metrics(&metrics, part.data, part.size);
    lode_input_close(&source);
    return is_pre_a(&metrics);
}

static lode_status find_metrics(struct hpct_database *db, struct lode_report *report)
{
    const struct hpct_section *section = &db->files[HPCT_META].sections[META_METRICS];
    if (section->bytes.size == 0)
        return LODE_OK;
    struct wire_Metrics header;
    lode_wire_read_Metrics(&header, section->bytes.data, section->bytes.size);
    db->scope_inst_stride = header.szScopeInst;
    db->summary_stride = header.szSummary;
    return lode_hpct_table(&db->metrics, HPCT_META, section, "metrics", header.pMetrics, header.nMetrics,
                           header.szMetric, METRIC_SIZE, report);
}

static lode_status find_roots(struct hpct_database *db, struct lode_report *report)
{
    const struct hpct_section *section = &db->files[HPCT_META].sections[META_CONTEXT];
    if (section->bytes.size == 0)
        return LODE_OK;
    if (section->bytes.size < ROOTS_SIZE)
        return lode_report_add(report, RULE_SECTION_SHORT, meta_name(), section->offset,
                               "the section of contexts is shorter than its header, %d bytes", ROOTS_SIZE);
    db->roots_size = get_u64le(section->bytes.data);
    db->roots_pointer = get_u64le(section->bytes.data + 8);
    return LODE_OK;
}

/* ---- metrics ---- */

struct metrics_reader {
    struct hpct_database *db;
    struct lode_report *report;
    struct hpct_id_set values, statistics; /* two namespaces */
    struct lode_map scopes;                /* from the identity of a scope to its index */
    struct lode_array found;               /* of struct lode_scope */
    uint64_t scope_count, statistic_count; /* so far */
};

/* Counts ids; false if there are too many. Else hostile metrics could share a long array. */
static bool has_ids(uint64_t *sum, uint64_t count)
{
    *sum += count;
    return *sum <= UINT16_MAX;
}

/* The scopes inside a metric; none after a finding. */
static lode_status scopes_of(struct metrics_reader *reader, uint32_t metric, struct hpct_table *table)
{
    struct hpct_database *db = reader->db;
    const uint8_t *record = hpct_record(&db->metrics, metric);
    uint64_t count = get_u16le(record + METRIC_SCOPE_COUNT);
    *table = (struct hpct_table){0};
    if (!has_ids(&reader->scope_count, count))
        return lode_report_add(reader->report, RULE_METRIC_ID, meta_name(),
                               db->metrics.offset + metric * db->metrics.stride,
                               "metrics have more scopes than there are ids");
    return lode_hpct_table(table, HPCT_META, &db->files[HPCT_META].sections[META_METRICS], "scopes",
                           get_u64le(record + METRIC_SCOPES), count, db->scope_inst_stride, SCOPE_SIZE,
                           reader->report);
}

/* Identifies a scope by a known name, else by position: hostile names are too long to compare. */
static lode_status identify_scope(struct metrics_reader *reader, uint64_t pointer, struct lode_scope *scope,
                                  uint64_t *key)
{
    *scope = (struct lode_scope){0};
    LODE_TRY(lode_hpct_string(reader->db, META_METRICS, pointer, "the name of a scope", &scope->name,
                              reader->report));
    lode_drafts_scope(scope);
    *key = scope->type == LODE_SCOPE_CUSTOM ? pointer : UINT64_MAX - scope->type;
    return LODE_OK;
}

static lode_status gather_scope(struct metrics_reader *reader, uint64_t pointer)
{
    struct lode_scope scope;
    uint64_t key;
    bool is_new;
    LODE_TRY(identify_scope(reader, pointer, &scope, &key));
    scope.index = (uint32_t)reader->found.count;
    if (lode_map_add(&reader->scopes, key, scope.index, &is_new) == NULL)
        return LODE_ERR_MEMORY;
    if (!is_new)
        return LODE_OK;
    struct lode_scope *added = lode_array_push(&reader->found);
    if (added == NULL)
        return LODE_ERR_MEMORY;
    *added = scope;
    return LODE_OK;
}

static lode_status gather_scopes(struct metrics_reader *reader, uint32_t metric)
{
    struct hpct_table table;
    LODE_TRY(scopes_of(reader, metric, &table));
    for (uint64_t i = 0; i < table.count; i++)
        LODE_TRY(gather_scope(reader, get_u64le(hpct_record(&table, i) + SCOPE_NAME)));
    return LODE_OK;
}

/* Collects the scopes of all metrics, in order. Errors are reported later. */
static lode_status load_scopes(struct metrics_reader *reader)
{
    struct lode_database *base = &reader->db->base;
    struct lode_report *report = reader->report, quiet;
    lode_report_strict(&quiet, lode_hpct_rules, NULL);
    reader->report = &quiet;
    lode_status status = LODE_OK;
    for (uint32_t m = 0; m < reader->db->metrics.count && status != LODE_ERR_MEMORY; m++)
        status = gather_scopes(reader, m);
    reader->report = report;
    if (status == LODE_ERR_MEMORY)
        return lode_fail_memory(report->error);
    reader->scope_count = 0;
    base->scopes = lode_arena_alloc(&base->arena, reader->found.count, sizeof *base->scopes);
    LODE_TRY_ALLOC(base->scopes, report->error);
    if (reader->found.count > 0)
        memcpy(base->scopes, reader->found.items, reader->found.count * sizeof *base->scopes);
    base->scope_count = (uint32_t)reader->found.count;
    return LODE_OK;
}

/* NULL after a finding. */
static lode_status find_scope(struct metrics_reader *reader, uint64_t pointer, const lode_scope **out)
{
    struct lode_scope scope;
    uint64_t key;
    LODE_TRY(identify_scope(reader, pointer, &scope, &key));
    const uint32_t *index = lode_map_get(&reader->scopes, key);
    *out = index ? &reader->db->base.scopes[*index] : NULL;
    return LODE_OK;
}

static lode_status load_statistic(struct metrics_reader *reader, const uint8_t *record, uint64_t offset,
                                  lode_metric_statistic *statistic)
{
    LODE_TRY(lode_hpct_string(reader->db, META_METRICS, get_u64le(record + STATISTIC_FORMULA),
                              "the formula of a statistic", &statistic->formula, reader->report));
    statistic->combine = get_u8(record + STATISTIC_COMBINE);
    statistic->id = get_u16le(record + STATISTIC_ID);
    if (lode_combine_name(statistic->combine) == NULL)
        LODE_TRY(lode_report_add(reader->report, RULE_ENUM_UNKNOWN, meta_name(), offset + STATISTIC_COMBINE,
                                 "a statistic combines by %d", statistic->combine));
    return lode_hpct_add_id(&reader->statistics, statistic->id, offset + STATISTIC_ID, "statistic",
                            reader->report);
}

/* Locates and counts the statistics of a metric's scopes. */
static lode_status statistics_of(struct metrics_reader *reader, const uint8_t *record, uint64_t offset,
                                 struct hpct_table *table)
{
    struct hpct_database *db = reader->db;
    uint64_t count = get_u16le(record + SCOPE_STATISTIC_COUNT);
    *table = (struct hpct_table){0};
    if (!has_ids(&reader->statistic_count, count))
        return lode_report_add(reader->report, RULE_METRIC_ID, meta_name(), offset,
                               "metrics have more statistics than there are ids");
    return lode_hpct_table(table, HPCT_META, &db->files[HPCT_META].sections[META_METRICS], "statistics",
                           get_u64le(record + SCOPE_STATISTICS), count, db->summary_stride, STATISTIC_SIZE,
                           reader->report);
}

/* Appends the statistics of one scope to those of the metric. The array is large enough. */
static lode_status load_statistics(struct metrics_reader *reader, const struct hpct_table *table,
                                   const lode_scope *scope, struct lode_array *list)
{
    for (uint64_t i = 0; i < table->count; i++) {
        lode_metric_statistic *statistic = lode_array_push(list);
        LODE_TRY_ALLOC(statistic, reader->report->error);
        statistic->scope = scope;
        LODE_TRY(load_statistic(reader, hpct_record(table, i), table->offset + i * table->stride, statistic));
    }
    return LODE_OK;
}

/* An unusable scope is skipped. */
static lode_status load_instance(struct metrics_reader *reader, const uint8_t *record, uint64_t offset,
                                 struct lode_metric *metric, struct lode_array *statistics)
{
    struct hpct_table table;
    lode_metric_scope *instance = &metric->scopes[metric->scope_count];
    LODE_TRY(find_scope(reader, get_u64le(record + SCOPE_NAME), &instance->scope));
    if (instance->scope == NULL)
        return LODE_OK;
    metric->scope_count++;
    instance->id = get_u16le(record + SCOPE_ID);
    LODE_TRY(lode_hpct_add_id(&reader->values, instance->id, offset + SCOPE_ID, "metric", reader->report));
    LODE_TRY(statistics_of(reader, record, offset, &table));
    return load_statistics(reader, &table, instance->scope, statistics);
}

static lode_status load_metric(struct metrics_reader *reader, uint32_t index, struct lode_array *statistics)
{
    struct lode_database *base = &reader->db->base;
    struct lode_metric *metric = &base->metrics[index];
    struct hpct_table table;
    metric->index = index;
    LODE_TRY(lode_hpct_string(reader->db, META_METRICS,
                              get_u64le(hpct_record(&reader->db->metrics, index) + METRIC_NAME),
                              "the name of a metric", &metric->name, reader->report));
    LODE_TRY(scopes_of(reader, index, &table));
    metric->scopes = lode_arena_alloc(&base->arena, (size_t)table.count, sizeof *metric->scopes);
    LODE_TRY_ALLOC(metric->scopes, reader->report->error);
    for (uint64_t i = 0; i < table.count; i++)
        LODE_TRY(load_instance(reader, hpct_record(&table, i), table.offset + i * table.stride, metric,
                               statistics));
    metric->statistics = lode_arena_alloc(&base->arena, statistics->count, sizeof *metric->statistics);
    LODE_TRY_ALLOC(metric->statistics, reader->report->error);
    if (statistics->count > 0)
        memcpy(metric->statistics, statistics->items, statistics->count * sizeof *metric->statistics);
    metric->statistic_count = (uint16_t)statistics->count;
    return LODE_OK;
}

static lode_status load_all(struct metrics_reader *reader)
{
    struct lode_database *base = &reader->db->base;
    LODE_TRY(load_scopes(reader));
    size_t count = (size_t)reader->db->metrics.count;
    base->metrics = lode_arena_alloc(&base->arena, count, sizeof *base->metrics);
    LODE_TRY_ALLOC(base->metrics, reader->report->error);
    for (uint32_t i = 0; i < count; i++) {
        struct lode_array statistics;
        lode_array_init(&statistics, sizeof(lode_metric_statistic), UINT16_MAX);
        lode_status status = load_metric(reader, i, &statistics);
        lode_array_free(&statistics);
        LODE_TRY(status);
        base->metric_count = i + 1;
    }
    return LODE_OK;
}

static lode_status load_metrics(struct hpct_database *db, struct lode_report *report)
{
    struct metrics_reader reader = {.db = db, .report = report};
    lode_map_init(&reader.scopes);
    lode_array_init(&reader.found, sizeof(struct lode_scope), UINT16_MAX);
    lode_status status = load_all(&reader);
    lode_map_free(&reader.scopes);
    lode_array_free(&reader.found);
    return status;
}

/* ---- contexts ---- */

/* An instruction that its line calls, instead of enclosing it. */
static bool is_called_by_line(const struct lode_context_tree *tree, const lode_context *node)
{
    return node->lexical == LODE_LEXICAL_INSTRUCTION && node->relation == LODE_RELATION_CALL &&
           tree->nodes[node->parent].lexical == LODE_LEXICAL_LINE;
}

/*
 * The first writers list instructions as called by their line. From there, values of the scope
 * "function" propagate to the outermost construct inside a function, not to the function.
 */
static void propagate_within(struct lode_context_tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *parent = &tree->nodes[tree->nodes[i].parent];
        tree->nodes[i].propagation = parent->index > 0 && parent->relation == LODE_RELATION_LEXICAL;
    }
    for (uint32_t i = 1; i < tree->count; i++)
        if (is_called_by_line(tree, &tree->nodes[i]))
            tree->nodes[i].relation = LODE_RELATION_LEXICAL;
}

static void arrange(struct hpct_database *db)
{
    struct lode_context_tree *tree = &db->base.tree;
    bool first_writers = false;
    for (uint32_t i = 1; i < tree->count; i++)
        first_writers = first_writers || is_called_by_line(tree, &tree->nodes[i]);
    if (first_writers)
        propagate_within(tree);
    else
        lode_drafts_propagation(tree);
    db->idle_id = lode_drafts_entries(tree);
    lode_drafts_trim_functions(&db->base);
}

const struct hpct_layout lode_drafts_pre_a_layout = {
    .format = "HPCToolkit 4.0 of early 2022",
    .context_size = CONTEXT_SIZE,
    .find_metrics = find_metrics,
    .find_entries = find_roots,
    .load_metrics = load_metrics,
    .arrange = arrange,
};
