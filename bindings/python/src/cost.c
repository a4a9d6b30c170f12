/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs: of a metric of a database, of a time window of its traces, or of the calls of a recording. */
#include "lodepy.h"
#include <lode/private/columns.h>

static void cost_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    lp_cost *cost = (lp_cost *)self;
    if (cost->tree)
        lode_calltree_free(cost->tree);
    else
        lode_cost_free(cost->cost);
    if (cost->store)
        lp_store_release(cost->store);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *cost_get_total(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(lode_cost_total(((lp_cost *)self)->cost));
}

/* The number of the metric; None: time of calls, or of a time window. */
static PyObject *cost_get_metric(PyObject *self, void *closure)
{
    const lp_cost *cost = (lp_cost *)self;
    const lode_metric *metric = lode_cost_metric(cost->cost);
    (void)closure;
    return metric && cost->store->db ? PyLong_FromUnsignedLong(lode_metric_index(metric))
                                     : Py_NewRef(Py_None);
}

static PyObject *cost_get_name(PyObject *self, void *closure)
{
    const lode_metric *metric = lode_cost_metric(((lp_cost *)self)->cost);
    (void)closure;
    return lp_text(metric ? lode_metric_name(metric) : "time (nanoseconds)");
}

static PyObject *cost_get_profiles(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(lode_cost_profiles(((lp_cost *)self)->cost));
}

