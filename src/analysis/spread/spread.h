/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by profile. */
#ifndef LODE_ANALYSIS_SPREAD_H
#define LODE_ANALYSIS_SPREAD_H

#include "base/comm/comm.h"
#include <lode/unstable/spread.h>
#include <stdbool.h>

/* Differences below this fraction of what they are the difference of are rounding errors. */
#define LODE_SPREAD_ROUNDING 1e-11

struct lode_spread {
    const lode_database *db;
    const lode_metric *metric;
    lode_spread_row *rows;
    size_t count;
    uint32_t empty, without;
    lode_values_path path;
};

/* What is asked of many rows, in inclusive values. */
struct lode_spread_question {
    const lode_metric *metric;
    uint16_t id; /* of the metric, under the execution scope */
    const lode_selection *selection;
    const uint32_t *rows;          /* by index of context */
    const unsigned char *is_outer; /* by index of context: no context above it is in its row */
    size_t row_count;
};

/*
 * Fills `values`, which are zero, by row, profile, and kind (exclusive, inclusive). LODE_ABSENT if
 * values by profile are better, or if those by context are not those of the summary; values are
 * undefined then. All ranks of `comm`, which may be NULL, have the same.
 */
lode_status lode_spread_by_contexts(const struct lode_spread_question *question, const lode_database *db,
                                    struct lode_comm *comm, double *values, lode_error *error);

enum {
    LODE_SPREAD_PROFILES_PER_ITEM = 16
};
/* Bytes of that many profiles; `context` is the database. */
uint64_t lode_spread_weight(const void *context, uint64_t item);
/*
 * Ranks that see different files end before they wait for each other: about to read values by
 * profiles, or done with values by contexts. `comm` may be NULL.
 */
lode_status lode_spread_agree(struct lode_comm *comm, const lode_database *db, uint16_t id, int path,
                              lode_error *error);

/*
 * The cost of each row in each profile: by row, profile, and kind (exclusive, inclusive); 0 where a
 * profile has none, or not the metric. Reads contexts or profiles, whichever are fewer; the values
 * are the same to the last bit. `values` has room for all. The statistic is not used.
 * Ranks of `comm`, which may be NULL, share out profiles.
 */
lode_status lode_spread_rows_values(double *values, const lode_database *db,
                                    const lode_spread_rows_options *options, struct lode_comm *comm,
                                    lode_error *error);

/* The innermost ids of the kinds of a profile. Clears `has_all` if one is missing. */
lode_status lode_group_ids(lode_id out[LODE_GROUP_KINDS], const lode_database *db, uint32_t profile,
                           const unsigned *kinds, size_t kind_count, bool *has_all, lode_error *error);
/* Orders groups. Ids of kinds that were not asked for are all zero. */
int lode_compare_group_ids(const lode_id *a, const lode_id *b);

#endif
