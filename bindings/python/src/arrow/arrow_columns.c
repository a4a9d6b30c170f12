/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of Python in the layout of Arrow: aligned, contiguous, with bits for what is there. */
#include "arrow.h"

enum {
    ALIGNMENT = 64
};

static void *allocate(size_t size)
{
    size_t rounded = (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    if (memory)
        memset(memory, 0, rounded);
    else
        PyErr_NoMemory();
    return memory;
}

static void set_bit(void *bits, Py_ssize_t index)
{
    ((uint8_t *)bits)[index / 8] |= (uint8_t)(1u << index % 8);
}

/* ---- buffers ---- */

static const char *format_of(const char *format)
{
    static const char *const pairs[] = {"BC", "HS", "II", "QL", "LL", "ql", "ll",
                                        "ii", "dg", "?b", "bc", "hs", "ff"};
    if (!format || format[0] == '\0' || format[1] != '\0')
        return NULL;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == format[0])
            return pairs[i] + 1;
    return NULL;
}

static bool copy_view(lp_arrow_column *column, const Py_buffer *view)
{
    Py_ssize_t count = view->shape[0], stride = view->strides[0];
    bool is_bits = column->format[0] == 'b';
    column->buffers[1] = allocate(is_bits ? (size_t)count / 8 + 1 : (size_t)(count * view->itemsize));
    for (Py_ssize_t i = 0; column->buffers[1] && i < count; i++) {
        const char *item = (const char *)view->buf + i * stride;
        if (!is_bits)
            memcpy((char *)column->buffers[1] + i * view->itemsize, item, (size_t)view->itemsize);
        else if (*item)
            set_bit(column->buffers[1], i);
    }
    return column->buffers[1] != NULL;
}

static bool take_buffer(lp_arrow_column *column, PyObject *data, Py_ssize_t rows)
{
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0)
        return false;
    column->format = format_of(view.format);
    column->buffer_count = 2;
    bool is_good = column->format && view.ndim == 1 && view.shape[0] == rows;
    if (!is_good)
        PyErr_Format(PyExc_TypeError, "column '%s' is no array of numbers of the table's length",
                     column->name);
    is_good = is_good && copy_view(column, &view);
    PyBuffer_Release(&view);
    return is_good;
}

/* ---- lists ---- */

/* "U": text; "g": real; "l": whole; NULL after raising. The first kind that takes all items. */
static const char *format_of_list(PyObject *list, Py_ssize_t rows)
{
    bool has_text = false, has_real = false;
    for (Py_ssize_t i = 0; i < rows; i++) {
        PyObject *item = PyList_GetItem(list, i);
        has_text |= PyUnicode_Check(item);
        has_real |= PyFloat_Check(item);
    }
    return has_text || rows == 0 ? "U" : has_real ? "g" : "l";
}

static bool take_validity(lp_arrow_column *column, PyObject *list, Py_ssize_t rows)
{
    column->buffers[0] = allocate((size_t)rows / 8 + 1);
    for (Py_ssize_t i = 0; column->buffers[0] && i < rows; i++) {
        if (PyList_GetItem(list, i) == Py_None)
            column->null_count++;
        else
            set_bit(column->buffers[0], i);
    }
    return column->buffers[0] != NULL;
}

static bool take_numbers(lp_arrow_column *column, PyObject *list, Py_ssize_t rows)
{
    column->buffer_count = 2;
    column->buffers[1] = allocate((size_t)rows * 8);
    for (Py_ssize_t i = 0; column->buffers[1] && i < rows && !PyErr_Occurred(); i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (item == Py_None)
            continue;
        if (column->format[0] == 'g')
            ((double *)column->buffers[1])[i] = PyFloat_AsDouble(item);
        else
            ((long long *)column->buffers[1])[i] = PyLong_AsLongLong(item);
    }
    return !PyErr_Occurred();
}

/* Two passes: lengths, then bytes. Surrogates, which no text of the package has, raise. */
static bool take_text(lp_arrow_column *column, PyObject *list, Py_ssize_t rows)
{
    int64_t *offsets = column->buffers[1] = allocate(((size_t)rows + 1) * sizeof *offsets);
    column->buffer_count = 3;
    for (Py_ssize_t i = 0, length = 0; offsets && i < rows; i++, length = 0) {
        PyObject *item = PyList_GetItem(list, i);
        if (item != Py_None && !PyUnicode_AsUTF8AndSize(item, &length))
            return false;
        offsets[i + 1] = offsets[i] + length;
    }
    column->buffers[2] = offsets ? allocate((size_t)offsets[rows]) : NULL;
    for (Py_ssize_t i = 0, length = 0; column->buffers[2] && i < rows; i++) {
        PyObject *item = PyList_GetItem(list, i);
        const char *text = item == Py_None ? NULL : PyUnicode_AsUTF8AndSize(item, &length);
        if (text)
            memcpy((char *)column->buffers[2] + offsets[i], text, (size_t)length);
    }
    return column->buffers[2] != NULL;
}

static bool take_list(lp_arrow_column *column, PyObject *list, Py_ssize_t rows)
{
    if (PyList_Size(list) != rows) {
        PyErr_Format(PyExc_ValueError, "column '%s' has another length", column->name);
        return false;
    }
    column->format = format_of_list(list, rows);
    return take_validity(column, list, rows) &&
           (column->format[0] == 'U' ? take_text(column, list, rows) : take_numbers(column, list, rows));
}

/* ---- tables ---- */

static void table_free(lp_arrow_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->columns[i].name);
        for (int j = 0; j < 3; j++)
            free(table->columns[i].buffers[j]);
    }
    free(table->columns);
    free(table);
}

void lp_arrow_table_release(lp_arrow_table *table)
{
    if (--table->references == 0)
        table_free(table);
}

static bool take_column(lp_arrow_column *column, PyObject *name, PyObject *data, Py_ssize_t rows)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    column->name = text ? strdup(text) : NULL;
    if (text && !column->name)
        PyErr_NoMemory();
    if (!column->name)
        return false;
    return PyList_Check(data) ? take_list(column, data, rows) : take_buffer(column, data, rows);
}

lp_arrow_table *lp_arrow_table_make(PyObject *names, PyObject *columns)
{
    Py_ssize_t count = PyTuple_Size(names);
    lp_arrow_table *table = calloc(1, sizeof *table);
    lp_arrow_column *made = calloc((size_t)count + 1, sizeof *made);
    if (!table || !made) {
        free(table);
        free(made);
        PyErr_NoMemory();
        return NULL;
    }
    table->references = 1;
    table->columns = made;
    table->count = (size_t)count;
    Py_ssize_t rows = count ? PyObject_Length(PyTuple_GetItem(columns, 0)) : 0;
    table->rows = rows;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (rows < 0 ||
            !take_column(&made[i], PyTuple_GetItem(names, i), PyTuple_GetItem(columns, i), rows)) {
            table_free(table);
            return NULL;
        }
    }
    return table;
}
