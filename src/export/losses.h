/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an export lost, whatever the format: formats say what they wrote, and this compares it with
 * what the store has and what was asked for.
 */
#ifndef LODE_EXPORT_LOSSES_H
#define LODE_EXPORT_LOSSES_H

#include <lode/unstable/export.h>
#include <stdbool.h>

struct lode_export;

/* What a format wrote of a database. */
struct lode_export_written {
    bool has_stacks;     /* costs of metrics, or the time in a time window */
    bool has_tables;     /* everything, or the metrics that were asked for */
    bool keeps_labels;   /* labels of samples, as far as they are known */
    bool has_labels;     /* and all are */
    size_t metric_count; /* of stacks */
};

/* Counts findings of reading on their way to the caller: what was found was repaired. */
void lode_export_count_repairs(struct lode_export *job);
/* Reports all that was lost, after the format is written. */
lode_status lode_export_report_losses(const struct lode_export *job, lode_error *error);

#endif
