/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * experiment.xml: metrics. MetricDB names a column of values "X (I)"; Metric names a column of the
 * summary "X:PARTIAL:0 (I)", and a statistic "X:Sum (I)"; X is the metric, I or E its scope. The
 * formula of a partial column is not stored: it follows from the statistics that use it.
 */
#include "base/error.h"
#include "format/hpctoolkit_drafts/xml/xml.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum formula {
    FORMULA_VALUE,
    FORMULA_ONE,
    FORMULA_SQUARE
};

static const char *const formula_strings[] = {"$$", "1", "($$^2)"};

/* ---- names ---- */

/* Splits " (I)" or " (E)" from a name, of which the rest must not be empty. */
static bool split_scope(const char *name, size_t *length, uint8_t *scope)
{
    size_t size = strlen(name);
    if (size < 4)
        return false;
    const char *end = name + size - 4;
    if (strcmp(end, " (I)") != 0 && strcmp(end, " (E)") != 0)
        return false;
    *scope = end[2] == 'I' ? XML_INCLUSIVE : XML_EXCLUSIVE;
    *length = size - 4;
    return true;
}

/* The last colon of the first `length` bytes, or NULL. */
static const char *last_colon(const char *name, size_t length)
{
    return memrchr(name, ':', length);
}

/* Splits ":PARTIAL:<number>" from a name. */
static bool split_partial(const char *name, size_t *length)
{
    const char *colon = last_colon(name, *length);
    if (colon == NULL || colon - name < 8 || memcmp(colon - 8, ":PARTIAL", 8) != 0)
        return false;
    *length = (size_t)(colon - 8 - name);
    return true;
}

static lode_status add_column(struct xml_reader *reader, const char *name, size_t length,
                              const struct xml_column *column)
{
    void *slot;
    LODE_TRY(lode_xml_push(reader, &reader->columns, &slot));
    struct xml_column *added = slot;
    *added = *column;
    added->position = reader->columns.count;
    added->metric = lode_xml_copy(reader, name, length);
    return added->metric ? LODE_OK : lode_fail_memory(reader->report->error);
}

lode_status lode_xml_metric_db(struct xml_reader *reader, const struct xml_element *element)
{
    const char *name = lode_xml_attribute(element, "n");
    struct xml_column column = {0};
    size_t length;
    int64_t id;
    LODE_TRY(lode_xml_integer(reader, element, "i", 0, UINT16_MAX, -1, &id));
    if (id < 0 || name == NULL)
        return lode_xml_finding(reader, DRAFTS_RULE_XML_NUMBER, element,
                                "a MetricDB lacks its id or its name");
    if (!split_scope(name, &length, &column.scope)) {
        LODE_TRY(lode_xml_finding(reader, DRAFTS_RULE_XML_METRIC, element,
                                  "a metric is neither inclusive nor exclusive; it is treated as inclusive"));
        length = strlen(name);
        column.scope = XML_INCLUSIVE;
    }
    column.id = (uint16_t)id;
    return add_column(reader, name, length, &column);
}

lode_status lode_xml_metric(struct xml_reader *reader, const struct xml_element *element)
{
    const char *name = lode_xml_attribute(element, "n");
    struct xml_metric *metric = &reader->metric;
    struct xml_column column = {.partial = true};
    size_t length;
    *metric = (struct xml_metric){.open = true};
    LODE_TRY(lode_xml_integer(reader, element, "i", INT32_MIN, INT32_MAX, INT64_MIN, &metric->id));
    if (metric->id == INT64_MIN || name == NULL)
        return lode_xml_finding(reader, DRAFTS_RULE_XML_NUMBER, element, "a Metric lacks its id or its name");
    /* A column without a scope in its name fills a gap in the table, and has no values. */
    if (!split_scope(name, &length, &column.scope))
        return LODE_OK;
    if (split_partial(name, &length)) {
        if (metric->id < 0 || metric->id > UINT16_MAX)
            return lode_xml_finding(reader, DRAFTS_RULE_XML_NUMBER, element,
                                    "the id of a column of values is out of range");
        metric->partial = true;
        column.id = (uint16_t)metric->id;
        return add_column(reader, name, length, &column);
    }
    const char *colon = last_colon(name, length);
    metric->statistic = colon ? colon[1] : '\0';
    return LODE_OK;
}

/* ---- formulas ---- */

