/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and stores that are written: exports, merges, slices. */
#include "lodepy.h"

/* All of them: a job with options, and what was found. */
typedef struct write_job {
    lp_job job;
    lp_store **stores; /* in use */
    size_t store_count;
    PyObject *path;     /* bytes */
    const char **names; /* directories of the stores, then labels (NULL: none) */
    lode_selection *selection;
    lode_export_options exported;
    lode_database_slice sliced;
    lode_slice slice;
    lode_merge_options merged;
    lode_rewrite_options rewritten;
    const lode_metric *metric;
    lp_findings findings;
} write_job;

static const char *path_of(const write_job *w)
{
    return PyBytes_AsString(w->path);
}

static int on_finding(void *user, const lode_finding *finding)
{
    return lp_findings_add(&((write_job *)user)->findings, finding);
}

/* ---- arguments ---- */

/* ((store, path as bytes, label or None), ...): all databases, or all recordings. */
static bool take_stores(write_job *w, PyObject *module, PyObject *tuple)
{
    size_t count = (size_t)PyTuple_Size(tuple);
    if (count == 0) {
        PyErr_SetString(PyExc_ValueError, "no stores");
        return false;
    }
    w->stores = PyMem_Calloc(count + 1, sizeof *w->stores);
    w->names = PyMem_Calloc(2 * count + 1, sizeof *w->names);
    if (!w->stores || !w->names) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *store;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "Oyz:stores", &store, &w->names[i],
                              &w->names[count + i]))
            return false;
        lp_store *used = lp_use_any(module, store);
        if (!used)
            return false;
        w->stores[w->store_count++] = used;
        if (!used->db != !w->stores[0]->db) {
            PyErr_SetString(PyExc_TypeError, "databases and recordings do not become one store");
            return false;
        }
    }
    return true;
}

static bool take_metric(write_job *w, PyObject *module, const char *text)
{
    lode_error error;
    if (!text || lode_database_find_metric(w->stores[0]->db, text, &w->metric, &error) == LODE_OK)
        return true;
    lp_raise(module, &error);
    return false;
}

static PyObject *finish(write_job *w, PyObject *module, bool is_good)
{
    is_good = is_good && lp_job_run(module, &w->job);
    if (is_good && w->job.status == LODE_ABSENT) {
        lp_raise(module, &w->job.error);
        is_good = false;
    }
    PyObject *findings = lp_findings_close(&w->findings);
    for (size_t i = 0; i < w->store_count; i++)
        lp_store_release(w->stores[i]);
    lp_slice_close(&w->slice);
    lode_selection_free(w->selection);
    PyMem_Free((void *)w->stores);
    PyMem_Free((void *)w->names);
    Py_XDECREF(w->path);
    if (!is_good)
        Py_CLEAR(findings);
    return findings;
}

/* Whether all values can be read: those of the summary too, which some writers compute again. */
static lode_status read_values(const lode_database *db, lode_error *error)
{
    lode_status status = LODE_OK;
    for (uint32_t p = 0; p < lode_database_profile_count(db) && status == LODE_OK; p++) {
        lode_block block;
        lode_group group;
        status = lode_profile_block(db, p, &block, error);
        for (uint32_t i = 0; status == LODE_OK && i < lode_block_group_count(&block); i++)
            status = lode_block_group(&block, i, &group, error);
    }
    return status;
}

/* As the program does: a database that cannot be read completely is refused before it is written. */
static lode_status check_sources(write_job *w)
{
    lode_status status = LODE_OK;
    for (size_t i = 0; i < w->store_count && status == LODE_OK; i++)
        if (w->stores[i]->db && w->stores[i]->has_errors)
            status = read_values(w->stores[i]->db, &w->job.error);
    return status;
}

/* ---- export ---- */

static lode_status run_export(lp_job *job)
{
    write_job *w = (write_job *)job;
    const lp_store *store = w->stores[0];
    lode_export_options *options = &w->exported;
    options->metrics = w->metric ? &w->metric : NULL;
    options->metric_count = w->metric != NULL;
    options->selection = w->selection;
    options->slice = &w->slice;
    options->kinds = store->rules;
    options->on_finding = on_finding;
    options->on_progress = lp_job_progress;
    options->user = w;
    lode_status status = check_sources(w);
    if (status != LODE_OK)
        return status;
    return store->db ? lode_export_database(store->db, path_of(w), options, &job->error)
                     : lode_export_recording(store->recording, path_of(w), options, &job->error);
}

