/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/tree/metrics.h"

#include "alloc.h"
#include "output/report.h"

#include <stdlib.h>

int tree_metrics_first(session *s)
{
    const metric_list *list = &s->metrics;
    if (list->count == 0 || s->metric)
        return EXIT_DONE;
    const metric_item *first = &list->items[0];
    /* An accumulator is a metric like others here: there is no mean of a call path. */
    if (first->accumulator)
        s->metric = first->accumulator;
    else if (lode_derived_is_metric(first->derived))
        s->metric = list->inputs[first->inputs[0]];
    else
        return report("%s: the first metric of a tree cannot be a formula (see 'lode help tree')", s->path);
    return EXIT_DONE;
}

/* The costs of one input for all rows. */
static int add_input(tree_metrics *metrics, session *s, size_t input, const lode_view *view,
                     const lode_view_options *options)
{
    size_t count = lode_view_count(view), inputs = s->metrics.input_count;
    double *inclusive = alloc_array(count + 1, sizeof *inclusive);
    double *exclusive = alloc_array(count + 1, sizeof *exclusive);
    lode_cost *cost = NULL;
    lode_error error = {0};
    s->metric = s->metrics.inputs[input];
    int status = session_cost(s, &cost);
    if (status == EXIT_DONE && lode_view_costs(view, cost, options, inclusive, exclusive, &error) != LODE_OK)
        status = session_error(s, &error);
    for (size_t i = 0; status == EXIT_DONE && i < count; i++) {
        metrics->inclusive[i * inputs + input] = inclusive[i];
        metrics->exclusive[i * inputs + input] = exclusive[i];
    }
    if (status == EXIT_DONE)
        metrics->totals[input] = lode_cost_total(cost);
    session_free_cost(cost);
    free(inclusive);
    free(exclusive);
    return status;
}

int tree_metrics_compute(tree_metrics *metrics, session *s, const lode_view *view,
                         const lode_view_options *options)
{
    const metric_list *list = &s->metrics;
    const lode_metric *first = s->metric;
    *metrics = (tree_metrics){0};
    if (list->count < 2)
        return EXIT_DONE;
    size_t count = lode_view_count(view) * list->input_count + 1;
    metrics->list = list;
    metrics->inclusive = alloc_array(count, sizeof *metrics->inclusive);
    metrics->exclusive = alloc_array(count, sizeof *metrics->exclusive);
    metrics->totals = alloc_array(list->input_count, sizeof *metrics->totals);
    int status = EXIT_DONE;
    for (size_t i = 0; status == EXIT_DONE && i < list->input_count; i++)
        status = add_input(metrics, s, i, view, options);
    s->metric = first;
    return status;
}

void tree_metrics_free(tree_metrics *metrics)
{
    free(metrics->inclusive);
    free(metrics->exclusive);
    free(metrics->totals);
}

size_t tree_metrics_count(const tree_metrics *metrics)
{
    return metrics->list ? metrics->list->count - 1 : 0;
}

void tree_metrics_heading(out *o, const tree_metrics *metrics)
{
    if (tree_metrics_count(metrics) == 0)
        return;
    if (out_format_of(o) == OUT_JSON)
        metric_columns_json(o, metrics->list, metrics->totals);
    for (size_t i = 1; i < metrics->list->count; i++) {
        const metric_item *item = &metrics->list->items[i];
        char total[NUMBER_SIZE] = "no value";
        double value;
        if (metric_item_value(item, metrics->totals, &value))
            format_amount(total, value, item->unit);
        out_say(o, "%s%s: %s", metric_item_name(item), item->accumulator ? " (mean)" : "", total);
    }
    if (metrics->list)
        out_gap(o);
}

void tree_metrics_columns(metric_columns *columns, const tree_metrics *metrics)
{
    for (size_t i = 0; i < tree_metrics_count(metrics); i++)
        metric_columns_of(columns, &metrics->list->items[i + 1], i + 1, 1);
}

void tree_metrics_cells(out *o, const tree_metrics *metrics, size_t row)
{
    for (size_t i = 0; i < tree_metrics_count(metrics); i++) {
        const metric_item *item = &metrics->list->items[i + 1];
        size_t at = row * metrics->list->input_count;
        metric_columns_amount(o, item, metrics->exclusive + at, metrics->totals);
        metric_columns_amount(o, item, metrics->inclusive + at, metrics->totals);
    }
}
