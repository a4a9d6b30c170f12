/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/metric_list.h"

#include "alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_SIZE 4200

static lode_status fail(lode_error *error, const char *text)
{
    *error = (lode_error){.status = LODE_ERR_ARGUMENT, .offset = LODE_NO_OFFSET};
    snprintf(error->text, sizeof error->text, "%s", text);
    return LODE_ERR_ARGUMENT;
}

const char *metric_item_name(const metric_item *item)
{
    const lode_derived *derived = item->derived;
    return lode_derived_is_metric(derived) ? lode_metric_name(lode_derived_metric(derived, 0))
                                           : lode_derived_name(derived);
}

/* "GKER:BLKS", not "GKER:BLKS (B)". */
static void set_title(metric_item *item)
{
    const char *name = metric_item_name(item), *unit = strstr(name, " (");
    size_t length = unit && unit > name ? (size_t)(unit - name) : strlen(name);
    if (length < sizeof item->title)
        snprintf(item->title, sizeof item->title, "%.*s", (int)length, name);
    else
        snprintf(item->title, sizeof item->title, "%.*s...", (int)sizeof item->title - 4, name);
}

static metric_unit unit_of(const metric_item *item)
{
    if (lode_derived_is_metric(item->derived))
        return unit_of_metric(metric_item_name(item));
    /* A mean has the unit of what was accumulated; that of another formula is not known. */
    return item->accumulator ? unit_of_metric(lode_metric_name(item->accumulator)) : UNIT_COUNT;
}

static void add_inputs(metric_list *list, metric_item *item)
{
    for (size_t i = 0; i < lode_derived_metric_count(item->derived); i++) {
        const lode_metric *metric = lode_derived_metric(item->derived, i);
        size_t at = 0;
        while (at < list->input_count && list->inputs[at] != metric)
            at++;
        if (at == list->input_count) {
            list->inputs = alloc_grow(list->inputs, &list->input_capacity, at, sizeof(const lode_metric *));
            list->inputs[list->input_count++] = metric;
        }
        item->inputs[i] = at;
    }
}

/* The mean of an accumulator, by the name that the database has for it. */
static lode_status replace_accumulator(metric_item *item, const lode_database *db,
                                       const lode_derived_list *named, lode_error *error)
{
    const lode_metric *metric = lode_derived_metric(item->derived, 0);
    const lode_metric *count = lode_metric_counted_by(db, metric);
    for (size_t i = 0; count && i < lode_derived_list_count(named); i++) {
        const lode_derived *mean = lode_derived_list_at(named, i);
        if (lode_derived_metric_count(mean) != 2 || lode_derived_metric(mean, 0) != metric ||
            lode_derived_metric(mean, 1) != count)
            continue;
        lode_derived_free(item->derived);
        item->accumulator = metric;
        return lode_derived_parse(&item->derived, db, named, lode_derived_name(mean), error);
    }
    return LODE_OK;
}

static const lode_metric *mean_of(const lode_derived *derived, const lode_database *db)
{
    const lode_metric *metric = lode_derived_metric(derived, 0);
    int is_mean = !lode_derived_is_metric(derived) && lode_derived_metric_count(derived) == 2 &&
                  lode_metric_counted_by(db, metric) == lode_derived_metric(derived, 1);
    return is_mean ? metric : NULL;
}

/* A metric or a formula; with `as_mean`, an accumulator becomes its mean. */
static lode_status add_one(metric_list *list, const lode_database *db, const lode_derived_list *named,
                           const char *text, int as_mean, lode_error *error)
{
    list->items = alloc_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    metric_item *item = &list->items[list->count];
    *item = (metric_item){0};
    lode_status status = lode_derived_parse(&item->derived, db, named, text, error);
    if (status != LODE_OK)
        return status;
    list->count++;
    if (lode_derived_is_metric(item->derived) && as_mean)
        status = replace_accumulator(item, db, named, error);
    else
        item->accumulator = mean_of(item->derived, db);
    if (status != LODE_OK)
        return status;
    set_title(item);
    item->unit = unit_of(item);
    add_inputs(list, item);
    return LODE_OK;
}

/* ---- all metrics ---- */

const char metric_word_all[] = "all";

int metric_is_all(const char *text)
{
    return strcmp(text, metric_word_all) == 0;
}

