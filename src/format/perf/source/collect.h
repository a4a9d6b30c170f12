/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samples of a recording, read in pieces by several workers: each has a tree of addresses, sums
 * by thread, event and node, and a spool with what threads did when. Nothing grows with samples but
 * the spool. Results do not depend on who read what.
 */
#ifndef LODE_FORMAT_PERF_COLLECT_H
#define LODE_FORMAT_PERF_COLLECT_H

#include "base/io/spool.h"
#include "format/hpcrun/read/raw.h"
#include "format/perf/read/replay.h"
#include "format/perf/read/sample.h"
#include "model/wide.h"

/* A thread as samples name it. */
struct perf_who {
    int32_t pid, tid;
    uint32_t thread; /* of the replay; LODE_NONE: no record tells of it */
};

struct perf_lane {
    uint32_t who, event; /* the number of an event, and PERF_EVENT_... */
};

/* Of an event's samples, the branches before them; counters of threads, as they end. */
#define PERF_EVENT_BRANCHES (UINT32_C(1) << 30)
#define PERF_EVENT_COUNTED  (UINT32_C(1) << 31)
#define PERF_EVENT_NUMBER   (PERF_EVENT_BRANCHES - 1)

/* Samples and the sum of periods; branches and how many were mispredicted; 0 and a count. */
struct perf_amount {
    uint64_t count, sum;
};

/* Sums of a lane at a node. */
struct perf_row {
    uint32_t lane, node;
    uint64_t count;
    lode_wide sum;
};

/* What a thread did at a time. */
struct perf_instant {
    uint64_t time;
    uint32_t who;
    uint32_t node; /* and PERF_INSTANT_... */
};

/* It leaves its processor, or gets one. If nobody knows where, the node is the entry point. */
#define PERF_INSTANT_OUT  (UINT32_C(1) << 30)
#define PERF_INSTANT_IN   (UINT32_C(1) << 31)
#define PERF_INSTANT_NODE (PERF_INSTANT_OUT - 1)
/* Both: another thread wakes it, which is there instead of a node. */
#define PERF_INSTANT_WOKEN (PERF_INSTANT_OUT | PERF_INSTANT_IN)

/* Instants of one thread in one piece, in order of time. */
struct perf_run {
    uint64_t first, last; /* times */
    uint64_t at;          /* in the spool */
    uint64_t piece;
    uint32_t count, who, worker;
    bool is_own; /* the thread itself tells of some, not those that it takes turns with */
};

/* What was found in samples. */
struct perf_counts {
    uint64_t samples, untimed, bad, bad_offset, rest, unknown_ids, marks, cut, stacks, falls;
    uint32_t bad_part; /* of the first bad one in the recording */
    uint64_t bad_order;
};

/* What is known of a thread since it was last looked at. */
struct perf_known {
    struct perf_moment moment;
    uint32_t who, entry;  /* the entry's node */
    uint32_t lane, event; /* of the last sample */
};

struct perf_path;
struct perf_recent;
struct perf_recents;
struct perf_record;
struct perf_unwinder;

/* A sample as it is seen, with the path of its chain: for tests. */
struct perf_seen {
    const struct perf_sample *sample;
    const struct perf_moment *moment;
    const struct perf_path *path;
    uint32_t event;
    uint64_t period;
};
typedef void (*perf_seen_fn)(void *user, const struct perf_seen *seen);

