/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores: opened, counted users, closed. */
#include "lodepy.h"

#include <lode/private/usual_names.h>

static void store_shut(lp_store *store)
{
    lode_database *db = store->db;
    lode_recording *recording = store->recording;
    store->db = NULL;
    store->recording = NULL;
    Py_BEGIN_ALLOW_THREADS;
    lode_database_close(db);
    lode_recording_close(recording);
    Py_END_ALLOW_THREADS;
}

static bool use(lp_store *store, bool is_closed)
{
    if (is_closed) {
        PyErr_SetString(PyExc_ValueError, "the store is closed");
        return false;
    }
    Py_INCREF((PyObject *)store);
    store->users++;
    return true;
}

static bool is_shut(const lp_store *store)
{
    return !store->db && !store->recording;
}

bool lp_store_use(lp_store *store)
{
    return use(store, store->is_closing || is_shut(store));
}

void lp_store_release(lp_store *store)
{
    if (--store->users == 0 && store->is_closing)
        store_shut(store);
    Py_DECREF((PyObject *)store);
}

static lp_store *store_of(PyObject *module, PyObject *argument)
{
    if (PyObject_TypeCheck(argument, lp_state_of(module)->store))
        return (lp_store *)argument;
    PyErr_SetString(PyExc_TypeError, "not a store");
    return NULL;
}

lp_store *lp_use_any(PyObject *module, PyObject *argument)
{
    lp_store *store = store_of(module, argument);
    return store && lp_store_use(store) ? store : NULL;
}

lp_store *lp_use_kept(PyObject *module, PyObject *argument)
{
    lp_store *store = store_of(module, argument);
    return store && use(store, is_shut(store)) ? store : NULL;
}

lp_store *lp_use_database(PyObject *module, PyObject *argument)
{
    lp_store *store = lp_use_any(module, argument);
    if (!store || store->db)
        return store;
    lp_store_release(store);
    PyErr_SetString(PyExc_TypeError, "not a database");
    return NULL;
}

lp_store *lp_use_recording(PyObject *module, PyObject *argument)
{
    lp_store *store = lp_use_any(module, argument);
    if (!store || store->recording)
        return store;
    lp_store_release(store);
    PyErr_SetString(PyExc_TypeError, "not a recording");
    return NULL;
}

bool lp_rules_open(PyObject *module, lode_kind_rules **rules, const char *text, Py_ssize_t size)
{
    lode_error error;
    *rules = NULL;
    if (!text || lode_kind_rules_parse(rules, text, (size_t)size, &error) == LODE_OK)
        return true;
    lp_raise(module, &error);
    return false;
}

/* ---- the type ---- */

static void store_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    store_shut((lp_store *)self);
    lode_kind_rules_free(((lp_store *)self)->rules);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* close(wait): with users, an error, or it closes with the last of them. */
static PyObject *store_close(PyObject *self, PyObject *arguments)
{
    lp_store *store = (lp_store *)self;
    int later = 0;
    if (!PyArg_ParseTuple(arguments, "|p:close", &later))
        return NULL;
    if (store->users > 0 && !later)
        return PyErr_Format(PyExc_BufferError,
                            "%zd views or results of the store are in use: delete them first", store->users);
    store->is_closing = true;
    if (store->users == 0)
        store_shut(store);
    Py_RETURN_NONE;
}

static PyObject *store_closed(PyObject *self, void *closure)
{
    lp_store *store = (lp_store *)self;
    (void)closure;
    return PyBool_FromLong(store->is_closing || is_shut(store));
}

static PyObject *store_users(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSsize_t(((lp_store *)self)->users);
}

static PyMethodDef type_methods[] = {{"close", store_close, METH_VARARGS,
                                      "Closes the store; with users, raises BufferError, or closes later."},
                                     {NULL, NULL, 0, NULL}};
static PyGetSetDef type_getters[] = {
    {"closed", store_closed, NULL, "Whether it is closed, or will be with its last user.", NULL},
    {"users", store_users, NULL, "How many buffers and results borrow from it.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot type_slots[] = {{Py_tp_dealloc, (void *)store_dealloc},
                                   {Py_tp_methods, type_methods},
                                   {Py_tp_getset, type_getters},
                                   {0, NULL}};
PyType_Spec lp_store_spec = {.name = "lode._lode.Store",
                             .basicsize = sizeof(lp_store),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                      Py_TPFLAGS_IMMUTABLETYPE,
                             .slots = type_slots};

/* ---- opening ---- */

typedef struct open_job {
    lp_job job;
    const char *path;
    unsigned threads;
    lode_database *db;
    lode_recording *recording;
    lp_findings findings, checked; /* of opening, and of a check */
    bool is_checked;               /* at level full: it found what opening did, too */
    uint64_t count;                /* warnings and errors that the check counted */
    uint64_t opened;               /* those of opening alone */
    bool has_errors;
} open_job;

static int on_finding(void *user, const lode_finding *finding)
{
    open_job *open = user;
    open->opened += finding->severity != LODE_NOTE;
    return lp_findings_add(&open->findings, finding);
}

static int on_checked(void *user, const lode_finding *finding)
{
    return lp_findings_add(&((open_job *)user)->checked, finding);
}

/* As the program does: a small store is checked, as reading does not see what is merely wrong. */
#define CHECKED_BYTES (UINT64_C(16) << 20)

/* A check that fails says nothing: questions meet the same trouble. */
static void check_opened(open_job *open)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    options.level = LODE_CHECK_FULL;
    options.most_bytes = CHECKED_BYTES;
    options.threads = open->threads;
    options.on_finding = on_checked;
    options.user = open;
    lode_status status = open->db ? lode_database_check(open->db, open->path, &options, &result, NULL)
                                  : lode_check(open->path, &options, &result, NULL);
    open->is_checked = status == LODE_OK && result.level == LODE_CHECK_FULL;
    open->has_errors = result.errors > 0;
    open->count = result.errors + result.warnings;
}

