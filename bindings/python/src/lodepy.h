/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module lode._lode: the public API of Lode for Python, on the limited API of CPython 3.11.
 * Functions of the module take positional arguments only and return plain objects: the package's
 * Python files make the classes that people use of them.
 */
#ifndef LODEPY_H
#define LODEPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <lode/unstable.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LP_FILE_ERRORS = 6 /* kinds of what the system refuses; the last is any other */
};

typedef struct lp_state {
    PyObject *error, *not_found, *corrupt, *unsupported;
    PyObject *files[LP_FILE_ERRORS]; /* Error, and an exception of Python */
    PyTypeObject *store, *buffer, *cost;
} lp_state;

/* For interfaces that take what they do not change without const. */
static inline void *lp_mutable(const void *pointer)
{
    void *result;
    memcpy(&result, &pointer, sizeof result);
    return result;
}

/* The state behind the `self` of a function of the module. */
lp_state *lp_state_of(PyObject *module);

/* ---- stores: database or recording ---- */

/*
 * Everything that borrows from the store counts as a user: buffers, costs, and calls that run
 * without the interpreter's lock. It closes when there are none.
 */
typedef struct lp_store {
    PyObject_HEAD lode_database *db; /* NULL: a recording, or closed */
    lode_recording *recording;       /* NULL: a database, or closed */
    lode_kind_rules *rules;          /* for kinds of functions; NULL: none */
    Py_ssize_t users;
    bool has_errors; /* a check found some */
    bool is_closing; /* with the last user */
} lp_store;

/* Adds a user; false after raising ValueError if the store is closed. */
bool lp_store_use(lp_store *store);
void lp_store_release(lp_store *store);
/* The argument of a function, used; NULL after raising. The second needs a database, and so on. */
lp_store *lp_use_any(PyObject *module, PyObject *argument);
/* Also one that closes with its last user, for tables that were not read before. */
lp_store *lp_use_kept(PyObject *module, PyObject *argument);
lp_store *lp_use_database(PyObject *module, PyObject *argument);
lp_store *lp_use_recording(PyObject *module, PyObject *argument);
/* Reads rules for kinds of functions; no text: none. False after raising. */
bool lp_rules_open(PyObject *module, lode_kind_rules **rules, const char *text, Py_ssize_t size);

/* ---- errors ---- */

/* Raises what an error says; returns NULL. */
PyObject *lp_raise(PyObject *module, const lode_error *error);

/* ---- jobs: long work on a thread of its own, while this one looks for Ctrl-C ---- */

typedef struct lp_job {
    lode_status (*run)(struct lp_job *job);
    PyObject *progress; /* called with (phase, done, total); NULL or None: nobody */
    lode_error error;
    lode_status status;
    struct lp_waiting *waiting;
} lp_job;

/* False after raising, whatever the reason is. LODE_ABSENT counts as done. */
bool lp_job_run(PyObject *module, lp_job *job);
/* A lode_progress_fn; `user` is the job. */
int lp_job_progress(void *user, const char *phase, uint64_t done, uint64_t total);

/* ---- buffers: arrays that other objects own, or that are their own ---- */

typedef struct lp_array {
    const char *format; /* of the struct module, static; items of several fields: "T{...}" */
    const void *data;
    Py_ssize_t item_size, count, stride;
} lp_array;

/* A view of memory of a store, which it uses, or of a cost (owner). */
PyObject *lp_buffer_of_store(PyObject *module, lp_store *store, const lp_array *array);
PyObject *lp_buffer_of_object(PyObject *module, PyObject *owner, const lp_array *array);
/* Takes memory from malloc, also if it fails. */
PyObject *lp_buffer_take(PyObject *module, void *memory, const lp_array *array);
/* "B", "H", "I", "Q", "d" or NULL for strings; and the size. */
const char *lp_format_of(lode_column_type type);
Py_ssize_t lp_size_of(lode_column_type type);
/* The elements of a column of strings as a list of str and None. */
PyObject *lp_strings(const lode_column *column);

/* ---- frames: tables that functions of the module fill in row by row ---- */

typedef struct lp_field {
    const char *name;
    /* 'B', 'I', 'Q', 'd': arrays; 's': str or None; 'N': an array, or a list with None for 0 */
    char type;
} lp_field;

enum {
    LP_FIELDS = 24
};

typedef struct lp_frame {
    const lp_field *fields;
    unsigned count;
    size_t rows, row; /* `row` is the one that is being filled in */
    unsigned field;   /* the next one of it */
    bool has_failed;  /* an exception is set */
    void *data[LP_FIELDS];
    PyObject *lists[LP_FIELDS];
    char *text; /* scratch for labels */
    size_t capacity;
} lp_frame;

