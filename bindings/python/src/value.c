/* SPDX-License-Identifier: BSD-3-Clause */
/* Values and samples: the mapped file itself where its layout is that of this machine. */
#include "lodepy.h"

static const char *format_of_pair(size_t key_size, bool is_group)
{
    if (is_group)
        return key_size == 2 ? "T{=H:metric:=Q:first:}" : "T{=I:context:=Q:first:}";
    return key_size == 2 ? "T{=H:metric:=d:value:}" : "T{=I:profile:=d:value:}";
}

/* A copy in the layout of a view. */
static PyObject *copy_pairs(PyObject *module, const lode_block *block, bool is_group, size_t key_size)
{
    uint64_t count = is_group ? lode_block_group_count(block) : lode_block_value_count(block);
    size_t stride = key_size + 8;
    char *memory = malloc(count ? (size_t)count * stride : 1);
    lp_array array = {format_of_pair(key_size, is_group), NULL, (Py_ssize_t)stride, (Py_ssize_t)count,
                      (Py_ssize_t)stride};
    for (uint64_t i = 0; memory && i < count; i++) {
        uint32_t key = 0;
        char number[8] = {0};
        lode_group group;
        lode_value value;
        if (is_group && lode_block_group(block, (uint32_t)i, &group, NULL) == LODE_OK) {
            key = group.key;
            memcpy(number, &group.first, 8);
        } else if (!is_group && lode_block_read(block, i, 1, &value) == LODE_OK) {
            key = value.key;
            memcpy(number, &value.value, 8);
        }
        uint16_t narrow = (uint16_t)key;
        memcpy(memory + i * stride, key_size == 2 ? (const void *)&narrow : (const void *)&key, key_size);
        memcpy(memory + i * stride + key_size, number, 8);
    }
    return lp_buffer_take(module, memory, &array);
}

/* The values of a block of a profile have keys of 2 bytes, its groups of 4; of a context otherwise. */
static PyObject *pairs(PyObject *module, lp_store *store, const lode_block *block, bool is_group,
                       bool of_profile)
{
    const void *bytes;
    size_t stride, key_size;
    lode_status status = is_group ? lode_block_groups_view(block, &bytes, &stride, &key_size, NULL)
                                  : lode_block_view(block, &bytes, &stride, &key_size, NULL);
    if (status != LODE_OK)
        return copy_pairs(module, block, is_group, of_profile == is_group ? 4 : 2);
    uint64_t count = is_group ? lode_block_group_count(block) : lode_block_value_count(block);
    lp_array array = {format_of_pair(key_size, is_group), bytes, (Py_ssize_t)stride, (Py_ssize_t)count,
                      (Py_ssize_t)stride};
    return lp_buffer_of_store(module, store, &array);
}

/* block(store, number, of_profile) -> (values, groups), or None where there are none by context */
static PyObject *module_block(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *values = NULL, *groups = NULL, *result = NULL;
    unsigned number;
    int of_profile;
    lode_block block;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "OIp:block", &argument, &number, &of_profile))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    lode_status status = of_profile ? lode_profile_block(store->db, number, &block, &error)
                                    : lode_context_block(store->db, number, &block, &error);
    if (status == LODE_ABSENT) {
        result = Py_NewRef(Py_None);
    } else if (status != LODE_OK) {
        lp_raise(module, &error);
    } else if ((values = pairs(module, store, &block, false, of_profile)) &&
               (groups = pairs(module, store, &block, true, of_profile))) {
        result = Py_BuildValue("OO", values, groups);
    }
    Py_XDECREF(values);
    Py_XDECREF(groups);
    lp_store_release(store);
    return result;
}

/* The key of its group for every value; the groups are checked while they are read. */
static uint32_t *expand_keys(const lode_block *block, lode_error *error, lode_status *status)
{
    uint64_t count = lode_block_value_count(block);
    uint32_t *keys = calloc(count ? (size_t)count : 1, sizeof *keys);
    *status = LODE_OK;
    for (uint32_t i = 0; keys && *status == LODE_OK && i < lode_block_group_count(block); i++) {
        lode_group group;
        *status = lode_block_group(block, i, &group, error);
        for (uint64_t j = 0; *status == LODE_OK && j < group.count && group.first + j < count; j++)
            keys[group.first + j] = group.key;
    }
    return keys;
}

