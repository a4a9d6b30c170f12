/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of two costs, by function or another key. */
#include "lodepy.h"

static const char *only_in(unsigned marks)
{
    return marks & LODE_ONLY_IN_BASE ? "base" : marks & LODE_ONLY_IN_NEW ? "new" : NULL;
}

typedef struct side_label {
    const lode_hotspot *hotspot;
    lode_group_by by;
} side_label;

static size_t label_of_side(const void *subject, int form, char *buffer, size_t capacity)
{
    const side_label *l = subject;
    bool is_function = l->by == LODE_BY_FUNCTION || l->by == LODE_BY_SYMBOL;
    if (is_function)
        return lode_context_label_as(l->hotspot->sample, (lode_name_form)form, buffer, capacity);
    return lode_hotspot_label(l->hotspot, buffer, capacity);
}

/* As it is called on both sides; else what both names have in common. */
static void add_name(lp_frame *frame, const lode_compare_row *row, lode_group_by by, int form)
{
    side_label sides[2] = {{row->base_hotspot, by}, {row->new_hotspot, by}};
    PyObject *base = row->base_hotspot ? lp_label(label_of_side, &sides[0], form) : NULL;
    PyObject *name = row->new_hotspot ? lp_label(label_of_side, &sides[1], form) : NULL;
    bool is_other = base && name && PyUnicode_Compare(base, name) != 0;
    const lode_hotspot *one = row->new_hotspot ? row->new_hotspot : row->base_hotspot;
    /* Several files, or modules, of one name are one row. */
    bool is_several = one && ((by == LODE_BY_FILE && !one->file) || (by == LODE_BY_MODULE && !one->module));
    if ((is_other || is_several) && row->key.name[0])
        lp_frame_text(frame, row->key.name);
    else
        lp_frame_label(frame, label_of_side, &sides[row->new_hotspot != NULL], form);
    Py_XDECREF(base);
    Py_XDECREF(name);
}

static void add_row(lp_frame *frame, const lode_comparison *comparison, size_t index, lode_group_by by,
                    int form)
{
    const lode_compare_row *row = lode_comparison_at(comparison, index);
    add_name(frame, row, by, form);
    lp_frame_text(frame, row->key.module[0] ? row->key.module : NULL);
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        double cost[2];
        for (int side = LODE_BASE; side <= LODE_NEW; side++)
            cost[side] = inclusive
                             ? lode_comparison_inclusive(comparison, index, (lode_compare_side)side, 0, 0)
                             : lode_comparison_exclusive(comparison, index, (lode_compare_side)side, 0, 0);
        lp_frame_real(frame, cost[LODE_BASE]);
        lp_frame_real(frame, cost[LODE_NEW]);
        lp_frame_real(frame, cost[LODE_NEW] - cost[LODE_BASE]);
    }
    lp_frame_text(frame, only_in(row->marks));
    lp_frame_u64(frame, row->marks);
}

static PyObject *comparison_frame(PyObject *module, const lode_comparison *comparison, lode_group_by by,
                                  int form)
{
    static const lp_field fields[] = {
        {"name", 's'},       {"module", 's'},         {"base_exclusive", 'd'}, {"new_exclusive", 'd'},
        {"difference", 'd'}, {"base_inclusive", 'd'}, {"new_inclusive", 'd'},  {"inclusive_difference", 'd'},
        {"only_in", 's'},    {"marks", 'I'},
    };
    lp_frame frame;
    size_t count = lode_comparison_count(comparison);
    if (!lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_row(&frame, comparison, i, by, form);
    PyObject *dict = lp_frame_close(&frame, module);
    if (!dict)
        return NULL;
    return Py_BuildValue("N(dd)(dd)", dict, lode_comparison_total(comparison, LODE_BASE, 0, 0),
                         lode_comparison_total(comparison, LODE_NEW, 0, 0),
                         lode_comparison_matched(comparison, LODE_BASE, 0),
                         lode_comparison_matched(comparison, LODE_NEW, 0));
}

/* compare(base cost, new cost, by, form, base scale, new scale) -> (dict, totals, matched shares) */
static PyObject *module_compare(PyObject *module, PyObject *arguments)
{
    PyObject *base, *new_argument, *result = NULL;
    int by, form;
    double base_scale, new_scale;
    lode_comparison *comparison = NULL;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "OOiidd:compare", &base, &new_argument, &by, &form, &base_scale,
                          &new_scale))
        return NULL;
    lp_cost *sides[2] = {lp_cost_of(module, base), lp_cost_of(module, new_argument)};
    if (!sides[0] || !sides[1])
        return NULL;
    const lode_cost *base_cost = sides[0]->cost, *new_cost = sides[1]->cost;
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    options.by = (lode_group_by)by;
    options.names = (lode_name_form)form;
    options.base_scales = &base_scale;
    options.new_scales = &new_scale;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = lode_compare(&comparison, &base_cost, 1, &new_cost, 1, 1, &options, &error);
    Py_END_ALLOW_THREADS;
    result =
        status == LODE_OK ? comparison_frame(module, comparison, options.by, form) : lp_raise(module, &error);
    lode_comparison_free(comparison);
    return result;
}

PyMethodDef lp_compare_methods[] = {
    {"compare", module_compare, METH_VARARGS, "compare(base, new, by, form, base_scale, new_scale)"},
    {"compare_tree", lp_module_compare_tree, METH_VARARGS,
     "compare_tree(base, new, form, base_scale, new_scale, min_share, all)"},
    {NULL, NULL, 0, NULL}};
