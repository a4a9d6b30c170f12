/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking: is a store complete and consistent? */
#ifndef LODE_CHECK_H
#define LODE_CHECK_H

#include <lode/database.h>
#include <lode/pool.h>

LODE_BEGIN_DECLS

typedef enum lode_severity {
    LODE_NOTE,
    LODE_WARNING,
    LODE_ERROR
} lode_severity;

typedef enum lode_check_level {
    LODE_CHECK_QUICK,     /* headers, sections, footers: a few pages of each file */
    LODE_CHECK_STRUCTURE, /* every pointer, count, string, order and bound: reads every file once */
    LODE_CHECK_FULL       /* meaning of data: reads profile.db 3 times, trace.db twice */
} lode_check_level;

/* A defect in a store. Strings are valid during the callback only. */
typedef struct lode_finding {
    const char *rule; /* permanent id, listed in doc/rules.md */
    lode_severity severity;
    const char *file; /* "" if it concerns the store as a whole */
    uint64_t offset;  /* or LODE_NO_OFFSET */
    const char *text;
} lode_finding;

/* A non-zero return ends the check with LODE_ERR_CANCELLED. Never called by two threads at once. */
typedef int (*lode_finding_fn)(void *user, const lode_finding *finding);

typedef struct lode_check_options {
    size_t size;
    lode_check_level level;
    unsigned threads;        /* 0: one per processor */
    uint64_t limit_per_rule; /* findings passed on per rule; the rest is only counted. 0: all */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
    /* A store of more bytes is checked at level quick only. 0: no limit */
    uint64_t most_bytes;
    /*
     * All ranks of a communicator check together, with the same arguments: an HPCToolkit 4.0
     * database, of which each reads a part. Any other store is read by rank 0. Callbacks run on
     * rank 0; all have the result. NULL: this process only, as `local_ranks` ranks (0: one).
     */
    lode_comm *comm;
    uint32_t local_ranks;
} lode_check_options;
#define LODE_CHECK_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_check_options), LODE_CHECK_STRUCTURE, 0, 20, NULL, NULL, NULL, NULL, 0, NULL, 0          \
    }

/* Counts of findings, passed on or not, and of what was looked at. New fields come at the end. */
typedef struct lode_check_result {
    uint64_t errors, warnings, notes;
    uint64_t suppressed; /* findings beyond limit_per_rule */
    /* Of a database, as stored: with the global context, with the summary, and in all files. */
    uint64_t contexts, profiles, values, samples;
    uint64_t tracks, events; /* of a recording */
    int has_requests;        /* the tracks are requests */
    uint64_t level;          /* the lode_check_level that was reached; `most_bytes` may lower it */
} lode_check_result;

/*
 * Checks a store. LODE_OK if the check could run, whatever it found. The findings, and their order,
 * do not depend on the number of threads and ranks. `options` and `result` may be NULL. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_check(const char *path, const lode_check_options *options,
                                             lode_check_result *result, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_check_memory(const lode_memory_file *files, size_t file_count,
                                                    const lode_check_options *options,
                                                    lode_check_result *result, lode_error *error);
/*
 * The same for a database that is open, and its path. Opening a profile of pprof or folded stacks
 * reads all of it: what it found is passed on, at any level, without reading it again. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_check_sized(const lode_database *db, const char *path,
                                                            const lode_check_options *options,
                                                            lode_check_result *result, size_t result_size,
                                                            lode_error *error);
#define lode_database_check(db, path, options, result, error)                                                \
    lode_database_check_sized(db, path, options, result, sizeof(lode_check_result), error)
/*
 * The first two, for a result of `result_size` bytes: the names above are macros that pass the size
 * your program was compiled with, so that results may grow. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_check_sized(const char *path, const lode_check_options *options,
                                                   lode_check_result *result, size_t result_size,
                                                   lode_error *error);
LODE_API LODE_CHECKED lode_status lode_check_memory_sized(const lode_memory_file *files, size_t file_count,
                                                          const lode_check_options *options,
                                                          lode_check_result *result, size_t result_size,
                                                          lode_error *error);
#define lode_check(path, options, result, error)                                                             \
    lode_check_sized(path, options, result, sizeof(lode_check_result), error)
#define lode_check_memory(files, file_count, options, result, error)                                         \
    lode_check_memory_sized(files, file_count, options, result, sizeof(lode_check_result), error)

/* All rules. MT: any thread. */
typedef struct lode_rule {
    const char *id;
    lode_severity severity;
    lode_check_level level;
    const char *summary;
} lode_rule;
LODE_API size_t lode_rule_count(void);
/* NULL if the index is out of range. */
LODE_API const lode_rule *lode_rule_at(size_t index);

/* "note", "warning", "error"; "quick", "structure", "full". MT: any thread. */
LODE_API const char *lode_severity_name(lode_severity severity);
LODE_API const char *lode_check_level_name(lode_check_level level);

LODE_END_DECLS
#endif