/* keys(store, number, of_profile) -> the context, or the metric, of every value of a block */
static PyObject *module_keys(PyObject *module, PyObject *arguments)
{
    PyObject *argument;
    unsigned number;
    int of_profile;
    lode_block block;
    lode_error error;
    uint32_t *keys = NULL;
    if (!PyArg_ParseTuple(arguments, "OIp:keys", &argument, &number, &of_profile))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = of_profile ? lode_profile_block(store->db, number, &block, &error)
                        : lode_context_block(store->db, number, &block, &error);
    if (status == LODE_OK)
        keys = expand_keys(&block, &error, &status);
    Py_END_ALLOW_THREADS;
    lp_store_release(store);
    if (status != LODE_OK) {
        free(keys);
        return lp_raise(module, &error);
    }
    lp_array array = {"I", NULL, 4, (Py_ssize_t)lode_block_value_count(&block), 4};
    return lp_buffer_take(module, keys, &array);
}

/* ---- samples ---- */

static const char sample_format[] = "T{=Q:time:=I:context:}";

static PyObject *copy_samples(PyObject *module, const lode_trace_line *line, uint64_t first, uint64_t end)
{
    char *memory = malloc(end > first ? (size_t)(end - first) * 12 : 1);
    lp_array array = {sample_format, NULL, 12, (Py_ssize_t)(end - first), 12};
    lode_sample sample;
    for (uint64_t i = first; memory && i < end; i++) {
        if (lode_trace_line_sample(line, i, &sample) != LODE_OK)
            sample = (lode_sample){0};
        memcpy(memory + (i - first) * 12, &sample.time, 8);
        memcpy(memory + (i - first) * 12 + 8, &sample.context_id, 4);
    }
    return lp_buffer_take(module, memory, &array);
}

/* samples(store, line, start, stop) -> samples from a time on and before another; 0: no bound */
static PyObject *module_samples(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    unsigned number;
    unsigned long long start, stop;
    lode_trace_line line;
    lode_error error;
    const void *bytes;
    size_t stride;
    if (!PyArg_ParseTuple(arguments, "OIKK:samples", &argument, &number, &start, &stop))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    if (lode_database_trace_line(store->db, number, &line, &error) != LODE_OK) {
        lp_store_release(store);
        return lp_raise(module, &error);
    }
    uint64_t first = start ? lode_trace_line_seek(&line, start) : 0;
    uint64_t end = stop ? lode_trace_line_seek(&line, stop) : line.sample_count;
    end = end < first ? first : end;
    if (lode_trace_line_view(&line, &bytes, &stride, NULL) == LODE_OK) {
        lp_array array = {sample_format, (const char *)bytes + first * stride, (Py_ssize_t)stride,
                          (Py_ssize_t)(end - first), (Py_ssize_t)stride};
        result = lp_buffer_of_store(module, store, &array);
    } else {
        result = copy_samples(module, &line, first, end);
    }
    lp_store_release(store);
    return result;
}

/* distribution(doubles) -> dict; the buffer must be contiguous */
static PyObject *module_distribution(PyObject *module, PyObject *argument)
{
    Py_buffer view;
    lode_distribution d;
    (void)module;
    if (PyObject_GetBuffer(argument, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    size_t count = (size_t)view.len / sizeof(double);
    double *values = malloc(count ? count * sizeof *values : 1);
    if (!values) {
        PyBuffer_Release(&view);
        return PyErr_NoMemory();
    }
    memcpy(values, view.buf, count * sizeof *values);
    lode_distribution_of(&d, values, count);
    free(values);
    PyBuffer_Release(&view);
    return Py_BuildValue("{sKsdsdsdsdsdsdsdsdsdsdsdsd}", "count", (unsigned long long)d.count, "sum", d.sum,
                         "min", d.min, "p5", d.p5, "p25", d.p25, "median", d.p50, "mean", d.mean, "p75",
                         d.p75, "p95", d.p95, "p99", d.p99, "max", d.max, "stddev", d.stddev, "imbalance",
                         d.imbalance);
}

PyMethodDef lp_value_methods[] = {
    {"block", module_block, METH_VARARGS, "block(store, number, of_profile) -> (values, groups)"},
    {"keys", module_keys, METH_VARARGS, "keys(store, number, of_profile) -> buffer"},
    {"samples", module_samples, METH_VARARGS, "samples(store, line, start, stop) -> buffer"},
    {"spread", lp_module_spread, METH_VARARGS, "spread(store, context, metric id, selection) -> dict"},
    {"distribution", module_distribution, METH_O, "distribution(doubles) -> dict"},
    {NULL, NULL, 0, NULL}};
