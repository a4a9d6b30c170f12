/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: boxes of flame graphs, cells of timelines. */
#include "lodepy.h"

/* ---- flame graphs ---- */

static const lp_field box_fields[] = {
    {"name", 's'}, {"level", 'd'}, {"x", 'd'},      {"width", 'd'}, {"inclusive", 'd'}, {"exclusive", 'd'},
    {"kind", 's'}, {"more", 'I'},  {"folded", 'B'}, {"calls", 'Q'}, {"context", 'I'},   {"contexts", 'I'},
};

static void add_box(lp_frame *frame, const lode_flame_box *box, int form)
{
    lp_frame_label(frame, lp_label_of_context, box->context, form);
    lp_frame_real(frame, box->level);
    lp_frame_real(frame, box->x);
    lp_frame_real(frame, box->width);
    lp_frame_real(frame, box->inclusive);
    lp_frame_real(frame, box->exclusive);
    lp_frame_text(frame, box->context ? lode_kind_name((int)box->kind) : NULL);
    lp_frame_u64(frame, box->more);
    lp_frame_u64(frame, box->folded != 0);
    lp_frame_u64(frame, box->calls);
    lp_frame_u64(frame, box->context ? lode_context_id(box->context) : 0);
    lp_frame_u64(frame, box->contexts);
}

static PyObject *flame_frame(PyObject *module, const lode_flame *flame, int form)
{
    lp_frame frame;
    size_t count = lode_flame_count(flame);
    if (!lp_frame_open(&frame, box_fields, sizeof box_fields / sizeof *box_fields, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_box(&frame, lode_flame_at(flame, i), form);
    PyObject *dict = lp_frame_close(&frame, module);
    if (!dict)
        return NULL;
    return Py_BuildValue("Nd", dict, lode_flame_whole(flame));
}

/* flame(cost, mode, focus, form, width, min_width, depth, boxes, include, exclude) -> (dict, whole) */
static PyObject *module_flame(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *include, *exclude, *result = NULL;
    int mode, form;
    bool is_good;
    unsigned long long boxes;
    lode_flame *flame = NULL;
    lode_error error;
    lode_flame_options options = LODE_FLAME_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "OiziddIKO!O!:flame", &argument, &mode, &options.focus, &form,
                          &options.width, &options.min_width, &options.depth, &boxes, &PyTuple_Type, &include,
                          &PyTuple_Type, &exclude))
        return NULL;
    lp_cost *cost = lp_cost_of(module, argument);
    lode_filter *filter = cost ? lp_filter_open(module, include, exclude, &is_good) : NULL;
    if (!cost || !is_good)
        return NULL;
    options.mode = (lode_flame_mode)mode;
    options.names = (lode_name_form)form;
    options.max_boxes = (size_t)boxes;
    options.filter = filter;
    options.kinds = cost->store->rules;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = lode_flame_build(&flame, cost->cost, &options, &error);
    Py_END_ALLOW_THREADS;
    result = status == LODE_OK ? flame_frame(module, flame, form) : lp_raise(module, &error);
    lode_flame_free(flame);
    lode_filter_close(filter);
    return result;
}

/* ---- timelines ---- */

typedef struct picture_job {
    lp_job job;
    lp_store *store;
    lode_picture_options options;
    lode_slice slice;
    lode_picture *picture;
} picture_job;

static lode_status run_picture(lp_job *job)
{
    picture_job *p = (picture_job *)job;
    p->options.on_progress = lp_job_progress;
    p->options.user = p;
    if (p->store->db)
        return lode_picture_compute(&p->picture, p->store->db, &p->options, &job->error);
    return lode_picture_compute_recording(&p->picture, p->store->recording, &p->slice, &p->options,
                                          &job->error);
}

