/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of a relational table: the table, columns, and conditions on columns. */
#include "lodepy.h"

static int field_of(const lode_table_info *info, const char *name)
{
    for (unsigned i = 0; i < info->field_count; i++)
        if (strcmp(info->fields[i].name, name) == 0)
            return (int)i;
    PyErr_Format(PyExc_ValueError, "table '%s' has no column '%s'", info->name, name);
    return -1;
}

static void ask_column(lp_question *q, int field)
{
    uint64_t bit = UINT64_C(1) << field;
    if (!(q->options.columns & bit) && !(q->info->fields[field].flags & LODE_FIELD_ARGUMENT))
        q->asked[q->asked_count++] = (unsigned)field;
    q->options.columns |= bit;
}

/* A tuple of names as a mask; None: all. */
static bool take_columns(lp_question *q, PyObject *names)
{
    Py_ssize_t count = names == Py_None ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *bytes = PyUnicode_AsUTF8String(PyTuple_GetItem(names, i));
        int field = bytes ? field_of(q->info, PyBytes_AsString(bytes)) : -1;
        Py_XDECREF(bytes);
        if (field < 0)
            return false;
        ask_column(q, field);
    }
    return count >= 0;
}

/* A number that may be negative in a column that is signed. */
static bool take_number(uint64_t *out, PyObject *value, bool is_signed)
{
    *out = is_signed ? (uint64_t)PyLong_AsLongLong(value) : PyLong_AsUnsignedLongLong(value);
    return !PyErr_Occurred();
}

/* (column, value): rows that have this value. */
static bool take_filter(lp_question *q, size_t number, const char *name, PyObject *value)
{
    lode_scan_filter *filter = &q->filters[number];
    int field = field_of(q->info, name);
    if (field < 0)
        return false;
    const lode_field *f = &q->info->fields[field];
    *filter = (lode_scan_filter){.column = (unsigned)field, .kind = LODE_FILTER_EQUAL, .count = 1};
    if (f->type == LODE_COLUMN_F64) {
        q->reals[number] = PyFloat_AsDouble(value);
        filter->reals = &q->reals[number];
        return !PyErr_Occurred();
    }
    if (f->type != LODE_COLUMN_STRING) {
        filter->numbers = &q->numbers[number];
        return take_number(&q->numbers[number], value, f->flags & LODE_FIELD_SIGNED);
    }
    q->bytes[number] = PyUnicode_AsUTF8String(value);
    q->strings[number] = q->bytes[number] ? PyBytes_AsString(q->bytes[number]) : NULL;
    filter->strings = &q->strings[number];
    return q->strings[number] != NULL;
}

static bool take_filters(lp_question *q, PyObject *filters)
{
    Py_ssize_t count = PyTuple_Size(filters);
    if (count > LP_FILTERS) {
        PyErr_SetString(PyExc_ValueError, "too many conditions");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *name;
        PyObject *value;
        if (!PyArg_ParseTuple(PyTuple_GetItem(filters, i), "sO", &name, &value) ||
            !take_filter(q, (size_t)i, name, value))
            return false;
    }
    q->options.filters = q->filters;
    q->options.filter_count = (size_t)count;
    return count >= 0;
}

static bool open_tables(lp_question *q, PyObject *module, const lp_store *store, const char *path, int form)
{
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    lode_error error;
    options.path = path;
    options.names = (lode_name_form)form;
    options.kinds = store->rules;
    if (lode_tables_open(&q->tables, store->db, store->recording, &options, &error) == LODE_OK)
        return true;
    lp_raise(module, &error);
    return false;
}

bool lp_question_open(lp_question *q, PyObject *module, const lp_store *store, PyObject *question)
{
    const char *table, *path;
    int form;
    PyObject *columns, *filters;
    *q = (lp_question){.options = LODE_SCAN_OPTIONS_INIT};
    if (!PyArg_ParseTuple(question, "syiOO!", &table, &path, &form, &columns, &PyTuple_Type, &filters) ||
        !open_tables(q, module, store, path, form))
        return false;
    q->info = lode_tables_find(q->tables, table);
    if (!q->info) {
        PyErr_Format(lp_state_of(module)->not_found, "no table '%s'", table);
        return false;
    }
    return take_columns(q, columns) && take_filters(q, filters);
}

void lp_question_close(lp_question *q)
{
    lode_tables_close(q->tables);
    for (int i = 0; i < LP_FILTERS; i++)
        Py_XDECREF(q->bytes[i]);
}

static bool is_given(const lp_question *q, unsigned field)
{
    for (size_t i = 0; i < q->options.filter_count; i++)
        if (q->filters[i].column == field)
            return true;
    return false;
}

/* The columns of a question, in the order that was asked for; NULL after raising. */
static PyObject *columns_of(const lp_question *q)
{
    PyObject *list = PyList_New(0);
    unsigned count = q->options.columns ? q->asked_count : q->info->field_count;
    for (unsigned i = 0; list && i < q->info->field_count; i++)
        if ((q->info->fields[i].flags & LODE_FIELD_REQUIRED) && !is_given(q, i)) {
            PyErr_Format(PyExc_ValueError, "table '%s' needs '%s'", q->info->name, q->info->fields[i].name);
            Py_CLEAR(list);
        }
    for (unsigned i = 0; list && i < count; i++) {
        const lode_field *field = &q->info->fields[q->options.columns ? q->asked[i] : i];
        if (field->flags & LODE_FIELD_ARGUMENT)
            continue;
        PyObject *name = lp_text(field->name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* scan_columns(store, question) -> list of names: what scan() would read, without reading it */
PyObject *lp_module_scan_columns(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *question;
    lp_question q;
    if (!PyArg_ParseTuple(arguments, "OO!:scan_columns", &argument, &PyTuple_Type, &question))
        return NULL;
    lp_store *store = lp_use_any(module, argument);
    if (!store)
        return NULL;
    PyObject *list = lp_question_open(&q, module, store, question) ? columns_of(&q) : NULL;
    lp_question_close(&q);
    lp_store_release(store);
    return list;
}

static PyObject *field_tuple(const lode_field *field)
{
    return Py_BuildValue("NIN", lp_text(field->name), field->flags, lp_text(field->refers));
}

static PyObject *info_tuple(const lode_table_info *info)
{
    PyObject *fields = PyList_New(info->field_count);
    for (unsigned i = 0; fields && i < info->field_count; i++) {
        PyObject *field = field_tuple(&info->fields[i]);
        if (field)
            PyList_SetItem(fields, (Py_ssize_t)i, field);
        else
            Py_CLEAR(fields);
    }
    return fields
               ? Py_BuildValue("NNiN", lp_text(info->name), lp_text(info->title), info->is_function, fields)
               : NULL;
}

/* tables(store) -> list of (name, title, is function, list of (column, flags, table that it refers to)) */
PyObject *lp_module_tables(PyObject *module, PyObject *argument)
{
    lp_question q = {.options = LODE_SCAN_OPTIONS_INIT};
    lp_store *store = lp_use_any(module, argument);
    if (!store)
        return NULL;
    PyObject *list = open_tables(&q, module, store, NULL, LODE_NAME_FULL) ? PyList_New(0) : NULL;
    for (unsigned i = 0; list && i < lode_tables_count(q.tables); i++) {
        PyObject *info = info_tuple(lode_tables_at(q.tables, i));
        if (!info || PyList_Append(list, info) < 0)
            Py_CLEAR(list);
        Py_XDECREF(info);
    }
    lp_question_close(&q);
    lp_store_release(store);
    return list;
}
