/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs to compare: stores of any kind, open, with the costs of the same metrics in each of them. */
#ifndef CLI_COMPARE_SIDE_H
#define CLI_COMPARE_SIDE_H

#include "command.h"
#include "options/statistic.h"
#include "stores/rec_session.h"
#include "stores/session.h"

#include <lode/unstable.h>

/* A metric that all runs have. */
typedef struct side_metric {
    const char *name; /* as in the first database; of recordings: "time", "running", "calls" */
    metric_unit unit; /* of scaled costs */
    int is_exact;     /* it is counted: every difference is real */
    int is_running;   /* time without off-CPU time, of recordings */
} side_metric;

/* What one run has of one metric. */
typedef struct side_cost {
    const lode_cost *cost;
    lode_cost *owned;   /* the same, if the run has to free it */
    double scale;       /* from the unit of the cost to that of the metric */
    double sample_cost; /* what one sample stands for, scaled; 0: not sampled; NaN: not known */
} side_cost;

/* What part of a store a run is; what is not given is as the shared options have it. */
typedef struct side_part {
    time_point from, to;
    const char *ids; /* of requests; NULL: not given */
} side_part;

typedef struct side_run {
    const char *path;      /* of the store */
    shared_options shared; /* of the set, for this part */
    char *found;           /* the same, if it is not as given */
    lode_store_kind kind;
    session database;
    rec_session recording;
    const lode_calltree *tree, *running; /* of a recording; its session has them */
    side_cost *costs;                    /* by metric */
} side_run;

/* All runs of a question, those of base first. */
typedef struct side_set {
    shared_options shared; /* of the command, without metrics */
    side_run *runs;
    size_t count, opened;
    side_metric *metrics;
    size_t metric_count, name_capacity;
    char **names; /* what was asked for, one metric each; NULL: nothing */
} side_set;

/*
 * Opens the stores, finds the metrics of --metric, or the default one, in all of them and computes
 * their costs. An option that is not for the kind of one of the stores is refused. EXIT_DONE, or
 * EXIT_TROUBLE after a message; side_close is due in both cases.
 */
int side_open(side_set *set, const invocation *call, const char *const *paths, size_t count);
/* The same of parts of the stores, by path. */
int side_open_parts(side_set *set, const invocation *call, const char *const *paths, const side_part *parts,
                    size_t count);
void side_close(side_set *set);

/* Costs and scales by run and metric, as lode_compare takes them, for the caller to free. */
void side_costs(const side_set *set, const lode_cost ***costs, double **scales);

/* Whether a metric of this name is counted, so that every difference is real. */
int side_is_counted(const char *name);

/*
 * Replaces sums over profiles in a comparison of the runs. They have no sampling error then.
 * EXIT_TROUBLE after a message, also if a run is no database or has a time window.
 */
int side_use_statistic(side_set *set, lode_comparison *comparison, size_t base_runs, int statistic);

/* As a metric: running time if it is known of all recordings, else time. */
#define SIDE_RUNNING_OR_TIME "running or time"

/* Whether all runs are recordings with off-CPU time. */
int side_have_sched(const side_set *set);
/* Whether there is a database. */
int side_is_database(const char *path);
/* Whether all runs are of one kind. */
int side_has_only(const side_set *set, lode_store_kind kind);
/* The form of names (NAMES_...): if none was asked for, simple if it is usual for all runs. */
int side_names(const side_set *set, int names);

#endif
