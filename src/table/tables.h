/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of a store as relational tables: typed columns, read in batches. Parquet, CSV, JSON
 * lines and SQLite files are written from them. All text is valid UTF-8 without control characters
 * (each becomes '?', as in lode/name.h).
 */
#ifndef LODE_TABLE_TABLES_H
#define LODE_TABLE_TABLES_H

#include "analysis/calls/slice.h"
#include "analysis/cost/window.h"
#include "base/error.h"
#include "base/memory/arena.h"
#include "base/memory/intern.h"
#include <lode/private/columns.h>
#include <lode/table.h>
#include <lode/unstable/query.h>
#include <lode/values.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    LODE_BATCH_COLUMNS = 20,          /* of a table, at most */
    LODE_BATCH_TEXT = 8 << 20,        /* a batch with more bytes of text than this is full */
    LODE_BATCH_TEXT_LONGEST = 1 << 20 /* longer strings are cut */
};

/* Rows in columns. Buffers belong to the batch, text to the batch or to the store. */
struct lode_table_batch {
    uint64_t rows, capacity;
    uint64_t room;  /* rows that the buffers hold: at least the capacity */
    uint64_t taken; /* values or samples that were looked at, whether they became rows or not */
    unsigned column_count;
    uint64_t needed; /* a bit for each column that somebody looks at; others need no text */
    lode_column columns[LODE_BATCH_COLUMNS]; /* as readers see them */
    void *data[LODE_BATCH_COLUMNS];          /* the same, to be filled */
    uint8_t *valid[LODE_BATCH_COLUMNS];      /* 0: NULL; only for optional numbers, else NULL */
    struct lode_arena text;
    uint64_t text_bytes; /* of the store's own and of copies */
    uint64_t cut;        /* strings that were too long */
};

struct lode_table_reader;

/* ---- what is asked of a table ---- */

/* Columns by which rows ascend. */
struct lode_table_order {
    unsigned columns[3], count;
};

enum {
    LODE_NO_ORDER = -1,
    LODE_NO_COLUMN = -1
};

/* How a table is read. */
struct lode_table_plan {
    int order;         /* of the table's; LODE_NO_ORDER: it has none */
    bool is_ordered;   /* the caller relies on it: rows in another order are an error */
    uint64_t seeks;    /* filters that the reader applies itself */
    bool is_unique;    /* one row at most */
    double rows, cost; /* that come, that are touched */
};

/* A scan, as readers see it; options are complete. */
struct lode_table_query {
    lode_scan_options options;
    struct lode_table_plan plan;
    bool adjacent;   /* rows that are equal in the order need only be adjacent */
    uint64_t needed; /* columns that are read: those asked for, and those of filters */
};

/* Rows by number. */
struct lode_table_rows {
    const uint32_t *numbers; /* NULL: from `first` on */
    uint32_t first, count;
};

struct lode_table_def {
    lode_table_info info;
    size_t state_size; /* of the reader's state, zeroed before `open` */
    /* Sets reader->total. May be NULL. */
    lode_status (*open)(struct lode_table_reader *reader, lode_error *error);
    /* Appends rows until the batch is full. LODE_END after the last row. Adds to reader->done. */
    lode_status (*next)(struct lode_table_reader *reader, struct lode_table_batch *batch, lode_error *error);
    void (*close)(struct lode_table_reader *reader); /* may be NULL */

    /*
     * Parts of a query that several threads read (parts.h). Tables that know where a row is:
     * passes `count` rows without reading them, and takes them off it: those that reading would
     * take for a batch, or, if `are_rows`, those that would stay in it. LODE_END after the last. An
     * error where only reading tells what comes.
     */
    lode_status (*pass)(struct lode_table_reader *reader, bool are_rows, uint64_t *count);
    /* Others, in pieces that they know: begins the next one where `next` came to the end of one. */
    bool (*begin_piece)(struct lode_table_reader *reader);
    /* Aims `part` at the next piece, and moves `reader` past it. LODE_END if there is none. */
    lode_status (*split)(struct lode_table_reader *reader, struct lode_table_reader *part, lode_error *error);

    /* Orders that rows can come in; the first is that of rows by number. */
    struct lode_table_order orders[3];
    unsigned order_count;
    /* Tables of rows by number: the column that has this number, and those that `find` knows. */
    bool is_numbered;
    unsigned number_column;
    uint64_t found_columns;
    lode_status (*find)(struct lode_tables *tables, unsigned column, uint64_t key,
                        struct lode_table_rows *rows, lode_error *error);
    /* Rows of the table, about; NULL: few. */
    lode_status (*count)(struct lode_tables *tables, double *rows, lode_error *error);
    /* Other tables: sets `seeks`, `order`, `rows` and `cost`; NULL: all rows are read. */
    lode_status (*plan)(struct lode_tables *tables, struct lode_table_query *query, lode_error *error);
};

/* The order of the table of values, without a query. */
enum lode_table_value_order {
    LODE_TABLE_NATIVE,    /* (context, metric, profile) if the database has it, else as below */
    LODE_TABLE_BY_PROFILE /* (profile, context, metric) */
};

