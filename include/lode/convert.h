/* SPDX-License-Identifier: BSD-3-Clause */
/* Converting: rewrites a store. */
#ifndef LODE_CONVERT_H
#define LODE_CONVERT_H

#include <lode/pool.h>
#include <lode/recording.h>

LODE_BEGIN_DECLS

typedef struct lode_convert_options {
    size_t size;
    int force;         /* replace what is there */
    int drop_unlisted; /* omit values at contexts that the metadata does not list */
    unsigned threads;  /* 0: one per processor */
    uint64_t memory;   /* memory budget in bytes; 0: a quarter of what the job may use */
    /* the directory of the database, for source files and metrics/default.yaml; NULL: none */
    const char *sources;
    lode_progress_fn on_progress;
    void *user;
    lode_finding_fn on_finding; /* what was recovered when the database was opened; may be NULL */
    const char *to;             /* the name of the format to write, see below; NULL: "hpctoolkit" */
    lode_pool *pool;            /* NULL: threads are started when needed */
    /*
     * All ranks of a communicator call this with the same arguments, and write together; callbacks
     * run on rank 0. NULL: this process only, as `local_ranks` ranks (0: one).
     */
    lode_comm *comm;
    uint32_t local_ranks;
} lode_convert_options;
#define LODE_CONVERT_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_convert_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0                \
    }

/*
 * Writes a database that means the same, in HPCToolkit 4.0: contexts, functions, files, modules and
 * profiles in their canonical order, summary and values by context computed. Values of profiles do
 * not change; at loops, the summary of scope lex_aware is computed from scope function. Output is
 * reproducible: it depends on the content only (metrics, identical siblings and profiles with equal
 * ids keep their order), and converting the result does not change it. Values at unlisted contexts
 * are preserved, with ids after the listed ones.
 *
 * Other formats are those of the drafts that were used before 4.0, "hpctoolkit-draft-xml" and
 * "hpctoolkit-draft-metadb". They preserve ids and orders, and omit what they cannot hold. Rank 0
 * alone writes them.
 * LODE_ERR_ARGUMENT if `to` is none of these. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_convert(const lode_database *db, const char *path,
                                               const lode_convert_options *options, lode_error *error);

typedef struct lode_rewrite_options {
    size_t size;
    int force;                  /* replace what is there */
    unsigned threads;           /* 0: one per processor */
    lode_finding_fn on_finding; /* repairs, and what could not be converted; may be NULL */
    lode_progress_fn on_progress;
    void *user;
    /*
     * The format: "uftrace", "zorka" (the layout of the specification) or "zorka-zico" (the layout
     * of the collectors); NULL: that of the first recording.
     */
    const char *to;
} lode_rewrite_options;
#define LODE_REWRITE_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_rewrite_options), 0, 0, NULL, NULL, NULL, NULL                                           \
    }

/*
 * Writes recordings, or a slice of each, as one. Calls that extend beyond the slice are cut at its
 * ends, damage is repaired, and times are those of the first recording: the others are shifted by
 * the difference of their offsets from UTC. In uftrace recordings, process and thread ids in use
 * get new ones; in Zorka stores they cannot. Of several recordings, `slice->tracks` must be NULL.
 * Slice and options may be NULL. Output is reproducible. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_rewrite(const lode_recording *const *recordings, size_t count,
                                               const char *path, const lode_slice *slice,
                                               const lode_rewrite_options *options, lode_error *error);

LODE_END_DECLS
#endif
