/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules for databases work on: facts about profiles that are computed once. */
#ifndef LODE_ANALYSIS_DIAGNOSE_PROFILES_FACTS_H
#define LODE_ANALYSIS_DIAGNOSE_PROFILES_FACTS_H

#include "analysis/cost/cost.h"
#include "analysis/diagnose/report.h"
#include "analysis/kinds/activity.h"
#include "model/database/database.h"
#include <lode/trace.h>

/* Where in the program something happens. */
enum place {
    PLACE_RUNTIME,     /* no application function is above */
    PLACE_APPLICATION, /* below one */
    PLACE_REGION,      /* below the body of an OpenMP region */
    PLACE_READY,       /* pre-empted */
    PLACE_JOIN,        /* below a function that waits for the end of a thread */
    PLACE_COUNT
};

enum {
    ROWS = ACTIVITIES * PLACE_COUNT
};

/* A set of activities. */
#define SET(activity) (1u << (LODE_ACTIVITY_##activity))
#define OPENMP        (SET(OMP) | SET(OMP_WAIT) | SET(OMP_IDLE))
#define NOT_USEFUL                                                                                           \
    (SET(MPI) | SET(MPI_STARTUP) | OPENMP | SET(LOCK) | SET(NET) | SET(SLEEP) | SET(OFF_CPU) | SET(GPU))
#define USEFUL (~NOT_USEFUL)
#define ALL    (~0u)
/* A set of places. */
#define OUTSIDE    (1u << PLACE_RUNTIME | 1u << PLACE_APPLICATION | 1u << PLACE_JOIN)
#define JOINS      (1u << PLACE_JOIN)
#define INSIDE     (1u << PLACE_REGION)
#define READY      (1u << PLACE_READY)
#define EVERYWHERE (OUTSIDE | INSIDE | READY)

/* The pairs of place and activity that occur. */
struct time_rows {
    unsigned count;
    unsigned char places[ROWS], activities[ROWS];
};

/* A profile of a thread of the program. */
struct thread {
    uint32_t profile, node, rank, number;
    uint64_t core;
    bool has_core, is_master;
    double total;
    const struct time_rows *rows;
    const double *time; /* by row; NULL: only the total is known */
};

/* Threads of one rank are neighbours; the first one is the master. */
struct rank {
    size_t first, count;
};

/* What rules need. A rule that lacks one does not run. */
enum need {
    NEED_METRIC,     /* a metric of time on the processor */
    NEED_SAMPLES,    /* enough of them */
    NEED_ONE_RUN,    /* profiles of one run */
    NEED_CONSISTENT, /* metric and trace lines */
    NEED_THREADS,    /* more than one */
    NEED_RANKS,      /* more than one */
    NEED_REGIONS,    /* functions that are bodies of OpenMP regions */
    NEED_MPI,
    NEED_NAMES,         /* of functions */
    NEED_PROCESSORS,    /* as many as threads */
    NEED_COUNTERS,      /* cycles and instructions */
    NEED_GPU,           /* its metrics */
    NEED_STREAMS,       /* trace lines of GPU streams */
    NEED_UNSAMPLED_GPU, /* GPU instructions were not sampled */
    NEED_STALLS,        /* they were */
    NEED_RUNNING,       /* threads that got processors */
    NEED_ALIVE,         /* threads that last as long as the run */
    NEED_SECONDS,       /* the run time in seconds */
    NEED_VALUES,        /* the time of each thread by activity */
    NEED_MASTERS,       /* the same of masters */
    NEED_OFF_CPU,       /* how long threads did not run */
    NEED_COUNT
};

/* The metric of what threads did not run. */
#define LODE_DIAGNOSE_OFF_CPU "off-CPU (sec)"

/* What it means to lack one. */
extern const char *const lode_diagnose_profile_reasons[NEED_COUNT];

/* What masters do while the other threads of their ranks wait, by trace lines. In seconds. */
struct blame {
    bool was_tried, is_too_large;
    double waiting;   /* of threads in the OpenMP runtime; 0: not known */
    double explained; /* meanwhile the master is neither in a region nor in that runtime */
    lode_cost *cost;  /* `explained` by context of the master; NULL: not known */
};

/* How long GPUs work, by trace lines of their streams. In seconds. */
struct gpu {
    bool is_too_large;
    size_t devices;
    double operations;    /* all of them, by the metric */
    double run;           /* the run time */
    double span, busy;    /* from the first operation of each GPU to its last; of it busy */
    lode_cost *meanwhile; /* what CPUs do while their GPU is idle; NULL: not known */
};

