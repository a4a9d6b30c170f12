/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of a store as relational tables: typed columns, read in batches. Parquet, CSV, JSON
 * lines and SQLite files are written from them. All text is valid UTF-8 without control characters
 * (each becomes '?', as in lode/name.h).
 */
#ifndef LODE_EXPORT_TABLES_H
#define LODE_EXPORT_TABLES_H

#include "analysis/slice.h"
#include "analysis/window.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include <lode/columns.h>
#include <lode/event.h>
#include <lode/name.h>
#include <lode/values.h>
#include <stdbool.h>

enum {
    LODE_BATCH_COLUMNS = 16,          /* of a table, at most */
    LODE_BATCH_TEXT = 8 << 20,        /* a batch with more bytes of text than this is full */
    LODE_BATCH_TEXT_LONGEST = 1 << 20 /* longer strings are cut */
};

/* Types of columns: those of lode_column_type that tables have, and what the numbers mean. */
enum {
    LODE_FIELD_OPTIONAL = 1, /* may be NULL */
    LODE_FIELD_BOOLEAN = 2,  /* U8: 0 or 1 */
    LODE_FIELD_SIGNED = 4,   /* U64: in two's complement */
    LODE_FIELD_TIME = 8,     /* nanoseconds in the clock of the store: may exceed 2^53 */
    LODE_FIELD_ADDRESS = 16, /* hexadecimal where numbers are text */
    LODE_FIELD_KEY = 32      /* part of the primary key */
};

struct lode_table_field {
    const char *name;
    lode_column_type type; /* U8, U32, U64, F64 or STRING */
    unsigned flags;
    const char *refers; /* the table whose `id` it always holds; NULL: none */
};

/* Rows in columns. Buffers belong to the batch, text to the batch or to the store. */
struct lode_table_batch {
    uint64_t rows, capacity;
    unsigned column_count;
    lode_column columns[LODE_BATCH_COLUMNS]; /* as readers see them */
    void *data[LODE_BATCH_COLUMNS];          /* the same, to be filled */
    uint8_t *valid[LODE_BATCH_COLUMNS];      /* 0: NULL; only for optional numbers, else NULL */
    struct lode_arena text;
    uint64_t text_bytes; /* of the store's own and of copies */
    uint64_t cut;        /* strings that were too long */
};

struct lode_table_reader;

struct lode_table_def {
    const char *name;
    const char *title; /* one line */
    const struct lode_table_field *fields;
    unsigned field_count;
    size_t state_size; /* of the reader's state, zeroed before `open` */
    /* Sets reader->total. May be NULL. */
    lode_status (*open)(struct lode_table_reader *reader, lode_error *error);
    /* Appends rows until the batch is full. LODE_END after the last row. Adds to reader->done. */
    lode_status (*next)(struct lode_table_reader *reader, struct lode_table_batch *batch, lode_error *error);
    void (*close)(struct lode_table_reader *reader); /* may be NULL */
};

/* The order of the table of values. */
enum lode_table_order {
    LODE_TABLE_NATIVE,    /* (context, metric, profile) if the database has it, else as below */
    LODE_TABLE_BY_PROFILE /* (profile, context, metric) */
};

struct lode_tables_options {
    const char *path;                /* of the store; NULL: not known */
    const lode_selection *selection; /* profiles; NULL: all */
    const lode_metric *const *metrics;
    size_t metric_count;     /* 0: all */
    uint64_t from, to;       /* of samples; both 0: all */
    const lode_slice *slice; /* of a recording; NULL: all */
    enum lode_table_order order;
    lode_name_form names; /* of contexts, calls and requests; functions have two */
    bool no_arguments;    /* neither arguments nor attributes */
    bool strict;
    lode_finding_fn on_finding;
    void *user;
};

/* The tables of one store. One thread reads from them at a time. */
struct lode_tables {
    const lode_database *db;
    const lode_recording *recording;
    struct lode_tables_options options;
    const struct lode_table_def *const *defs;
    unsigned count;
    uint8_t *metric_wanted; /* by metric id in values; NULL: all */
    /* Of a recording: functions and files in the order of their first use in tracks. */
    struct lode_interner functions, files;
    struct lode_array labels; /* const char *, by function */
    struct lode_arena text;
    bool is_scanned; /* all functions are known */
};

struct lode_table_reader {
    struct lode_tables *tables;
    const struct lode_table_def *def;
    void *state;
    uint64_t done, total; /* in units of the table: rows, or bytes of records */
};

/* Exactly one of the stores is not NULL. `options` are copied; what they point to must stay. */
lode_status lode_tables_open(struct lode_tables *tables, const lode_database *db,
                             const lode_recording *recording, const struct lode_tables_options *options,
                             lode_error *error);
void lode_tables_close(struct lode_tables *tables);
/* NULL if there is no table of this name. */
const struct lode_table_def *lode_tables_find(const struct lode_tables *tables, const char *name);

