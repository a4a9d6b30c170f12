/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: dicts of columns, filled in row by row. */
#include "lodepy.h"

static Py_ssize_t size_of(char type)
{
    return type == 'B' ? 1 : type == 'I' ? 4 : 8;
}

static const char *format_of(char type)
{
    return type == 'B' ? "B" : type == 'I' ? "I" : type == 'Q' || type == 'N' ? "Q" : "d";
}

static void frame_free(lp_frame *frame)
{
    for (unsigned i = 0; i < frame->count; i++) {
        free(frame->data[i]);
        Py_XDECREF(frame->lists[i]);
    }
    free(frame->text);
}

bool lp_frame_open(lp_frame *frame, const lp_field *fields, unsigned count, size_t rows)
{
    *frame = (lp_frame){.fields = fields, .count = count, .rows = rows};
    for (unsigned i = 0; i < count; i++) {
        if (fields[i].type == 's')
            frame->lists[i] = PyList_New((Py_ssize_t)rows);
        else if (!(frame->data[i] = calloc(rows ? rows : 1, (size_t)size_of(fields[i].type))))
            PyErr_NoMemory();
        if (PyErr_Occurred()) {
            frame_free(frame);
            return false;
        }
    }
    return true;
}

static void next(lp_frame *frame)
{
    if (++frame->field == frame->count) {
        frame->field = 0;
        frame->row++;
    }
}

void lp_frame_u64(lp_frame *frame, uint64_t value)
{
    void *data = frame->data[frame->field];
    switch (frame->fields[frame->field].type) {
    case 'B':
        ((uint8_t *)data)[frame->row] = (uint8_t)value;
        break;
    case 'I':
        ((uint32_t *)data)[frame->row] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)data)[frame->row] = value;
    }
    next(frame);
}

void lp_frame_real(lp_frame *frame, double value)
{
    ((double *)frame->data[frame->field])[frame->row] = value;
    next(frame);
}

static void put(lp_frame *frame, PyObject *text)
{
    if (text)
        PyList_SetItem(frame->lists[frame->field], (Py_ssize_t)frame->row, text);
    else
        frame->has_failed = true;
    next(frame);
}

void lp_frame_text(lp_frame *frame, const char *text)
{
    put(frame, lp_text(text));
}

void lp_frame_label(lp_frame *frame, lp_label_fn label, const void *subject, int form)
{
    if (!subject) {
        put(frame, Py_NewRef(Py_None));
        return;
    }
    size_t length = label(subject, form, frame->text, frame->capacity);
    if (length >= frame->capacity) {
        char *text = realloc(frame->text, 2 * length + 256);
        if (!text) {
            put(frame, PyErr_NoMemory());
            return;
        }
        frame->text = text;
        frame->capacity = 2 * length + 256;
        label(subject, form, frame->text, frame->capacity);
    }
    put(frame, lp_text(frame->text));
}

/* Numbers of which 0 stands for none: a list with None, if there is such a row; else NULL. */
static PyObject *list_with_none(const uint64_t *numbers, size_t rows)
{
    size_t known = 0;
    while (known < rows && numbers[known] != 0)
        known++;
    if (known == rows)
        return NULL;
    PyObject *list = PyList_New((Py_ssize_t)rows);
    for (size_t i = 0; list && i < rows; i++) {
        PyObject *number = numbers[i] ? PyLong_FromUnsignedLongLong(numbers[i]) : Py_NewRef(Py_None);
        if (number)
            PyList_SetItem(list, (Py_ssize_t)i, number);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyObject *lp_frame_close(lp_frame *frame, PyObject *module)
{
    PyObject *dict = frame->has_failed ? NULL : PyDict_New();
    for (unsigned i = 0; dict && i < frame->count; i++) {
        const lp_field *field = &frame->fields[i];
        PyObject *column = frame->lists[i];
        frame->lists[i] = NULL;
        if (field->type == 'N')
            column = list_with_none(frame->data[i], frame->rows);
        if (field->type != 's' && !column && !PyErr_Occurred()) {
            lp_array array = {.format = format_of(field->type),
                              .item_size = size_of(field->type),
                              .stride = size_of(field->type),
                              .count = (Py_ssize_t)frame->rows};
            column = lp_buffer_take(module, frame->data[i], &array);
            frame->data[i] = NULL;
        }
        if (!lp_put(dict, field->name, column))
            Py_CLEAR(dict);
    }
    frame_free(frame);
    return dict;
}
