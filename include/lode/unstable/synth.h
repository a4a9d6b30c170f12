/* SPDX-License-Identifier: BSD-3-Clause */
/* Making stores of any size, to test and measure with. */
#ifndef LODE_UNSTABLE_SYNTH_H
#define LODE_UNSTABLE_SYNTH_H

#include <lode/status.h>
#include <stddef.h>

LODE_BEGIN_DECLS

typedef struct lode_synth_options {
    size_t size;
    uint32_t profiles; /* besides the summary */
    uint32_t contexts; /* that meta.db lists */
    uint32_t depth;    /* of the tree, at most; at least 4 */
    uint32_t metrics;  /* in four scopes each */
    double density;    /* share of the lines that have values in a profile */
    double skew;       /* 0: all lines and profiles cost the same; 1 and more: a few cost most */
    uint32_t samples;  /* in each trace line; 0: no trace.db */
    uint64_t seed;
    int force;        /* replace what is there */
    unsigned threads; /* 0: one per processor */
    uint64_t memory;  /* memory budget in bytes; 0: a quarter of what the job may use */
    lode_progress_fn on_progress;
    void *user;
} lode_synth_options;
#define LODE_SYNTH_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_synth_options), 16, 1000, 20, 1, 0.5, 1.0, 100, 1, 0, 0, 0, NULL, NULL                   \
    }

/*
 * Writes a synthetic, self-consistent database: scopes add up over the tree, the summary over
 * profiles. Output is reproducible. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_synth_database(const char *path, const lode_synth_options *options,
                                                      lode_error *error);

typedef struct lode_synth_recording_options {
    size_t size;
    uint32_t tasks;     /* of spans: services */
    uint64_t records;   /* of all tasks together: entries and exits */
    uint32_t functions; /* that the program has; of spans: operations */
    uint32_t depth;     /* of calls, at most */
    uint64_t seed;
    int arguments;    /* give some functions arguments and results */
    int force;        /* replace what is there */
    unsigned threads; /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    const char *to;             /* the format, as in lode_rewrite_options; NULL: "uftrace" */
    uint64_t calls_per_request; /* approximate; 0: 1000 in a Zorka store, 16 spans */
} lode_synth_recording_options;
#define LODE_SYNTH_RECORDING_OPTIONS_INIT                                                                    \
    {                                                                                                        \
        sizeof(lode_synth_recording_options), 4, 1000000, 1000, 24, 1, 0, 0, 0, NULL, NULL, NULL, 0          \
    }

/*
 * Writes a synthetic uftrace recording, Zorka store or file of spans. Output is reproducible.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_synth_recording(const char *path,
                                                       const lode_synth_recording_options *options,
                                                       lode_error *error);

typedef struct lode_synth_example_options {
    size_t size;
    int force;        /* replace earlier examples */
    unsigned threads; /* 0: one per processor */
} lode_synth_example_options;
#define LODE_SYNTH_EXAMPLE_OPTIONS_INIT                                                                      \
    {                                                                                                        \
        sizeof(lode_synth_example_options), 0, 0                                                             \
    }

/*
 * Writes a directory with small stores of each kind that look like real ones: a database "solver",
 * a recording "thumbs" and a store of requests "shop". Output is reproducible. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_synth_examples(const char *path,
                                                      const lode_synth_example_options *options,
                                                      lode_error *error);

LODE_END_DECLS
#endif