static lode_status read_combine(struct xml_reader *reader, const struct xml_element *element,
                                const char *text)
{
    static const char *const names[] = {"sum(", "min(", "max("};
    struct xml_column *column = LODE_ARRAY_AT(&reader->columns, struct xml_column, reader->columns.count - 1);
    for (uint8_t i = 0; i < 3; i++) {
        if (strncmp(text, names[i], 4) == 0) {
            column->combine = i;
            return LODE_OK;
        }
    }
    return lode_xml_finding(reader, DRAFTS_RULE_XML_METRIC, element,
                            "values are combined by none of sum, min and max; sum is used");
}

/* The ids of the columns in a formula, in order. */
static unsigned ids_of(const char *text, uint64_t *ids)
{
    unsigned count = 0;
    while (count < XML_VIEW_IDS && (text = strchr(text, '$')) != NULL) {
        text++;
        if (*text < '0' || *text > '9')
            continue;
        uint64_t id = 0;
        for (; *text >= '0' && *text <= '9' && id <= UINT16_MAX; text++)
            id = id * 10 + (uint64_t)(*text - '0');
        if (id <= UINT16_MAX)
            ids[count++] = id;
    }
    return count;
}

/* The first formula of a column wins: sums and means precede statistics of squares. */
static lode_status say(struct xml_reader *reader, uint64_t id, enum formula formula)
{
    return lode_map_add(&reader->formulas, id, formula, NULL) ? LODE_OK
                                                              : lode_fail_memory(reader->report->error);
}

/* Sum = $s; Mean = $s / $count; StdDev and CfVar also refer to the sum of squares. */
static lode_status read_view(struct xml_reader *reader, const char *text)
{
    uint64_t ids[XML_VIEW_IDS];
    unsigned count = ids_of(text, ids);
    if (count == 1)
        return say(reader, ids[0], FORMULA_VALUE);
    if (count == 2 && reader->metric.statistic == 'M') {
        LODE_TRY(say(reader, ids[0], FORMULA_VALUE));
        return say(reader, ids[1], FORMULA_ONE);
    }
    for (unsigned i = 0; i < count; i++)
        LODE_TRY(say(reader, ids[i], FORMULA_SQUARE));
    return LODE_OK;
}

lode_status lode_xml_metric_formula(struct xml_reader *reader, const struct xml_element *element)
{
    const char *type = lode_xml_attribute(element, "t"), *text = lode_xml_attribute(element, "frm");
    if (!reader->metric.open || type == NULL || text == NULL)
        return lode_xml_finding(reader, DRAFTS_RULE_XML_METRIC, element,
                                "a formula lacks its metric, type or text");
    if (strcmp(type, "combine") == 0 && reader->metric.partial)
        return read_combine(reader, element, text);
    if (strcmp(type, "view") == 0 && !reader->metric.partial)
        return read_view(reader, text);
    return LODE_OK;
}

/* ---- conversion to the model ---- */

static int by_metric(const void *left, const void *right)
{
    const struct xml_column *a = left, *b = right;
    int order = strcmp(a->metric, b->metric);
    if (order != 0)
        return order;
    return a->position < b->position ? -1 : a->position > b->position;
}

static int by_position(const void *left, const void *right)
{
    const struct xml_column *a = *(const struct xml_column *const *)left;
    const struct xml_column *b = *(const struct xml_column *const *)right;
    return a->position < b->position ? -1 : a->position > b->position;
}

static const char *formula_of(const struct xml_reader *reader, const struct xml_column *column)
{
    const uint32_t *said = lode_map_get(&reader->formulas, column->id);
    return formula_strings[said && column->combine == LODE_COMBINE_SUM ? *said : FORMULA_VALUE];
}

static void add_instance(struct xml_reader *reader, struct lode_metric *metric,
                         const struct xml_column *column)
{
    const lode_scope *scope = &reader->db->base.scopes[column->scope];
    if (column->partial)
        metric->statistics[metric->statistic_count++] =
            (lode_metric_statistic){.scope = scope,
                                    .formula = formula_of(reader, column),
                                    .combine = column->combine,
                                    .id = column->id};
    else
        metric->scopes[metric->scope_count++] = (lode_metric_scope){.scope = scope, .id = column->id};
}

