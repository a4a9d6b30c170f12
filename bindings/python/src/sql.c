/* SPDX-License-Identifier: BSD-3-Clause */
/* SQL on stores, by the engine of `lode sql`: statements that read, on one store or several. */
#include "lodepy.h"

#include "sql/sql.h"

#include <lode/private/usual_names.h>

/* A cell that was read; text and bytes are in `text` of the job. */
typedef struct kept_cell {
    sql_type type;
    int64_t integer; /* of text: where it begins */
    double real;
    size_t size;
} kept_cell;

typedef struct sql_job {
    lp_job job;
    /* Asked for: */
    const char *query;
    size_t store_count;
    lp_store *stores[SQL_STORES_MAX];
    const char *names[SQL_STORES_MAX];
    const char *paths[SQL_STORES_MAX];
    int form; /* of names, or -1: as is usual for the store */
    sql_cell *parameters;
    const char **parameter_names; /* without marks; NULL: by number */
    size_t parameter_count;
    /* Found: */
    sql *connection;
    lode_tables *tables[SQL_STORES_MAX]; /* those of the connection */
    sql_statement *statement;
    kept_cell *cells;
    size_t cell_count, cell_capacity;
    char *text;
    size_t text_used, text_capacity;
    sql_error error;
} sql_job;

/* ---- without the interpreter ---- */

static int must_end(void *user)
{
    return lp_job_progress(user, "reading", 0, 0);
}

static lode_status fail(sql_job *j)
{
    lode_error *error = &j->job.error;
    *error = (lode_error){.status = j->error.is_stopped ? LODE_ERR_CANCELLED : LODE_ERR_ARGUMENT,
                          .offset = LODE_NO_OFFSET};
    if (!sql_library())
        error->status = LODE_ERR_UNSUPPORTED;
    PyOS_snprintf(error->text, sizeof error->text, "%s", j->error.text);
    return error->status;
}

static lode_status refuse(sql_job *j, const char *text)
{
    j->error = (sql_error){.at = -1};
    PyOS_snprintf(j->error.text, sizeof j->error.text, "%s", text);
    return fail(j);
}

static lode_status add_store(sql_job *j, size_t i)
{
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    const lp_store *store = j->stores[i];
    options.path = j->paths[i];
    options.names = store->recording ? LODE_NAME_SIMPLE : lode_database_usual_names(store->db);
    if (j->form >= 0)
        options.names = (lode_name_form)j->form;
    options.kinds = store->rules;
    options.on_progress = sql_on_progress;
    options.progress_user = j->connection;
    /* The first store is the base of all others of its kind. */
    if (i > 0 && !store->db == !j->stores[0]->db)
        options.base = j->tables[0];
    lode_status status =
        lode_tables_open(&j->tables[i], store->db, store->recording, &options, &j->job.error);
    if (status != LODE_OK)
        return status;
    return sql_add(j->connection, j->names[i], j->tables[i], store->db, store->recording, &j->error) == 0
               ? LODE_OK
               : fail(j);
}

static lode_status open_connection(sql_job *j)
{
    sql_settings settings = {.must_end = must_end, .user = j};
    if (sql_open(&j->connection, &settings, &j->error) != 0)
        return fail(j);
    for (size_t i = 0; i < j->store_count; i++) {
        lode_status status = add_store(j, i);
        if (status != LODE_OK)
            return status;
    }
    return sql_seal(j->connection, &j->error) == 0 ? LODE_OK : fail(j);
}

/* The number of a parameter among those that were given; SIZE_MAX: none. */
static size_t find_parameter(const sql_job *j, unsigned number)
{
    const char *name = sql_parameter_name(j->statement, number);
    if (!j->parameter_names)
        return number - 1 < j->parameter_count ? number - 1 : SIZE_MAX;
    for (size_t i = 0; name && i < j->parameter_count; i++)
        if (strcmp(name + 1, j->parameter_names[i]) == 0)
            return i;
    return SIZE_MAX;
}

