/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of a run: of all threads, of groups of them, and over time. */
#ifndef LODE_UNSTABLE_EFFICIENCY_H
#define LODE_UNSTABLE_EFFICIENCY_H

#include <lode/unstable/diagnose.h>
#include <lode/unstable/spread.h>

LODE_BEGIN_DECLS

#define LODE_PHASES_MAX 1000

/*
 * Threads in some time. Efficiencies of a group are of its threads x the run time, so that those of
 * groups, weighted by threads, add up to that of all. New fields come at the end.
 */
typedef struct lode_efficiency_row {
    int is_group;                  /* else all threads */
    lode_id ids[LODE_GROUP_KINDS]; /* of a group, in the order of the kinds that were asked for */
    uint32_t first;                /* its first profile */
    uint32_t threads, ranks;
    uint64_t from, to; /* as in trace lines; both 0: the whole run */
    double run_time;   /* of that time, in the unit of the metric */
    double useful;     /* time of all its threads */
    const lode_efficiency *efficiency;
} lode_efficiency_row;

typedef struct lode_efficiencies lode_efficiencies;

typedef struct lode_efficiency_options {
    size_t size;
    const lode_kind_rules *kinds; /* in addition to those of the library; NULL: none */
    const unsigned *by;           /* kinds of ids to group threads by */
    size_t by_count;              /* 0: no groups */
    uint64_t phases;              /* equal parts of the time; 0: none */
    uint64_t from, to;            /* a time window, as in trace lines; both 0: the whole run */
    unsigned threads;             /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
} lode_efficiency_options;
#define LODE_EFFICIENCY_OPTIONS_INIT                                                                         \
    {                                                                                                        \
        sizeof(lode_efficiency_options), NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL                         \
    }

/*
 * Computes efficiencies as lode_diagnose does, also of one thread. The first row is of all threads
 * in the whole run, then come its groups. With phases or a time window, the same follows for each
 * phase, or for that time: trace lines tell when the time of the metric was spent. A sample stands
 * for the time before it; what is longer than ten sampling periods counts as ten, since the thread
 * was off-CPU. In databases that were built from calls it stands for the time after it.
 * Phases of the whole run add up to it.
 * There are no rows if the data do not allow it, such as too few samples. LODE_ABSENT for phases if
 * threads have no trace lines; LODE_ERR_ARGUMENT for phases of less than ten sampling periods.
 * Memory grows with contexts and with threads x phases. The result does not depend on threads, and
 * refers to the database. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_efficiencies_compute(lode_efficiencies **out, const lode_database *db,
                                                            const lode_efficiency_options *options,
                                                            lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_efficiencies_free(lode_efficiencies *efficiencies);
/* MT: any thread. */
LODE_API size_t lode_efficiencies_count(const lode_efficiencies *efficiencies);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_efficiency_row *lode_efficiencies_at(const lode_efficiencies *efficiencies, size_t index);
/* Why there are no rows; NULL: there are. MT: any thread. */
LODE_API const char *lode_efficiencies_reason(const lode_efficiencies *efficiencies);
/* Threads that lack an id of a kind, and are in no group. MT: any thread. */
LODE_API uint32_t lode_efficiencies_without(const lode_efficiencies *efficiencies);
/* The run, and what its data cannot tell, as in a diagnosis. MT: any thread. */
LODE_API const lode_run *lode_efficiencies_run(const lode_efficiencies *efficiencies);
LODE_API const lode_quality_note *lode_efficiencies_note(const lode_efficiencies *efficiencies, size_t index);
/* Counts in code of the program; both 0 if they were not counted. MT: any thread. */
LODE_API void lode_efficiencies_counters(const lode_efficiencies *efficiencies, double *cycles,
                                         double *instructions);

LODE_END_DECLS
#endif
