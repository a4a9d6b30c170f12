/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules for recordings of function calls work on: facts that are computed once. */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_FACTS_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_FACTS_H

#include "analysis/diagnose/report.h"
#include "analysis/kinds/activity.h"
#include "analysis/statistics/sketch.h"

/* A set of activities. */
#define CALL_SET(activity) (1u << (LODE_ACTIVITY_##activity))
#define CALL_OPENMP        (CALL_SET(OMP) | CALL_SET(OMP_WAIT) | CALL_SET(OMP_IDLE))
/* Threads spin in these: a switch to another thread is part of the waiting. */
#define CALL_SPINNING (CALL_SET(MPI) | CALL_SET(MPI_STARTUP) | CALL_OPENMP | CALL_SET(GPU))
#define CALL_WAITING                                                                                         \
    (CALL_SET(MPI) | CALL_SET(MPI_STARTUP) | CALL_OPENMP | CALL_SET(LOCK) | CALL_SET(NET) |                  \
     CALL_SET(SLEEP) | CALL_SET(GPU))
#define CALL_NOT_USEFUL (CALL_WAITING | CALL_SET(OFF_CPU))

/* What rules need. A rule that lacks one does not run. */
enum call_need {
    CALL_NEED_TIME,       /* a run that is long enough */
    CALL_NEED_SOUND,      /* no damage */
    CALL_NEED_COMPLETE,   /* nothing is wrong with files, so that all threads are known */
    CALL_NEED_SCHED,      /* off-CPU events */
    CALL_NEED_THREADS,    /* more than one */
    CALL_NEED_RANKS,      /* more than one process that uses MPI */
    CALL_NEED_REGIONS,    /* bodies of OpenMP regions */
    CALL_NEED_PROCESSORS, /* as many as threads that run */
    CALL_NEED_NAMES,      /* of functions */
    CALL_NEED_RUNNING,    /* running time is known: off-CPU events, or enough processors */
    CALL_NEED_CALM,       /* threads were seldom pre-empted */
    CALL_NEED_TEAMS,      /* threads of OpenMP regions, and no others that work */
    CALL_NEED_COUNT
};

/* What a function is to rules, by the effect of its calls. */
enum call_role {
    ROLE_NONE,
    ROLE_TAKE,     /* takes a lock */
    ROLE_DROP,     /* releases it */
    ROLE_COND,     /* releases a lock while it waits */
    ROLE_JOIN,     /* waits for the end of a thread or process */
    ROLE_BARRIER,  /* waits for other threads to come */
    ROLE_ALLOC,    /* allocates memory */
    ROLE_ALL,      /* a collective of MPI that no rank leaves before all have entered */
    ROLE_PARALLEL, /* runs an OpenMP region */
    ROLE_BODY,     /* is its body */
    ROLE_FUTURE,   /* waits for a result of another thread */
    ROLE_WORD,     /* waits for another thread, and has no lock */
    ROLE_SPAWN,    /* starts a thread */
    ROLE_PROCESS,  /* starts a process */
    ROLE_LOAD,     /* loads or unloads a library */
    ROLE_MAP,      /* maps or unmaps memory */
    ROLE_THROW,    /* throws an exception */
    ROLE_PREPARE,  /* prepares what can be stored: a regular expression, a statement, a locale */
    ROLE_COUNT
};

/* What a thread waits for. */
enum call_why {
    WHY_LOCK,
    WHY_COND,    /* another thread to tell something: a condition, a semaphore */
    WHY_JOIN,    /* the end of a thread or process, or a result of one */
    WHY_BARRIER, /* other threads to come */
    WHY_SLEEP,
    WHY_FILE,
    WHY_NET,
    WHY_SPINS, /* OpenMP, MPI, GPU: these have rules of their own */
    WHY_IDLE,  /* outside of all calls */
    WHY_OTHER, /* not known */
    WHY_COUNT
};

/* Times are in nanoseconds. Running time excludes off-CPU time, if that was recorded. */
struct call_function {
    uint64_t calls;
    uint64_t outer; /* that ended, and are not inside a call of the same function */
    uint64_t own;   /* running time of the function itself */
    uint64_t held;  /* useful running time of itself and of library functions that it calls */
    uint64_t total; /* useful running time of outer calls; of library functions, all running time */
    uint64_t most;  /* the largest of one call */
    uint64_t spent; /* of outer calls: all time without pre-emption */
    /* Of outer calls with recorded arguments: those that repeat one of the same track. */
    uint64_t argued, repeated, repeated_time;
    unsigned char activity, effect, role;
    bool spins;    /* waits without being blocked, as CALL_SPINNING does */
    bool is_known; /* activity and role are set */
};

/* Sums over sleeps: of their time, of the time since the last one, and of products. In us. */
struct call_beat {
    uint64_t count, slept, worked, slept2, worked2, both;
};

