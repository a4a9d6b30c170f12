/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings: tracks, metadata, calls and events. */
#include "lodepy.h"

static void add_track(lp_frame *frame, const lode_recording *recording, uint32_t index)
{
    const lode_track *track = lode_recording_track(recording, index);
    uint64_t begin = 0, end = 0;
    if (lode_track_interval(recording, index, &begin, &end, NULL) != LODE_OK)
        begin = end = 0;
    lp_frame_u64(frame, index);
    lp_frame_text(frame, track->name);
    lp_frame_u64(frame, (uint64_t)track->pid);
    lp_frame_u64(frame, (uint64_t)track->tid);
    lp_frame_text(frame, track->program[0] ? track->program : NULL);
    lp_frame_text(frame, track->id[0] ? track->id : NULL);
    lp_frame_u64(frame, begin);
    lp_frame_u64(frame, end);
    lp_frame_u64(frame, track->bytes);
}

/* tracks(store) -> dict of columns */
static PyObject *module_tracks(PyObject *module, PyObject *argument)
{
    static const lp_field fields[] = {{"track", 'I'}, {"name", 's'},    {"pid", 'I'},
                                      {"tid", 'I'},   {"program", 's'}, {"id", 's'},
                                      {"begin", 'Q'}, {"end", 'Q'},     {"bytes", 'Q'}};
    PyObject *dict = NULL;
    lp_frame frame;
    lp_store *store = lp_use_recording(module, argument);
    if (!store)
        return NULL;
    uint32_t count = lode_recording_track_count(store->recording);
    if (lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, count)) {
        for (uint32_t i = 0; i < count; i++)
            add_track(&frame, store->recording, i);
        dict = lp_frame_close(&frame, module);
    }
    lp_store_release(store);
    return dict;
}

/* facts(store) -> list of (key, value) */
static PyObject *module_facts(PyObject *module, PyObject *argument)
{
    lp_store *store = lp_use_recording(module, argument);
    if (!store)
        return NULL;
    size_t count = lode_recording_fact_count(store->recording);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const lode_fact *fact = lode_recording_fact(store->recording, i);
        PyObject *pair = Py_BuildValue("NN", lp_text(fact->key), lp_text(fact->value));
        if (pair)
            PyList_SetItem(list, (Py_ssize_t)i, pair);
        else
            Py_CLEAR(list);
    }
    lp_store_release(store);
    return list;
}

/* ---- calls ---- */

typedef struct calls_job {
    lp_job job;
    const lode_recording *recording;
    lode_slice slice;
    lode_calls_options options;
    lode_calls *calls;
} calls_job;

static lode_status run_calls(lp_job *job)
{
    calls_job *c = (calls_job *)job;
    c->options.on_progress = lp_job_progress;
    c->options.user = c;
    return lode_calls_compute(&c->calls, c->recording, &c->slice, &c->options, &job->error);
}

static void add_call(lp_frame *frame, const lode_call_row *row, int form, const lode_kind_rules *rules)
{
    lp_frame_label(frame, lp_label_of_function, row->function, form);
    lp_frame_u64(frame, row->calls);
    lp_frame_u64(frame, row->total);
    lp_frame_u64(frame, row->elapsed);
    lp_frame_u64(frame, row->self);
    lp_frame_real(frame, row->mean);
    lp_frame_u64(frame, row->min);
    lp_frame_u64(frame, row->p50);
    lp_frame_u64(frame, row->p95);
    lp_frame_u64(frame, row->p99);
    lp_frame_u64(frame, row->max);
    lp_frame_real(frame, row->deviation);
    lp_frame_u64(frame, row->errors);
    lp_frame_text(frame, lp_path_of_file(row->file));
    lp_frame_u64(frame, row->line);
    lp_frame_text(frame, lp_path_of_module(row->module));
    lp_frame_u64(frame, row->functions);
    /* Functions of several modules may be of several kinds. */
    bool has_kind = row->function && !row->several_modules;
    lp_frame_text(frame,
                  has_kind ? lode_kind_name((int)lode_kind_by_rules(rules, NULL, row->function)) : NULL);
}

static PyObject *calls_frame(PyObject *module, const lode_calls *calls, int form,
                             const lode_kind_rules *rules)
{
    static const lp_field fields[] = {
        {"function", 's'}, {"calls", 'Q'},     {"total", 'Q'},  {"elapsed", 'Q'}, {"self", 'Q'},
        {"mean", 'd'},     {"min", 'Q'},       {"p50", 'Q'},    {"p95", 'Q'},     {"p99", 'Q'},
        {"max", 'Q'},      {"deviation", 'd'}, {"errors", 'Q'}, {"file", 's'},    {"line", 'N'},
        {"module", 's'},   {"functions", 'I'}, {"kind", 's'},
    };
    lp_frame frame;
    size_t count = lode_calls_count(calls);
    if (!lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_call(&frame, lode_calls_at(calls, i), form, rules);
    return lp_frame_close(&frame, module);
}

/* calls(store, from, to, tracks, clock, sort, by symbol, form, include, exclude, threads, progress) -> dict */
static PyObject *module_calls(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *tracks, *include, *exclude, *result = NULL;
    unsigned long long from, to;
    int clock, sort, by_symbol, form;
    bool is_good;
    calls_job c = {.job = {.run = run_calls}, .slice = LODE_SLICE_INIT, .options = LODE_CALLS_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "OKKOiipiO!O!IO:calls", &argument, &from, &to, &tracks, &clock, &sort,
                          &by_symbol, &form, &PyTuple_Type, &include, &PyTuple_Type, &exclude,
                          &c.options.threads, &c.job.progress))
        return NULL;
    lp_store *store = lp_use_recording(module, argument);
    if (!store)
        return NULL;
    c.recording = store->recording;
    c.slice.from = from;
    c.slice.to = to;
    c.options.sort = (lode_calls_sort)sort;
    c.options.merge = !by_symbol;
    c.options.names = (lode_name_form)form;
    lode_filter *filter = lp_filter_open(module, include, exclude, &is_good);
    c.options.filter = filter;
    if (is_good && lp_clock(&c.slice, &c.options, c.recording, clock) && lp_slice_open(&c.slice, tracks) &&
        lp_job_run(module, &c.job))
        result = calls_frame(module, c.calls, form, store->rules);
    lode_calls_free(c.calls);
    lode_filter_close(filter);
    lp_slice_close(&c.slice);
    lp_store_release(store);
    return result;
}

PyMethodDef lp_recording_methods[] = {
    {"tracks", module_tracks, METH_O, "tracks(store) -> dict"},
    {"facts", module_facts, METH_O, "facts(store) -> list"},
    {"calls", module_calls, METH_VARARGS, "calls(store, from, to, tracks, ...) -> dict"},
    {"events", lp_module_events, METH_VARARGS,
     "events(store, track, from, to, limit, form, progress) -> dict"},
    {NULL, NULL, 0, NULL}};
