/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a database as columns: in place where the library has them so. */
#include "lodepy.h"
#include <lode/private/columns.h>

/* Memory of the table is gone when that is freed: a copy. */
static PyObject *copy_column(PyObject *module, const lode_column *column)
{
    Py_ssize_t size = lp_size_of(column->type);
    lp_array array = {lp_format_of(column->type), NULL, size, (Py_ssize_t)column->count, size};
    char *memory = calloc(column->count ? (size_t)column->count : 1, (size_t)size);
    for (uint64_t i = 0; memory && i < column->count; i++)
        memcpy(memory + i * (uint64_t)size, (const char *)column->data + i * column->stride, (size_t)size);
    return lp_buffer_take(module, memory, &array);
}

static PyObject *column_object(PyObject *module, lp_store *store, const lode_column *column)
{
    if (column->type == LODE_COLUMN_STRING)
        return lp_strings(column);
    if (column->owner == LODE_OWNER_TABLE)
        return copy_column(module, column);
    lp_array array = {lp_format_of(column->type), column->data, lp_size_of(column->type),
                      (Py_ssize_t)column->count, (Py_ssize_t)column->stride};
    return lp_buffer_of_store(module, store, &array);
}

static PyObject *read_column(PyObject *module, lp_store *store, lode_table *table, unsigned number)
{
    lode_column column = {0};
    lode_error error;
    lode_status status = lode_table_read(table, number, 0, UINT64_MAX, &column, &error);
    if (status < 0)
        return lp_raise(module, &error);
    if (status == LODE_END) /* a table without rows */
        column.count = 0;
    return column_object(module, store, &column);
}

static PyObject *table_columns(PyObject *module, lp_store *store, lode_table *table, const char *only)
{
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict && i < lode_table_columns(table); i++) {
        const char *name = lode_table_column_name(table, i);
        if (only && strcmp(only, name) != 0)
            continue;
        if (!lp_put(dict, name, read_column(module, store, table, i)))
            Py_CLEAR(dict);
    }
    return dict;
}

static int kind_of(const char *name)
{
    int kind = 0;
    while (lode_table_kind_name(kind) && strcmp(lode_table_kind_name(kind), name) != 0)
        kind++;
    return kind;
}

/* columns(store, table, column or None) -> dict of lists and buffers */
static PyObject *module_columns(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *dict = NULL;
    const char *name, *only;
    lode_table *table = NULL;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "Osz:columns", &argument, &name, &only))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    lode_status status = lode_database_table(&table, store->db, (lode_table_kind)kind_of(name), &error);
    dict = status == LODE_OK ? table_columns(module, store, table, only) : lp_raise(module, &error);
    lode_table_free(table);
    lp_store_release(store);
    return dict;
}

/* context_names(store, form) -> list of the labels of all contexts, in the order of the table */
static PyObject *module_context_names(PyObject *module, PyObject *arguments)
{
    static const lp_field fields[] = {{"name", 's'}};
    PyObject *argument, *dict = NULL;
    int form;
    lp_frame frame;
    if (!PyArg_ParseTuple(arguments, "Oi:context_names", &argument, &form))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    uint32_t count = lode_database_context_count(store->db);
    if (lp_frame_open(&frame, fields, 1, count)) {
        for (uint32_t i = 0; i < count; i++)
            lp_frame_label(&frame, lp_label_of_context, lode_database_context_at(store->db, i), form);
        dict = lp_frame_close(&frame, module);
    }
    lp_store_release(store);
    return dict;
}

static PyObject *context_tuple(const lode_context *context, int form)
{
    const lode_function *function = lode_context_function(context);
    PyObject *own = function ? lp_label(lp_label_of_function, function, form) : Py_NewRef(Py_None);
    const lode_context *parent = lode_context_parent(context);
    /* N takes the reference, also where another item fails. */
    return Py_BuildValue(
        "{sIsIsIsIsLsNsNsNsNsNsNsNsK}", "id", lode_context_id(context), "index", lode_context_index(context),
        "depth", lode_context_depth(context), "subtree", lode_context_subtree_size(context), "parent",
        parent ? (long long)lode_context_index(parent) : -1LL, "name",
        lp_label(lp_label_of_context, context, form), "function", own, "kind",
        lp_text(lode_lexical_name(lode_context_lexical(context))), "relation",
        lp_text(lode_relation_name(lode_context_relation(context))), "line",
        lode_context_line(context) ? PyLong_FromUnsignedLong(lode_context_line(context)) : Py_NewRef(Py_None),
        "file", lp_text(lp_path_of_file(lode_context_file(context))), "module",
        lp_text(lp_path_of_module(lode_context_module(context))), "offset",
        (unsigned long long)lode_context_offset(context));
}

/* context(store, id or index, by_index, form) -> dict, or None if there is none */
static PyObject *module_context(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    unsigned number;
    int by_index, form;
    if (!PyArg_ParseTuple(arguments, "OIpi:context", &argument, &number, &by_index, &form))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    const lode_context *context =
        by_index ? lode_database_context_at(store->db, number) : lode_database_context(store->db, number);
    result = context ? context_tuple(context, form) : Py_NewRef(Py_None);
    lp_store_release(store);
    return result;
}

static size_t label_of_profile(const void *db, int profile, char *buffer, size_t capacity)
{
    return lode_profile_label(db, (uint32_t)profile, buffer, capacity);
}

/* profile_names(store) -> dict with the list "name" */
static PyObject *module_profile_names(PyObject *module, PyObject *argument)
{
    static const lp_field fields[] = {{"name", 's'}};
    PyObject *dict = NULL;
    lp_frame frame;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    uint32_t count = lode_database_profile_count(store->db);
    if (lp_frame_open(&frame, fields, 1, count)) {
        for (uint32_t i = 0; i < count; i++)
            lp_frame_label(&frame, label_of_profile, store->db, (int)i);
        dict = lp_frame_close(&frame, module);
    }
    lp_store_release(store);
    return dict;
}

/* metric(store, text or None) -> its number; raises NotFound, or returns None without metrics */
static PyObject *module_metric(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    const char *text;
    const lode_metric *metric = NULL;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "Oz:metric", &argument, &text))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    lode_status status = text ? lode_database_find_metric(store->db, text, &metric, &error)
                              : lode_database_default_metric(store->db, &metric, &error);
    if (status == LODE_OK)
        result = PyLong_FromUnsignedLong(lode_metric_index(metric));
    else
        result = status == LODE_NOT_FOUND && !text ? Py_NewRef(Py_None) : lp_raise(module, &error);
    lp_store_release(store);
    return result;
}

PyMethodDef lp_table_methods[] = {
    {"columns", module_columns, METH_VARARGS, "columns(store, table, column) -> dict"},
    {"context_names", module_context_names, METH_VARARGS, "context_names(store, form) -> dict"},
    {"context", module_context, METH_VARARGS, "context(store, number, by_index, form) -> dict or None"},
    {"profile_names", module_profile_names, METH_O, "profile_names(store) -> dict"},
    {"metric", module_metric, METH_VARARGS, "metric(store, text) -> number"},
    {NULL, NULL, 0, NULL}};