struct profile_facts {
    const lode_database *db;
    /* By index of context. */
    unsigned char *activities_of, *places;
    uint32_t *functions; /* the function that it begins or is in */
    uint32_t *holders;   /* the innermost application function; 0: none */
    uint32_t *entries;   /* the function that decided the activity */
    lode_cost *cost;     /* of all profiles */
    lode_cost *master_cost;
    struct time_rows rows;
    double *times;                        /* of threads, by row */
    double sums[ROWS], master_sums[ROWS]; /* by row */
    struct thread *threads;
    size_t thread_count;
    struct rank *ranks;
    size_t rank_count;
    uint32_t joiners;   /* of those left out: they wait for the ends of others */
    uint32_t launchers; /* of those left out: they start ranks of MPI */
    double longest;     /* time of a thread */
    double span;        /* of trace lines: first to last sample */
    double covered;     /* mean share of it that a line has */
    struct blame blame;
    struct gpu gpu;
    bool is_counted;    /* the time of all calls: there are no samples */
    bool tells_samples; /* a metric is their number, as in recordings of perf */
};

/* Looks for what limits the run that a database is of. */
lode_status lode_diagnose_profiles(struct lode_diagnosis *d, const lode_database *db, lode_error *error);
/* The facts, and what cannot be told; the first step of it. */
lode_status lode_diagnose_profile_facts_make(struct lode_diagnosis *d, const lode_database *db,
                                             lode_error *error);
/* NULL is allowed. */
void lode_diagnose_profile_facts_free(struct profile_facts *facts);

/* ---- facts ---- */

/* Chooses the metric, or notes that there is none. */
void lode_diagnose_choose_metric(struct lode_diagnosis *d);
/* Costs of a metric in selected profiles; NULL: in all. */
lode_status lode_diagnose_cost(const struct lode_diagnosis *d, const lode_metric *metric,
                               const lode_selection *selection, lode_cost **cost, lode_error *error);
/* Whether a context begins a function that is known: entry points have none. */
bool lode_diagnose_has_function(const lode_context *context);
/* Activities and places of contexts. */
lode_status lode_diagnose_contexts(struct lode_diagnosis *d, lode_error *error);
/* The time of each thread. */
lode_status lode_diagnose_threads(struct lode_diagnosis *d, lode_error *error);
/* Whether the values of all profiles are to be read. `row_of`: by index of context. */
lode_status lode_diagnose_size(struct lode_diagnosis *d, const uint32_t *row_of, lode_error *error);
/* Bytes of values, and of samples, that may be read. */
uint64_t lode_diagnose_limit(const struct lode_diagnosis *d);
/* The run time, from trace lines too, and the number of samples. */
lode_status lode_diagnose_time(struct lode_diagnosis *d, lode_error *error);
/* What the data cannot tell. */
lode_status lode_diagnose_quality(struct lode_diagnosis *d, lode_error *error);

/* Time of a thread. */
double lode_diagnose_time_of_thread(const struct thread *thread, unsigned activities, unsigned places);
/* The same of all threads, or of the masters of ranks. */
double lode_diagnose_time_of_threads(const struct lode_diagnosis *d, unsigned activities, unsigned places);
double lode_diagnose_time_of_masters(const struct lode_diagnosis *d, unsigned activities, unsigned places);
/* The costs of the masters, or NULL after an error. Computed once. */
lode_status lode_diagnose_master_cost(struct lode_diagnosis *d, const lode_cost **cost, lode_error *error);
/* Costs of another metric of the masters. lode_cost_free frees them. */
lode_status lode_diagnose_cost_of_masters(struct lode_diagnosis *d, const lode_metric *metric,
                                          lode_cost **cost, lode_error *error);
/* A metric with a total, by name, where '*' is modifiers of perf; NULL: none. */
const lode_metric *lode_diagnose_metric(const struct lode_diagnosis *d, const char *name, double *total);

/* Costs of a metric in code of the program, and of everything. */
lode_status lode_diagnose_own_cost(const struct lode_diagnosis *d, const char *name, double *own,
                                   double *total, lode_error *error);
/* How much of the time in MPI is waiting for ranks that compute longer, at most. */
double lode_diagnose_unequal_work(const struct lode_diagnosis *d);
/* Reads the trace lines of GPU streams, if there are GPU operations. */
lode_status lode_diagnose_gpu(struct lode_diagnosis *d, lode_error *error);
/*
 * Adds what the thread of a line did from one time to another, in nanoseconds by index of context.
 * `at`: the sample to begin with; gives that for a later interval.
 */
uint64_t lode_diagnose_blame_interval(const struct lode_diagnosis *d, uint64_t *by_context,
                                      const lode_trace_line *line, uint64_t at, uint64_t from, uint64_t to);