/*
 * export(stores, path, format, (title, focus, table, metric, profiles), (from, to, tracks), form, depth,
 *        compression, (force, by_profile, lines, loops, no_entries, no_inline, samples, no_arguments),
 *        threads, progress) -> findings
 */
static PyObject *module_export(PyObject *module, PyObject *arguments)
{
    PyObject *stores, *tracks;
    const char *metric, *selected;
    int form, compression;
    unsigned long long from, to;
    write_job w = {
        .job = {.run = run_export}, .exported = LODE_EXPORT_OPTIONS_INIT, .slice = LODE_SLICE_INIT};
    lode_export_options *o = &w.exported;
    if (!PyArg_ParseTuple(arguments, "O!O&s(zzzzz)(KKO)iIi(pppppppp)IO:export", &PyTuple_Type, &stores,
                          PyUnicode_FSConverter, &w.path, &o->format, &o->title, &o->focus, &o->table,
                          &metric, &selected, &from, &to, &tracks, &form, &o->depth, &compression, &o->force,
                          &o->by_profile, &o->lines, &o->loops, &o->no_entries, &o->no_inline, &o->samples,
                          &o->no_arguments, &o->threads, &w.job.progress))
        return NULL;
    o->names = (lode_name_form)form;
    o->compression = (lode_compression)compression;
    o->from = w.slice.from = from;
    o->to = w.slice.to = to;
    bool is_good = take_stores(&w, module, stores) && lp_slice_open(&w.slice, tracks);
    if (is_good && w.stores[0]->db)
        is_good =
            take_metric(&w, module, metric) && lp_selection_open(module, w.stores[0], selected, &w.selection);
    return finish(&w, module, is_good);
}

