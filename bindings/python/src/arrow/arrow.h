/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrow streams: of columns of Python, and of the tables of a store. */
#ifndef LODEPY_ARROW_H
#define LODEPY_ARROW_H

#include "lodepy.h"

/* Columns in the layout of Arrow. They know nothing of Python, so any thread may release them. */
typedef struct lp_arrow_column {
    char *name;
    const char *format;
    int64_t null_count;
    int64_t buffer_count;
    void *buffers[3]; /* validity, then numbers, or offsets and text */
} lp_arrow_column;

typedef struct lp_arrow_table {
    _Atomic int references;
    int64_t rows;
    size_t count;
    lp_arrow_column *columns;
} lp_arrow_table;

/* Copies of columns of Python: buffers, or lists of str, int, float, bool and None. NULL after raising. */
lp_arrow_table *lp_arrow_table_make(PyObject *names, PyObject *columns);
void lp_arrow_table_release(lp_arrow_table *table);
/* A stream of one batch, which takes a reference to the table. */
void lp_arrow_stream_open(struct ArrowArrayStream *out, lp_arrow_table *table);
/* Takes a stream, also if it fails. NULL after raising. */
PyObject *lp_arrow_capsule(struct ArrowArrayStream *stream);
/* Arrow streams of the library. */
PyObject *lp_module_scan_stream(PyObject *module, PyObject *arguments);

#endif