/* False after raising. */
bool lp_frame_open(lp_frame *frame, const lp_field *fields, unsigned count, size_t rows);
/* The next field of the row; the last one ends the row. */
void lp_frame_u64(lp_frame *frame, uint64_t value);
void lp_frame_real(lp_frame *frame, double value);
void lp_frame_text(lp_frame *frame, const char *text); /* NULL: None */
/* Labels: a function of lode/name.h with its arguments, behind one type. */
typedef size_t (*lp_label_fn)(const void *subject, int form, char *buffer, size_t capacity);
void lp_frame_label(lp_frame *frame, lp_label_fn label, const void *subject, int form);
/* A dict of lists and buffers; NULL after raising. Frees the frame. */
PyObject *lp_frame_close(lp_frame *frame, PyObject *module);

/* ---- text ---- */

/* Text of files need not be UTF-8: what is not becomes U+FFFD. NULL: None. */
PyObject *lp_text(const char *text);
/* One label as str. */
PyObject *lp_label(lp_label_fn label, const void *subject, int form);
size_t lp_label_of_context(const void *context, int form, char *buffer, size_t capacity);
size_t lp_label_of_function(const void *function, int form, char *buffer, size_t capacity);
const char *lp_path_of_file(const lode_file *file);       /* NULL: none */
const char *lp_path_of_module(const lode_module *module); /* NULL: none */
/* Adds a value that it takes to a dict; false, with an exception, if there is none. */
bool lp_put(PyObject *dict, const char *key, PyObject *value);

/* ---- findings, gathered without the interpreter's lock ---- */

typedef struct lp_findings {
    struct lp_finding *items;
    size_t count, capacity;
    bool has_failed;
} lp_findings;

int lp_findings_add(void *user, const lode_finding *finding); /* `user`: lp_findings */
/* A dict of columns: severity, rule, file, offset (or None), text. Frees them. */
PyObject *lp_findings_close(lp_findings *findings);

/* ---- filters: tuples of patterns ---- */

/* NULL without patterns, and after raising (`is_good` false). */
lode_filter *lp_filter_open(PyObject *module, PyObject *include, PyObject *exclude, bool *is_good);

/* ---- costs: of a database, or of the calls of a recording ---- */

typedef struct lp_cost {
    PyObject_HEAD lp_store *store;
    lode_cost *cost; /* owned, or that of the tree */
    lode_calltree *tree;
} lp_cost;

/* The argument of a function; NULL after raising. */
lp_cost *lp_cost_of(PyObject *module, PyObject *argument);

/* What is selected, None or text; false after raising. */
bool lp_selection_open(PyObject *module, lp_store *store, const char *text, lode_selection **out);
/* Tracks of a recording as a tuple or None; memory from PyMem_Malloc. False after raising. */
bool lp_slice_open(lode_slice *slice, PyObject *tracks);
/* What off-CPU time is: a call, time of the call that waits, or nothing. False with an exception. */
enum {
    LP_CLOCK_SCHED,
    LP_CLOCK_TIME,
    LP_CLOCK_RUNNING
};
bool lp_clock(lode_slice *slice, lode_calls_options *options, const lode_recording *recording, int clock);
void lp_slice_close(lode_slice *slice);

/* ---- questions to relational tables ---- */

enum {
    LP_FILTERS = 16,
    LP_COLUMNS = 64, /* of a table, as a mask of columns has them */
    LP_ROWS = 65536  /* of a batch */
};

typedef struct lp_question {
    lode_tables *tables;
    const lode_table_info *info;
    lode_scan_options options;
    lode_scan_filter filters[LP_FILTERS];
    uint64_t numbers[LP_FILTERS];
    double reals[LP_FILTERS];
    const char *strings[LP_FILTERS];
    PyObject *bytes[LP_FILTERS]; /* of the strings */
    unsigned asked[LP_COLUMNS];  /* columns without arguments, each once; none: all */
    unsigned asked_count;
} lp_question;

/*
 * Of a tuple (table, path, form, columns or None, ((column, value), ...)). False after raising;
 * to be closed in any case.
 */
bool lp_question_open(lp_question *question, PyObject *module, const lp_store *store, PyObject *tuple);
void lp_question_close(lp_question *question);
PyObject *lp_module_tables(PyObject *module, PyObject *argument);
PyObject *lp_module_scan_columns(PyObject *module, PyObject *arguments);

/* ---- functions by noun; each ends with an entry without a name ---- */

extern PyMethodDef lp_store_methods[], lp_table_methods[], lp_value_methods[], lp_cost_methods[],
    lp_answer_methods[], lp_picture_methods[], lp_recording_methods[], lp_compare_methods[],
    lp_check_methods[], lp_scan_methods[], lp_arrow_methods[], lp_sql_methods[], lp_diagnose_methods[],
    lp_write_methods[];
/* In files of their own, and listed with comparisons, recordings and values. */
PyObject *lp_module_compare_tree(PyObject *module, PyObject *arguments);
PyObject *lp_module_events(PyObject *module, PyObject *arguments);
PyObject *lp_module_spread(PyObject *module, PyObject *arguments);
extern PyType_Spec lp_store_spec, lp_buffer_spec, lp_cost_spec;

#endif
