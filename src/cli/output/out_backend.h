/* SPDX-License-Identifier: BSD-3-Clause */
/* What the formats of the writer share: its state, and the operations that each of them has. */
#ifndef CLI_OUT_BACKEND_H
#define CLI_OUT_BACKEND_H

#include "output/out.h"

/*
 * A file that is written atomically under a temporary name. Others may write to its directory:
 * nobody else can open the file meanwhile, exactly what was written is renamed, and links or pipes
 * of others are not written to.
 */
typedef struct out_file {
    int fd;
    int folder;       /* -1: written in place, as devices and pipes are */
    const char *name; /* in the folder */
    char *unfinished; /* until it is complete */
} out_file;

/* 0, or -1 after a message. */
int out_file_open(out_file *file, const char *path);
/* Closes; renames the file if `is_complete`, else removes it. Returns errno or 0. */
int out_file_close(out_file *file, int is_complete);

/* Writes raw bytes: syntax, and text that is already escaped. All else goes through out_write. */
void out_raw(out *o, const char *bytes, size_t size);

/* Whether a format has a column, if there is room for it. */
int out_shows(const out *o, const out_column *column);

typedef struct out_backend {
    void (*begin)(out *o, out_schema schema, const char *store);
    void (*end)(out *o);
    void (*table)(out *o, const char *key);
    void (*row)(out *o, out_style style);
    void (*cell)(out *o, const out_column *column, const out_value *value);
    void (*row_end)(out *o);
    void (*table_end)(out *o);
} out_backend;

extern const out_backend out_backend_text, out_backend_json, out_backend_csv, out_backend_markdown;

/* A number as people read it. */
void out_format_number(const out *o, const out_column *column, const out_value *value,
                       char buffer[NUMBER_SIZE]);
/* A sentence of Markdown: nothing in it is markup, a link or a mention. */
void out_markdown_text(out *o, const char *text);

typedef struct text_table text_table;

#define TABLES_SIZE 256

struct out {
    const out_backend *backend;
    out_format format;
    int is_raw;
    int is_silent; /* what is written goes nowhere */
    int fd;
    struct host *host;     /* takes what is written, instead of a file; may be NULL */
    int error;             /* errno of the first write that failed */
    const char *file;      /* as the user calls it */
    const char *store_key; /* what a store is called */
    void (*on_end)(out *o);
    out_file target; /* if there is a file */
    int has_color, is_utf8;
    unsigned width;     /* 0: no bound */
    size_t label_width; /* of entries */

    int has_begun; /* out_begin was called */
    int is_first;  /* nothing in this level yet, so that no comma is due */
    int breaks;    /* a line break is due */

    int is_table_hidden;
    const char *table;        /* of several, the one that CSV has; NULL: the main one */
    int has_table;            /* it was written */
    char tables[TABLES_SIZE]; /* names of those that were not */
    const out_column *columns;
    size_t column_count, column;
    metric_unit unit;
    text_table *text;

    size_t used;
    char buffer[16384];
};

#endif
