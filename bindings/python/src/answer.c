/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers from costs: hotspots, trees, flame graphs, functions by name. */
#include "lodepy.h"

/* The cost keeps its store in use, and the caller keeps the cost. */

static double percent_of(double part, double whole)
{
    return whole > 0 ? part / whole * 100 : 0;
}

/* ---- hotspots ---- */

typedef struct row_label {
    const lode_hotspot *row;
    lode_group_by by;
} row_label;

static bool is_by_function(lode_group_by by)
{
    return by == LODE_BY_FUNCTION || by == LODE_BY_SYMBOL;
}

static size_t label_of_row(const void *subject, int form, char *buffer, size_t capacity)
{
    const row_label *l = subject;
    if (is_by_function(l->by))
        return lode_context_label_as(l->row->sample, (lode_name_form)form, buffer, capacity);
    return lode_hotspot_label(l->row, buffer, capacity);
}

/* Rows that may have several kinds have none. */
static const char *kind_of_row(const lode_hotspot *row, lode_group_by by, const lode_kind_rules *rules)
{
    bool is_inside = by == LODE_BY_LINE || by == LODE_BY_LOOP;
    if (by == LODE_BY_MODULE || by == LODE_BY_FILE || (is_inside && !row->function) ||
        (is_by_function(by) && row->functions > 1 && !row->module))
        return NULL;
    if (by == LODE_BY_KIND)
        return lode_kind_name((int)row->kind);
    return lode_kind_name((int)lode_kind_by_rules(rules, is_inside ? NULL : row->sample, row->function));
}

static void add_hotspot(lp_frame *frame, const lode_hotspot *row, const lode_hotspot_options *asked,
                        double total)
{
    lode_group_by by = asked->by;
    int form = (int)asked->names;
    row_label l = {row, by};
    lp_frame_label(frame, label_of_row, &l, form);
    lp_frame_real(frame, row->exclusive);
    lp_frame_real(frame, percent_of(row->exclusive, total));
    lp_frame_real(frame, row->inclusive);
    lp_frame_real(frame, percent_of(row->inclusive, total));
    /* Several functions of one name have that name only, and those of one kind none. */
    if (row->functions > 1 && by != LODE_BY_KIND)
        lp_frame_label(frame, lp_label_of_context, row->sample, form);
    else
        lp_frame_label(frame, lp_label_of_function, row->function, form);
    lp_frame_text(frame, lp_path_of_file(row->file));
    lp_frame_u64(frame, row->line);
    lp_frame_text(frame, lp_path_of_module(row->module));
    lp_frame_u64(frame, row->contexts);
    lp_frame_u64(frame, row->functions);
    lp_frame_text(frame, kind_of_row(row, by, asked->kinds));
}

static PyObject *hotspots_frame(PyObject *module, const lode_hotspots *rows,
                                const lode_hotspot_options *asked, double total)
{
    static const lp_field fields[] = {
        {"name", 's'},
        {"exclusive", 'd'},
        {"exclusive_percent", 'd'},
        {"inclusive", 'd'},
        {"inclusive_percent", 'd'},
        {"function", 's'},
        {"file", 's'},
        {"line", 'N'},
        {"module", 's'},
        {"contexts", 'I'},
        {"functions", 'I'},
        {"kind", 's'},
    };
    lp_frame frame;
    size_t count = lode_hotspots_count(rows);
    if (!lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_hotspot(&frame, lode_hotspots_at(rows, i), asked, total);
    return lp_frame_close(&frame, module);
}

/* hotspots(cost, by, sort, form, include, exclude) -> dict of columns */
static PyObject *module_hotspots(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *include, *exclude, *result = NULL;
    int by, sort, form;
    bool is_good;
    lode_hotspots *rows = NULL;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "OiiiO!O!:hotspots", &argument, &by, &sort, &form, &PyTuple_Type,
                          &include, &PyTuple_Type, &exclude))
        return NULL;
    lp_cost *cost = lp_cost_of(module, argument);
    lode_filter *filter = cost ? lp_filter_open(module, include, exclude, &is_good) : NULL;
    if (!cost || !is_good)
        return NULL;
    lode_hotspot_options options = LODE_HOTSPOT_OPTIONS_INIT;
    options.by = (lode_group_by)by;
    options.sort = (lode_hotspot_sort)sort;
    options.names = (lode_name_form)form;
    options.filter = filter;
    options.kinds = cost->store->rules;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = lode_hotspots_select(&rows, cost->cost, &options, &error);
    Py_END_ALLOW_THREADS;
    result = status == LODE_OK ? hotspots_frame(module, rows, &options, lode_cost_total(cost->cost))
                               : lp_raise(module, &error);
    lode_hotspots_free(rows);
    lode_filter_close(filter);
    return result;
}

/* ---- trees ---- */

