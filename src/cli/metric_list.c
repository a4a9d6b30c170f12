/* SPDX-License-Identifier: BSD-3-Clause */
#include "metric_list.h"

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

static lode_status add_inputs(metric_list *list, metric_item *item, lode_error *error)
{
    for (size_t i = 0; i < lode_derived_metric_count(item->derived); i++) {
        const lode_metric *metric = lode_derived_metric(item->derived, i);
        size_t at = 0;
        while (at < list->input_count && list->inputs[at] != metric)
            at++;
        if (at == METRIC_INPUTS_MAX)
            return fail(error, "--metric needs too many metrics");
        if (at == list->input_count)
            list->inputs[list->input_count++] = metric;
        item->inputs[i] = at;
    }
    return LODE_OK;
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

static lode_status add_item(metric_list *list, const lode_database *db, const lode_derived_list *named,
                            const char *text, lode_error *error)
{
    if (list->count == METRIC_LIST_MAX)
        return fail(error, "--metric takes at most 16 metrics");
    metric_item *item = &list->items[list->count];
    lode_status status = lode_derived_parse(&item->derived, db, named, text, error);
    if (status != LODE_OK)
        return status;
    list->count++;
    if (lode_derived_is_metric(item->derived) && text[0] != '$')
        status = replace_accumulator(item, db, named, error);
    else
        item->accumulator = mean_of(item->derived, db);
    if (status != LODE_OK)
        return status;
    set_title(item);
    item->unit = unit_of(item);
    return add_inputs(list, item, error);
}

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
    list->count = 0;
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