static lode_status fill_metric(struct xml_reader *reader, struct lode_metric *metric,
                               const struct xml_column *columns, size_t count)
{
    struct lode_database *db = &reader->db->base;
    size_t partials = 0;
    for (size_t i = 0; i < count; i++)
        partials += columns[i].partial;
    metric->name = columns->metric;
    metric->scopes = lode_arena_alloc(&db->arena, count - partials, sizeof *metric->scopes);
    metric->statistics = lode_arena_alloc(&db->arena, partials, sizeof *metric->statistics);
    LODE_TRY_ALLOC(metric->scopes && metric->statistics, reader->report->error);
    /* In the order of value ids: exclusive ones come first. */
    for (unsigned scope = 0; scope < XML_SCOPES; scope++)
        for (size_t i = 0; i < count && i < UINT16_MAX; i++)
            if (columns[i].scope == scope)
                add_instance(reader, metric, &columns[i]);
    return LODE_OK;
}

/* Ids of values and of statistics are unique: of several columns with one id, the first is kept. */
static lode_status drop_duplicates(struct xml_reader *reader)
{
    struct lode_map seen;
    lode_status status = LODE_OK;
    size_t kept = 0;
    lode_map_init(&seen);
    for (size_t i = 0; i < reader->columns.count && status == LODE_OK; i++) {
        struct xml_column *columns = reader->columns.items;
        bool added;
        uint64_t key = (uint64_t)columns[i].partial << 16 | columns[i].id;
        if (lode_map_add(&seen, key, 0, &added) == NULL)
            status = lode_fail_memory(reader->report->error);
        else if (added)
            columns[kept++] = columns[i];
        else
            status = lode_report_add(reader->report, DRAFTS_RULE_XML_DUPLICATE, reader->db->meta->file,
                                     LODE_NO_OFFSET, "two metrics have the id %u", columns[i].id);
    }
    lode_map_free(&seen);
    reader->columns.count = status == LODE_OK ? kept : reader->columns.count;
    return status;
}

static lode_status add_scopes(struct xml_reader *reader)
{
    struct lode_database *db = &reader->db->base;
    db->scopes = lode_arena_alloc(&db->arena, XML_SCOPES, sizeof *db->scopes);
    LODE_TRY_ALLOC(db->scopes, reader->report->error);
    db->scopes[XML_EXCLUSIVE] = (struct lode_scope){
        .index = XML_EXCLUSIVE, .type = LODE_SCOPE_TRANSITIVE, .propagation_index = 0, .name = "function"};
    db->scopes[XML_INCLUSIVE] = (struct lode_scope){.index = XML_INCLUSIVE,
                                                    .type = LODE_SCOPE_EXECUTION,
                                                    .propagation_index = UINT8_MAX,
                                                    .name = "execution"};
    db->scope_count = XML_SCOPES;
    return LODE_OK;
}

/* Columns are sorted by metric, and metrics by their first column. */
static lode_status place_metrics(struct xml_reader *reader, const struct xml_column **firsts)
{
    struct lode_database *db = &reader->db->base;
    const struct xml_column *columns = reader->columns.items;
    size_t count = reader->columns.count, metrics = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(columns[i].metric, columns[i - 1].metric) != 0)
            firsts[metrics++] = &columns[i];
    qsort(firsts, metrics, sizeof(*firsts), by_position);
    db->metrics = lode_arena_alloc(&db->arena, metrics, sizeof *db->metrics);
    LODE_TRY_ALLOC(db->metrics, reader->report->error);
    for (size_t m = 0; m < metrics; m++) {
        size_t size = 1, first = (size_t)(firsts[m] - columns);
        while (first + size < count && strcmp(columns[first + size].metric, firsts[m]->metric) == 0)
            size++;
        db->metrics[m].index = (uint32_t)m;
        LODE_TRY(fill_metric(reader, &db->metrics[m], firsts[m], size));
        db->metric_count++;
    }
    return LODE_OK;
}

lode_status lode_xml_finish_metrics(struct xml_reader *reader)
{
    LODE_TRY(add_scopes(reader));
    LODE_TRY(drop_duplicates(reader));
    if (reader->columns.count == 0)
        return LODE_OK;
    qsort(reader->columns.items, reader->columns.count, sizeof(struct xml_column), by_metric);
    const struct xml_column **firsts = calloc(reader->columns.count, sizeof(*firsts));
    LODE_TRY_ALLOC(firsts, reader->report->error);
    lode_status status = place_metrics(reader, firsts);
    free(firsts);
    return status;
}