static const lp_field view_fields[] = {
    {"name", 's'},      {"depth", 'I'},
    {"inclusive", 'd'}, {"inclusive_percent", 'd'},
    {"exclusive", 'd'}, {"exclusive_percent", 'd'},
    {"calls", 'Q'},     {"hot", 'B'},
    {"folded", 'B'},    {"kind", 's'},
    {"relation", 's'},  {"context", 'I'},
    {"contexts", 'I'},  {"call_file", 's'},
    {"call_line", 'N'}, {"children", 'I'},
    {"omitted", 'I'},   {"omitted_inclusive", 'd'},
};

static void add_view_row(lp_frame *frame, const lode_view_row *row, int form, double total)
{
    const lode_context *context = row->context;
    lp_frame_label(frame, lp_label_of_context, context, form);
    lp_frame_u64(frame, row->depth);
    lp_frame_real(frame, row->inclusive);
    lp_frame_real(frame, percent_of(row->inclusive, total));
    lp_frame_real(frame, row->exclusive);
    lp_frame_real(frame, percent_of(row->exclusive, total));
    lp_frame_u64(frame, row->calls);
    lp_frame_u64(frame, row->hot != 0);
    lp_frame_u64(frame, row->folded != 0);
    lp_frame_text(frame, lode_lexical_name(lode_context_lexical(context)));
    lp_frame_text(frame, lode_relation_name(lode_context_relation(context)));
    lp_frame_u64(frame, lode_context_id(context));
    lp_frame_u64(frame, row->contexts);
    lp_frame_text(frame, lp_path_of_file(row->call_file));
    lp_frame_u64(frame, row->call_line);
    lp_frame_u64(frame, row->children);
    lp_frame_u64(frame, row->omitted);
    lp_frame_real(frame, row->omitted_inclusive);
}

static PyObject *view_frame(PyObject *module, const lode_view *view, int form, double total)
{
    lp_frame frame;
    size_t count = lode_view_count(view);
    if (!lp_frame_open(&frame, view_fields, sizeof view_fields / sizeof *view_fields, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_view_row(&frame, lode_view_at(view, i), form, total);
    PyObject *dict = lp_frame_close(&frame, module);
    if (!dict)
        return NULL;
    return Py_BuildValue("NK", dict, (unsigned long long)lode_view_total(view));
}

/* view(cost, mode, depth, share, focus, lines, rows, form, merge, include, exclude) -> (dict, total rows) */
static PyObject *module_view(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *include, *exclude, *result = NULL;
    int mode, form;
    bool is_good;
    unsigned long long limit;
    lode_view *view = NULL;
    lode_error error;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "OiIdzpKipO!O!:view", &argument, &mode, &options.depth,
                          &options.min_fraction, &options.focus, &options.lines, &limit, &form,
                          &options.merge_recursion, &PyTuple_Type, &include, &PyTuple_Type, &exclude))
        return NULL;
    lp_cost *cost = lp_cost_of(module, argument);
    lode_filter *filter = cost ? lp_filter_open(module, include, exclude, &is_good) : NULL;
    if (!cost || !is_good)
        return NULL;
    options.mode = (lode_view_mode)mode;
    options.max_rows = (size_t)limit;
    options.names = (lode_name_form)form;
    options.filter = filter;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = lode_view_build(&view, cost->cost, &options, &error);
    Py_END_ALLOW_THREADS;
    result = status == LODE_OK ? view_frame(module, view, form, lode_cost_total(cost->cost))
                               : lp_raise(module, &error);
    lode_view_free(view);
    lode_filter_close(filter);
    return result;
}

/* ---- functions by name ---- */

/* The ids of all contexts of the functions that were found; NULL after raising. */
static PyObject *ids_of_matches(const lode_matches *matches, const lode_database *db)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        PyObject *id = lode_matches_has(matches, context) ? PyLong_FromUnsignedLong(lode_context_id(context))
                                                          : Py_NewRef(Py_None);
        if (!id || (id != Py_None && PyList_Append(list, id) < 0))
            Py_CLEAR(list);
        Py_XDECREF(id);
    }
    return list;
}

/* matches(cost, name, form) -> list of the ids of all contexts of functions */
static PyObject *module_matches(PyObject *module, PyObject *arguments)
{
    PyObject *argument;
    const char *name;
    int form;
    lode_matches *matches = NULL;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "Osi:matches", &argument, &name, &form))
        return NULL;
    lp_cost *cost = lp_cost_of(module, argument);
    if (!cost)
        return NULL;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = lode_matches_find(&matches, cost->cost, name, (lode_name_form)form, &error);
    Py_END_ALLOW_THREADS;
    if (status != LODE_OK)
        return lp_raise(module, &error);
    PyObject *list = ids_of_matches(matches, lode_cost_database(cost->cost));
    lode_matches_free(matches);
    return list;
}

PyMethodDef lp_answer_methods[] = {
    {"hotspots", module_hotspots, METH_VARARGS, "hotspots(cost, by, sort, form, include, exclude) -> dict"},
    {"view", module_view, METH_VARARGS, "view(cost, mode, ...) -> (dict, total)"},
    {"matches", module_matches, METH_VARARGS, "matches(cost, name, form) -> list of context ids"},
    {NULL, NULL, 0, NULL}};