/* export_formats() -> list of (name, description, suffix, loses, is there, names) */
static PyObject *module_export_formats(PyObject *module, PyObject *none)
{
    size_t count = lode_export_count();
    PyObject *list = PyList_New((Py_ssize_t)count);
    (void)module;
    (void)none;
    for (size_t i = 0; list && i < count; i++) {
        lode_export_info info = {0};
        PyObject *row = NULL;
        if (lode_export_at(i, &info) == LODE_OK)
            row = Py_BuildValue("zzzzOz", info.name, info.description, info.suffix, info.loses,
                                info.is_available ? Py_True : Py_False, info.names);
        if (row)
            PyList_SetItem(list, (Py_ssize_t)i, row);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* ---- slice and merge ---- */

static lode_status run_slice(lp_job *job)
{
    write_job *w = (write_job *)job;
    const lode_recording *recording = w->stores[0]->recording;
    lode_merge_input input = {w->stores[0]->db, w->names[0], NULL};
    lode_status status = check_sources(w);
    if (status != LODE_OK)
        return status;
    w->merged.on_finding = w->rewritten.on_finding = on_finding;
    w->merged.on_progress = w->rewritten.on_progress = lp_job_progress;
    w->merged.user = w->rewritten.user = w;
    if (recording)
        return lode_rewrite(&recording, 1, path_of(w), &w->slice, &w->rewritten, &job->error);
    w->sliced.selection = w->selection;
    w->sliced.metric = w->metric;
    return lode_slice_database(&input, path_of(w), &w->sliced, &w->merged, &job->error);
}

/*
 * slice(stores, path, (metric, profiles, focus), (from, to, tracks), depth, min_share, min_time, keep, force,
 *       threads, progress) -> findings
 */
static PyObject *module_slice(PyObject *module, PyObject *arguments)
{
    PyObject *stores, *tracks;
    const char *metric, *selected;
    unsigned depth;
    unsigned long long from, to, min_time;
    write_job w = {.job = {.run = run_slice},
                   .sliced = LODE_DATABASE_SLICE_INIT,
                   .slice = LODE_SLICE_INIT,
                   .merged = LODE_MERGE_OPTIONS_INIT,
                   .rewritten = LODE_REWRITE_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "O!O&(zzz)(KKO)IdKppIO:slice", &PyTuple_Type, &stores,
                          PyUnicode_FSConverter, &w.path, &metric, &selected, &w.sliced.focus, &from, &to,
                          &tracks, &depth, &w.sliced.min_share, &min_time, &w.sliced.keep_contexts,
                          &w.merged.force, &w.merged.threads, &w.job.progress))
        return NULL;
    w.slice.from = w.sliced.from = from;
    w.slice.to = w.sliced.to = to;
    w.slice.depth = w.sliced.depth = depth;
    w.slice.min_time = min_time;
    w.rewritten.force = w.merged.force;
    w.rewritten.threads = w.merged.threads;
    bool is_good = take_stores(&w, module, stores) && lp_slice_open(&w.slice, tracks);
    if (is_good && w.stores[0]->db)
        is_good =
            take_metric(&w, module, metric) && lp_selection_open(module, w.stores[0], selected, &w.selection);
    return finish(&w, module, is_good);
}

static lode_status merge_databases(write_job *w)
{
    lode_merge_input *inputs = calloc(w->store_count, sizeof *inputs);
    for (size_t i = 0; inputs && i < w->store_count; i++)
        inputs[i] = (lode_merge_input){w->stores[i]->db, w->names[i], w->names[w->store_count + i]};
    if (!inputs) {
        w->job.error = (lode_error){.status = LODE_ERR_MEMORY};
        return LODE_ERR_MEMORY;
    }
    lode_status status = lode_merge_databases(inputs, w->store_count, path_of(w), &w->merged, &w->job.error);
    free(inputs);
    return status;
}

static lode_status merge_recordings(write_job *w)
{
    const lode_recording **recordings = calloc(w->store_count, sizeof *recordings);
    for (size_t i = 0; recordings && i < w->store_count; i++)
        recordings[i] = w->stores[i]->recording;
    if (!recordings) {
        w->job.error = (lode_error){.status = LODE_ERR_MEMORY};
        return LODE_ERR_MEMORY;
    }
    lode_status status =
        lode_rewrite(recordings, w->store_count, path_of(w), NULL, &w->rewritten, &w->job.error);
    free((void *)recordings);
    return status;
}

static lode_status run_merge(lp_job *job)
{
    write_job *w = (write_job *)job;
    w->merged.on_finding = w->rewritten.on_finding = on_finding;
    w->merged.on_progress = w->rewritten.on_progress = lp_job_progress;
    w->merged.user = w->rewritten.user = w;
    lode_status status = check_sources(w);
    if (status != LODE_OK)
        return status;
    return w->stores[0]->db ? merge_databases(w) : merge_recordings(w);
}

/* merge(stores, path, (force, drop_unlisted, align, mean), threads, progress) -> findings */
static PyObject *module_merge(PyObject *module, PyObject *arguments)
{
    PyObject *stores;
    write_job w = {.job = {.run = run_merge},
                   .slice = LODE_SLICE_INIT,
                   .merged = LODE_MERGE_OPTIONS_INIT,
                   .rewritten = LODE_REWRITE_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "O!O&(pppp)IO:merge", &PyTuple_Type, &stores, PyUnicode_FSConverter,
                          &w.path, &w.merged.force, &w.merged.drop_unlisted, &w.merged.align, &w.merged.mean,
                          &w.merged.threads, &w.job.progress))
        return NULL;
    w.rewritten.force = w.merged.force;
    w.rewritten.threads = w.merged.threads;
    return finish(&w, module, take_stores(&w, module, stores));
}

PyMethodDef lp_write_methods[] = {
    {"export", module_export, METH_VARARGS, "export(stores, path, format, ...) -> findings"},
    {"export_formats", module_export_formats, METH_NOARGS, "export_formats() -> list"},
    {"slice", module_slice, METH_VARARGS, "slice(stores, path, ...) -> findings"},
    {"merge", module_merge, METH_VARARGS, "merge(stores, path, ...) -> findings"},
    {NULL, NULL, 0, NULL}};
