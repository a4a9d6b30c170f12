/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode tree` with several metrics: the rows of the first one, with the costs of the others. */
#ifndef CLI_TREE_METRICS_H
#define CLI_TREE_METRICS_H

#include "commands/shared/metric_columns.h"
#include "stores/session.h"

typedef struct tree_metrics {
    const metric_list *list;       /* NULL: one metric only */
    double *inclusive, *exclusive; /* by row: of all inputs */
    double *totals;                /* of all inputs */
    /* Elapsed time by context; NULL: not of this view, or no calls run at the same time. */
    const uint64_t *elapsed;
} tree_metrics;

/* Chooses the metric that decides which rows there are. EXIT_TROUBLE after a message. */
int tree_metrics_first(session *s);
/*
 * The costs of the other metrics, if there are some; `options` are those of the view.
 * tree_metrics_free is due in every case. EXIT_TROUBLE after a message.
 */
int tree_metrics_compute(tree_metrics *metrics, session *s, const lode_view *view,
                         const lode_view_options *options);
void tree_metrics_free(tree_metrics *metrics);

/* How many there are beside the first. */
size_t tree_metrics_count(const tree_metrics *metrics);
void tree_metrics_heading(out *o, const tree_metrics *metrics);
void tree_metrics_columns(metric_columns *columns, const tree_metrics *metrics);
void tree_metrics_cells(out *o, const tree_metrics *metrics, size_t row);

#endif
