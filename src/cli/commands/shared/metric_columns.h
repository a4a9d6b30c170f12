/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of several metrics: exclusive and inclusive costs, each with its percentage. */
#ifndef CLI_METRIC_COLUMNS_H
#define CLI_METRIC_COLUMNS_H

#include "options/metric_list.h"
#include "output/out.h"

enum {
    COLUMNS_PER_METRIC = 4, /* exclusive, its percentage, inclusive, its percentage */
    OTHER_COLUMNS = 24,
    METRIC_KEY_SIZE = 32
};

typedef struct metric_columns {
    out_column *items;
    char (*keys)[COLUMNS_PER_METRIC][METRIC_KEY_SIZE]; /* by metric */
    size_t count;
} metric_columns;

/* With room for the columns of so many metrics, and OTHER_COLUMNS; metric_columns_free frees it. */
metric_columns *metric_columns_new(size_t metrics);
void metric_columns_free(metric_columns *columns);
void metric_columns_add(metric_columns *columns, out_column column);
/*
 * The columns of the metric of this number, from 0. Text has one amount of each metric, exclusive
 * or inclusive, and the percentage of the first.
 */
void metric_columns_of(metric_columns *columns, const metric_item *item, size_t number, int is_inclusive);
/* Two cells of a row: the value for sums of all inputs, and its share of that for their totals. */
void metric_columns_amount(out *o, const metric_item *item, const double *amounts, const double *totals);
/* "metrics" of JSON: names, formulas and totals. */
void metric_columns_json(out *o, const metric_list *list, const double *totals);

#endif
