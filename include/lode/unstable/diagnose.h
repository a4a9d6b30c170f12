/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnosis: what limits a run, with evidence, and what the data cannot tell. */
#ifndef LODE_UNSTABLE_DIAGNOSE_H
#define LODE_UNSTABLE_DIAGNOSE_H

#include <lode/context.h>
#include <lode/metric.h>
#include <lode/pool.h>
#include <lode/recording.h>
#include <lode/unstable/kind.h>

LODE_BEGIN_DECLS

/* How much can be relied on a statement. */
typedef enum lode_confidence {
    LODE_WEAK,     /* too little data */
    LODE_POSSIBLE, /* depends on what the program is meant to do */
    LODE_LIKELY,   /* a rule, and what speaks against it was looked at */
    LODE_SURE      /* counted */
} lode_confidence;
/* "weak", "possible", "likely", "sure"; NULL: none. MT: any thread. */
LODE_API const char *lode_confidence_name(int confidence);

/* What the data cannot tell. */
typedef enum lode_note_level {
    LODE_NOTE_LEFT_OUT, /* something is not counted */
    LODE_NOTE_BIASED,   /* some statements cannot be made */
    LODE_NOTE_TOO_LITTLE,
    LODE_NOTE_DAMAGED
} lode_note_level;

/* A note on the quality of the data. Ids are permanent. New fields come at the end. */
typedef struct lode_quality_note {
    const char *id;
    lode_note_level level;
    const char *text;
    double value; /* what `text` counts, or a share */
} lode_quality_note;

#define LODE_EVIDENCE_WORDS 8

/* One figure of a statement, and the arguments of `lode`, without the store, that show more. */
typedef struct lode_evidence {
    const char *text;
    double value;
    const char *unit;                         /* "share" or that of the metric */
    const char *command[LODE_EVIDENCE_WORDS]; /* NULL after the last; the first is NULL: none */
} lode_evidence;

#define LODE_EXPLAINS_MAX 4

/* Something that limits the run. Shares are of the run time. New fields come at the end. */
typedef struct lode_statement {
    const char *id; /* of the rule: permanent */
    lode_confidence confidence;
    int has_gain;
    double gain, low, high; /* how much shorter the run could get at most, and the 95 % interval */
    const char *text;
    const char *advice;                      /* NULL: none */
    const char *explains[LODE_EXPLAINS_MAX]; /* ids of rules whose findings this one explains */
    const lode_evidence *evidence;
    size_t evidence_count;
    const char *function; /* what it is about; NULL: no function */
    const lode_context *context;
    int has_rank, has_thread;
    uint32_t rank;     /* of the MPI job */
    int32_t thread;    /* its number in databases, its thread id in recordings */
    uint64_t from, to; /* times, as in trace lines or events; both 0: the whole run */
    int is_bound;      /* the run gets shorter by `gain` at most; else `gain` accounts for it */
} lode_statement;

/* Whether a rule could run. */
typedef struct lode_rule_state {
    const char *id;
    const char *summary;
    int ran;
    const char *reason; /* why not; NULL if it ran */
} lode_rule_state;

/*
 * Where the time of threads goes, as shares of threads x run time. The parts of a hybrid run are
 * additive: parallel = process + serial + openmp - 2. New fields come at the end.
 */
typedef struct lode_efficiency {
    double parallel;                    /* load_balance x communication */
    double load_balance, communication; /* of all threads */
    int is_hybrid;
    double process, serial, openmp;          /* 0 unless is_hybrid */
    double rank_balance, rank_communication; /* process = product of both, if ranks are alike */
    double useful_low, useful_high;          /* 95 % interval of `parallel` by sampling */
} lode_efficiency;

/* What a diagnosis is made from. */
typedef enum lode_run_source {
    LODE_RUN_PROFILES, /* a database */
    LODE_RUN_CALLS,    /* a recording of function calls */
    LODE_RUN_REQUESTS  /* a store of requests */
} lode_run_source;