static lode_status run_open(lp_job *job)
{
    open_job *open = (open_job *)job;
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    options.on_finding = on_finding;
    options.on_progress = lp_job_progress;
    options.user = open;
    options.threads = open->threads;
    lode_status status = lode_open(&open->db, &open->recording, NULL, open->path, &options, &job->error);
    if (status == LODE_OK)
        check_opened(open);
    return status;
}

/*
 * open(path, threads, progress, rules or None) -> (Store, "database" or "recording", findings, how many, how many of
 * opening alone)
 */
static PyObject *module_open(PyObject *module, PyObject *arguments)
{
    PyObject *path = NULL, *result = NULL;
    open_job open = {.job = {.run = run_open}};
    lode_kind_rules *rules = NULL;
    const char *text;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "O&IOz#:open", PyUnicode_FSConverter, &path, &open.threads,
                          &open.job.progress, &text, &size))
        return NULL;
    open.path = PyBytes_AsString(path);
    bool is_good = lp_rules_open(module, &rules, text, size) && lp_job_run(module, &open.job);
    lp_store *store = is_good ? PyObject_New(lp_store, lp_state_of(module)->store) : NULL;
    PyObject *opening = lp_findings_close(&open.findings), *checked = lp_findings_close(&open.checked);
    PyObject *findings = open.is_checked ? checked : opening;
    if (store) {
        store->db = open.db;
        store->recording = open.recording;
        store->rules = rules;
        store->users = 0;
        store->has_errors = open.has_errors;
        store->is_closing = false;
        result = findings ? Py_BuildValue("OsOKK", store, open.db ? "database" : "recording", findings,
                                          (unsigned long long)open.count, (unsigned long long)open.opened)
                          : NULL;
    } else {
        lode_database_close(open.db);
        lode_recording_close(open.recording);
        lode_kind_rules_free(rules);
    }
    Py_XDECREF((PyObject *)store);
    Py_XDECREF(opening);
    Py_XDECREF(checked);
    Py_DECREF(path);
    return result;
}

static bool put_parts(PyObject *dict, const lode_database *db)
{
    PyObject *parts = PyDict_New();
    bool is_good = parts != NULL;
    for (int i = 0; is_good && i < LODE_PART_COUNT; i++)
        if (lode_database_has(db, (lode_part)i))
            is_good = lp_put(parts, lode_database_part_file(db, (lode_part)i),
                             PyLong_FromUnsignedLongLong(lode_database_part_size(db, (lode_part)i)));
    if (!is_good) {
        Py_XDECREF(parts);
        return false;
    }
    return lp_put(dict, "parts", parts);
}

static bool put_database(PyObject *dict, const lode_database *db)
{
    uint64_t first = 0, last = 0;
    bool has_trace = lode_database_trace_bounds(db, &first, &last) == LODE_OK;
    bool is_simple = lode_database_usual_names(db) == LODE_NAME_SIMPLE;
    return lp_put(dict, "format", lp_text(lode_database_format(db))) &&
           lp_put(dict, "names", lp_text(is_simple ? "simple" : "full")) &&
           lp_put(dict, "title", lp_text(lode_database_title(db))) &&
           lp_put(dict, "description", lp_text(lode_database_description(db))) &&
           lp_put(dict, "contexts", PyLong_FromUnsignedLong(lode_database_context_count(db))) &&
           lp_put(dict, "profiles", PyLong_FromUnsignedLong(lode_database_profile_count(db))) &&
           lp_put(dict, "metrics", PyLong_FromUnsignedLong(lode_database_metric_count(db))) &&
           lp_put(dict, "trace_lines", PyLong_FromUnsignedLong(lode_database_trace_count(db))) &&
           lp_put(dict, "bounds", has_trace ? Py_BuildValue("KK", first, last) : Py_NewRef(Py_None)) &&
           put_parts(dict, db);
}

static bool put_recording(PyObject *dict, const lode_recording *recording)
{
    return lp_put(dict, "format", lp_text(lode_recording_format(recording))) &&
           lp_put(dict, "utc_offset", PyLong_FromLongLong(lode_recording_utc_offset(recording))) &&
           lp_put(dict, "requests", PyBool_FromLong(lode_recording_has_requests(recording))) &&
           lp_put(dict, "sched", PyBool_FromLong(lode_recording_has_sched(recording))) &&
           lp_put(dict, "tracks", PyLong_FromUnsignedLong(lode_recording_track_count(recording)));
}

/* info(store) -> dict: what is known without reading values or events */
static PyObject *module_info(PyObject *module, PyObject *argument)
{
    lp_store *store = lp_use_any(module, argument);
    PyObject *dict = store ? PyDict_New() : NULL;
    if (dict && !(store->db ? put_database(dict, store->db) : put_recording(dict, store->recording)))
        Py_CLEAR(dict);
    if (store)
        lp_store_release(store);
    return dict;
}

/* keep(store) -> an object that is a user of the store as long as it lives */
static PyObject *module_keep(PyObject *module, PyObject *argument)
{
    lp_store *store = lp_use_any(module, argument);
    if (!store)
        return NULL;
    PyObject *kept = lp_buffer_of_store(module, store, &(lp_array){"B", "", 1, 0, 1});
    lp_store_release(store);
    return kept;
}

PyMethodDef lp_store_methods[] = {
    {"keep", module_keep, METH_O, "keep(store) -> object"},
    {"open", module_open, METH_VARARGS, "open(path, threads, progress) -> (Store, kind, findings)"},
    {"info", module_info, METH_O, "info(store) -> dict"},
    {NULL, NULL, 0, NULL}};
