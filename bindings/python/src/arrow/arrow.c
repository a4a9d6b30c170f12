/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables as Arrow streams, in capsules: one batch that anyone may keep. */
#include "arrow.h"

#include <errno.h>

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(schema->children);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static bool schema_of_column(struct ArrowSchema *out, const lp_arrow_column *column)
{
    char *name = strdup(column->name);
    *out = (struct ArrowSchema){.format = column->format,
                                .name = name,
                                .flags = column->buffers[0] ? ARROW_FLAG_NULLABLE : 0,
                                .release = release_schema,
                                .private_data = name};
    return name != NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const lp_arrow_table *table = stream->private_data;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
    out->children = calloc(table->count + 1, sizeof *out->children);
    for (size_t i = 0; out->children && i < table->count; i++) {
        struct ArrowSchema *child = calloc(1, sizeof *child);
        if (!child)
            break;
        out->children[out->n_children++] = child;
        if (!schema_of_column(child, &table->columns[i]))
            break;
        if (out->n_children == (int64_t)table->count)
            return 0;
    }
    if (out->children && table->count == 0)
        return 0;
    release_schema(out);
    return ENOMEM;
}

/* ---- arrays ---- */

static void release_child(struct ArrowArray *array)
{
    lp_arrow_table_release(array->private_data);
    array->release = NULL;
}

static void release_batch(struct ArrowArray *array)
{
    for (int64_t i = 0; array->children && i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        /* One that was moved elsewhere is released there. */
        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

static struct ArrowArray *child_of(lp_arrow_table *table, lp_arrow_column *column)
{
    struct ArrowArray *child = calloc(1, sizeof *child);
    if (!child)
        return NULL;
    table->references++;
    *child = (struct ArrowArray){.length = table->rows,
                                 .null_count = column->null_count,
                                 .n_buffers = column->buffer_count,
                                 .buffers = lp_mutable(column->buffers),
                                 .release = release_child,
                                 .private_data = table};
    return child;
}

static int make_batch(lp_arrow_table *table, struct ArrowArray *out)
{
    *out = (struct ArrowArray){.length = table->rows, .n_buffers = 1, .release = release_batch};
    out->buffers = calloc(1, sizeof *out->buffers);
    out->children = calloc(table->count + 1, sizeof *out->children);
    bool is_good = out->buffers && out->children;
    for (size_t i = 0; is_good && i < table->count; i++) {
        struct ArrowArray *child = child_of(table, &table->columns[i]);
        is_good = child != NULL;
        if (is_good)
            out->children[out->n_children++] = child;
    }
    if (is_good)
        return 0;
    release_batch(out);
    return ENOMEM;
}

/* ---- the stream ---- */

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    lp_arrow_table_release(stream->private_data);
    stream->release = NULL;
}

static int get_nothing(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    (void)stream;
    *out = (struct ArrowArray){0};
    return 0;
}

static int get_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int status = make_batch(stream->private_data, out);
    if (status == 0)
        stream->get_next = get_nothing;
    return status;
}

void lp_arrow_stream_open(struct ArrowArrayStream *out, lp_arrow_table *table)
{
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_batch,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = table};
}

static void free_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

PyObject *lp_arrow_capsule(struct ArrowArrayStream *stream)
{
    struct ArrowArrayStream *moved = malloc(sizeof *moved);
    if (!moved) {
        stream->release(stream);
        return PyErr_NoMemory();
    }
    *moved = *stream;
    PyObject *capsule = PyCapsule_New(moved, "arrow_array_stream", free_capsule);
    if (!capsule) {
        moved->release(moved);
        free(moved);
    }
    return capsule;
}

/* arrow_stream(names, columns) -> capsule */
static PyObject *module_arrow_stream(PyObject *module, PyObject *arguments)
{
    PyObject *names, *columns;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!:arrow_stream", &PyTuple_Type, &names, &PyTuple_Type, &columns))
        return NULL;
    if (PyTuple_Size(names) != PyTuple_Size(columns)) {
        PyErr_SetString(PyExc_ValueError, "as many names as columns");
        return NULL;
    }
    struct ArrowArrayStream stream;
    lp_arrow_table *table = lp_arrow_table_make(names, columns);
    if (!table)
        return NULL;
    lp_arrow_stream_open(&stream, table);
    return lp_arrow_capsule(&stream);
}

PyMethodDef lp_arrow_methods[] = {
    {"arrow_stream", module_arrow_stream, METH_VARARGS, "arrow_stream(names, columns) -> capsule"},
    {"scan_stream", lp_module_scan_stream, METH_VARARGS, "scan_stream(store, question, limit) -> capsule"},
    {NULL, NULL, 0, NULL}};
