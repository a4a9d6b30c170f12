/* SPDX-License-Identifier: BSD-3-Clause */
/* How a scan would be run, for a query planner. */
#ifndef LODE_PRIVATE_SCAN_PLAN_H
#define LODE_PRIVATE_SCAN_PLAN_H

#include <lode/table.h>

LODE_BEGIN_DECLS

/* How a scan would be run. New fields come at the end. */
typedef struct lode_scan_plan {
    uint64_t filters_used;  /* a bit for each filter that is applied; the rest is the caller's */
    uint64_t filters_found; /* of these: rows are found by them, not read and dropped */
    int order_used;         /* rows come in the order that was asked for */
    int is_unique;          /* one row at most */
    double rows, cost;      /* estimates: rows that come, rows that are touched */
} lode_scan_plan;

/*
 * The constants of filters may be NULL here: an estimate is made without. `adjacent`: rows that are
 * equal in all columns of the order need only be adjacent, as GROUP BY needs it. An order that
 * cannot be had is no error here. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_scan_plan_make_sized(lode_tables *tables, const lode_table_info *table,
                                                            const lode_scan_options *options, int adjacent,
                                                            lode_scan_plan *out, size_t out_size,
                                                            lode_error *error);
#define lode_scan_plan_make(out, tables, table, options, adjacent, error)                                    \
    lode_scan_plan_make_sized(tables, table, options, adjacent, out, sizeof(lode_scan_plan), error)

LODE_END_DECLS
#endif