/* Calls of one library function by one function of the application. */
struct call_pair {
    uint32_t holder; /* function + 1; 0: none */
    uint32_t entry;  /* function + 1; 0: the holder itself, of off-CPU time */
    uint64_t calls;
    uint64_t running;
    uint64_t blocked; /* off-CPU time, without pre-emption */
    uint64_t waiting; /* time without pre-emption of calls that took long */
    uint64_t long_calls;
    uint64_t longest, from, to; /* the longest time off-CPU */
    uint32_t track;             /* of it */
    uint64_t bytes, sized;      /* transferred, and calls that say so */
    uint64_t locked;            /* time of calls that were made while a lock was held */
    uint64_t unsure;            /* the same, if one was taken before the piece of a track */
    struct call_beat beat;      /* of sleeps */
};

/* One wait of a thread. */
struct call_wait {
    uint64_t from, to;
    uint32_t holder, entry; /* as in pairs */
    unsigned char why;
};

/* A long call of a function of the application. */
struct call_span {
    uint64_t from, to;
    uint32_t function; /* index */
    uint32_t depth;
};

/* Calls of one function of the application by another. */
struct call_edge {
    uint32_t caller, callee; /* function + 1; 0: none */
    uint64_t calls;
    uint64_t running; /* of the callee's outermost calls */
};

/* Calls of a function whose number below one call of the caller is 2^(4+i) to 2^(5+i) - 1. */
struct call_step {
    uint64_t calls, numbers, callees, running; /* sums */
};

enum {
    CALL_STEP_FIRST = 4,
    CALL_STEPS = 16
};

/* How calls of a function change with their number. */
struct call_growth {
    struct call_step steps[CALL_STEPS];
};

/* A call of a collective. */
struct call_collective {
    uint64_t enter, leave;
    uint32_t function;
};

/* What a function holds in one thread. */
struct call_busy {
    uint32_t function; /* + 1; 0: none */
    uint64_t time;
};

enum {
    CALL_BUSY = 6
};

/* A thread. */
struct call_track {
    uint32_t track;
    int32_t pid, tid;
    uint64_t begin, end;
    uint64_t calls;
    uint64_t running, useful;
    uint64_t blocked, preempted; /* off-CPU time */
    uint64_t mutual;             /* blocked, waiting for other threads or ranks, or for work */
    uint64_t stolen;             /* pre-empted in calls, but not while it spun */
    uint64_t yielded;            /* pre-empted in MPI */
    uint64_t time[ACTIVITIES];   /* with off-CPU time */
    uint64_t joining, barriers;  /* waiting for the end of others; in barriers */
    uint64_t holding;            /* locks, without pre-emption */
    uint64_t parallel;           /* in OpenMP regions that it began */
    uint64_t region;             /* useful, inside of bodies of regions */
    uint64_t unended;            /* running time after the last record, in calls that did not end */
    uint32_t entry;              /* its first outermost function + 1; 0: none */
    /* Functions of the application that hold the most useful running time, the largest first. */
    struct call_busy busy[CALL_BUSY];
    struct call_busy alone; /* the first one outside of OpenMP regions */
    struct call_collective *collectives;
    size_t collective_count, collective_capacity;
    struct call_wait *waits; /* in the order of their ends */
    size_t wait_count;
    uint64_t wait_min;       /* there were too many: shorter ones are left out; 0: not so */
    struct call_span *spans; /* in the order of their ends */
    size_t span_count;
    bool are_all;     /* all collectives are listed */
    bool is_parent;   /* mostly waits for the end of others */
    bool is_launcher; /* of another process than the ranks of an MPI job */
    bool is_left_out;
};

/* Threads that do not run at the same time share a slot. */
struct call_slot {
    uint64_t end;
    uint64_t useful;
};

struct call_blame;

struct call_facts {
    const lode_recording *recording;
    struct call_track *tracks; /* that have events, by process and thread */
    size_t track_count;
    struct call_function *functions;     /* by index */
    const struct lode_sketch **sketches; /* of `total`, by index; NULL: none */
    uint32_t *ranks;                     /* canonical order, by index */
    uint32_t function_count;
    struct call_pair *pairs; /* in canonical order */
    size_t pair_count;
    struct call_edge *edges; /* in canonical order */
    size_t edge_count;
    struct call_growth **growths; /* by index of function; NULL: few calls */
    struct call_blame *blame;     /* what idle processors are lost to (sweep.h) */
    struct call_slot *slots;
    size_t slot_count;
    uint64_t begin, end;
    uint64_t findings; /* of reading that are no notes */
    uint64_t cost;     /* of recording one call */
    bool has_sched;
    bool is_calm;  /* threads were seldom pre-empted */
    double stolen; /* share of the time of threads that they were pre-empted */
    double stolen_time;
    double lock_excused; /* waiting for locks that is not judged */
    uint32_t processes, mpi_processes;
    struct lode_arena arena; /* of sketches */
};

/* Looks for what limits the run that a recording is of. */
lode_status lode_diagnose_calls(struct lode_diagnosis *d, const lode_recording *recording, lode_error *error);
/* NULL is allowed. */
void lode_diagnose_call_facts_free(struct call_facts *facts);

/* ---- facts ---- */

