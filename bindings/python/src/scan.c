/* SPDX-License-Identifier: BSD-3-Clause */
/* The relational tables of a store, read completely: numbers as buffers, text as lists. */
#include "lodepy.h"

typedef struct scan_column {
    char *numbers; /* grows */
    uint8_t *valid;
    PyObject *list; /* text */
    size_t size;    /* of a number */
    bool has_null;
} scan_column;

typedef struct scan_read {
    const lode_table_info *info;
    scan_column columns[LP_COLUMNS];
    uint64_t mask; /* of columns that are read */
    uint64_t rows, capacity;
} scan_read;

static const char *format_of(const lode_field *field)
{
    if (field->flags & LODE_FIELD_BOOLEAN)
        return "?";
    return field->flags & LODE_FIELD_SIGNED ? "q" : lp_format_of(field->type);
}

static bool is_read(const scan_read *read, unsigned column)
{
    return read->mask >> column & 1;
}

static bool grow(scan_read *read, uint64_t rows)
{
    if (rows <= read->capacity)
        return true;
    uint64_t capacity = 2 * read->capacity > rows ? 2 * read->capacity : rows;
    for (unsigned i = 0; i < read->info->field_count; i++) {
        scan_column *column = &read->columns[i];
        if (!is_read(read, i) || column->list)
            continue;
        char *numbers = realloc(column->numbers, (size_t)capacity * column->size);
        column->numbers = numbers ? numbers : column->numbers;
        uint8_t *valid = realloc(column->valid, (size_t)capacity);
        column->valid = valid ? valid : column->valid;
        if (!numbers || !valid) {
            PyErr_NoMemory();
            return false;
        }
    }
    read->capacity = capacity;
    return true;
}

/* Rows often have the text of the row before. */
static bool add_strings(PyObject *list, const lode_column *column, uint64_t rows)
{
    const char *last = NULL;
    PyObject *text = Py_NewRef(Py_None);
    bool is_good = true;
    for (uint64_t i = 0; is_good && i < rows; i++) {
        const char *string;
        memcpy(&string, (const char *)column->data + i * column->stride, sizeof string);
        if (string != last) {
            Py_DECREF(text);
            text = lp_text(string);
            last = string;
        }
        is_good = text && PyList_Append(list, text) == 0;
    }
    Py_XDECREF(text);
    return is_good;
}

static void add_numbers(scan_column *out, uint64_t first, const lode_column *column, const uint8_t *valid,
                        uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++)
        memcpy(out->numbers + (first + i) * out->size, (const char *)column->data + i * column->stride,
               out->size);
    for (uint64_t i = 0; i < rows; i++) {
        out->valid[first + i] = !valid || valid[i];
        out->has_null |= !out->valid[first + i];
    }
}

static bool add_batch(scan_read *read, const lode_batch *batch)
{
    bool is_good = grow(read, read->rows + batch->rows);
    for (unsigned i = 0; is_good && i < read->info->field_count; i++) {
        scan_column *column = &read->columns[i];
        if (!is_read(read, i))
            continue;
        if (column->list)
            is_good = add_strings(column->list, &batch->columns[i], batch->rows);
        else
            add_numbers(column, read->rows, &batch->columns[i], batch->valid[i], batch->rows);
    }
    read->rows += batch->rows;
    return is_good;
}

/* Numbers with None where there are none. */
static PyObject *list_of(PyObject *buffer, const uint8_t *valid)
{
    PyObject *view = PyMemoryView_FromObject(buffer);
    PyObject *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!valid[i])
            PyList_SetItem(list, i, Py_NewRef(Py_None));
    Py_XDECREF(view);
    return list;
}

static PyObject *take_column(PyObject *module, scan_read *read, unsigned number)
{
    scan_column *column = &read->columns[number];
    PyObject *list = column->list;
    if (list) {
        column->list = NULL;
        return list;
    }
    lp_array array = {format_of(&read->info->fields[number]), NULL, (Py_ssize_t)column->size,
                      (Py_ssize_t)read->rows, (Py_ssize_t)column->size};
    char *numbers = column->numbers ? column->numbers : malloc(1);
    column->numbers = NULL;
    PyObject *buffer = lp_buffer_take(module, numbers, &array);
    if (!buffer || !column->has_null)
        return buffer;
    list = list_of(buffer, column->valid);
    Py_DECREF(buffer);
    return list;
}