/* Reads trace lines once, if they are not too large. */
lode_status lode_diagnose_blame(struct lode_diagnosis *d, lode_error *error);
/* The share of the waiting that falls into some activities of masters. */
double lode_diagnose_blamed(const struct lode_diagnosis *d, unsigned activities);
/* Half of the 95 % interval of a share of some samples, or of all. */
double lode_diagnose_error_of_share(double share, double samples);
double lode_diagnose_share_error(const struct lode_diagnosis *d, double share);
/* The same of a share of the time of masters: others have samples of their own. */
double lode_diagnose_masters_error(const struct lode_diagnosis *d, double share);
/* The number of samples, as far as errors are concerned: infinite if nothing was sampled. */
double lode_diagnose_sample_count(const struct lode_diagnosis *d);
/* The time that a sample stands for; 0 if nothing was sampled. */
double lode_diagnose_sampling_period(const struct lode_diagnosis *d);

/* ---- efficiencies ---- */

/* What efficiencies need of a thread: its useful time outside and inside of OpenMP regions, and its
 * time in the OpenMP runtime. */
struct work {
    double outside, inside, runtime;
    double total; /* all of its time */
};

/* Threads in the order of their ranks, and how long they could have worked. */
struct team {
    const struct work *work;
    const struct rank *ranks;
    size_t thread_count, rank_count;
    double run_time;
    double samples; /* of these threads in that time */
    bool is_hybrid; /* ranks have threads in OpenMP regions, and all of them are here */
};

struct work lode_diagnose_work_of_thread(const struct thread *thread);
/* Ranks have several threads, and these work in OpenMP regions. */
bool lode_diagnose_is_hybrid(const struct lode_diagnosis *d);
/* Of at least one thread and a run time above 0. */
void lode_diagnose_efficiency_of(lode_efficiency *efficiency, const struct team *team);
/* That of the run, if the data allow it. */
lode_status lode_diagnose_efficiency(struct lode_diagnosis *d, lode_error *error);

/* Parts of the time of trace lines. */
struct phases {
    uint64_t first, last; /* samples of threads */
    uint64_t *bounds;     /* of parts, in ascending order: one more than parts */
    size_t count;
};

/*
 * Divides the time from `from` to `to` (both 0: of all trace lines of threads) into parts. free()
 * the bounds in every case. LODE_ABSENT unless all threads have trace lines.
 */
lode_status lode_diagnose_phases_init(struct phases *phases, const struct lode_diagnosis *d, uint64_t from,
                                      uint64_t to, uint64_t count, lode_error *error);
/* The work of each thread in each part: by part, then by thread. */
lode_status lode_diagnose_phases_work(struct work *work, const struct lode_diagnosis *d,
                                      const struct phases *phases, lode_error *error);

/* ---- places ---- */

/* The most expensive call path to some activities. */
struct path {
    double all;                                /* cost of the activities */
    double part;                               /* part of it below `holder` that is in `entry` */
    double share;                              /* part of it below `holder` */
    const lode_context *holder, *entry, *leaf; /* NULL: none */
};

lode_status lode_diagnose_path(const struct lode_diagnosis *d, const lode_cost *cost, unsigned activities,
                               struct path *path, lode_error *error);

/*
 * The function of the application in which some threads, neighbours, work longer than 1 / parts of
 * all, at some places; NULL: none.
 */
lode_status lode_diagnose_excess(const struct lode_diagnosis *d, size_t first, size_t count, size_t parts,
                                 unsigned places, const lode_context **holder, lode_error *error);

/* "mostly", if the path has most of the cost. */
const char *lode_diagnose_mostly(const struct path *path);

enum {
    HOT_MODULES = 3 /* that are named */
};

/*
 * A function of the application, and what it has itself. Functions of one name are one, as in `lode
 * top`, whatever load modules they are in.
 */
struct hot {
    double cost, loop_cost;
    const lode_context *holder, *loop; /* NULL: none */
    /* The largest functions of this name. */
    struct hot_part {
        double cost;
        const lode_context *holder;
    } parts[HOT_MODULES];
};

lode_status lode_diagnose_hot(const struct lode_diagnosis *d, struct hot *hot, lode_error *error);
/* Own cost of application functions without a name. */
double lode_diagnose_unnamed(const struct lode_diagnosis *d);

/* ---- texts ---- */

/* The simple name of a context's function, for texts and for commands. */
const char *lode_diagnose_name_of(struct lode_diagnosis *d, const lode_context *context);
/* An amount in the unit of the metric. */
const char *lode_diagnose_amount(struct lode_diagnosis *d, double value);
/* A gain, and its interval by sampling: of all threads, or of masters. */
void lode_diagnose_set_gain_of_masters(const struct lode_diagnosis *d, struct draft *draft, double gain);
void lode_diagnose_set_gain(const struct lode_diagnosis *d, struct draft *draft, double gain);

/* Commands show the metric that the diagnosis is about, also where another one is the default. */
void lode_diagnose_add_metric_to_commands(struct lode_diagnosis *d);

/* ---- rules ---- */

#define DIAGNOSE_RULE(name, file) extern const struct lode_diagnose_rule lode_diagnose_profile_rule_##name;
#include "analysis/diagnose/profiles/rules.def"

#endif