/* What of the store the tables have. */
struct lode_table_choice {
    const char *path;                /* of the store; NULL: not known */
    const lode_selection *selection; /* profiles; NULL: all */
    const lode_metric *const *metrics;
    size_t metric_count;     /* 0: all */
    uint64_t from, to;       /* of samples; both 0: all */
    const lode_slice *slice; /* of a recording; NULL: all */
    enum lode_table_value_order order;
    lode_name_form names;         /* of contexts, calls and requests; functions have two */
    const lode_kind_rules *kinds; /* of functions, that decide first; NULL: none */
    bool no_arguments;            /* neither arguments nor attributes */
    bool strict;
    lode_finding_fn on_finding;
    void *user;
    lode_pool *pool;
    lode_progress_fn on_progress;
    void *progress_user;
    struct lode_tables *base; /* that `compare` compares with; NULL: there is no such table */
};

/* Functions of a recording with their labels, by number. */
struct lode_function_names {
    lode_name_form form;
    struct lode_array functions; /* const lode_function * */
    struct lode_array labels;    /* const char * */
    uint32_t *numbers;           /* plus 1, by index of function; 0: it has none yet */
    uint32_t number_count;
    struct lode_arena text;
};

/* Rows by key: those of key k are numbers[starts[k] .. starts[k + 1] - 1]. */
struct lode_inverted {
    uint32_t *starts, *numbers;
    uint32_t key_count;
};

enum {
    LODE_INVERTED_PARENT,
    LODE_INVERTED_CALLER,
    LODE_INVERTED_FUNCTION,
    LODE_INVERTED_COUNT
};

struct lode_tables {
    const lode_database *db;
    const lode_recording *recording;
    struct lode_table_choice options;
    const struct lode_table_def *const *defs;
    unsigned count;
    const struct lode_table_def *const *functions; /* that files do not have */
    unsigned function_count;
    uint8_t *metric_wanted; /* by metric id in values; NULL: all */
    /* Of a recording: functions and files in the order of their first use in tracks. */
    struct lode_function_names names;
    struct lode_interner files;
    bool is_scanned; /* all functions are known */

    /* Tables of the public interface: several threads read, and nothing of the above changes but
     * under the lock, before it is read. */
    bool is_shared;
    atomic_uint references;
    pthread_mutex_t lock;
    /* Made when first asked for: */
    uint32_t *callers; /* of contexts, by index; LODE_NO_ROW: none */
    struct lode_inverted inverted[LODE_INVERTED_COUNT];
    uint64_t *sample_counts;            /* by profile */
    uint8_t *profile_wanted;            /* likewise */
    uint32_t first_wanted, last_wanted; /* the first and the last of these */
    bool wants_range;                   /* and all between them */
    uint64_t value_count;               /* of the profiles that are wanted */
    uint32_t *lines;                    /* trace lines by profile */
    uint32_t line_count;
    uint64_t samples; /* of these */
    bool profiles_fit, contexts_fit;
    bool is_transpose_known, is_transpose_sound; /* groups of contexts */
    lode_query *costs;                           /* of table functions */
};

struct lode_table_reader {
    struct lode_tables *tables;
    const struct lode_table_def *def;
    const struct lode_table_query *query; /* NULL: all rows, in the order of exports */
    void *state;
    uint64_t done, total; /* in units of the table: rows, or bytes of records */
    bool can_split;       /* set by `open`: `pass` or `split` is of use */
    bool is_at_boundary;  /* the last batch ended with its piece */
    bool has_ended;       /* the rest belongs to other readers */
    bool is_part, is_limited;
    uint64_t left; /* of a part that is limited: rows to take */
    struct lode_table_rows rows;
    uint32_t *numbers; /* of `rows`, if they were gathered */
};

/*
 * Exactly one of the stores is not NULL. `choice` is copied; what it points to must stay.
 * lode_tables_end is due in every case.
 */
lode_status lode_tables_begin(struct lode_tables *tables, const lode_database *db,
                              const lode_recording *recording, const struct lode_table_choice *choice,
                              lode_error *error);
void lode_tables_end(struct lode_tables *tables);
void lode_tables_hold(struct lode_tables *tables);
/* NULL if there is no table of this name. */
const struct lode_table_def *lode_tables_def(const struct lode_tables *tables, const char *name);

/* `query` may be NULL, and must stay. lode_table_reader_close is due in every case. */
lode_status lode_table_reader_open(struct lode_table_reader *reader, struct lode_tables *tables,
                                   const struct lode_table_def *def, const struct lode_table_query *query,
                                   lode_error *error);
/* Replaces the rows of a batch. LODE_END if there are no more. */
lode_status lode_table_reader_next(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                   lode_error *error);
void lode_table_reader_close(struct lode_table_reader *reader);
/*
 * Aims `part` at the next rows of a query, and moves `reader` past them; `part` is zeroed, or was
 * aimed before. LODE_END if there are none.
 */
lode_status lode_table_reader_split(struct lode_table_reader *reader, uint64_t rows,
                                    struct lode_table_reader *part, lode_error *error);
