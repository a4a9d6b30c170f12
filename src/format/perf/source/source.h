/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording of perf as a source of analysed profiles. What is read from it, a tree of addresses,
 * sums and samples, has the form in which hpcrun's measurements are analysed (hpcrun/source): from
 * there on, the two are the same.
 */
#ifndef LODE_FORMAT_PERF_SOURCE_H
#define LODE_FORMAT_PERF_SOURCE_H

#include "format/hpcrun/source/source.h"
#include "format/perf/files/archive.h"
#include "format/perf/source/collect.h"
#include "format/perf/source/unwind.h"

/* Sums of a profile at a node: of an event, or of the time that it did not run. */
struct perf_cost {
    uint32_t profile, node;
    uint32_t event; /* as of a lane; PERF_COST_OFF: nanoseconds off-CPU */
    uint64_t count;
    lode_wide sum;
};

#define PERF_COST_OFF UINT32_MAX

/* A profile: a thread. */
struct perf_profile {
    struct perf_who who;
    uint32_t leader; /* first thread of its process; LODE_NONE: unknown */
    uint32_t number; /* of the thread among all, before they are sorted */
};

/* What an event has metrics of. */
enum {
    PERF_METRIC_PERIOD,
    PERF_METRIC_SAMPLES,
    PERF_METRIC_BRANCHES,
    PERF_METRIC_MISPREDICTED,
    PERF_METRIC_COUNTED,
    PERF_METRICS
};

struct perf_source {
    struct hpcrun_source base;
    struct lode_folder folder;
    bool is_open;
    struct perf_store store;
    struct perf_replay replay;
    bool puts_off; /* trace lines are made later, if they are asked for */
    bool has_lines;
    struct perf_worker *workers;
    unsigned worker_count;
    struct hpcrun_asking asking;     /* of the unwinders */
    struct perf_unwinder *unwinders; /* by worker; NULL: stacks are not unwound */
    struct perf_archive archive;     /* of binaries, once it is needed */
    struct perf_counts counts;

    struct lode_interner whos;  /* struct perf_who, of all workers */
    uint32_t **who_of, **nodes; /* by worker: its threads and nodes, as those of the source */
    struct perf_profile *profiles;
    uint32_t *profile_of;     /* by number in `whos`; LODE_NONE: it has no profile */
    struct lode_array costs;  /* struct perf_cost */
    struct lode_map dump_of;  /* from a process to its dump; LODE_NONE: it has none */
    struct lode_array dumps;  /* struct perf_dump */
    uint64_t *module_samples; /* by module of the replay: samples whose own address is in it */
    uint32_t *metrics;        /* by event: PERF_METRICS each */
    uint32_t off_metric;
    time_t recorded; /* when the recording was written last, */
    uid_t owner;     /* and whose it is */
    bool has_switches;
};

static inline struct perf_source *perf_source_of(struct hpcrun_source *base)
{
    return (struct perf_source *)base;
}

/* Samples of all profiles in order of time, and how long they did not run. */
lode_status lode_perf_lines(struct perf_source *source, lode_error *error);

/* Answers questions about modules: files, the kernel, maps of JIT compilers. */
lode_status lode_perf_ask(struct hpcrun_source *base, struct hpcrun_scopes *scopes,
                          const struct hpcrun_asking *asking, lode_error *error);

/* Whether an open file is the one of a module whose build id is unknown. */
bool lode_perf_is_unchanged(const struct perf_module *module, int fd, time_t recorded);

/* Reads a recording's facts. The report is of findings; both outlive the source. */
lode_status lode_perf_source_open(struct perf_source **out, const struct lode_folder *folder,
                                  const struct lode_measured_input *input, struct lode_report *report,
                                  lode_error *error);

/* ---- database.c ---- */

/* Opens a recording as a database. */
lode_status lode_perf_open_database(lode_database **out, const struct lode_folder *folder, lode_error *error);

#endif
