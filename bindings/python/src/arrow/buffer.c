/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers: one-dimensional read-only arrays for the buffer protocol. What they show is memory of a
 * store (often the mapped file itself), of a result, or their own.
 */
#include "lodepy.h"

typedef struct lp_buffer {
    PyObject_HEAD lp_array array;
    lp_store *store; /* whose memory it is; used */
    PyObject *owner; /* likewise, of another object */
    void *memory;    /* its own */
} lp_buffer;

static PyObject *buffer_make(PyObject *module, const lp_array *array)
{
    lp_buffer *buffer = PyObject_New(lp_buffer, lp_state_of(module)->buffer);
    if (!buffer)
        return NULL;
    buffer->array = *array;
    buffer->store = NULL;
    buffer->owner = NULL;
    buffer->memory = NULL;
    return (PyObject *)buffer;
}

PyObject *lp_buffer_of_store(PyObject *module, lp_store *store, const lp_array *array)
{
    PyObject *buffer = buffer_make(module, array);
    if (buffer && lp_store_use(store))
        ((lp_buffer *)buffer)->store = store;
    else
        Py_CLEAR(buffer);
    return buffer;
}

PyObject *lp_buffer_of_object(PyObject *module, PyObject *owner, const lp_array *array)
{
    PyObject *buffer = buffer_make(module, array);
    if (buffer)
        ((lp_buffer *)buffer)->owner = Py_NewRef(owner);
    return buffer;
}

PyObject *lp_buffer_take(PyObject *module, void *memory, const lp_array *array)
{
    PyObject *buffer = memory ? buffer_make(module, array) : PyErr_NoMemory();
    if (buffer) {
        ((lp_buffer *)buffer)->memory = memory;
        ((lp_buffer *)buffer)->array.data = memory;
    } else {
        free(memory);
    }
    return buffer;
}

static void buffer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    lp_buffer *buffer = (lp_buffer *)self;
    if (buffer->store)
        lp_store_release(buffer->store);
    Py_XDECREF(buffer->owner);
    free(buffer->memory);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags)
{
    lp_buffer *buffer = (lp_buffer *)self;
    lp_array *array = &buffer->array;
    bool is_contiguous = array->stride == array->item_size || array->count < 2;
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) || ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !is_contiguous)) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only and has strides");
        return -1;
    }
    view->obj = Py_NewRef(self);
    view->buf = lp_mutable(array->data);
    view->len = array->item_size * array->count;
    view->itemsize = array->item_size;
    view->readonly = 1;
    view->ndim = 1;
    view->format = (flags & PyBUF_FORMAT) ? lp_mutable(array->format) : NULL;
    view->shape = &array->count;
    view->strides = &array->stride;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static Py_ssize_t buffer_length(PyObject *self)
{
    return ((lp_buffer *)self)->array.count;
}

static PyObject *buffer_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(lp_mutable(((lp_buffer *)self)->array.data));
}

static PyGetSetDef getters[] = {{"address", buffer_address, NULL, "Where the first element is.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)buffer_dealloc},
                              {Py_bf_getbuffer, (void *)buffer_get},
                              {Py_sq_length, (void *)buffer_length},
                              {Py_tp_getset, getters},
                              {0, NULL}};
PyType_Spec lp_buffer_spec = {.name = "lode._lode.Buffer",
                              .basicsize = sizeof(lp_buffer),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                       Py_TPFLAGS_IMMUTABLETYPE,
                              .slots = slots};

/* ---- columns ---- */

static const struct {
    const char *format;
    Py_ssize_t size;
} types[] = {
    [LODE_COLUMN_U8] = {"B", 1},  [LODE_COLUMN_U16] = {"H", 2}, [LODE_COLUMN_U32] = {"I", 4},
    [LODE_COLUMN_U64] = {"Q", 8}, [LODE_COLUMN_F64] = {"d", 8}, [LODE_COLUMN_STRING] = {NULL, sizeof(char *)},
};

const char *lp_format_of(lode_column_type type)
{
    return types[type].format;
}

Py_ssize_t lp_size_of(lode_column_type type)
{
    return types[type].size;
}

PyObject *lp_strings(const lode_column *column)
{
    PyObject *list = PyList_New((Py_ssize_t)column->count);
    for (uint64_t i = 0; list && i < column->count; i++) {
        const char *string;
        memcpy(&string, (const char *)column->data + i * column->stride, sizeof string);
        PyObject *text = lp_text(string);
        if (text)
            PyList_SetItem(list, (Py_ssize_t)i, text);
        else
            Py_CLEAR(list);
    }
    return list;
}
