/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes metrics of experiment.xml. There are two scopes, inclusive (I) and exclusive (E). Columns
 * "X:PARTIAL:k (I)" have the values of the summary. Their formulas are not written: they follow
 * from the statistics "X:Sum (I)", "X:Mean (I)" and so on that use them.
 */
#include "format/hpctoolkit_drafts/write/xml.h"
#include <inttypes.h>
#include <string.h>

/* The parts of statistics: a formula of one profile's value, and its combination. */
enum part {
    PART_SUM,
    PART_COUNT,
    PART_SQUARES,
    PART_MIN,
    PART_MAX,
    PARTS
};

static const struct {
    const char *formula;
    int combine;
} parts[PARTS] = {{"$$", LODE_COMBINE_SUM},
                  {"1", LODE_COMBINE_SUM},
                  {"($$^2)", LODE_COMBINE_SUM},
                  {"$$", LODE_COMBINE_MIN},
                  {"$$", LODE_COMBINE_MAX}};

/* A metric under one of the two scopes. */
struct column {
    const lode_metric *metric;
    const lode_metric_scope *instance;         /* NULL: the metric does not have the scope */
    const lode_metric_statistic *parts[PARTS]; /* NULL where there is none */
    const char *letter, *type;
};

static const lode_metric_scope *find_scope(const lode_metric *metric, int type)
{
    for (uint32_t i = 0; i < metric->scope_count; i++)
        if (metric->scopes[i].scope->type == type)
            return &metric->scopes[i];
    return NULL;
}

static struct column column_of(const lode_metric *metric, bool inclusive)
{
    struct column column = {.metric = metric,
                            .instance =
                                find_scope(metric, inclusive ? LODE_SCOPE_EXECUTION : LODE_SCOPE_TRANSITIVE),
                            .letter = inclusive ? "I" : "E",
                            .type = inclusive ? "inclusive" : "exclusive"};
    for (uint32_t i = 0; column.instance && i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        for (unsigned part = 0; part < PARTS; part++)
            if (statistic->scope == column.instance->scope && column.parts[part] == NULL &&
                statistic->combine == parts[part].combine &&
                strcmp(statistic->formula, parts[part].formula) == 0)
                column.parts[part] = statistic;
    }
    /* Readers identify these only by statistics that also use the sum. */
    if (column.parts[PART_SUM] == NULL)
        column.parts[PART_COUNT] = NULL;
    if (column.parts[PART_COUNT] == NULL)
        column.parts[PART_SQUARES] = NULL;
    return column;
}

void lode_xml_choose(struct drafts_sink *out)
{
    for (uint32_t m = 0; m < out->base.about->metric_count; m++)
        for (int inclusive = 0; inclusive < 2; inclusive++) {
            struct column column = column_of(&out->base.about->metrics[m], inclusive);
            if (column.instance)
                out->values[column.instance->id] = true;
            for (unsigned part = 0; part < PARTS; part++)
                if (column.parts[part])
                    out->statistics[column.parts[part]->id] = true;
        }
}

/* ---- columns of the summary ---- */

static void begin_metric(struct xml_writer *self, const struct column *column, int64_t id)
{
    lode_xml_put(self, "<Metric i=\"%" PRId64 "\" o=\"%" PRId64 "\" n=\"", id, id);
    lode_xml_put_text(self, column->metric->name);
}

static void end_metric(struct xml_writer *self, const struct column *column, int64_t partner, int show)
{
    lode_xml_put(self, " (%s)\" md=\"", column->letter);
    lode_xml_put_text(self, column->metric->name);
    lode_xml_put(self, "\" v=\"derived-incr\" t=\"%s\"", column->type);
    if (partner != INT64_MIN)
        lode_xml_put(self, " partner=\"%" PRId64 "\"", partner);
    lode_xml_put(self, " show=\"%d\" show-percent=\"%d\">\n", show, show == 1);
}

static void put_partial(struct xml_writer *self, const struct column *column, const struct column *partner,
                        unsigned part, unsigned number)
{
    static const char *const combines[] = {"sum", "min", "max"};
    unsigned id = column->parts[part]->id;
    begin_metric(self, column, id);
    lode_xml_put(self, ":PARTIAL:%u", number);
    end_metric(self, column, partner->parts[part] ? partner->parts[part]->id : INT64_MIN, 4);
    lode_xml_put(
        self,
        "<MetricFormula t=\"combine\" frm=\"%s($%u, $%u)\"/>\n<Info><NV n=\"units\" v=\"events\"/></Info>\n</Metric>\n",
        combines[parts[part].combine], id, id);
}

