/* SPDX-License-Identifier: BSD-3-Clause */
/* Building: from recordings or measurements to a database. */
#ifndef LODE_BUILD_H
#define LODE_BUILD_H

#include <lode/check.h>
#include <lode/pool.h>
#include <stddef.h>

LODE_BEGIN_DECLS

/* Values of lode_build_options.trace besides a resolution. */
#define LODE_TRACE_FULL 0          /* a sample for every begin and end of a call */
#define LODE_TRACE_NONE UINT64_MAX /* no trace.db */

/* Statistics of the metrics of measurements over all profiles, as bits of lode_build_options. */
enum {
    LODE_STATISTIC_SUM = 1,
    LODE_STATISTIC_MEAN = 2,
    LODE_STATISTIC_STDDEV = 4,
    LODE_STATISTIC_CFVAR = 8, /* coefficient of variation */
    LODE_STATISTIC_MIN = 16,
    LODE_STATISTIC_MAX = 32,
    LODE_STATISTIC_NONE = 64 /* sums are stored, and viewers show no metric */
};

typedef struct lode_build_options {
    size_t size;
    int force;  /* replace what is there */
    int strict; /* fail at the first error in a recording, instead of repairing it */
    /* of each rank; 0: one per processor, shared with other ranks on this machine */
    unsigned threads;
    /* memory budget of each rank in bytes; 0: its share of a quarter of what the job may use */
    uint64_t memory;
    /*
     * LODE_TRACE_FULL, LODE_TRACE_NONE, or nanoseconds: one sample per interval of that length, the
     * last one.
     */
    uint64_t trace;
    /*
     * Ranks of recordings. From their paths: an extended regular expression whose first group is
     * the rank; \d stands for [0-9]. Or from a file of lines PATH RANK. If both are NULL, the
     * processes of all recordings are numbered in their order.
     */
    const char *rank_pattern, *rank_table;
    const char *title; /* NULL: the name of the directory */
    /*
     * Findings and repairs, in the order of recordings; per track, the first 100 of each rule. May
     * be NULL.
     */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress; /* of rank 0; the phase "reading" counts bytes */
    void *user;
    /*
     * All ranks of a communicator call lode_build with the same arguments; callbacks run on rank 0.
     * NULL: this process only, as `local_ranks` ranks, each with its own threads (0: one rank).
     */
    lode_comm *comm;
    uint32_t local_ranks;
    /*
     * Write through collective MPI-IO, for file systems that need few and large writes; else each
     * rank writes independently.
     */
    int joint;
    /* For recordings of requests: one profile per thread instead of one per request. */
    int per_thread;
    lode_pool *pool; /* NULL: threads are started when needed */
    /* For measurements. */
    unsigned statistics;   /* LODE_STATISTIC_...; 0: sums */
    int ignore_structures; /* do not use the structure files of hpcstruct */
    int like_hpcprof;      /* the same numbers as hpcprof where those are wrong; implies no_loops */
    /*
     * For measurements without structure files: the path of the program lode-symbols, which reads
     * binaries. NULL: they are not read.
     */
    const char *symbols_program;
    /*
     * "FROM=TO": where files are that were below FROM when measured; '*' in it stands for any
     * characters of one component. The first one that leads to a file counts.
     */
    const char *const *replacements;
    size_t replacement_count;
    int foreign;              /* of another machine: use files below the measurements only */
    uint64_t debug_size_most; /* of files whose debug information is read; 0: 100 MiB */
    int no_sources;           /* do not copy source files */
    /*
     * Which source files are copied, of those that measurements name: files below these
     * directories, below the TO of replacements and inside the measurements. Without
     * `source_roots`, also files that every user of the machine may read. With `all_sources`, all
     * that this user can read.
     */
    const char *const *source_roots;
    size_t source_root_count;
    int all_sources;
    /* For measurements: structure files besides those of the measurements, which they precede. */
    const char *const *structures;
    size_t structure_count;
    int no_loops; /* do not analyse the code of binaries, which finds loops */
    /*
     * For measurements: a directory for what was found in binaries, by build id, so that they are
     * not analysed again. It is made if it is missing. NULL: none.
     */
    const char *structure_cache;
    /* For measurements: only profiles of these programs, by the last part of their paths. */
    const char *const *programs;
    size_t program_count;
} lode_build_options;
#define LODE_BUILD_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_build_options), 0, 0, 0, 0, LODE_TRACE_FULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,   \
            0, 0, 0, NULL, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, NULL, 0, 0, NULL, NULL, 0            \
    }

