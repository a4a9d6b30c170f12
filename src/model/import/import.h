/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds a database in memory from samples: stacks of frames, each with one number per metric.
 * Formats that hold samples instead of a calling context tree are read through it.
 *
 * An importer interns strings, functions and frames, walks each stack from the root with
 * lode_import_step, and adds the numbers at the last context. Numbers are added up as integers of
 * 128 bits and converted once, so that the order of samples changes nothing.
 */
#ifndef LODE_MODEL_IMPORT_H
#define LODE_MODEL_IMPORT_H

#include "base/memory/map.h"
#include "model/database/description.h"
#include "model/import/carried.h"
#include "model/wide.h"
#include <lode/check.h>
#include <lode/profile.h>

enum {
    LODE_IMPORT_NAME = 1 << 20,     /* bytes of a name; the rest is cut off */
    LODE_IMPORT_CONTEXTS = 1 << 24, /* limits of what one file may become */
    LODE_IMPORT_CELLS = 1 << 25,    /* contexts with values, and those above, times metrics */
    LODE_IMPORT_METRICS = 4096,
    LODE_IMPORT_ENTRY = 1 /* the context above all stacks; the root has samples without one */
};

/*
 * What a file may become is bounded by its size, above a floor that small files do not exceed.
 * Real profiles have at most one context in 6 bytes and one cell in 2, and the larger a file is,
 * the more its stacks have in common. A byte of a gzip file counts as no more than 8.
 */
enum {
    LODE_IMPORT_FLOOR = 1 << 18, /* contexts; cells */
    LODE_IMPORT_CONTEXT = 5,     /* bytes for each context more */
    LODE_IMPORT_CELL = 1,        /* bytes for each cell more */
    LODE_IMPORT_PACKED = 8       /* bytes that a packed one counts for */
};

/* What had to be changed in a string. */
enum {
    LODE_IMPORT_IS_CUT = 1,
    LODE_IMPORT_IS_INVALID = 2, /* not UTF-8, or a NUL: U+FFFD takes its place */
    LODE_IMPORT_HAS_CONTROL = 4 /* nothing was changed */
};

struct lode_import {
    struct lode_frames frames;
    struct lode_content_tree tree;
    struct lode_array metrics;          /* const char *: names */
    struct lode_array profiles;         /* lode_id: tuples of one id */
    struct lode_map row_of;             /* from profile and context to the row of sums */
    struct lode_array rows;             /* uint64_t: profile << 32 | context */
    struct lode_array sums;             /* lode_wide: [row][metric], in units of 2^-shift */
    uint64_t counted;                   /* bytes that limits are derived from */
    uint64_t most_contexts, most_cells; /* limits of this file */
    unsigned shift;
    uint32_t default_metric;  /* or LODE_NONE */
    uint64_t overflows;       /* sums that left 128 bits and stay at their limit */
    uint64_t inexact;         /* values whose sum is no integer of 53 bits */
    struct lode_blob buffer;  /* of the string that is being cleaned */
    const char *title, *text; /* in the arena */
    struct lode_arena arena;
    struct lode_carried *carried; /* what an export writes back; NULL: nothing */
};

/* A loop: where it is in the source, if that is known, and in its module. */
struct lode_import_loop {
    uint32_t file, line; /* LODE_NO_NUMBER: unknown */
    uint32_t module;
    uint64_t offset;
};

/* False if out of memory. Free it in every case. */
bool lode_import_open(struct lode_import *self);
void lode_import_close(struct lode_import *self);

/* Sets limits by the size of the file, and by what it unpacks to, which may be the same. */
void lode_import_limit(struct lode_import *self, uint64_t file_size, uint64_t bytes);

/* The number of a string after cleaning it; `changes` gets more bits. */
lode_status lode_import_string(struct lode_import *self, const void *bytes, size_t size, uint32_t *number,
                               unsigned *changes, lode_error *error);
/* A copy in the arena; NULL if out of memory. */
const char *lode_import_keep(struct lode_import *self, const char *text);
/* All metrics are added before the first value. */
lode_status lode_import_metric(struct lode_import *self, const char *name, lode_error *error);
lode_status lode_import_profile(struct lode_import *self, const lode_id *id, uint32_t *profile,
                                lode_error *error);

/* Frames, numbered by content. LODE_NO_NUMBER: out of memory. */
uint32_t lode_import_function(struct lode_import *self, uint32_t name, uint32_t module, uint32_t file,
                              uint32_t line);
uint32_t lode_import_call(struct lode_import *self, uint32_t function, bool is_inlined);
uint32_t lode_import_line(struct lode_import *self, uint32_t file, uint32_t line);
uint32_t lode_import_loop(struct lode_import *self, const struct lode_import_loop *loop);
uint32_t lode_import_instruction(struct lode_import *self, uint32_t module, uint64_t offset);

/* From a context to the one that a frame of it is. LODE_ERR_LIMIT: too many contexts. */
lode_status lode_import_step(struct lode_import *self, uint32_t frame, uint32_t *context, lode_error *error);
/* Adds one number per metric. LODE_ERR_LIMIT: too many. */
lode_status lode_import_add(struct lode_import *self, uint32_t profile, uint32_t context,
                            const lode_wide *values, lode_error *error);

/*
 * Makes the database. What it needs of `self` is moved; close it nevertheless. `format` is a
 * constant; `file` and its size are those of the store.
 */
lode_status lode_import_finish(struct lode_import *self, lode_database **out, const char *format,
                               const char *file, uint64_t size, lode_error *error);

/* Counts what an import made, for the result of a check. NULL: nothing. */
void lode_import_count(const lode_database *db, lode_check_result *result);

#endif