/* lode_table_reader_close is due in every case. */
lode_status lode_table_reader_open(struct lode_table_reader *reader, struct lode_tables *tables,
                                   const struct lode_table_def *def, lode_error *error);
/* Replaces the rows of a batch. LODE_END if there are no more. */
lode_status lode_table_reader_next(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                   lode_error *error);
void lode_table_reader_close(struct lode_table_reader *reader);

/* A batch of up to `capacity` rows of a table; lode_table_batch_free is due in every case. */
lode_status lode_table_batch_init(struct lode_table_batch *batch, const struct lode_table_def *def,
                                  uint64_t capacity, lode_error *error);
void lode_table_batch_free(struct lode_table_batch *batch);

static inline bool lode_batch_is_full(const struct lode_table_batch *batch)
{
    return batch->rows >= batch->capacity || batch->text_bytes > LODE_BATCH_TEXT;
}

static inline bool lode_batch_is_null(const struct lode_table_batch *batch, unsigned column, uint64_t row)
{
    if (batch->columns[column].type == LODE_COLUMN_STRING)
        return ((const char *const *)batch->columns[column].data)[row] == NULL;
    return batch->valid[column] && !batch->valid[column][row];
}

/* Of the current row: batch->rows counts it when it is complete. */
static inline void lode_batch_null(struct lode_table_batch *batch, unsigned column)
{
    if (batch->columns[column].type == LODE_COLUMN_STRING)
        ((const char **)batch->data[column])[batch->rows] = NULL;
    else {
        batch->valid[column][batch->rows] = 0;
        if (batch->columns[column].type == LODE_COLUMN_U32)
            ((uint32_t *)batch->data[column])[batch->rows] = 0;
        else
            ((uint64_t *)batch->data[column])[batch->rows] = 0;
    }
}

static inline void lode_batch_u32(struct lode_table_batch *batch, unsigned column, uint32_t number)
{
    ((uint32_t *)batch->data[column])[batch->rows] = number;
    if (batch->valid[column])
        batch->valid[column][batch->rows] = 1;
}

static inline void lode_batch_u64(struct lode_table_batch *batch, unsigned column, uint64_t number)
{
    ((uint64_t *)batch->data[column])[batch->rows] = number;
    if (batch->valid[column])
        batch->valid[column][batch->rows] = 1;
}

static inline void lode_batch_f64(struct lode_table_batch *batch, unsigned column, double number)
{
    ((double *)batch->data[column])[batch->rows] = number;
}

static inline void lode_batch_boolean(struct lode_table_batch *batch, unsigned column, bool is_true)
{
    ((uint8_t *)batch->data[column])[batch->rows] = is_true;
}

/* Text that needs no copy: it is clean and outlives the batch. NULL: none. */
static inline void lode_batch_fixed(struct lode_table_batch *batch, unsigned column, const char *text)
{
    ((const char **)batch->data[column])[batch->rows] = text;
}

/* A number, or NULL if it is 0, which stands for "not known". */
void lode_batch_known_u32(struct lode_table_batch *batch, unsigned column, uint32_t number);
/* Text of a store, which stays until the store closes; copied if it is not clean. */
lode_status lode_batch_text(struct lode_table_batch *batch, unsigned column, const char *text,
                            lode_error *error);
/* A copy of bytes. */
lode_status lode_batch_bytes(struct lode_table_batch *batch, unsigned column, const char *bytes, size_t count,
                             lode_error *error);
/* A label: of a function of lode/name.h, called with `thing`. */
typedef size_t (*lode_batch_label_fn)(const void *thing, char *buffer, size_t capacity);
lode_status lode_batch_label(struct lode_table_batch *batch, unsigned column, lode_batch_label_fn label,
                             const void *thing, lode_error *error);

/* The tables, by kind of store. */
extern const struct lode_table_def *const lode_database_tables[];
extern const unsigned lode_database_table_count;
extern const struct lode_table_def *const lode_recording_tables[];
extern const unsigned lode_recording_table_count;
extern const struct lode_table_def lode_table_metric, lode_table_statistic, lode_table_profile,
    lode_table_profile_id;
extern const struct lode_table_def lode_table_value, lode_table_total, lode_table_sample;
extern const struct lode_table_def lode_table_store, lode_table_track, lode_table_fact, lode_table_request;
extern const struct lode_table_def lode_table_event, lode_table_call, lode_table_argument,
    lode_table_attribute;

/* Of a recording: the id of a function, by first use, and its label. Adds it if it is new. */
lode_status lode_tables_function(struct lode_tables *tables, const lode_function *function, uint32_t *id,
                                 lode_error *error);
const char *lode_tables_function_label(const struct lode_tables *tables, uint32_t id);
/* Reads all tracks, if no table of events did, so that all functions are known. */
lode_status lode_tables_scan(struct lode_tables *tables, lode_error *error);

#endif
