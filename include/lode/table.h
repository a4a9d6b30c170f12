/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans: the contents of a store as relational tables, read in batches of typed columns. CSV, JSON
 * lines, Parquet and SQLite files, Arrow streams and SQL are layers on them. doc/tables.md lists
 * the tables.
 */
#ifndef LODE_TABLE_H
#define LODE_TABLE_H

#include <lode/check.h>
#include <lode/event.h>
#include <lode/name.h>
#include <lode/pool.h>
#include <lode/recording.h>
#include <lode/selection.h>

LODE_BEGIN_DECLS

/*
 * A column is {data, count, stride, type}. Numbers are in the byte order of this machine. Elements
 * may be unaligned if the stride is not a multiple of their size: copy them with memcpy. A stride
 * of 0 repeats one element.
 */
typedef enum lode_column_type {
    LODE_COLUMN_U8,
    LODE_COLUMN_U16,
    LODE_COLUMN_U32,
    LODE_COLUMN_U64,
    LODE_COLUMN_F64,
    LODE_COLUMN_STRING /* const char *, with a NUL at its end; NULL where there is none */
} lode_column_type;

/* Who owns the bytes of a column, and so how long they live. */
typedef enum lode_column_owner {
    LODE_OWNER_FILE,  /* the mapped file itself: until the store closes */
    LODE_OWNER_STORE, /* memory of the store or source object: until that closes */
    LODE_OWNER_TABLE  /* a decoded copy: until the table is read again, or freed */
} lode_column_owner;

typedef struct lode_column {
    const char *name;
    lode_column_type type;
    lode_column_owner owner;
    const void *data;
    uint64_t count;
    uint64_t stride; /* bytes from one element to the next */
} lode_column;

/* In columns of indices: the row names no function, file or module. */
#define LODE_NO_ROW UINT32_MAX

/* What the elements of a column mean, besides their type. */
typedef enum lode_field_flag {
    LODE_FIELD_OPTIONAL = 1,  /* may be NULL */
    LODE_FIELD_BOOLEAN = 2,   /* U8: 0 or 1 */
    LODE_FIELD_SIGNED = 4,    /* U64: in two's complement */
    LODE_FIELD_TIME = 8,      /* nanoseconds in the clock of the store: may exceed 2^53 */
    LODE_FIELD_ADDRESS = 16,  /* hexadecimal where numbers are text */
    LODE_FIELD_KEY = 32,      /* part of the primary key, in the order of fields */
    LODE_FIELD_ARGUMENT = 64, /* of a table function: set by a filter EQUAL, else its default */
    LODE_FIELD_REQUIRED = 128 /* an argument without a default */
} lode_field_flag;

typedef struct lode_field {
    const char *name;
    lode_column_type type; /* U8, U32, U64, F64 or STRING */
    unsigned flags;        /* of lode_field_flag */
    const char *refers;    /* the table whose `id` it holds; NULL: none */
} lode_field;

typedef struct lode_table_info {
    const char *name;  /* singular, lower case */
    const char *title; /* one line */
    const lode_field *fields;
    unsigned field_count;
    int is_function; /* computes its rows from arguments, which are fields too */
} lode_table_info;

/* The tables of one store. Text is valid UTF-8 without control characters, as in lode/name.h. */
typedef struct lode_tables lode_tables;

typedef struct lode_tables_options {
    size_t size;
    const char *path;                /* of the store, for the table `store`; NULL: not known */
    const lode_selection *selection; /* profiles; NULL: all */
    const lode_slice *slice;         /* of a recording; NULL: all */
    lode_name_form names;            /* of contexts, calls and requests; functions have two */
    lode_pool *pool;                 /* NULL: the calling thread alone */
    lode_finding_fn on_finding;      /* repairs of a recording, once; may be NULL */
    void *user;
    lode_progress_fn on_progress; /* of long work inside one call; may be NULL */
    void *progress_user;
    lode_tables *base;            /* of another store of this kind, for `compare`; NULL: none */
    const lode_kind_rules *kinds; /* rules that decide first; NULL: none */
} lode_tables_options;
#define LODE_TABLES_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_tables_options), NULL, NULL, NULL, LODE_NAME_FULL, NULL, NULL, NULL, NULL, NULL, NULL,   \
            NULL                                                                                             \
    }