static lode_status bind_all(sql_job *j)
{
    unsigned count = sql_parameter_count(j->statement);
    if (!j->parameter_names && count != j->parameter_count)
        return refuse(j, "the query has another number of parameters than were given");
    for (unsigned i = 1; i <= count; i++) {
        size_t found = find_parameter(j, i);
        if (found == SIZE_MAX)
            return refuse(j, "a parameter of the query was not given");
        if (sql_bind(j->statement, i, &j->parameters[found], &j->error) != 0)
            return fail(j);
    }
    return LODE_OK;
}

static bool has_room(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t wanted = 2 * *capacity > needed ? 2 * *capacity : needed + 64;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static bool keep(sql_job *j, const sql_cell *cell)
{
    void *cells = j->cells, *text = j->text;
    bool is_good = has_room(&cells, &j->cell_capacity, j->cell_count + 1, sizeof *j->cells) &&
                   has_room(&text, &j->text_capacity, j->text_used + cell->size, 1);
    j->cells = cells;
    j->text = text;
    if (!is_good)
        return false;
    bool is_text = cell->type == SQL_TEXT || cell->type == SQL_BYTES;
    j->cells[j->cell_count++] = (kept_cell){cell->type, is_text ? (int64_t)j->text_used : cell->integer,
                                            cell->real, is_text ? cell->size : 0};
    if (is_text && cell->size > 0) {
        memcpy(j->text + j->text_used, cell->text, cell->size);
        j->text_used += cell->size;
    }
    return true;
}

static lode_status read_rows(sql_job *j)
{
    int found;
    while ((found = sql_step(j->statement, &j->error)) == 1)
        for (unsigned i = 0; i < sql_column_count(j->statement); i++) {
            sql_cell cell = sql_cell_at(j->statement, i);
            if (!keep(j, &cell)) {
                j->job.error = (lode_error){.status = LODE_ERR_MEMORY};
                return LODE_ERR_MEMORY;
            }
        }
    return found == 0 ? LODE_OK : fail(j);
}

static lode_status run_sql(lp_job *job)
{
    sql_job *j = (sql_job *)job;
    const char *rest = "";
    sql_statement *more = NULL;
    lode_status status = open_connection(j);
    if (status != LODE_OK)
        return status;
    if (sql_prepare(j->connection, j->query, &j->statement, &rest, &j->error) != 0)
        return fail(j);
    if (!j->statement)
        return refuse(j, "there is no statement");
    int is_more = sql_prepare(j->connection, rest, &more, &rest, &j->error) != 0 || more;
    sql_finish(more);
    if (is_more)
        return refuse(j, "more than one statement");
    status = bind_all(j);
    return status == LODE_OK ? read_rows(j) : status;
}

/* ---- arguments ---- */

/* ((name, store, path as bytes), ...); each that was taken is in use. */
static bool take_stores(sql_job *j, PyObject *module, PyObject *tuple)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > SQL_STORES_MAX)
        PyErr_Format(PyExc_ValueError, "at most %d stores", (int)SQL_STORES_MAX);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *store;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "sOy:sql", &j->names[i], &store, &j->paths[i]))
            return false;
        j->stores[i] = lp_use_any(module, store);
        j->store_count += j->stores[i] != NULL;
    }
    return !PyErr_Occurred();
}

static bool take_parameter(sql_cell *cell, PyObject *value)
{
    Py_ssize_t size = 0;
    char *bytes = NULL;
    *cell = (sql_cell){.type = SQL_NULL};
    if (value == Py_None)
        return true;
    if (PyLong_Check(value)) {
        *cell = (sql_cell){.type = SQL_INTEGER, .integer = PyLong_AsLongLong(value)};
    } else if (PyFloat_Check(value)) {
        *cell = (sql_cell){.type = SQL_REAL, .real = PyFloat_AsDouble(value)};
    } else if (PyUnicode_Check(value)) {
        const char *text = PyUnicode_AsUTF8AndSize(value, &size);
        *cell = (sql_cell){.type = SQL_TEXT, .text = text, .size = (size_t)size};
    } else if (PyBytes_Check(value) && PyBytes_AsStringAndSize(value, &bytes, &size) == 0) {
        *cell = (sql_cell){.type = SQL_BYTES, .text = bytes, .size = (size_t)size};
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "a parameter is None, an int, a float, a str or bytes");
    }
    return !PyErr_Occurred();
}