static PyObject *read_columns(PyObject *module, scan_read *read)
{
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict && i < read->info->field_count; i++)
        if (is_read(read, i) && !lp_put(dict, read->info->fields[i].name, take_column(module, read, i)))
            Py_CLEAR(dict);
    return dict;
}

static bool read_open(scan_read *read, const lode_table_info *info, uint64_t mask)
{
    *read = (scan_read){.info = info};
    for (unsigned i = 0; i < info->field_count && i < LP_COLUMNS; i++) {
        bool is_argument = info->fields[i].flags & LODE_FIELD_ARGUMENT;
        if (is_argument || (mask && !(mask >> i & 1)))
            continue;
        read->mask |= UINT64_C(1) << i;
        read->columns[i].size = (size_t)lp_size_of(info->fields[i].type);
        if (info->fields[i].type == LODE_COLUMN_STRING && !(read->columns[i].list = PyList_New(0)))
            return false;
    }
    return true;
}

static void read_close(scan_read *read)
{
    for (unsigned i = 0; i < LP_COLUMNS; i++) {
        free(read->columns[i].numbers);
        free(read->columns[i].valid);
        Py_XDECREF(read->columns[i].list);
    }
}

static bool report(PyObject *progress, const lode_scan *scan)
{
    if (PyErr_CheckSignals() < 0)
        return false;
    if (progress == Py_None)
        return true;
    PyObject *result =
        PyObject_CallFunction(progress, "sKK", "reading", (unsigned long long)lode_scan_done(scan),
                              (unsigned long long)lode_scan_total(scan));
    Py_XDECREF(result);
    return result != NULL;
}

/* Batches are read without the interpreter's lock. */
static bool read_all(PyObject *module, scan_read *read, lode_scan *scan, uint64_t limit, PyObject *progress)
{
    lode_status status = LODE_OK;
    lode_error error;
    while (!limit || read->rows < limit) {
        const lode_batch *batch = NULL;
        Py_BEGIN_ALLOW_THREADS;
        status = lode_scan_next(scan, &batch, &error);
        Py_END_ALLOW_THREADS;
        if (status != LODE_OK)
            break;
        if (!add_batch(read, batch) || !report(progress, scan))
            return false;
    }
    if (status == LODE_OK || status == LODE_END)
        return true;
    lp_raise(module, &error);
    return false;
}

/* scan(store, question, limit, progress) -> dict of columns; rows beyond the limit may be there */
static PyObject *module_scan(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *question, *progress, *dict = NULL;
    unsigned long long limit;
    lp_question q;
    lode_scan *scan = NULL;
    lode_error error;
    scan_read read;
    if (!PyArg_ParseTuple(arguments, "OO!KO:scan", &argument, &PyTuple_Type, &question, &limit, &progress))
        return NULL;
    lp_store *store = lp_use_kept(module, argument);
    if (!store)
        return NULL;
    if (lp_question_open(&q, module, store, question)) {
        q.options.rows = limit && limit < LP_ROWS ? limit : 0;
        lode_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = lode_scan_open(&scan, q.tables, q.info, &q.options, &error);
        Py_END_ALLOW_THREADS;
        if (status != LODE_OK)
            lp_raise(module, &error);
        else if (read_open(&read, q.info, q.options.columns) &&
                 read_all(module, &read, scan, limit, progress))
            dict = read_columns(module, &read);
        if (status == LODE_OK)
            read_close(&read);
        lode_scan_close(scan);
    }
    lp_question_close(&q);
    lp_store_release(store);
    return dict;
}

PyMethodDef lp_scan_methods[] = {
    {"scan", module_scan, METH_VARARGS, "scan(store, question, limit, progress) -> dict"},
    {"scan_columns", lp_module_scan_columns, METH_VARARGS, "scan_columns(store, question) -> list"},
    {"tables", lp_module_tables, METH_O, "tables(store) -> list"},
    {NULL, NULL, 0, NULL}};
