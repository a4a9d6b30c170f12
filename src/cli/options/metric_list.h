/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics and formulas that --metric asks for. */
#ifndef CLI_METRIC_LIST_H
#define CLI_METRIC_LIST_H

#include "options/option.h"
#include "text/number.h"

#include <lode/unstable.h>

typedef struct metric_item {
    lode_derived *derived;
    const lode_metric *accumulator; /* it is shown as its mean; NULL: it is none */
    char title[24];                 /* short, without the unit */
    metric_unit unit;
    size_t inputs[32]; /* positions in metric_list.inputs, in the order of its metrics */
} metric_item;

typedef struct metric_list {
    metric_item *items;
    size_t count, capacity;
    const lode_metric **inputs; /* each once */
    size_t input_count, input_capacity;
    int has_all; /* "all" was asked for */
} metric_list;

/* The word that stands for all metrics. */
extern const char metric_word_all[];
int metric_is_all(const char *text);
/* The sum over all profiles, execution scope, at the global context; 0 if there is none. */
double metric_total(const lode_database *db, const lode_metric *metric);

/*
 * Each text is a metric or a formula, or several with commas between them; a metric whose name has
 * a comma is found first. "all" is those that have a total and are not in the list yet, the default
 * one first; without any total, it is all. Accumulators become means, unless they are written
 * $NUMBER. `path` is the directory of the database. metric_list_free is due in every case.
 */
lode_status metric_list_parse(metric_list *list, const lode_database *db, const char *path,
                              const text_list *texts, lode_error *error);
void metric_list_free(metric_list *list);

/* The metric, if it is exactly one, and no accumulator; else NULL. */
const lode_metric *metric_list_single(const metric_list *list);
const char *metric_item_name(const metric_item *item);
/* The value for sums of all inputs; returns whether there is one. */
int metric_item_value(const metric_item *item, const double *inputs, double *value);

#endif