/* Passes up to `rows` rows without reading them, if that can be; returns how many. */
uint64_t lode_table_reader_jump(struct lode_table_reader *reader, uint64_t rows);

/* A batch of up to `capacity` rows of a table; lode_table_batch_free is due in every case. */
lode_status lode_table_batch_init(struct lode_table_batch *batch, const struct lode_table_def *def,
                                  uint64_t capacity, lode_error *error);
/* Changes the capacity; the rows are lost if the buffers have to grow. */
lode_status lode_table_batch_fit(struct lode_table_batch *batch, const struct lode_table_def *def,
                                 uint64_t capacity, lode_error *error);
void lode_table_batch_free(struct lode_table_batch *batch);

/* Whether anybody looks at a column. */
static inline bool lode_batch_needs(const struct lode_table_batch *batch, unsigned column)
{
    return batch->needed >> column & 1;
}

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

lode_status lode_batch_context(struct lode_table_batch *batch, unsigned column, const lode_context *context,
                               lode_name_form form, lode_error *error);
lode_status lode_batch_function(struct lode_table_batch *batch, unsigned column,
                                const lode_function *function, lode_name_form form, lode_error *error);

/* A number of a module or file, or NULL. */
void lode_batch_module(struct lode_table_batch *batch, unsigned column, const lode_module *module);
void lode_batch_file(const struct lode_tables *tables, struct lode_table_batch *batch, unsigned column,
                     const lode_file *file);

/* The tables, by kind of store. */
extern const struct lode_table_def *const lode_database_tables[];
extern const unsigned lode_database_table_count;
extern const struct lode_table_def *const lode_recording_tables[];
extern const unsigned lode_recording_table_count;
extern const struct lode_table_def *const lode_database_functions[];
extern const unsigned lode_database_function_tables;
extern const struct lode_table_def *const lode_recording_functions[];
extern const unsigned lode_recording_function_tables;
extern const struct lode_table_def lode_table_context, lode_table_metric, lode_table_statistic,
    lode_table_profile, lode_table_profile_id;
extern const struct lode_table_def lode_table_value, lode_table_total, lode_table_sample;
extern const struct lode_table_def lode_table_store, lode_table_track, lode_table_fact, lode_table_request;
extern const struct lode_table_def lode_table_event, lode_table_call, lode_table_argument,
    lode_table_attribute;

/* The number of a function, and its label. Adds it if it is new. */
lode_status lode_function_names_add(struct lode_function_names *names, const lode_function *function,
                                    uint32_t *number, bool *is_new, lode_error *error);
/* LODE_NO_NUMBER if it was not added. */
static inline uint32_t lode_function_names_find(const struct lode_function_names *names,
                                                const lode_function *function)
{
    bool is_known = function->index < names->number_count && names->numbers[function->index] > 0;
    return is_known ? names->numbers[function->index] - 1 : LODE_NO_NUMBER;
}
static inline const char *lode_function_names_label(const struct lode_function_names *names, uint32_t number)
{
    return *LODE_ARRAY_AT(&names->labels, const char *, number);
}
void lode_function_names_init(struct lode_function_names *names, lode_name_form form);
void lode_function_names_free(struct lode_function_names *names);

/* Of a recording: the id of a function, by first use. Adds it if it is new. */
lode_status lode_tables_function(struct lode_tables *tables, const lode_function *function, uint32_t *id,
                                 lode_error *error);
/* Reads all tracks, if no table of events did, so that all functions are known. */
lode_status lode_tables_scan(struct lode_tables *tables, lode_error *error);

/* LODE_ERR_CORRUPT if blocks of profiles or of contexts exceed their file; looks once. */
lode_status lode_tables_profiles_fit(struct lode_tables *tables, lode_error *error);
lode_status lode_tables_contexts_fit(struct lode_tables *tables, lode_error *error);

/* By context index; made once. */
lode_status lode_tables_callers(struct lode_tables *tables, const uint32_t **callers, lode_error *error);
/* The rows of `context` with a key; made once. */
lode_status lode_tables_inverted(struct lode_tables *tables, unsigned which, uint32_t key,
                                 struct lode_table_rows *rows, lode_error *error);

/* How the rows of a query are found: chooses filters, an order, and estimates (plan.c). */
lode_status lode_table_plan(struct lode_tables *tables, const struct lode_table_def *def,
                            struct lode_table_query *query, lode_error *error);
/* Whether rows in an order of the table come as the query asks. */
bool lode_table_order_serves(const struct lode_table_def *def, int order,
                             const struct lode_table_query *query);
/* Sets reader->rows of a numbered table by the seeks of its plan; `count`: all. */
lode_status lode_table_choose_rows(struct lode_table_reader *reader, uint32_t count, lode_error *error);
/* Whether there are filters that the reader did not apply. */
bool lode_table_has_filter(const struct lode_table_query *query);
/* Drops rows that do not meet the filters that the reader did not apply (filter.c). */
void lode_table_filter(const struct lode_table_query *query, const lode_table_info *info,
                       struct lode_table_batch *batch);

#endif