struct perf_worker {
    const struct perf_replay *replay;
    const struct perf_store *store;
    struct hpcrun_raw raw;
    struct lode_interner whos, lanes; /* struct perf_who, struct perf_lane */
    struct lode_map row_of;           /* from lane and node */
    struct lode_array rows;           /* struct perf_row */
    struct perf_sites *sites;
    struct perf_recents *recents;
    struct perf_path *path;   /* of the last sample */
    struct lode_map known_of; /* from a thread id */
    struct lode_array known;  /* struct perf_known */
    int32_t last_tid;         /* of the last record, and its number there, plus 1 */
    uint32_t last_known;
    struct lode_interner counters; /* ids and threads */
    struct lode_array totals;      /* uint64_t: the last value of each */
    struct lode_array instants;    /* struct perf_instant: of the piece */
    struct lode_array runs;        /* struct perf_run */
    struct lode_spool spool;       /* struct perf_instant */
    bool has_spool;
    unsigned number;
    struct perf_counts counts;
    struct perf_unwinder *unwinder; /* of user stacks; NULL: they are not unwound */
    bool only_checks;               /* nothing but findings is wanted */
    uint64_t *words;                /* a chain that was completed */
    bool is_quick;                  /* lode_perf_is_quick */
    uint32_t trace_event;           /* whose samples make trace lines; LODE_NONE: none */
    perf_seen_fn show;              /* may be NULL */
    void *user;
};

/* Which event trace lines are made of; LODE_NONE: none has times. */
uint32_t lode_perf_trace_event(const struct perf_store *store);
/* Whether counters must be read in order: then there is one worker. */
bool lode_perf_is_serial(const struct perf_store *store);
/* Whether samples have copies of user stacks. */
bool lode_perf_has_stacks(const struct perf_store *store);

/* `scratch` is a directory for the spool; -1: without trace lines. Close it in every case. */
lode_status lode_perf_worker_open(struct perf_worker *worker, const struct perf_replay *replay,
                                  unsigned number, int scratch, lode_error *error);
void lode_perf_worker_close(struct perf_worker *worker);
lode_status lode_perf_collect(struct perf_worker *worker, uint64_t piece, lode_error *error);

/* What holds for a thread at a time: mostly what held before. */
lode_status lode_perf_find_known(struct perf_worker *worker, int32_t pid, int32_t tid, uint64_t time,
                                 struct perf_known **out, lode_error *error);
/* Adds an amount of an event (and PERF_EVENT_...) at a node. `recent` may be NULL. */
lode_status lode_perf_add_cost(struct perf_worker *worker, struct perf_known *known, uint32_t event,
                               uint32_t node, struct perf_recent *recent, struct perf_amount amount,
                               lode_error *error);

/* ---- quick.c ---- */

/* Whether samples of the store may be taken quickly. */
bool lode_perf_is_quick(const struct perf_store *store);
/* LODE_ABSENT: nothing was done, since the sample, its thread or its chain is not the usual one. */
lode_status lode_perf_take_quickly(struct perf_worker *worker, const struct perf_record *record,
                                   lode_error *error);

/* ---- counted.c ---- */

lode_status lode_perf_count_branches(struct perf_worker *worker, struct perf_known *known, uint32_t event,
                                     uint32_t node, const struct perf_sample *sample, lode_error *error);
/* A record READ: what a thread counted until it ended. */
lode_status lode_perf_take_read(struct perf_worker *worker, const struct perf_record *record,
                                lode_error *error);

/* ---- instants.c ---- */

/* Nothing happens without a spool. */
lode_status lode_perf_add_instant(struct perf_worker *worker, uint32_t who, uint64_t time, uint32_t node,
                                  lode_error *error);
/* Writes the instants of a piece, or of a part of it, as runs. */
lode_status lode_perf_spool_instants(struct perf_worker *worker, uint64_t piece, lode_error *error);

/* ---- counts ---- */

/* Adds the counts of a worker to others. */
void lode_perf_counts_add(struct perf_counts *to, const struct perf_counts *from);
/* Reports what was found in samples. */
/*
 * Whether a tree is larger than the files allow: compressed call chains can be of few bytes and
 * many contexts. LODE_END: it is, and there is a finding.
 */
lode_status lode_perf_limit_contexts(struct perf_store *store, uint64_t contexts);
lode_status lode_perf_report_counts(struct perf_store *store, const struct perf_counts *counts);

#endif
