/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relational tables of a store as Arrow streams: those of the library, in a holder that keeps
 * the store and cuts at a limit. Only the end of a stream takes the interpreter's lock.
 */
#include "arrow.h"

typedef struct held_stream {
    struct ArrowArrayStream inner;
    lp_store *store;             /* used */
    PyObject *question;          /* has the path of the store, which the tables point to */
    uint64_t left;               /* rows before the limit */
    unsigned places[LP_COLUMNS]; /* of the columns, in the order that was asked for */
    unsigned count;              /* 0: the order of the table */
} held_stream;

static void arrange(const held_stream *held, void *children)
{
    void *pointers[LP_COLUMNS], *arranged[LP_COLUMNS];
    memcpy(pointers, children, held->count * sizeof *pointers);
    for (unsigned i = 0; i < held->count; i++)
        arranged[i] = pointers[held->places[i]];
    memcpy(children, arranged, held->count * sizeof *arranged);
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    held_stream *held = stream->private_data;
    int status = held->inner.get_schema(&held->inner, out);
    if (status == 0)
        arrange(held, out->children);
    return status;
}

/* Rows past the limit stay in the buffers, unseen; how many of the others are NULL is not known. */
static void cut(struct ArrowArray *array, int64_t rows)
{
    array->length = rows;
    for (int64_t i = 0; i < array->n_children; i++) {
        array->children[i]->length = rows;
        if (array->children[i]->null_count)
            array->children[i]->null_count = -1;
    }
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    held_stream *held = stream->private_data;
    *out = (struct ArrowArray){0};
    int status = held->left ? held->inner.get_next(&held->inner, out) : 0;
    if (status != 0 || !out->release)
        return status;
    arrange(held, out->children);
    if ((uint64_t)out->length > held->left)
        cut(out, (int64_t)held->left);
    held->left -= (uint64_t)out->length;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    held_stream *held = stream->private_data;
    return held->inner.get_last_error(&held->inner);
}

/* On any thread. After the interpreter has ended, nobody is left to give the store back to. */
static void release_stream(struct ArrowArrayStream *stream)
{
    held_stream *held = stream->private_data;
    held->inner.release(&held->inner);
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(held->question);
        lp_store_release(held->store);
        PyGILState_Release(state);
    }
    free(held);
    stream->release = NULL;
}

static void take_order(held_stream *held, const lp_question *q)
{
    for (unsigned i = 0; i < q->asked_count; i++) {
        unsigned place = 0;
        for (unsigned j = 0; j < q->asked_count; j++)
            place += q->asked[j] < q->asked[i];
        held->places[held->count++] = place;
    }
}

/* False after raising. */
static bool open_inner(held_stream *held, PyObject *module, lp_question *q, uint64_t limit)
{
    lode_status status;
    lode_error error;
    if (!lp_question_open(q, module, held->store, held->question))
        return false;
    q->options.rows = limit && limit < LP_ROWS ? limit : 0;
    held->left = limit ? limit : UINT64_MAX;
    take_order(held, q);
    Py_BEGIN_ALLOW_THREADS;
    status = lode_arrow_stream(&held->inner, q->tables, q->info, &q->options, &error);
    Py_END_ALLOW_THREADS;
    if (status != LODE_OK)
        lp_raise(module, &error);
    return status == LODE_OK;
}

/* Takes a use of the store, also if it fails. NULL after raising. */
static held_stream *hold(PyObject *module, lp_store *store, PyObject *question, uint64_t limit)
{
    held_stream *held = calloc(1, sizeof *held);
    lp_question q = {0};
    if (held) {
        held->store = store;
        held->question = question;
    } else {
        PyErr_NoMemory();
    }
    bool is_good = held && open_inner(held, module, &q, limit);
    lp_question_close(&q);
    if (is_good) {
        Py_INCREF(question);
        return held;
    }
    free(held);
    lp_store_release(store);
    return NULL;
}

/*
 * scan_stream(store, question, limit) -> capsule: an Arrow stream of what scan() reads; None in a
 * sub-interpreter, whose lock a thread that releases a stream cannot take.
 */
PyObject *lp_module_scan_stream(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *question;
    unsigned long long limit;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        Py_RETURN_NONE;
    if (!PyArg_ParseTuple(arguments, "OO!K:scan_stream", &argument, &PyTuple_Type, &question, &limit))
        return NULL;
    lp_store *store = lp_use_kept(module, argument);
    held_stream *held = store ? hold(module, store, question, limit) : NULL;
    if (!held)
        return NULL;
    return lp_arrow_capsule(
        &(struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, held});
}