/* Borrowed from the tuples: names are None, or those of the values. */
static bool take_parameters(sql_job *j, PyObject *names, PyObject *values)
{
    j->parameter_count = (size_t)PyTuple_Size(values);
    j->parameters = PyMem_Calloc(j->parameter_count + 1, sizeof *j->parameters);
    j->parameter_names = names == Py_None ? NULL : PyMem_Calloc(j->parameter_count + 1, sizeof(char *));
    if (!j->parameters || (names != Py_None && !j->parameter_names)) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < j->parameter_count; i++) {
        if (!take_parameter(&j->parameters[i], PyTuple_GetItem(values, (Py_ssize_t)i)))
            return false;
        if (j->parameter_names &&
            !(j->parameter_names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, (Py_ssize_t)i), NULL)))
            return false;
    }
    return true;
}

/* ---- results ---- */

static PyObject *object_of(const sql_job *j, const kept_cell *cell)
{
    switch (cell->type) {
    case SQL_INTEGER:
        return PyLong_FromLongLong(cell->integer);
    case SQL_REAL:
        return PyFloat_FromDouble(cell->real);
    case SQL_TEXT:
        return PyUnicode_DecodeUTF8(cell->size ? j->text + cell->integer : "", (Py_ssize_t)cell->size,
                                    "replace");
    case SQL_BYTES:
        return PyBytes_FromStringAndSize(cell->size ? j->text + cell->integer : "", (Py_ssize_t)cell->size);
    case SQL_NULL:
        break;
    }
    return Py_NewRef(Py_None);
}

static PyObject *column_of(const sql_job *j, unsigned column, unsigned count)
{
    size_t rows = count ? j->cell_count / count : 0;
    PyObject *list = PyList_New((Py_ssize_t)rows);
    for (size_t i = 0; list && i < rows; i++) {
        PyObject *value = object_of(j, &j->cells[i * count + column]);
        if (value)
            PyList_SetItem(list, (Py_ssize_t)i, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* A list of (name, column): names need not be different. */
static PyObject *result_of(const sql_job *j)
{
    unsigned count = sql_column_count(j->statement);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (unsigned i = 0; list && i < count; i++) {
        PyObject *pair =
            Py_BuildValue("NN", lp_text(sql_column_name(j->statement, i)), column_of(j, i, count));
        if (pair)
            PyList_SetItem(list, (Py_ssize_t)i, pair);
        else
            Py_CLEAR(list);
    }
    return list;
}

static void close_job(sql_job *j)
{
    sql_finish(j->statement);
    sql_close(j->connection);
    for (size_t i = 0; i < j->store_count; i++)
        lp_store_release(j->stores[i]);
    free(j->cells);
    free(j->text);
    PyMem_Free(j->parameters);
    PyMem_Free((void *)j->parameter_names);
}

/* sql(stores, query, form, names of parameters or None, parameters, progress) -> list of (name, column) */
static PyObject *module_sql(PyObject *module, PyObject *arguments)
{
    PyObject *stores, *names, *values, *result = NULL;
    sql_job j = {.job = {.run = run_sql}};
    if (!PyArg_ParseTuple(arguments, "O!siOO!O:sql", &PyTuple_Type, &stores, &j.query, &j.form, &names,
                          &PyTuple_Type, &values, &j.job.progress))
        return NULL;
    if (take_stores(&j, module, stores) && take_parameters(&j, names, values) && lp_job_run(module, &j.job))
        result = result_of(&j);
    close_job(&j);
    return result;
}

PyMethodDef lp_sql_methods[] = {
    {"sql", module_sql, METH_VARARGS, "sql(stores, query, form, names, parameters, progress) -> list"},
    {NULL, NULL, 0, NULL}};
