/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads: what one metric amounts to in each profile, for all contexts or some; groups of them. */
#ifndef LODE_UNSTABLE_SPREAD_H
#define LODE_UNSTABLE_SPREAD_H

#include <lode/context.h>
#include <lode/metric.h>
#include <lode/pool.h>
#include <lode/profile.h>
#include <lode/selection.h>
#include <lode/values.h>

LODE_BEGIN_DECLS

typedef struct lode_spread lode_spread;

typedef struct lode_spread_options {
    size_t size;
    const lode_metric *metric;       /* NULL: lode_database_default_metric */
    const lode_selection *selection; /* NULL: all profiles */
    /* Such as all contexts of a function, in any order; NULL: everything. */
    const lode_context *const *contexts;
    size_t context_count;
    lode_values_path path; /* LODE_VALUES_CHEAPER trusts values by context if they add up */
    unsigned threads;      /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
    /*
     * All ranks of a communicator read profiles together, with the same database and arguments, and
     * have the same result; values by context are read by all. NULL: this process only, as
     * `local_ranks` ranks (0: one).
     */
    lode_comm *comm;
    uint32_t local_ranks;
} lode_spread_options;
#define LODE_SPREAD_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_spread_options), NULL, NULL, NULL, 0, LODE_VALUES_CHEAPER, 0, NULL, NULL, NULL, NULL, 0  \
    }

/*
 * Adds up the costs of some contexts in each profile. Inclusive counts those that have none of the
 * given ones above them, so that a recursive function counts once; exclusive is the own cost of all
 * given contexts and of what lies below them up to the next function. Both are what hotspots show
 * of a function, and so are their sums over profiles. Memory grows with contexts and profiles, not
 * with values; results do not depend on threads, ranks or the part that values are read from. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_spread_compute(lode_spread **out, const lode_database *db,
                                                      const lode_spread_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_spread_free(lode_spread *spread);

/* MT: any thread. */
LODE_API const lode_metric *lode_spread_metric(const lode_spread *spread);

/* One profile. `total` is its cost of everything. */
typedef struct lode_spread_row {
    uint32_t profile;
    double inclusive, exclusive, total;
} lode_spread_row;

/*
 * The selected profiles that have the metric, in ascending order; 0 where they have no cost at the
 * given contexts. MT: any thread.
 */
LODE_API size_t lode_spread_count(const lode_spread *spread);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_spread_row *lode_spread_at(const lode_spread *spread, size_t index);
/* Selected profiles without any value; those with values but without the metric. MT: any thread. */
LODE_API uint32_t lode_spread_empty(const lode_spread *spread);
LODE_API uint32_t lode_spread_without(const lode_spread *spread);
/* Which part the values came from. MT: any thread. */
LODE_API lode_values_path lode_spread_path(const lode_spread *spread);

/* ---- groups ---- */

#define LODE_GROUP_KINDS 4 /* a group is known by this many kinds of ids at most */

/* Profiles with the same ids of some kinds. Amounts are of profiles. */
typedef struct lode_spread_group {
    lode_id ids[LODE_GROUP_KINDS]; /* in the order of the kinds that were asked for */
    uint32_t first;                /* its first profile */
    uint32_t profiles;
    double inclusive, exclusive, total; /* sums */
    double min, max;                    /* of inclusive costs of its profiles */
} lode_spread_group;

typedef struct lode_spread_groups lode_spread_groups;

/*
 * Groups profiles by their ids of 1 to LODE_GROUP_KINDS kinds; groups are in ascending order of
 * ids. A physical id counts with both of its numbers. A profile without an id of each kind is in no
 * group. Reads the id tuples of all profiles of the spread. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_spread_group_by(lode_spread_groups **out, const lode_spread *spread,
                                                       const unsigned *kinds, size_t kind_count,
                                                       lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_spread_groups_free(lode_spread_groups *groups);
/* MT: any thread. */
LODE_API size_t lode_spread_groups_count(const lode_spread_groups *groups);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_spread_group *lode_spread_groups_at(const lode_spread_groups *groups, size_t index);
/* Profiles of the spread that are in no group. MT: any thread. */
LODE_API uint32_t lode_spread_groups_without(const lode_spread_groups *groups);

/* ---- many rows ---- */

/* The number that stands for all profiles. */
typedef enum lode_profile_statistic {
    LODE_PROFILES_MIN,
    LODE_PROFILES_MEDIAN,
    LODE_PROFILES_MAX
} lode_profile_statistic;

typedef struct lode_spread_rows_options {
    size_t size;
    const lode_metric *metric;       /* NULL: lode_database_default_metric */
    const lode_selection *selection; /* NULL: all profiles */
    const uint32_t *rows; /* by index of context: its row, or LODE_NO_ROW; NULL: none is in a row */
    size_t row_count;
    /* By index of context: whether its inclusive cost does not count for its row; NULL: none. */
    const unsigned char *uncounted;
    lode_profile_statistic statistic;
    uint64_t memory;  /* for medians, in bytes: profiles are read again if it is less; 0: 256 MiB */
    unsigned threads; /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
} lode_spread_rows_options;
#define LODE_SPREAD_ROWS_OPTIONS_INIT                                                                        \
    {                                                                                                        \
        sizeof(lode_spread_rows_options), NULL, NULL, NULL, 0, NULL, LODE_PROFILES_MIN, 0, 0, NULL, NULL,    \
            NULL                                                                                             \
    }

/*
 * The costs of many rows, each as the statistic over the profiles that have the metric; a profile
 * without a cost of a row has 0 there. Exclusive is the own cost of the contexts of a row;
 * inclusive counts those that have none of their row above them. Both have room for all rows;
 * `total` is the statistic of the cost of everything; each may be NULL. Reads all values once, or
 * more often for medians; memory grows with rows and profiles. Results do not depend on threads.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_spread_rows(double *exclusive, double *inclusive, double *total,
                                                   const lode_database *db,
                                                   const lode_spread_rows_options *options,
                                                   lode_error *error);

/*
 * Kinds that a person means by such as "rank" or "node,rank", without regard to case; "gpu" is
 * GPUDEVICE if a profile has one, else GPUCONTEXT. LODE_NOT_FOUND, with an error text that lists
 * the kinds that profiles have, for others. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_find_kinds(const lode_database *db, const char *text,
                                                           unsigned kinds[LODE_GROUP_KINDS], size_t *count,
                                                           lode_error *error);

LODE_END_DECLS
#endif
