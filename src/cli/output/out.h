/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only writer of the program: text, Markdown, JSON and CSV.
 *
 * A command writes its result once: fields, sentences and tables. Text shows sentences and tables;
 * JSON is one object of fields and tables; CSV is the main table.
 *
 * Writing is buffered. After a failed write further writes do nothing, and out_close reports it.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "output/each.h"
#include "text/number.h"

#include <stddef.h>
#include <stdint.h>

typedef struct out out;

typedef enum out_format {
    OUT_TEXT,
    OUT_JSON,
    OUT_CSV,
    OUT_MARKDOWN /* text and tables as GitHub and GitLab render them */
} out_format;

typedef struct out_settings {
    out_format format;
    int is_raw;        /* CSV: unescaped text, even if dangerous */
    const char *table; /* CSV: which one; NULL: the main one */
    int color;         /* COLOR_... */
    const char *file;  /* NULL, "-": standard output */
    int is_silent;     /* nothing is written: another task does */
    const char *store; /* what JSON calls the store: "database", "recording" */
    /* Adds what an answer ends with; NULL: nothing. */
    void (*on_end)(out *o);
} out_settings;

/* NULL after a message on standard error. A file gets its name only when out_close succeeds. */
out *out_open(const out_settings *settings);
/*
 * Returns `status`, or EXIT_TROUBLE after a message if writing failed. A reader of standard output
 * that has left is no failure: `status` is what it would have been with one.
 */
int out_close(out *o, int status);

out_format out_format_of(const out *o);
/* For work that only prints: nobody will read what follows. */
int out_has_failed(const out *o);
/* For work that does more: the same, unless only the reader of standard output has left. */
int out_is_lost(const out *o);
/* Hands over what is buffered, for output that appears while work goes on. */
void out_flush(out *o);
/* Whether sentences are part of the output: text, Markdown. */
int out_is_prose(const out *o);
/* Whether characters beyond ASCII can be shown. */
int out_is_utf8(const out *o);
/* Whether somebody sees it at once. */
int out_is_terminal(const out *o);
/* The columns that text has to fit into; `otherwise` where there is no bound. */
unsigned out_width(const out *o, unsigned otherwise);

/*
 * Escapes text that is not safe to show (see escape.h). Line feeds in out_print come from the
 * program and are sent; those in out_write come from names and are escaped.
 */