/* ---- statistics ---- */

/* In an order in which a reader can identify their parts. */
enum statistic {
    STATISTIC_SUM,
    STATISTIC_MEAN,
    STATISTIC_DEVIATION,
    STATISTIC_MIN,
    STATISTIC_MAX,
    STATISTICS
};

static const char *const statistic_names[STATISTICS] = {"Sum", "Mean", "StdDev", "Min", "Max"};

static bool has_statistic(const struct column *column, enum statistic statistic)
{
    static const enum part needed[STATISTICS] = {PART_SUM, PART_COUNT, PART_SQUARES, PART_MIN, PART_MAX};
    return column->parts[needed[statistic]] != NULL;
}

static unsigned part_id(const struct column *column, enum part part)
{
    return column->parts[part]->id;
}

static void put_formula(struct xml_writer *self, const struct column *column, enum statistic statistic)
{
    switch (statistic) {
    case STATISTIC_SUM:
        lode_xml_put(self, "$%u", part_id(column, PART_SUM));
        break;
    case STATISTIC_MEAN:
        lode_xml_put(self, "$%u/$%u", part_id(column, PART_SUM), part_id(column, PART_COUNT));
        break;
    case STATISTIC_DEVIATION:
        lode_xml_put(self, "sqrt(($%u/$%u)-pow($%u/$%u,2))", part_id(column, PART_SQUARES),
                     part_id(column, PART_COUNT), part_id(column, PART_SUM), part_id(column, PART_COUNT));
        break;
    case STATISTIC_MIN:
        lode_xml_put(self, "$%u", part_id(column, PART_MIN));
        break;
    case STATISTIC_MAX:
    case STATISTICS:
        lode_xml_put(self, "$%u", part_id(column, PART_MAX));
        break;
    }
}

static void put_statistic(struct xml_writer *self, const struct column *column, const struct column *partner,
                          enum statistic statistic, int64_t id)
{
    int64_t other = id % 2 ? id - 1 : id + 1; /* -1 and -2, -3 and -4 */
    begin_metric(self, column, id);
    lode_xml_put(self, ":%s", statistic_names[statistic]);
    end_metric(self, column, has_statistic(partner, statistic) ? other : INT64_MIN, 1);
    lode_xml_put(self, "<MetricFormula t=\"view\" frm=\"");
    put_formula(self, column, statistic);
    lode_xml_put(self, "\"/>\n<Info><NV n=\"units\" v=\"events\"/></Info>\n</Metric>\n");
}

/* ---- tables ---- */

static void put_metric(struct xml_writer *self, const lode_metric *metric, int64_t *last)
{
    struct column both[2] = {column_of(metric, true), column_of(metric, false)};
    unsigned number = 0;
    for (unsigned part = 0; part < PARTS; part++) {
        for (unsigned i = 0; i < 2; i++)
            if (both[i].parts[part])
                put_partial(self, &both[i], &both[1 - i], part, number);
        number += both[0].parts[part] || both[1].parts[part];
    }
    for (unsigned statistic = 0; statistic < STATISTICS; statistic++) {
        for (unsigned i = 0; i < 2; i++)
            if (has_statistic(&both[i], statistic))
                put_statistic(self, &both[i], &both[1 - i], statistic, *last - 1 - (int64_t)i);
        *last -= 2;
    }
}

void lode_xml_put_metrics(struct xml_writer *self)
{
    int64_t last = 0;
    lode_xml_put(self, "<MetricTable>\n");
    for (uint32_t m = 0; m < self->about->metric_count; m++)
        put_metric(self, &self->about->metrics[m], &last);
    lode_xml_put(self, "</MetricTable>\n<MetricDBTable>\n");
    for (uint32_t m = 0; m < self->about->metric_count; m++)
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            struct column column = column_of(&self->about->metrics[m], !exclusive);
            if (column.instance == NULL)
                continue;
            lode_xml_put(self, "<MetricDB i=\"%u\" n=\"", column.instance->id);
            lode_xml_put_text(self, column.metric->name);
            lode_xml_put(self, " (%s)\"/>\n", column.letter);
        }
    lode_xml_put(self, "</MetricDBTable>\n");
}