void lode_diagnose_call_track_free(struct call_track *track);
/* Reads all events. */
lode_status lode_diagnose_call_facts_read(struct lode_diagnosis *d, lode_error *error);
/* Threads, run time, activities, efficiencies. */
lode_status lode_diagnose_call_facts_conclude(struct lode_diagnosis *d, lode_error *error);
/* What the data cannot tell. */
lode_status lode_diagnose_call_quality(struct lode_diagnosis *d, lode_error *error);
void lode_diagnose_call_efficiency(struct lode_diagnosis *d);

enum call_role lode_diagnose_call_role(lode_activity activity, lode_effect effect);
/* Whether a function is the body of an OpenMP region, by its name. */
bool lode_diagnose_call_is_body(const char *name);

/* ---- OpenMP ---- */

/* The threads of one process that runs OpenMP regions. Times are sums of useful time. */
struct call_team {
    const struct call_track *master; /* began most regions; NULL: all threads were left out */
    double threads;
    double parallel;        /* time of regions that the master began */
    double inside, most;    /* inside of regions: of all threads, and the most of one */
    double outside, others; /* outside of regions: of the master, and of other threads */
};

/* The index of the first thread of the next process. */
size_t lode_diagnose_call_team(const struct call_facts *facts, size_t first, struct call_team *team);
/* Whether the time of threads can be divided into regions and what the first threads do alone. */
bool lode_diagnose_call_has_teams(const struct call_facts *facts);
/* Parts of the efficiency. */
void lode_diagnose_call_divide(struct lode_diagnosis *d);

/* How long OpenMP threads wait. */
struct call_waiting {
    double serial, inside; /* for the first thread, inside of regions; of threads x run */
    double run;            /* the run time that they are shares of */
    double alone;          /* of first threads outside of regions */
    double processes;
    const struct call_track *most; /* the first thread that does most; NULL: none */
};

/*
 * The parts of the efficiency. Threads that are pre-empted make others wait: then, by running time,
 * as if none had been.
 */
struct call_waiting lode_diagnose_call_waiting(const struct lode_diagnosis *d);

/* ---- for rules ---- */

/* The run time in nanoseconds, without what threads were pre-empted on average. */
double lode_diagnose_call_run(const struct lode_diagnosis *d);
/* A share of the time that the slots of threads have, without pre-emption. */
double lode_diagnose_call_share(const struct lode_diagnosis *d, double time);
/* The value of a quantile of a function's calls; 0: none. */
uint64_t lode_diagnose_call_quantile(const struct call_facts *facts, uint32_t function, double q);
/* Time of threads in activities. */
double lode_diagnose_call_time(const struct lode_diagnosis *d, unsigned activities);

/* The pairs whose library function has one of the activities, in total, and the largest. */
struct call_place {
    double time; /* of all */
    double part; /* of it in `best` */
    uint64_t calls;
    const struct call_pair *best; /* NULL: none */
};
struct call_place lode_diagnose_call_place(const struct lode_diagnosis *d, unsigned activities);
/* "most", or "the largest part" if `best` has less than half of the time. */
const char *lode_diagnose_call_most(const struct call_place *place);
/* All its time but pre-emption. */
double lode_diagnose_call_pair_time(const struct call_pair *pair);

/* ---- texts ---- */

/* What a share is of: the run time (or other words), without pre-emption if there was much. */
const char *lode_diagnose_call_basis(struct lode_diagnosis *d, const char *words);

/* The simple name of a function, by its index + 1; "code outside of functions" for 0. */
const char *lode_diagnose_call_name(struct lode_diagnosis *d, uint32_t function);
/* "F of G" is not used: "F below G". */
const char *lode_diagnose_call_pair_name(struct lode_diagnosis *d, const struct call_pair *pair);
/* A time for people. */
const char *lode_diagnose_call_amount(struct lode_diagnosis *d, double nanoseconds);
/* How often something happens on average: "17.3 times", "13,500 times". */
const char *lode_diagnose_call_times(struct lode_diagnosis *d, double times);
/* "thread 123", or with its process if there are several. */
const char *lode_diagnose_call_thread(struct lode_diagnosis *d, const struct call_track *track);
/* A gain without sampling error: times are measured. */
void lode_diagnose_call_gain(struct draft *draft, double gain);
/* The command that shows the callers of a function. */
void lode_diagnose_call_show_callers(struct lode_diagnosis *d, struct draft *draft, uint32_t function);

/* ---- rules ---- */

/* Pre-emption of threads, as a share of their time, from which on it is said. */
#define CALL_PREEMPTED_MAX 0.05

/* What every rule needs. */
#define CALL_NEEDS (1u << CALL_NEED_TIME | 1u << CALL_NEED_SOUND)
/* What rules need that compare threads. */
#define CALL_NEEDS_ALL (CALL_NEEDS | 1u << CALL_NEED_COMPLETE)

#define DIAGNOSE_RULE(name, file) extern const struct lode_diagnose_rule lode_diagnose_call_rule_##name;
#include "analysis/diagnose/calls/rules.def"

#endif