double metric_total(const lode_database *db, const lode_metric *metric)
{
    lode_block block;
    uint16_t id;
    double total = 0;
    if (lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &id) != LODE_OK ||
        lode_profile_block(db, 0, &block, NULL) != LODE_OK ||
        lode_block_lookup(&block, 0, id, &total, NULL) != LODE_OK)
        return 0;
    return total;
}

static int has_item(const metric_list *list, const lode_metric *metric)
{
    for (size_t i = 0; i < list->count; i++) {
        const metric_item *item = &list->items[i];
        const lode_metric *own =
            lode_derived_is_metric(item->derived) ? lode_derived_metric(item->derived, 0) : item->accumulator;
        if (own == metric)
            return 1;
    }
    return 0;
}

static lode_status add_metric(metric_list *list, const lode_database *db, const lode_derived_list *named,
                              const lode_metric *metric, lode_error *error)
{
    char number[16];
    snprintf(number, sizeof number, "$%u", lode_metric_index(metric));
    return has_item(list, metric) ? LODE_OK : add_one(list, db, named, number, 1, error);
}

static lode_status add_all(metric_list *list, const lode_database *db, const lode_derived_list *named,
                           lode_error *error)
{
    uint32_t count = lode_database_metric_count(db), totals = 0;
    const lode_metric *first;
    lode_status status = lode_database_default_metric(db, &first, error);
    list->has_all = 1;
    if (status == LODE_OK)
        status = add_metric(list, db, named, first, error);
    for (uint32_t i = 0; i < count; i++)
        totals += metric_total(db, lode_database_metric(db, i)) != 0;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++) {
        const lode_metric *metric = lode_database_metric(db, i);
        if (totals == 0 || metric_total(db, metric) != 0)
            status = add_metric(list, db, named, metric, error);
    }
    return status;
}

static lode_status add_item(metric_list *list, const lode_database *db, const lode_derived_list *named,
                            const char *text, lode_error *error)
{
    return metric_is_all(text) ? add_all(list, db, named, error)
                               : add_one(list, db, named, text, text[0] != '$', error);
}

/* ---- the list ---- */

/* How long the first of several metrics is: up to a comma outside of parentheses and quotes. */
static size_t part_length(const char *text)
{
    int depth = 0;
    char quote = '\0';
    size_t at = 0;
    for (; text[at] && (quote || depth > 0 || text[at] != ','); at++) {
        if (quote)
            quote = text[at] == quote ? '\0' : quote;
        else if (text[at] == '\'' || text[at] == '"')
            quote = text[at];
        else
            depth += (text[at] == '(') - (text[at] == ')');
    }
    return at;
}

static lode_status add_text(metric_list *list, const lode_database *db, const lode_derived_list *named,
                            const char *text, lode_error *error)
{
    char part[PART_SIZE];
    size_t length = part_length(text);
    lode_status status = add_item(list, db, named, text, error);
    if (status == LODE_OK || text[length] == '\0')
        return status;
    for (;;) {
        if (length >= sizeof part)
            return fail(error, "a metric is too long");
        memcpy(part, text, length);
        part[length] = '\0';
        status = add_item(list, db, named, part, error);
        if (status != LODE_OK || text[length] == '\0')
            return status;
        text += length + 1;
        length = part_length(text);
    }
}

lode_status metric_list_parse(metric_list *list, const lode_database *db, const char *path,
                              const text_list *texts, lode_error *error)
{
    lode_derived_list *named = NULL;
    if (texts->count == 0)
        return LODE_OK;
    lode_status status = lode_derived_list_open(&named, db, path, error);
    for (size_t i = 0; status == LODE_OK && i < texts->count; i++)
        status = add_text(list, db, named, texts->items[i], error);
    lode_derived_list_close(named);
    return status;
}

void metric_list_free(metric_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        lode_derived_free(list->items[i].derived);
    free(list->items);
    free(list->inputs);
    *list = (metric_list){0};
}

const lode_metric *metric_list_single(const metric_list *list)
{
    int is_single = list->count == 1 && lode_derived_is_metric(list->items[0].derived);
    return is_single ? lode_derived_metric(list->items[0].derived, 0) : NULL;
}

int metric_item_value(const metric_item *item, const double *inputs, double *value)
{
    double values[32];
    for (size_t i = 0; i < lode_derived_metric_count(item->derived); i++)
        values[i] = inputs[item->inputs[i]];
    return lode_derived_value(item->derived, values, value);
}
