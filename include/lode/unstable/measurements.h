/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements: what hpcrun leaves of a run, before analysis. A directory has one profile and
 * possibly one trace for each thread or GPU stream, and files that hpcstruct made of its binaries.
 * Files that cannot be read are skipped; lode_check says what is wrong with them.
 */
#ifndef LODE_UNSTABLE_MEASUREMENTS_H
#define LODE_UNSTABLE_MEASUREMENTS_H

#include <lode/profile.h>

LODE_BEGIN_DECLS

typedef struct lode_measurements lode_measurements;

/*
 * Reads a directory with measurements, or one file of it. All files are read once, and closed.
 * Fails if no file can be read, with what is wrong with the first one. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_measurements_open(lode_measurements **out, const char *path,
                                                         lode_error *error);
LODE_API LODE_CHECKED lode_status lode_measurements_open_memory(lode_measurements **out,
                                                                const lode_memory_file *files,
                                                                size_t file_count, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_measurements_close(lode_measurements *measurements);

/* Structs below are the library's own; new fields come at the end. */

/* A profile or, if only a trace was opened, a trace. */
typedef struct lode_measured_profile {
    const char *file;       /* NULL: only its trace was opened */
    const char *trace_file; /* NULL: there is none, or it cannot be read */
    uint64_t bytes, trace_bytes;
    const char *program, *job, *host; /* names and ids that hpcrun noted; "" if it did not */
    const lode_id *ids;               /* its id tuple, outermost first */
    uint32_t id_count;
    uint64_t nodes;        /* of its calling context tree */
    uint64_t placeholders; /* nodes that are no instruction, such as the root */
    uint64_t inferred;     /* nodes whose callers were not unwound: samples inside GPU kernels */
    uint64_t valued;       /* nodes with values */
    uint64_t values;
    uint64_t samples;    /* records of the trace */
    uint64_t begin, end; /* of the samples: the earliest and the latest time, in ns since 1970 */
    int is_call_trace;   /* samples are calls of GPU kernels */
} lode_measured_profile;

/* A metric; profiles that name it alike have it in common. */
typedef struct lode_measured_metric {
    const char *name, *description;
    const char *formula; /* "": measured; else computed, and #N is metric N of its profile */
    uint64_t period;     /* values are stored in units of it */
    int is_integer;      /* else floating point */
    int is_relation;     /* its values belong to calls, not to instructions */
    /* 0 hidden, 1 shown, 2 inclusive only, 3 exclusive only, 4 never shown */
    unsigned visibility;
    double total; /* of all profiles, multiplied by the period */
    uint64_t values;
} lode_measured_metric;

/* A binary that was mapped; profiles that name it alike have it in common. */
typedef struct lode_measured_module {
    const char *path;
    uint64_t nodes;    /* of all profiles */
    uint32_t profiles; /* that have nodes in it */
} lode_measured_module;

/* Files that say what is at an address of a load module. */
typedef enum lode_structure_kind {
    LODE_STRUCTURE_FILE,   /* hpcstruct found it by analysis of a binary */
    LODE_STRUCTURE_KERNEL, /* names of kernel functions */
    LODE_STRUCTURE_LOGICAL /* names of frames that are no machine code, such as those of Python */
} lode_structure_kind;

/* What a file says of a load module. */
typedef struct lode_measured_structure {
    const char *file, *path; /* of the file; of the load module */
    uint64_t functions, inlined, loops, statements;
    uint64_t ranges;  /* of addresses that belong to a statement */
    uint64_t dropped; /* ranges that overlap others before them */
    uint64_t calls;   /* whose callee is known */
    int has_calls;    /* the file has the call graph of a GPU binary */
    int is_cut;       /* two functions have one address: what follows was ignored */
    lode_structure_kind kind;
} lode_measured_structure;

/* A file that was skipped, and why. */
typedef struct lode_measured_skip {
    const char *file, *text;
} lode_measured_skip;

/* Counts, and items; NULL if the index is out of range. All of these: MT: any thread. */
LODE_API uint32_t lode_measurements_profile_count(const lode_measurements *measurements);
LODE_API const lode_measured_profile *lode_measurements_profile(const lode_measurements *measurements,
                                                                uint32_t index);
LODE_API uint32_t lode_measurements_metric_count(const lode_measurements *measurements);
LODE_API const lode_measured_metric *lode_measurements_metric(const lode_measurements *measurements,
                                                              uint32_t index);
LODE_API uint32_t lode_measurements_module_count(const lode_measurements *measurements);
LODE_API const lode_measured_module *lode_measurements_module(const lode_measurements *measurements,
                                                              uint32_t index);
LODE_API uint32_t lode_measurements_structure_count(const lode_measurements *measurements);
LODE_API const lode_measured_structure *lode_measurements_structure(const lode_measurements *measurements,
                                                                    uint32_t index);
LODE_API uint32_t lode_measurements_skip_count(const lode_measurements *measurements);
LODE_API const lode_measured_skip *lode_measurements_skip(const lode_measurements *measurements,
                                                          uint32_t index);
/* The name of a kind of id, such as "THREAD"; NULL for an unknown one. */
LODE_API const char *lode_measurements_id_kind_name(const lode_measurements *measurements, unsigned kind);

LODE_END_DECLS
#endif
