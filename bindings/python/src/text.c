/* SPDX-License-Identifier: BSD-3-Clause */
/* Text, labels, findings and filters. */
#include "lodepy.h"

PyObject *lp_text(const char *text)
{
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

bool lp_put(PyObject *dict, const char *key, PyObject *value)
{
    bool is_good = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return is_good;
}

size_t lp_label_of_context(const void *context, int form, char *buffer, size_t capacity)
{
    return lode_context_label_as(context, (lode_name_form)form, buffer, capacity);
}

size_t lp_label_of_function(const void *function, int form, char *buffer, size_t capacity)
{
    return lode_function_label_as(function, (lode_name_form)form, buffer, capacity);
}

PyObject *lp_label(lp_label_fn label, const void *subject, int form)
{
    char small[256];
    size_t length = label(subject, form, small, sizeof small);
    if (length < sizeof small)
        return lp_text(small);
    char *large = malloc(length + 1);
    if (!large)
        return PyErr_NoMemory();
    label(subject, form, large, length + 1);
    PyObject *text = lp_text(large);
    free(large);
    return text;
}

const char *lp_path_of_file(const lode_file *file)
{
    return file ? lode_file_path(file) : NULL;
}

const char *lp_path_of_module(const lode_module *module)
{
    return module ? lode_module_path(module) : NULL;
}

/* ---- findings ---- */

struct lp_finding {
    lode_severity severity;
    uint64_t offset;
    char *rule, *file, *text;
};

int lp_findings_add(void *user, const lode_finding *finding)
{
    lp_findings *findings = user;
    if (findings->count == findings->capacity) {
        size_t capacity = 2 * findings->capacity + 16;
        struct lp_finding *items = realloc(findings->items, capacity * sizeof *items);
        if (!items) {
            findings->has_failed = true;
            return 1;
        }
        findings->items = items;
        findings->capacity = capacity;
    }
    struct lp_finding *item = &findings->items[findings->count++];
    *item = (struct lp_finding){.severity = finding->severity,
                                .offset = finding->offset,
                                .rule = strdup(finding->rule),
                                .file = strdup(finding->file),
                                .text = strdup(finding->text)};
    findings->has_failed |= !item->rule || !item->file || !item->text;
    return findings->has_failed;
}

static PyObject *offset_of(const struct lp_finding *item)
{
    return item->offset == LODE_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(item->offset);
}

static PyObject *findings_column(const lp_findings *findings, int column)
{
    PyObject *list = PyList_New((Py_ssize_t)findings->count);
    for (size_t i = 0; list && i < findings->count; i++) {
        const struct lp_finding *item = &findings->items[i];
        PyObject *value = column == 0   ? lp_text(lode_severity_name(item->severity))
                          : column == 1 ? lp_text(item->rule)
                          : column == 2 ? lp_text(item->file)
                          : column == 3 ? offset_of(item)
                                        : lp_text(item->text);
        if (value)
            PyList_SetItem(list, (Py_ssize_t)i, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyObject *lp_findings_close(lp_findings *findings)
{
    static const char *const names[] = {"severity", "rule", "file", "offset", "text"};
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&type, &value, &trace); /* what the work itself raised goes on afterwards */
    PyObject *dict = findings->has_failed ? PyErr_NoMemory() : PyDict_New();
    for (int i = 0; dict && i < 5; i++)
        if (!lp_put(dict, names[i], findings_column(findings, i)))
            Py_CLEAR(dict);
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].rule);
        free(findings->items[i].file);
        free(findings->items[i].text);
    }
    free(findings->items);
    if (type)
        PyErr_Restore(type, value, trace);
    return dict;
}

/* ---- filters ---- */

enum {
    PATTERNS = 64 /* of each kind, as lode_filter_open takes them */
};

/* Borrowed strings of a tuple of str; the number, or -1 after raising. */
static Py_ssize_t patterns_of(PyObject *tuple, PyObject *bytes[PATTERNS], const char *patterns[PATTERNS])
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > PATTERNS) {
        PyErr_SetString(PyExc_ValueError, "at most 64 patterns");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        bytes[i] = PyUnicode_AsUTF8String(PyTuple_GetItem(tuple, i));
        patterns[i] = bytes[i] ? PyBytes_AsString(bytes[i]) : NULL;
        if (!patterns[i])
            return -1;
    }
    return count;
}

lode_filter *lp_filter_open(PyObject *module, PyObject *include, PyObject *exclude, bool *is_good)
{
    PyObject *bytes[2][PATTERNS] = {{NULL}};
    const char *patterns[2][PATTERNS];
    lode_filter *filter = NULL;
    lode_error error;
    Py_ssize_t included = patterns_of(include, bytes[0], patterns[0]);
    Py_ssize_t excluded = included < 0 ? -1 : patterns_of(exclude, bytes[1], patterns[1]);
    *is_good = excluded >= 0;
    if (*is_good && included + excluded > 0 &&
        lode_filter_open(&filter, patterns[0], (size_t)included, patterns[1], (size_t)excluded, &error) !=
            LODE_OK) {
        lp_raise(module, &error);
        *is_good = false;
    }
    for (int i = 0; i < 2 * PATTERNS; i++)
        Py_XDECREF(bytes[i / PATTERNS][i % PATTERNS]);
    return filter;
}