/* What was measured. New fields come at the end. */
typedef struct lode_run {
    const lode_metric *metric; /* of time on the processor; NULL: none */
    int is_seconds;            /* the metric is in seconds */
    uint32_t ranks, threads;   /* without what was left out */
    uint32_t empty, helpers;   /* left out */
    double run_time;           /* in the unit of the metric */
    double total;              /* of all threads */
    uint64_t samples;          /* 0: not known */
    int can_judge;             /* the data allow statements */
    double seconds;            /* the run time; 0: not known */
    lode_run_source source;
    uint32_t processors;      /* of the machine; 0: not known */
    uint64_t calls, requests; /* 0 for databases */
    uint64_t entry_points;    /* different outermost methods of requests */
    const char *program;      /* its name, or the title of the database; "": not known */
} lode_run;

typedef struct lode_diagnosis lode_diagnosis;

typedef struct lode_diagnose_options {
    size_t size;
    const lode_kind_rules *kinds; /* in addition to those of the library; NULL: none */
    unsigned threads;             /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
    /*
     * Bytes of values, and of samples, from which on they are not read: rules that need them do not
     * run, and a note says so. 0: 512 MiB. UINT64_MAX: all are read.
     */
    uint64_t read_limit;
    uint64_t findings; /* of opening the recording, without notes: they are told as damage */
    /*
     * For databases: all ranks of a communicator read profiles and trace lines together, with the
     * same arguments, and have the same diagnosis. NULL: this process only, as `local_ranks` ranks
     * (0: one).
     */
    lode_comm *comm;
    uint32_t local_ranks;
} lode_diagnose_options;
#define LODE_DIAGNOSE_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        sizeof(lode_diagnose_options), NULL, 0, NULL, NULL, NULL, 0, 0, NULL, 0                              \
    }

/*
 * Looks for what limits a run. Reads the summary, the values of one metric in all profiles, and the
 * times of trace lines. Memory grows with contexts and profiles. The result does not depend on
 * threads and ranks, and refers to the database. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_diagnose(lode_diagnosis **out, const lode_database *db,
                                                const lode_diagnose_options *options, lode_error *error);
/*
 * The same for a recording: of function calls, or of requests. Reads all events. Memory grows with
 * functions, call paths and tracks. The result does not depend on threads, and refers to the
 * recording. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_diagnose_recording(lode_diagnosis **out,
                                                          const lode_recording *recording,
                                                          const lode_diagnose_options *options,
                                                          lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_diagnosis_free(lode_diagnosis *diagnosis);

/* All of these: MT: any thread. */
LODE_API const lode_run *lode_diagnosis_run(const lode_diagnosis *diagnosis);
/* Time of threads by lode_activity; LODE_ACTIVITY_COUNT: that no function explains. */
LODE_API double lode_diagnosis_activity(const lode_diagnosis *diagnosis, int activity);
/* NULL for one thread, and where it cannot be told. */
LODE_API const lode_efficiency *lode_diagnosis_efficiency(const lode_diagnosis *diagnosis);
/* The most important first. NULL past the last. */
LODE_API const lode_quality_note *lode_diagnosis_note(const lode_diagnosis *diagnosis, size_t index);
/* The largest gain first, then those without one. NULL past the last. */
LODE_API const lode_statement *lode_diagnosis_statement(const lode_diagnosis *diagnosis, size_t index);
/* All rules, in a fixed order. NULL past the last. */
LODE_API const lode_rule_state *lode_diagnosis_rule(const lode_diagnosis *diagnosis, size_t index);

/* How a statement differs from those of another run. */
typedef enum lode_statement_change {
    LODE_STATEMENT_SAME, /* the gain differs by no more than sampling errors */
    LODE_STATEMENT_NEW,
    LODE_STATEMENT_MORE,
    LODE_STATEMENT_LESS,
    LODE_STATEMENT_UNKNOWN /* the rule could not look at the other run */
} lode_statement_change;
/* "same", "new", "more", "less", "unknown"; NULL: none. MT: any thread. */
LODE_API const char *lode_statement_change_name(int change);
/*
 * Compares a statement with those of a base: the one of the same rule and function, whose name is
 * normalised as comparisons do it, or the one that another statement of the base explains. `match`
 * (may be NULL) gets the former, or NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_diagnosis_change(const lode_diagnosis *base,
                                                        const lode_statement *statement,
                                                        lode_statement_change *change,
                                                        const lode_statement **match, lode_error *error);

LODE_END_DECLS
#endif
