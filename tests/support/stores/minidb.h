/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small valid databases in memory for tests: every rule of the checker holds without findings, so
 * that a test can break one thing and see exactly that reported. All offsets of structures are
 * known.
 */
#ifndef LODE_TESTS_MINIDB_H
#define LODE_TESTS_MINIDB_H

#include "format/hpctoolkit/wire.h"
#include <lode/database.h>
#include <stdbool.h>

enum {
    MINIDB_METRICS = 2,
    MINIDB_SCOPES = 4, /* point, function, lex_aware, execution */
    /* Statistics of metric 0 are sums; metric 1 also has count, squares, min and max. */
    MINIDB_MAX_STATS = 5,
    MINIDB_MAX_CONTEXTS = 64
};

/*
 * The tree, by context id (not dense: 8 is used by values only, in profiles that ask for it):
 *   1 main thread
 *     2 main                  function 0
 *       3 main.c:10           line
 *         4 work              function 1, called
 *           5 loop work.c:5   loop with a point value
 *             6 work.c:6      line
 *           7 work.c:9        line
 *             9 helper        function 2, inlined
 *               10 work.c:20  line
 *   11 application thread
 *     12 lib.so+0x40          instruction, called: a function without a name
 */

/* A value that one file has otherwise than the rest of the database; 0 takes it out. */
struct minidb_change {
    bool active;
    uint32_t profile, context, metric;
    double value;
};

struct minidb_options {
    uint32_t profiles;            /* besides the summary */
    uint32_t chains;              /* more subtrees of 4 contexts below main; ids from 100 */
    uint32_t samples;             /* in each trace line */
    bool unlisted;                /* values at context 8, below 7, which meta.db omits */
    bool statistics;              /* of metric 1: count, squares, min and max, besides the sum */
    bool empty_profile;           /* one more profile without values */
    uint8_t extra;                /* bytes more in each record than version 4.0 has */
    struct minidb_change cct;     /* in cct.db */
    struct minidb_change summary; /* in the summary profile; `metric` is the statistic's id */
};
#define MINIDB_OPTIONS_INIT                                                                                  \
    {                                                                                                        \
        .profiles = 3, .samples = 6, .statistics = true                                                      \
    }

struct minidb {
    unsigned char *bytes[HPCT_FILES];
    size_t size[HPCT_FILES];
    struct minidb_options options;

    /* Offsets of structures in their files. */
    uint64_t sections[HPCT_FILES][HPCT_MAX_SECTIONS];
    uint64_t id_names, scopes, metrics, scope_insts[MINIDB_METRICS], summaries[MINIDB_METRICS];
    uint64_t strings_end; /* the last string of the table */
    uint64_t modules, files, functions, entries;
    uint64_t contexts[MINIDB_MAX_CONTEXTS]; /* by id, of those named above */
    uint64_t profiles, id_tuples, context_infos, traces;
};

/* Exits if out of memory. */
void minidb_make(struct minidb *db, const struct minidb_options *options);
void minidb_free(struct minidb *db);
/* For lode_database_open_memory: fills HPCT_FILES entries. */
void minidb_files(const struct minidb *db, lode_memory_file *files);

/* Bytes at an offset of one of the files. */
unsigned char *minidb_at(struct minidb *db, enum hpct_file_id file, uint64_t offset);
/* Inserts bytes in front of the footer; returns their offset. */
uint64_t minidb_append(struct minidb *db, enum hpct_file_id file, const void *bytes, size_t size);

/* Where a value is; 0 if it is not there. Profile 0 is the summary. */
uint64_t minidb_profile_value(struct minidb *db, uint32_t profile, uint32_t context, uint32_t metric);
uint64_t minidb_context_value(struct minidb *db, uint32_t context, uint32_t metric, uint32_t profile);
/* Where a sample is. */
uint64_t minidb_sample(struct minidb *db, uint32_t line, uint64_t index);

#endif