void out_write(out *o, const char *text, size_t size);
void out_print(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Word-wraps text that begins at `column`, and indents further lines; ends with a line feed. */
void out_wrap(out *o, const char *text, size_t indent, size_t column, size_t width);

/* The shapes of JSON output, listed in schemas.def. */
typedef enum out_schema {
#define SCHEMA(id, name, command, version) SCHEMA_##id,
#include "output/schemas.def"
#undef SCHEMA
    SCHEMA_COUNT
} out_schema;

/*
 * Begins and ends the answer of a command. `store`, a path, may be NULL. JSON before out_begin, and
 * with it an answer without a schema, aborts the program.
 */
void out_begin(out *o, out_schema schema, const char *store);
void out_end(out *o);

/* A value of a field or a cell. */
typedef struct out_value {
    enum {
        VALUE_NONE,
        VALUE_TEXT,
        VALUE_U64,
        VALUE_I64,
        VALUE_REAL,
        VALUE_DIGITS /* a string of digits in JSON */
    } type;
    const char *text;
    size_t fixed; /* bytes at the beginning of the text that are never shortened */
    uint64_t integer;
    double real;
} out_value;

out_value out_none(void);
/* NULL is none. */
out_value out_text(const char *value);
/* A text that, where it does not fit, is shortened only after its first `fixed` bytes. */
out_value out_branch(const char *value, size_t fixed);
out_value out_u64(uint64_t value);
out_value out_u64_if(int is_there, uint64_t value);
out_value out_i64(int64_t value);
out_value out_real(double value);
out_value out_real_if(int is_there, double value);
/* None if it is infinite, or not a number. */
out_value out_finite(double value);
/* A fraction of a whole; none if there is no whole. */
out_value out_share(double part, double whole);
/* For a point in time, and where most values are large: a string of digits in JSON. */
out_value out_digits(uint64_t value);

/*
 * Fields: members and elements in JSON, nothing in text and CSV. `key` is NULL in an array. Keeps
 * no state per level, so that documents can be nested arbitrarily deep.
 *
 *     OUT_OBJECT(o, "range", "first", 1u, "unit", "ns");
 *     OUT_ARRAY(o, "version", major, minor);
 *
 * are an object and an array; OUT_FIELDS and OUT_ELEMENTS add to one that is open.
 */
#define OUT_FIELDS(o, ...)      OUT_PAIRS_(OUT_COUNT_(__VA_ARGS__))(o, __VA_ARGS__)
#define OUT_ELEMENTS(o, ...)    OUT_EACH_(OUT_COUNT_(__VA_ARGS__))(OUT_ELEMENT_, o, __VA_ARGS__)
#define OUT_OBJECT(o, key, ...) (out_object(o, key), OUT_FIELDS(o, __VA_ARGS__), out_object_end(o))
#define OUT_ARRAY(o, key, ...)  (out_array(o, key), OUT_ELEMENTS(o, __VA_ARGS__), out_array_end(o))

void out_object(out *o, const char *key);
void out_object_end(out *o);
void out_array(out *o, const char *key);
void out_array_end(out *o);
/* Puts the next element on a line of its own. */
void out_break(out *o);
/* Each byte that is not UTF-8 becomes U+FFFD. */
void out_field_bytes(out *o, const char *key, const char *bytes, size_t size);
/* A member whose key is a number: JSON wants it as a string. */
void out_number_key_object(out *o, uint64_t key);
void out_number_key_real(out *o, uint64_t key, double value);

/* What OUT_FIELDS calls for a value, by its type. NULL becomes null, as NaN and infinities do. */
void out_field_text(out *o, const char *key, const char *value);
/* Readers that have doubles for numbers lose digits from 2^53 on: from there on it is a string. */
void out_field_u64(out *o, const char *key, uint64_t value);
void out_field_i64(out *o, const char *key, int64_t value);
void out_field_real(out *o, const char *key, double value);
void out_field_bool(out *o, const char *key, int value);
void out_field_value(out *o, const char *key, out_value value);

typedef enum out_style {
    STYLE_PLAIN,
    STYLE_HEADING,
    STYLE_HOT,
    STYLE_DIM,
    STYLE_ERROR,
    STYLE_WARNING,
    STYLE_SERIES /* and the next OUT_SERIES_COUNT - 1: colours to tell things apart */
} out_style;
#define OUT_SERIES_COUNT 12

/*
 * Sentences: only in text. out_say wraps at the terminal width, out_line does not. Line feeds at
 * the ends of the format are sent, others are escaped. out_entry begins with a label, aligned with
 * other entries; labels have the width given to out_labels.
 */
void out_say(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_line(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_labels(out *o, size_t width);
void out_entry(out *o, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));
void out_heading(out *o, const char *title);
/* The number of rows that there are, and whether the table has fewer; before the table. */
void out_fact_rows(out *o, uint64_t shown, uint64_t count);
/* If not all are shown, says how many there are: "20 of 1,458 rows (--limit 0 shows all)". */
void out_shown(out *o, uint64_t shown, uint64_t count, const char *noun);
/* Ends a line of pieces, or leaves one empty. */
void out_gap(out *o);
/* A piece of a line that out_line ends. */
void out_piece(out *o, out_style style, const char *text);
void out_styled(out *o, out_style style, const char *text, size_t size);

typedef enum out_kind {
    OUT_STRING,
    OUT_DIGITS,  /* the same, right-aligned */
    OUT_PROSE,   /* a string that is broken into lines, rather than shortened, as the last column */
    OUT_INTEGER, /* a count or a size of something; grouped in text */
    OUT_NUMBER,  /* an integer that names something: never grouped */
    OUT_REAL,    /* an amount in the unit of the table */
    OUT_CHANGE,  /* the same with its sign */
    OUT_RATIO,   /* new / base; in text as "+3.1%", "x12", "new" or "gone" */
    OUT_PERCENT, /* a fraction, shown times 100 in every format */
    OUT_TIME,    /* a duration in nanoseconds */
    OUT_MOMENT,  /* an absolute time in nanoseconds; in JSON a string of digits */
    OUT_ADDRESS, /* an address or an offset in a module; in JSON a string of digits too */
    OUT_BYTES,
    OUT_BOOL
} out_kind;

typedef enum out_visibility {
    OUT_ALWAYS,
    OUT_IF_WIDE, /* left out of text if the width does not do */
    OUT_TEXT_ONLY,
    OUT_TEXT_IF_WIDE,
    OUT_DATA_ONLY, /* JSON and CSV only */
    OUT_CSV_ONLY,  /* in JSON the command writes an array or an object instead */
    OUT_NEVER
} out_visibility;

typedef struct out_column {
    const char *key;   /* in JSON and CSV */
    const char *title; /* in text */
    out_kind kind;
    out_visibility visibility;
} out_column;

/* A column of JSON and CSV. */
#define OUT_DATA(key, kind)                                                                                  \
    {                                                                                                        \
        key, "", OUT_##kind, OUT_DATA_ONLY                                                                   \
    }

/* CSV has room for one table: the main one, unless another is asked for. */
typedef enum out_rank {
    OUT_MAIN,
    OUT_SIDE
} out_rank;

/*
 * A table. All cells of a row are given in column order, whatever the format shows. The last shown
 * column gets the remaining width. The columns must outlive the table.
 */
void out_table(out *o, out_rank rank, const char *key, const out_column *columns, size_t column_count,
               metric_unit unit);
void out_table_end(out *o);
/* Whether a table would be in the output. Preparing one that is not can be left out. */
int out_has_table(const out *o, out_rank rank, const char *key);
/* Another unit, from the next cell on. */
void out_unit(out *o, metric_unit unit);
void out_row(out *o, out_style style);
void out_row_end(out *o);
/* Words below the row that is under way, in text only; lines are broken where the terminal ends. */
void out_note(out *o, out_style style, const char *text);

/* Cells in column order; OUT_ROW is a whole row. In JSON an int is what its column is. */
#define OUT_CELLS(o, ...)      OUT_EACH_(OUT_COUNT_(__VA_ARGS__))(OUT_CELL_, o, __VA_ARGS__)
#define OUT_ROW(o, style, ...) (out_row(o, style), OUT_CELLS(o, __VA_ARGS__), out_row_end(o))

/* What OUT_CELLS calls for a value, by its type. */
void out_cell_text(out *o, const char *value);
void out_cell_u64(out *o, uint64_t value);
void out_cell_real(out *o, double value);
void out_cell_value(out *o, out_value value);

/* ---- macros of this header: one call for each value, from left to right ---- */

#define OUT_FIELD_(o, key, value)                                                                            \
    _Generic((value),                                                                                        \
        char *: out_field_text,                                                                              \
        const char *: out_field_text,                                                                        \
        double: out_field_real,                                                                              \
        int: out_field_bool,                                                                                 \
        int64_t: out_field_i64,                                                                              \
        out_value: out_field_value,                                                                          \
        default: out_field_u64)(o, key, value)
#define OUT_ELEMENT_(o, value) OUT_FIELD_(o, NULL, value)
#define OUT_CELL_(o, value)                                                                                  \
    _Generic((value),                                                                                        \
        char *: out_cell_text,                                                                               \
        const char *: out_cell_text,                                                                         \
        double: out_cell_real,                                                                               \
        out_value: out_cell_value,                                                                           \
        default: out_cell_u64)(o, value)
#endif
