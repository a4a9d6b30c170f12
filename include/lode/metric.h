/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics: what was measured, how it propagates up the tree (scopes), how profiles are summarised.
 */
#ifndef LODE_METRIC_H
#define LODE_METRIC_H

#include <lode/database.h>

LODE_BEGIN_DECLS

typedef struct lode_metric lode_metric;
typedef struct lode_scope lode_scope;

/* Values as in the files; a value beyond the known ones is an unknown one, not an error. */
typedef enum lode_scope_type {
    LODE_SCOPE_CUSTOM = 0,    /* its rule is not in the file */
    LODE_SCOPE_POINT = 1,     /* as measured, no propagation */
    LODE_SCOPE_EXECUTION = 2, /* with all descendants: inclusive cost */
    LODE_SCOPE_TRANSITIVE = 3 /* along contexts whose propagation bit is set: "function" */
} lode_scope_type;

typedef enum lode_combine {
    LODE_COMBINE_SUM = 0,
    LODE_COMBINE_MIN = 1,
    LODE_COMBINE_MAX = 2
} lode_combine;

/* NULL for a value that is not known. MT: any thread. */
LODE_API const char *lode_scope_type_name(int type);
LODE_API const char *lode_combine_name(int combine);

/* Scopes. MT: any thread. */
LODE_API uint32_t lode_database_scope_count(const lode_database *db);
LODE_API const lode_scope *lode_database_scope(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_scope_index(const lode_scope *scope);
LODE_API const char *lode_scope_name(const lode_scope *scope);
LODE_API int lode_scope_kind(const lode_scope *scope);
/*
 * The bit of lode_context_propagation that a transitive scope follows; meaningless for other types.
 */
LODE_API unsigned lode_scope_propagation_index(const lode_scope *scope);

/* Metrics. MT: any thread. */
LODE_API uint32_t lode_database_metric_count(const lode_database *db);
LODE_API const lode_metric *lode_database_metric(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_metric_index(const lode_metric *metric);
LODE_API const char *lode_metric_name(const lode_metric *metric);

/* A metric under one scope: `id` names its values in profiles and contexts. */
typedef struct lode_metric_scope {
    const lode_scope *scope;
    uint16_t id;
} lode_metric_scope;

/* A statistic of a metric under one scope: `id` names its values in the summary profile. */
typedef struct lode_metric_statistic {
    const lode_scope *scope;
    const char *formula; /* of one profile's value, written $$ */
    int combine;         /* lode_combine: how the profiles' results are combined */
    uint16_t id;
} lode_metric_statistic;

/* Scopes and statistics of a metric. MT: any thread. */
LODE_API uint32_t lode_metric_scope_count(const lode_metric *metric);
LODE_API uint32_t lode_metric_statistic_count(const lode_metric *metric);
/* LODE_NOT_FOUND if the index is out of range. */
LODE_API LODE_CHECKED lode_status lode_metric_scope_at(const lode_metric *metric, uint32_t index,
                                                       lode_metric_scope *out);
LODE_API LODE_CHECKED lode_status lode_metric_statistic_at(const lode_metric *metric, uint32_t index,
                                                           lode_metric_statistic *out);

/*
 * Ids by meaning: the metric under the first scope of a type; the sum over profiles under that
 * scope. LODE_NOT_FOUND where the database has none. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_metric_id(const lode_metric *metric, lode_scope_type type,
                                                 uint16_t *id);
LODE_API LODE_CHECKED lode_status lode_metric_sum_id(const lode_metric *metric, lode_scope_type type,
                                                     uint16_t *id);

/*
 * The metric that a person means: its index, its exact name, its name without regard to case, its
 * name without the unit, or a part of exactly one name. LODE_NOT_FOUND, with an error text that
 * lists the candidates, otherwise. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_find_metric(const lode_database *db, const char *text,
                                                            const lode_metric **out, lode_error *error);

/*
 * The metric that a person most likely means who names none: GPUOP, the time of all GPU operations,
 * else CPUTIME, else REALTIME, else the first in seconds, else the first one, among those with a
 * total in the summary. LODE_NOT_FOUND if the database has no metrics or no profiles. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_default_metric(const lode_database *db,
                                                               const lode_metric **out, lode_error *error);

LODE_END_DECLS
#endif