static PyGetSetDef getters[] = {
    {"total", cost_get_total, NULL, "The cost of everything.", NULL},
    {"metric", cost_get_metric, NULL, "The number of the metric, or None.", NULL},
    {"name", cost_get_name, NULL, "The name of the metric.", NULL},
    {"profiles", cost_get_profiles, NULL, "How many profiles or trace lines were added up.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)cost_dealloc}, {Py_tp_getset, getters}, {0, NULL}};
PyType_Spec lp_cost_spec = {.name = "lode._lode.Cost",
                            .basicsize = sizeof(lp_cost),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                     Py_TPFLAGS_IMMUTABLETYPE,
                            .slots = slots};

lp_cost *lp_cost_of(PyObject *module, PyObject *argument)
{
    if (PyObject_TypeCheck(argument, lp_state_of(module)->cost))
        return (lp_cost *)argument;
    PyErr_SetString(PyExc_TypeError, "not a cost");
    return NULL;
}

bool lp_selection_open(PyObject *module, lp_store *store, const char *text, lode_selection **out)
{
    lode_error error;
    *out = NULL;
    if (!text || lode_selection_parse(out, store->db, text, &error) == LODE_OK)
        return true;
    lp_raise(module, &error);
    return false;
}

/* Takes the store that is used, and what was computed. */
static PyObject *cost_make(PyObject *module, lp_store *store, lode_cost *computed, lode_calltree *tree)
{
    lp_cost *cost = PyObject_New(lp_cost, lp_state_of(module)->cost);
    if (!cost) {
        if (tree)
            lode_calltree_free(tree);
        else
            lode_cost_free(computed);
        lp_store_release(store);
        return NULL;
    }
    cost->store = store;
    cost->cost = computed;
    cost->tree = tree;
    return (PyObject *)cost;
}

/* ---- databases ---- */

typedef struct cost_job {
    lp_job job;
    const lode_database *db;
    const lode_metric *metric;
    lode_selection *selection;
    uint64_t from, to;
    int is_window;
    unsigned threads;
    lode_cost *cost;
} cost_job;

static lode_status run_window(cost_job *c)
{
    lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
    options.from = c->from;
    options.to = c->to;
    options.selection = c->selection;
    options.threads = c->threads;
    options.on_progress = lp_job_progress;
    options.user = c;
    return lode_cost_compute_window(&c->cost, c->db, &options, &c->job.error);
}

static lode_status run_cost(lp_job *job)
{
    cost_job *c = (cost_job *)job;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    if (c->is_window)
        return run_window(c);
    options.metric = c->metric;
    options.selection = c->selection;
    options.threads = c->threads;
    options.on_progress = lp_job_progress;
    options.user = c;
    return lode_cost_compute(&c->cost, c->db, &options, &job->error);
}

/* cost(store, metric number or -1, selection, window, from, to, threads, progress) -> Cost or None */
static PyObject *module_cost(PyObject *module, PyObject *arguments)
{
    PyObject *argument;
    const char *selected;
    int metric;
    unsigned long long from, to;
    cost_job c = {.job = {.run = run_cost}};
    if (!PyArg_ParseTuple(arguments, "OizpKKIO:cost", &argument, &metric, &selected, &c.is_window, &from, &to,
                          &c.threads, &c.job.progress))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    c.db = store->db;
    c.from = from;
    c.to = to;
    c.metric = metric >= 0 ? lode_database_metric(store->db, (uint32_t)metric) : NULL;
    bool is_good = lp_selection_open(module, store, selected, &c.selection) && lp_job_run(module, &c.job);
    lode_selection_free(c.selection);
    if (is_good && c.cost)
        return cost_make(module, store, c.cost, NULL);
    lode_cost_free(c.cost);
    lp_store_release(store);
    return is_good ? Py_NewRef(Py_None) : NULL;
}

/* ---- recordings ---- */

bool lp_slice_open(lode_slice *slice, PyObject *tracks)
{
    if (tracks == Py_None)
        return true;
    Py_ssize_t count = PyTuple_Size(tracks);
    uint32_t *numbers = count < 0 ? NULL : PyMem_Malloc(count ? (size_t)count * sizeof *numbers : 1);
    for (Py_ssize_t i = 0; numbers && i < count; i++)
        numbers[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(tracks, i));
    if (numbers && PyErr_Occurred()) {
        PyMem_Free(numbers);
        return false;
    }
    slice->tracks = numbers;
    slice->track_count = (uint32_t)count;
    if (!numbers && !PyErr_Occurred())
        PyErr_NoMemory();
    return numbers != NULL;
}

void lp_slice_close(lode_slice *slice)
{
    PyMem_Free(lp_mutable(slice->tracks));
}

bool lp_clock(lode_slice *slice, lode_calls_options *options, const lode_recording *recording, int clock)
{
    slice->no_sched = clock != LP_CLOCK_SCHED;
    options->is_running = clock == LP_CLOCK_RUNNING;
    if (!options->is_running || lode_recording_has_sched(recording))
        return true;
    PyErr_SetString(PyExc_ValueError, "off-CPU time was not recorded, so running time is not known");
    return false;
}

typedef struct tree_job {
    lp_job job;
    const lode_recording *recording;
    lode_slice slice;
    lode_calls_options options;
    lode_calltree *tree;
} tree_job;

static lode_status run_tree(lp_job *job)
{
    tree_job *t = (tree_job *)job;
    t->options.on_progress = lp_job_progress;
    t->options.user = t;
    return lode_calltree_compute(&t->tree, t->recording, &t->slice, &t->options, &job->error);
}

/* calltree(store, from, to, tracks, clock, threads, progress) -> Cost: time by calling context */
static PyObject *module_calltree(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *tracks;
    unsigned long long from, to;
    int clock;
    tree_job t = {.job = {.run = run_tree}, .slice = LODE_SLICE_INIT, .options = LODE_CALLS_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "OKKOiIO:calltree", &argument, &from, &to, &tracks, &clock,
                          &t.options.threads, &t.job.progress))
        return NULL;
    lp_store *store = lp_use_recording(module, argument);
    if (!store)
        return NULL;
    t.recording = store->recording;
    t.slice.from = from;
    t.slice.to = to;
    bool is_good = lp_clock(&t.slice, &t.options, t.recording, clock) && lp_slice_open(&t.slice, tracks) &&
                   lp_job_run(module, &t.job);
    lp_slice_close(&t.slice);
    if (is_good)
        return cost_make(module, store, lp_mutable(lode_calltree_cost(t.tree)), t.tree);
    lode_calltree_free(t.tree);
    lp_store_release(store);
    return NULL;
}

/* ---- columns ---- */

static PyObject *cost_column(PyObject *module, PyObject *cost, lode_table *table, unsigned number)
{
    lode_column column = {0};
    lode_error error;
    if (lode_table_read(table, number, 0, UINT64_MAX, &column, &error) < 0)
        return lp_raise(module, &error);
    lp_array array = {lp_format_of(column.type), column.data, lp_size_of(column.type),
                      (Py_ssize_t)column.count, (Py_ssize_t)column.stride};
    return lp_buffer_of_object(module, cost, &array);
}

/* cost_columns(cost) -> {"inclusive": buffer, "exclusive": buffer}, by index of contexts */
static PyObject *module_cost_columns(PyObject *module, PyObject *argument)
{
    lp_cost *cost = lp_cost_of(module, argument);
    lode_table *table = NULL;
    lode_error error;
    if (!cost)
        return NULL;
    if (lode_cost_table(&table, cost->cost, &error) != LODE_OK)
        return lp_raise(module, &error);
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict && i < lode_table_columns(table); i++)
        if (!lp_put(dict, lode_table_column_name(table, i), cost_column(module, argument, table, i)))
            Py_CLEAR(dict);
    lode_table_free(table);
    return dict;
}

/* cost_at(cost, context id) -> (inclusive, exclusive), or None */
static PyObject *module_cost_at(PyObject *module, PyObject *arguments)
{
    PyObject *argument;
    unsigned id;
    if (!PyArg_ParseTuple(arguments, "OI:cost_at", &argument, &id))
        return NULL;
    lp_cost *cost = lp_cost_of(module, argument);
    if (!cost)
        return NULL;
    const lode_context *context = lode_cost_context(cost->cost, id);
    if (!context)
        Py_RETURN_NONE;
    return Py_BuildValue("dd", lode_cost_inclusive(cost->cost, context), lode_cost_own(cost->cost, context));
}

PyMethodDef lp_cost_methods[] = {
    {"cost", module_cost, METH_VARARGS,
     "cost(store, metric, selection, window, from, to, threads, progress)"},
    {"calltree", module_calltree, METH_VARARGS, "calltree(store, from, to, tracks, threads, progress)"},
    {"cost_columns", module_cost_columns, METH_O, "cost_columns(cost) -> dict"},
    {"cost_at", module_cost_at, METH_VARARGS, "cost_at(cost, id) -> (inclusive, exclusive)"},
    {NULL, NULL, 0, NULL}};
