/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values: those of some contexts, profiles and metrics, read from whichever file of the database
 * takes less.
 */
#ifndef LODE_VALUES_H
#define LODE_VALUES_H

#include <lode/selection.h>
#include <lode/table.h>

LODE_BEGIN_DECLS

/* Where values are read from. */
typedef enum lode_values_path {
    LODE_VALUES_CHEAPER,     /* the part that is expected to take fewer bytes */
    LODE_VALUES_BY_PROFILES, /* LODE_PART_PROFILE */
    LODE_VALUES_BY_CONTEXTS  /* LODE_PART_CONTEXT: LODE_ABSENT where the database has none */
} lode_values_path;

typedef struct lode_values_options {
    size_t size;
    uint32_t context_first, context_end; /* ids; `context_end` is exclusive, 0: no bound */
    uint32_t profile_first, profile_end; /* the same of profiles; summaries are never read */
    const lode_selection *selection;     /* of these, those that it has; NULL: all */
    int metric;                          /* as in lode_metric_scope; -1: all */
    lode_values_path path;
} lode_values_options;
#define LODE_VALUES_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_values_options), 0, 0, 0, 0, NULL, -1, LODE_VALUES_CHEAPER                               \
    }

typedef struct lode_values lode_values;

/*
 * Opens a cursor. Values come in ascending order of (context id, metric id, profile), whichever
 * part they are read from; both hold the same ones in a sound database. Memory grows with profiles.
 * The selection may be freed. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_values_open(lode_values **out, const lode_database *db,
                                                   const lode_values_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_values_close(lode_values *values);

/* The columns of a batch: context (u32), metric (u16), profile (u32), value (f64). */
#define LODE_VALUES_COLUMNS 4

/*
 * The next values, some thousands at most, in columns that hold until the next call. LODE_END after
 * the last ones. LODE_ERR_CORRUPT where the file has them in another order. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_values_next(lode_values *values,
                                                   lode_column columns[LODE_VALUES_COLUMNS],
                                                   lode_error *error);

/*
 * Which part is read, and the bytes that this was expected to take, and has taken so far. MT: one
 * thread.
 */
LODE_API lode_values_path lode_values_chosen(const lode_values *values);
LODE_API uint64_t lode_values_bytes_expected(const lode_values *values);
LODE_API uint64_t lode_values_bytes_read(const lode_values *values);

LODE_END_DECLS
#endif
