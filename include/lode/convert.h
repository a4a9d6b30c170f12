/* SPDX-License-Identifier: BSD-3-Clause */
/* Converting: a store, written anew. */
#ifndef LODE_CONVERT_H
#define LODE_CONVERT_H

#include <lode/pool.h>
#include <lode/recording.h>

LODE_BEGIN_DECLS

typedef struct lode_convert_options {
    size_t size;
    int force;         /* replace what is there */
    int drop_unlisted; /* leave out values at contexts that the metadata does not list */
    unsigned threads;  /* 0: one per processor */
    uint64_t memory;   /* bytes that may be used for work on values; 0: a quarter of the machine's */
    const char
        *sources; /* the directory of the database, for source files and metrics/default.yaml; NULL: none */
    lode_progress_fn on_progress;
    void *user;
    lode_finding_fn on_finding; /* what the database had to be helped with when it was opened; may be NULL */
    const char *to;             /* the name of the format to write, see below; NULL: "hpctoolkit" */
    lode_pool *pool;            /* NULL: threads are started when needed */
} lode_convert_options;
#define LODE_CONVERT_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_convert_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL                         \
    }

/*
 * Writes a database that means the same, in HPCToolkit 4.0: contexts, functions, files, modules and profiles in their
 * canonical order, summary and values by context computed. Values of profiles do not change; at loops, the summary of scope lex_aware is
 * computed from scope function. Equal content gives equal bytes, as
 * far as it has one order (metrics, identical siblings and profiles with equal ids keep theirs), and converting the result
 * gives the same bytes again. Values at unlisted contexts are kept, numbered behind the listed ones in their old order.
 *
 * Other formats are those of the drafts that were used before 4.0, "hpctoolkit-draft-xml" and "hpctoolkit-draft-metadb". They keep ids and
 * orders, and leave out what they cannot hold. LODE_ERR_ARGUMENT if `to` is none of these. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_convert(const lode_database *db, const char *path,
                                               const lode_convert_options *options, lode_error *error);

typedef struct lode_rewrite_options {
    size_t size;
    int force;                  /* replace what is there */
    unsigned threads;           /* 0: one per processor */
    lode_finding_fn on_finding; /* what was repaired, and what could not be taken over; may be NULL */
    lode_progress_fn on_progress;
    void *user;
    /* The format: "uftrace", "zorka" (a trace store as its document describes it) or "zorka-zico" (as collectors wrote it); NULL: that of the first recording. */
    const char *to;
} lode_rewrite_options;
#define LODE_REWRITE_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_rewrite_options), 0, 0, NULL, NULL, NULL, NULL                                           \
    }

/*
 * Writes recordings, or a slice of each, as one. Calls that reach out of the slice are cut off at its ends,
 * damage is repaired, and times are those of the first recording: the others are shifted by the difference of their offsets
 * from UTC. In uftrace recordings process and thread ids that are taken get new ones; of a trace store, none can be made. Of several recordings, `slice->tracks` must be NULL. Slice and
 * options may be NULL. The same input gives the same bytes. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_rewrite(const lode_recording *const *recordings, size_t count,
                                               const char *path, const lode_slice *slice,
                                               const lode_rewrite_options *options, lode_error *error);

LODE_END_DECLS
#endif