/* The phases of building. */
enum {
    LODE_BUILD_OPENING,   /* opening all recordings, listing tracks */
    LODE_BUILD_READING,   /* events into trees */
    LODE_BUILD_MERGING,   /* trees into one, which is numbered */
    LODE_BUILD_PROFILES,  /* values by profile */
    LODE_BUILD_LINES,     /* trace lines */
    LODE_BUILD_FINISHING, /* values by context, summary, the rest of the files */
    LODE_BUILD_PHASES
};

typedef struct lode_build_phase {
    double seconds;    /* of the slowest rank */
    uint64_t messages; /* maximum over all ranks */
    /* Of all ranks: bytes that they sent each other, read and wrote. */
    uint64_t sent_bytes, read_bytes, written_bytes;
} lode_build_phase;

/* Source files that measurements name by an absolute path, by what became of them. */
typedef struct lode_build_sources {
    /* Copied: chosen by source_roots or replacements, inside the measurements, or public. */
    uint64_t from_roots, from_measurements, from_public;
    uint64_t from_anywhere; /* for no other reason than all_sources */
    /* Not copied. */
    uint64_t absent;     /* not on this machine */
    uint64_t restricted; /* not every user may read it */
    uint64_t outside;    /* of what is chosen */
    uint64_t unfit;      /* hidden, too large, or not a text file */
} lode_build_sources;

/* Statistics of a build, the same on all ranks. New fields are appended. */
typedef struct lode_build_result {
    uint64_t comm_size;
    uint64_t recordings, tracks, ranks, nodes;
    uint64_t events; /* read */
    uint64_t functions, contexts;
    uint64_t tree_contexts; /* of the trees of all workers, before they were merged */
    uint64_t metrics;       /* besides scopes */
    uint64_t rows;          /* contexts with values, summed over all profiles */
    uint64_t values;        /* in profiles */
    uint64_t samples;       /* written */
    uint64_t spooled_bytes; /* written to temporary files */
    uint64_t rounds;        /* in which values were exchanged */
    uint64_t memory;        /* peak bytes of the largest process */
    lode_build_phase phases[LODE_BUILD_PHASES];
    lode_build_sources sources;
} lode_build_result;

/* "opening", "reading" and so on. MT: any thread. */
LODE_API const char *lode_build_phase_name(unsigned phase);

/*
 * Writes one HPCToolkit 4.0 database from the recordings at `paths`: a profile and a trace line for
 * each track, with calls, times and other recorded counts by calling context. Events are read once;
 * memory grows with contexts. Output is byte-identical for any number of threads and ranks.
 * `options` and `result` may be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_build(const char *const *paths, size_t count, const char *path,
                                             const lode_build_options *options, lode_build_result *result,
                                             lode_error *error);
/*
 * The same, for a result of `result_size` bytes: lode_build is a macro that passes the size your
 * program was compiled with. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_build_sized(const char *const *paths, size_t count, const char *path,
                                                   const lode_build_options *options,
                                                   lode_build_result *result, size_t result_size,
                                                   lode_error *error);
#define lode_build(paths, count, path, options, result, error)                                               \
    lode_build_sized(paths, count, path, options, result, sizeof(lode_build_result), error)

LODE_END_DECLS
#endif