static void add_share(lp_frame *frame, const lode_picture_share *share, int form,
                      const lode_kind_rules *rules)
{
    const lode_context *context = share->context;
    lp_frame_u64(frame, (uint64_t)share->key);
    if (share->is_idle)
        lp_frame_text(frame, "(not running)");
    else if (context)
        lp_frame_label(frame, lp_label_of_context, context, form);
    else if (share->function)
        lp_frame_label(frame, lp_label_of_function, share->function, form);
    else
        lp_frame_text(frame, "(unlisted contexts)");
    lp_frame_u64(frame, share->nanoseconds);
    lp_frame_u64(frame, share->samples);
    lp_frame_u64(frame, context ? lode_context_id(context) : 0);
    bool has_kind = context || share->function;
    lp_frame_text(frame, share->is_idle ? "idle"
                         : has_kind ? lode_kind_name((int)lode_kind_by_rules(rules, context, share->function))
                                    : NULL);
}

static PyObject *shares_frame(PyObject *module, const lode_picture *picture, int form,
                              const lode_kind_rules *rules)
{
    static const lp_field fields[] = {{"key", 'I'},     {"name", 's'},    {"nanoseconds", 'Q'},
                                      {"samples", 'Q'}, {"context", 'I'}, {"kind", 's'}};
    lp_frame frame;
    size_t count = lode_picture_share_count(picture);
    if (!lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_share(&frame, lode_picture_share_at(picture, i), form, rules);
    return lp_frame_close(&frame, module);
}

static PyObject *lines_of(const lode_picture *picture)
{
    uint32_t count = lode_picture_rows(picture);
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; list && i < count; i++) {
        uint32_t line = lode_picture_line(picture, lode_picture_row_begin(picture, i));
        PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromUnsignedLong(line));
    }
    return list;
}

static PyObject *picture_dict(PyObject *module, const lode_picture *picture, int form,
                              const lode_kind_rules *rules)
{
    uint64_t from, to;
    Py_ssize_t rows = (Py_ssize_t)lode_picture_rows(picture),
               columns = (Py_ssize_t)lode_picture_columns(picture);
    lode_picture_window(picture, &from, &to);
    PyObject *dict = PyDict_New();
    if (dict && lp_put(dict, "start", PyLong_FromUnsignedLongLong(from)) &&
        lp_put(dict, "stop", PyLong_FromUnsignedLongLong(to)) &&
        lp_put(dict, "rows", PyLong_FromSsize_t(rows)) &&
        lp_put(dict, "columns", PyLong_FromSsize_t(columns)) &&
        lp_put(dict, "samples", PyLong_FromUnsignedLongLong(lode_picture_samples(picture))) &&
        lp_put(dict, "lines", lines_of(picture)) &&
        lp_put(dict, "cells",
               PyBytes_FromStringAndSize((const char *)lode_picture_keys(picture), rows * columns)) &&
        lp_put(dict, "shares", shares_frame(module, picture, form, rules)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* picture(store, from, to, columns, rows, depth, selection, tracks, form, threads, progress) -> dict or None */
static PyObject *module_picture(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *tracks, *result = NULL;
    const char *selected;
    unsigned long long from, to;
    int form;
    lode_selection *selection = NULL;
    picture_job p = {
        .job = {.run = run_picture}, .options = LODE_PICTURE_OPTIONS_INIT, .slice = LODE_SLICE_INIT};
    if (!PyArg_ParseTuple(arguments, "OKKIIIzOiIO:picture", &argument, &from, &to, &p.options.columns,
                          &p.options.rows, &p.options.depth, &selected, &tracks, &form, &p.options.threads,
                          &p.job.progress))
        return NULL;
    p.store = lp_use_any(module, argument);
    if (!p.store)
        return NULL;
    p.options.from = from;
    p.options.to = to;
    bool is_good = (!p.store->db || lp_selection_open(module, p.store, selected, &selection)) &&
                   lp_slice_open(&p.slice, tracks);
    p.options.selection = selection;
    if (is_good && lp_job_run(module, &p.job))
        result = p.picture ? picture_dict(module, p.picture, form, p.store->rules) : Py_NewRef(Py_None);
    lode_picture_free(p.picture);
    lode_selection_free(selection);
    lp_slice_close(&p.slice);
    lp_store_release(p.store);
    return result;
}

PyMethodDef lp_picture_methods[] = {
    {"flame", module_flame, METH_VARARGS, "flame(cost, mode, ...) -> (dict, whole)"},
    {"picture", module_picture, METH_VARARGS, "picture(store, from, to, ...) -> dict"},
    {NULL, NULL, 0, NULL}};
