/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived metrics: formulas over the metrics of a database, applied to sums. */
#ifndef LODE_UNSTABLE_DERIVED_H
#define LODE_UNSTABLE_DERIVED_H

#include <lode/metric.h>

LODE_BEGIN_DECLS

typedef struct lode_derived lode_derived;
typedef struct lode_derived_list lode_derived_list;

/*
 * Reads what a person writes for a metric. That is a metric, as lode_database_find_metric has it;
 * or the name of one of `named` (may be NULL); or a formula of numbers, + - * /, parentheses,
 * min(...), max(...) and metrics. In a formula, a metric is its complete name, or a word that
 * identifies it, or either in quotes (' or "), or $ and its number. LODE_ERR_ARGUMENT or
 * LODE_NOT_FOUND with an error text otherwise. Formulas have limits (length, depth, metrics), and
 * time is proportional to length and metrics. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_derived_parse(lode_derived **out, const lode_database *db,
                                                     const lode_derived_list *named, const char *text,
                                                     lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_derived_free(lode_derived *derived);

/* The name, which is the formula if it has none. MT: any thread. */
LODE_API const char *lode_derived_name(const lode_derived *derived);
LODE_API const char *lode_derived_formula(const lode_derived *derived);
/* NULL if there is none. MT: any thread. */
LODE_API const char *lode_derived_description(const lode_derived *derived);
/* 1 if it is just one metric. MT: any thread. */
LODE_API int lode_derived_is_metric(const lode_derived *derived);
/* The metrics that it needs, each once. MT: any thread. */
LODE_API size_t lode_derived_metric_count(const lode_derived *derived);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_metric *lode_derived_metric(const lode_derived *derived, size_t index);

/*
 * The value for sums of the metrics, in the order of lode_derived_metric: a quotient of sums, never
 * a sum of quotients. Returns 1, or 0 and sets 0.0 if there is no value: a division by zero, or a
 * result that is no finite number. MT: any thread.
 */
LODE_API int lode_derived_value(const lode_derived *derived, const double *values, double *out);

/*
 * The metric that counts what a metric accumulates, such as the kernel launches of the accumulated
 * registers of a GPU; NULL for a metric that is no accumulator. A sum of such a metric means
 * something only when divided by that count. MT: any thread.
 */
LODE_API const lode_metric *lode_metric_counted_by(const lode_database *db, const lode_metric *metric);

/*
 * The derived metrics that a database has: means of its accumulators, by the name without the
 * suffix, and those that the files metrics/default.yaml and metrics/METRICS.yaml in its directory
 * define. Without a directory (NULL), and for files that are absent or not understood, only the
 * former. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_derived_list_open(lode_derived_list **out, const lode_database *db,
                                                         const char *directory, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_derived_list_close(lode_derived_list *list);
/* MT: any thread. */
LODE_API size_t lode_derived_list_count(const lode_derived_list *list);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_derived *lode_derived_list_at(const lode_derived_list *list, size_t index);

LODE_END_DECLS
#endif
