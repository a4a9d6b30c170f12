/* SPDX-License-Identifier: BSD-3-Clause */
/* Merging: several databases become one. */
#ifndef LODE_UNSTABLE_MERGE_H
#define LODE_UNSTABLE_MERGE_H

#include <lode/check.h>
#include <lode/database.h>
#include <lode/pool.h>
#include <lode/unstable/comm.h>

LODE_BEGIN_DECLS

/* One of the databases to merge. */
typedef struct lode_merge_input {
    const lode_database *db;
    /* its directory, for source files and metrics/default.yaml; NULL: without */
    const char *directory;
    /* the name of its run; inputs of one name are parts of one run. NULL: a run of its own */
    const char *label;
} lode_merge_input;

typedef struct lode_merge_options {
    size_t size;
    int force;         /* replace what is there */
    int drop_unlisted; /* omit values at contexts that the metadata does not list */
    int with_runs;     /* add RUN to the ids of profiles even if they are unique without it */
    int align;         /* shift the times of each database: all begin at the earliest start */
    unsigned threads;  /* of each rank; 0: one per processor, shared with local ranks */
    uint64_t memory;   /* budget of each rank in bytes; 0: its share of a quarter of the job's */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress; /* of rank 0 */
    void *user;
    /*
     * All ranks of a communicator call this with the same arguments; callbacks run on rank 0.
     * NULL: this process only, as `local_ranks` ranks (0: one rank).
     */
    lode_comm *comm;
    uint32_t local_ranks;
    lode_pool *pool; /* NULL: threads are started when needed */
    /* divide values by the number of runs, so that totals are means over runs */
    int mean;
} lode_merge_options;
#define LODE_MERGE_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_merge_options), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, 0                     \
    }

/*
 * Writes one HPCToolkit 4.0 database with the contexts, metrics, profiles and trace lines of all.
 * Contexts are the same if they and all their ancestors have the same content: names are compared
 * as they are. Metrics are the same if name, scopes and statistics are; one of the same name and
 * other scopes or statistics gets a suffix, and is reported ("metric-conflict"). Profiles keep
 * their ids; if two databases have profiles of the same ids, all profiles get an outer id of kind
 * RUN, or a new one where they had one: runs are numbered in the order of their labels. Values do
 * not change; summary and values by context are computed. A copied source file that differs between
 * databases is stored for each of them, below src/LABEL ("source-conflict").
 *
 * Output is reproducible: it does not depend on the order of inputs, threads or ranks. Memory grows
 * with contexts. LODE_ERR_ARGUMENT if there is no input. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_merge_databases(const lode_merge_input *inputs, size_t count,
                                                       const char *path, const lode_merge_options *options,
                                                       lode_error *error);

LODE_END_DECLS
#endif