/*
 * The tables of one store: either `db` or `recording` is NULL. The store, and what the options
 * point to, must stay as long as the tables and their scans. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_tables_open(lode_tables **out, const lode_database *db,
                                                   const lode_recording *recording,
                                                   const lode_tables_options *options, lode_error *error);
/* NULL is allowed. Scans that are open keep what they need. MT: any thread. */
LODE_API void lode_tables_close(lode_tables *tables);
LODE_API unsigned lode_tables_count(const lode_tables *tables); /* MT: any thread. */
/* NULL past the last. MT: any thread. */
LODE_API const lode_table_info *lode_tables_at(const lode_tables *tables, unsigned number);
/* NULL if there is no table of this name. MT: any thread. */
LODE_API const lode_table_info *lode_tables_find(const lode_tables *tables, const char *name);

/* ---- what a scan reads ---- */

typedef enum lode_filter_kind {
    LODE_FILTER_EQUAL,
    LODE_FILTER_IN, /* one of `count` */
    LODE_FILTER_AT_LEAST,
    LODE_FILTER_AT_MOST
} lode_filter_kind;

/*
 * A condition on a column, with constants of its type. Fields that are signed are compared so,
 * others as unsigned numbers, strings byte by byte. Constants of IN ascend. NULL meets nothing.
 */
typedef struct lode_scan_filter {
    unsigned column;
    lode_filter_kind kind;
    const uint64_t *numbers;
    const double *reals;
    const char *const *strings;
    size_t count; /* 1, but for IN */
} lode_scan_filter;

#define LODE_SCAN_FILTERS 64 /* at most */

typedef struct lode_scan_options {
    size_t size;
    const lode_scan_filter *filters; /* all must hold. Copied, with their constants */
    size_t filter_count;
    const unsigned *order; /* columns: rows ascend by them. LODE_ERR_ARGUMENT if they do not */
    size_t order_count;    /* 0: the order of the store */
    uint64_t columns;      /* a bit for each column that is read; 0: all. Others have no data */
    uint64_t skip;         /* rows to leave out first */
    uint64_t rows;         /* of a batch, at most; 0: 65,536 */
    /*
     * Threads that fill batches, inside lode_scan_next only; batches are the same for any number.
     * 0: those of the pool of the tables, else that of the caller alone. Tables of few rows, and
     * rows that are looked up, are read by one.
     */
    unsigned threads;
} lode_scan_options;
#define LODE_SCAN_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(lode_scan_options), NULL, 0, NULL, 0, 0, 0, 0, 0                                              \
    }

typedef struct lode_scan lode_scan;

/*
 * Rows in columns, with a stride of their size. `valid[i]` is NULL for columns without NULL, else
 * has a byte for each row, 0 for NULL; text that is NULL is a null pointer.
 */
typedef struct lode_batch {
    uint64_t rows;
    unsigned column_count;
    const lode_column *columns;
    const uint8_t *const *valid;
} lode_batch;

/*
 * Opens a scan of a table of lode_tables_at. All filters are applied. LODE_ERR_ARGUMENT for an
 * order that the table does not have, or a missing argument. Ids of functions and files of a
 * recording are those of first use in the order of tracks: the first scan that reads them reads all
 * tracks. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_scan_open(lode_scan **out, lode_tables *tables,
                                                 const lode_table_info *table,
                                                 const lode_scan_options *options, lode_error *error);
/*
 * The next rows, at least one, valid until the next call. LODE_END after the last. LODE_ERR_CORRUPT
 * where the store has them in another order than it should. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_scan_next(lode_scan *scan, const lode_batch **out, lode_error *error);
/* How far it is, in units of its own; the second is 0 if it is not known. MT: one thread. */
LODE_API uint64_t lode_scan_done(const lode_scan *scan);
LODE_API uint64_t lode_scan_total(const lode_scan *scan);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_scan_close(lode_scan *scan);

LODE_END_DECLS
#endif
