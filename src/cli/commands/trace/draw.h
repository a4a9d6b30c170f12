/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline drawn with letters: one row per trace line, one letter per interval. */
#ifndef CLI_TRACE_DRAW_H
#define CLI_TRACE_DRAW_H

#include "output/out.h"
#include "stores/session.h"
#include "text/label.h"

#include <lode/unstable/kind.h>

#define LETTER_IDLE    '.'
#define LETTER_OTHER   '~'
#define LETTER_NOTHING ' '

/* Functions by their time, longest first, and their letters. */
typedef struct trace_key {
    lode_timeline_share *shares;
    char *letters;
    size_t count;
} trace_key;

/* The longest shares get letters, up to `limit` of them, 0 being as many as there are letters. */
void trace_key_init(trace_key *key, const lode_timeline *timeline, uint64_t limit);
void trace_key_of_picture(trace_key *key, const lode_picture *picture, uint64_t limit);
void trace_key_free(trace_key *key);
/* Whether a share stands for the time in which threads did not run. */
int trace_is_idle(const lode_timeline_share *share);
out_style trace_style_of(char letter);

typedef struct trace_line_name {
    uint32_t profile; /* or track */
    uint32_t line;    /* its trace line, or the track */
    uint32_t row;     /* of the timeline */
    char *name;
} trace_line_name;

/* The selected trace lines by name; names omit what all have in common: "node 0". */
typedef struct trace_lines {
    trace_line_name *items;
    size_t count, capacity;
    unsigned width;            /* columns for the names */
    struct trace_lines *owner; /* a host keeps them; NULL: they are the caller's */
} trace_lines;

/* `only_sampled`: without lines that have no samples at all. */
lode_status trace_lines_init(trace_lines *lines, const session *s, int only_sampled, lode_error *error);
/* The tracks of a slice, named by thread id or, of requests, by number. */
void trace_lines_of_recording(trace_lines *lines, const lode_recording *recording, const lode_slice *slice);
void trace_lines_free(trace_lines *lines);

/* How many intervals fit into a line of the output. */
unsigned trace_columns(const out *o, const trace_lines *lines);

/* How many lines have no sample in the window; these are not drawn. */
uint64_t trace_empty_lines(const lode_timeline *timeline, const trace_lines *lines, unsigned columns);
/*
 * Up to `limit` lines by name; 0: all. Text: with a time axis from `start`. JSON: an array; of `db`
 * and `recording` one is NULL.
 */
void trace_draw(out *o, const lode_timeline *timeline, const trace_lines *lines, const trace_key *key,
                unsigned columns, uint64_t limit, uint64_t start);
void trace_write(out *o, const lode_timeline *timeline, const trace_lines *lines, const trace_key *key,
                 unsigned columns, uint64_t limit, const lode_database *db, const lode_recording *recording);

/* Where things are in an image, in pixels. */
typedef struct image_plan {
    unsigned width, height;
    unsigned plot_x, plot_y, plot_width;
    unsigned rows, row_height;
} image_plan;

/* What is drawn, and where it comes from: one of `db` and `recording` is NULL. */
typedef struct trace_drawing {
    const lode_database *db;
    const lode_recording *recording;
    lode_timeline *timeline; /* or */
    lode_picture *picture;   /* with lines added up into rows */
    trace_lines lines;
    uint64_t start;
    unsigned columns;
    const lode_kind_rules *kinds; /* NULL: none */
    int names;                    /* NAMES_... */
    image_plan plan;              /* of an image */
    uint8_t hues[256];            /* of an image, by key */
} trace_drawing;

/* Rows of a picture, as text or JSON. */
void trace_draw_picture(out *o, const trace_drawing *d, const trace_key *key);
void trace_write_picture(out *o, const trace_drawing *d, const trace_key *key);
/* Below the rows: when some of the columns begin, counted from `start`. */
void trace_draw_axis(out *o, const uint64_t window[2], unsigned name_width, unsigned columns, uint64_t start);
/* A name in its column, and the cells beside it. */
void trace_draw_row(out *o, const char *name, unsigned name_width, char *cells);
/* Members of a JSON object: which line it is. */
void trace_write_line(out *o, const trace_line_name *line, const lode_database *db,
                      const lode_recording *recording);

/* The timeline as a table for CSV: a row for each interval in which a line shows one function. */
typedef struct trace_table {
    out *out;
    const lode_timeline *timeline;
    const trace_lines *lines;
    const trace_key *key;
    unsigned columns;
    const lode_database *db; /* NULL: lines are tracks */
    int names;               /* NAMES_... */
    const char *(*name)(label *l, const lode_timeline_share *share, int names);
} trace_table;

/* Up to `limit` lines; 0: all. */
void trace_table_write(const trace_table *t, uint64_t limit);

#endif
