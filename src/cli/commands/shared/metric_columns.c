/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/metric_columns.h"

#include "alloc.h"
#include "output/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

metric_columns *metric_columns_new(size_t metrics)
{
    metric_columns *columns = alloc_array(1, sizeof *columns);
    columns->items = alloc_array(metrics * COLUMNS_PER_METRIC + OTHER_COLUMNS, sizeof *columns->items);
    columns->keys = alloc_array(metrics, sizeof *columns->keys);
    return columns;
}

void metric_columns_free(metric_columns *columns)
{
    free(columns->items);
    free(columns->keys);
    free(columns);
}

void metric_columns_add(metric_columns *columns, out_column column)
{
    columns->items[columns->count++] = column;
}

void metric_columns_of(metric_columns *columns, const metric_item *item, size_t number, int is_inclusive)
{
    static const char *const names[] = {"exclusive", "exclusive_percent", "inclusive", "inclusive_percent"};
    char(*keys)[METRIC_KEY_SIZE] = columns->keys[number];
    int is_metric = lode_derived_is_metric(item->derived);
    for (int i = 0; i < COLUMNS_PER_METRIC; i++) {
        int is_percent = i % 2, is_shown = (i / 2) == is_inclusive;
        out_visibility visibility = is_shown && !is_percent                ? OUT_ALWAYS
                                    : is_shown && number == 0 && is_metric ? OUT_ALWAYS
                                                                           : OUT_DATA_ONLY;
        snprintf(keys[i], METRIC_KEY_SIZE, "%s_%zu", names[i], number + 1);
        metric_columns_add(columns, (out_column){keys[i], is_percent ? "%" : item->title,
                                                 is_percent ? OUT_PERCENT : OUT_REAL, visibility});
    }
}

void metric_columns_amount(out *o, const metric_item *item, const double *amounts, const double *totals)
{
    double value, total = 0;
    int has_value = metric_item_value(item, amounts, &value);
    out_unit(o, item->unit);
    OUT_CELLS(o, has_value ? out_real(value) : out_none());
    /* A share of a quotient means nothing. */
    OUT_CELLS(o, has_value && lode_derived_is_metric(item->derived) && metric_item_value(item, totals, &total)
                     ? out_share(value, total)
                     : out_none());
}

void metric_columns_json(out *o, const metric_list *list, const double *totals)
{
    out_break(o);
    out_array(o, "metrics");
    for (size_t i = 0; i < list->count; i++) {
        double total;
        int has_total = metric_item_value(&list->items[i], totals, &total);
        OUT_OBJECT(o, NULL, "name", metric_item_name(&list->items[i]), "formula",
                   lode_derived_formula(list->items[i].derived), "total", has_total ? total : (double)NAN);
    }
    out_array_end(o);
}
