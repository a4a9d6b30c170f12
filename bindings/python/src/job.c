/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors and jobs. A job runs on a thread that knows nothing of Python; the thread that waits for
 * it reports progress and handles signals, because Python does both on the calling thread only.
 */
#include "lodepy.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* By what the system said, in the order of module.c. */
static PyObject *file_class_of(const lp_state *state, int os_errno)
{
    switch (os_errno) {
    case ENOENT:
        return state->files[0];
    case EACCES:
    case EPERM:
        return state->files[1];
    case EISDIR:
        return state->files[2];
    case ENOTDIR:
        return state->files[3];
    case EEXIST:
        return state->files[4];
    default:
        return state->files[LP_FILE_ERRORS - 1];
    }
}

static PyObject *class_of(const lp_state *state, const lode_error *error)
{
    lode_status status = error->status;
    if (status == LODE_ERR_IO && error->os_errno)
        return file_class_of(state, error->os_errno);
    if (status == LODE_NOT_FOUND)
        return state->not_found;
    if (status == LODE_ERR_CORRUPT)
        return state->corrupt;
    return status == LODE_ERR_UNSUPPORTED ? state->unsupported : state->error;
}

static bool set_attribute(PyObject *object, const char *name, PyObject *value)
{
    bool is_good = value && PyObject_SetAttrString(object, name, value) == 0;
    Py_XDECREF(value);
    return is_good;
}

/* Messages quote names of files, and end up in terminals: what is not printable is escaped. Takes the text. */
static PyObject *printable(PyObject *text)
{
    PyObject *is_printable = text ? PyObject_CallMethod(text, "isprintable", NULL) : NULL;
    PyObject *quoted = is_printable == Py_False ? PyObject_Repr(text) : NULL;
    PyObject *escaped = quoted ? PyUnicode_Substring(quoted, 1, PyUnicode_GetLength(quoted) - 1) : NULL;
    bool is_good = is_printable && (is_printable == Py_True || escaped);
    PyObject *result = !is_good ? NULL : escaped ? escaped : Py_NewRef(text);
    Py_XDECREF(quoted);
    Py_XDECREF(is_printable);
    Py_XDECREF(text);
    return result;
}

PyObject *lp_raise(PyObject *module, const lode_error *error)
{
    PyObject *type = class_of(lp_state_of(module), error), *exception = NULL;
    if (error->status == LODE_ERR_MEMORY)
        return PyErr_NoMemory();
    PyObject *text =
        printable(PyUnicode_FromFormat("%s%s%s", error->file, error->file[0] ? ": " : "", error->text));
    if (text)
        exception = PyObject_CallFunctionObjArgs(type, text, NULL);
    bool has_offset = error->offset != LODE_NO_OFFSET && error->file[0];
    if (exception && set_attribute(exception, "status", lp_text(lode_status_name(error->status))) &&
        set_attribute(exception, "file", lp_text(error->file[0] ? error->file : NULL)) &&
        set_attribute(exception, "offset",
                      has_offset ? PyLong_FromUnsignedLongLong(error->offset) : Py_NewRef(Py_None)) &&
        set_attribute(exception, "errno", PyLong_FromLong(error->os_errno)))
        PyErr_SetObject(type, exception);
    Py_XDECREF(exception);
    Py_XDECREF(text);
    return NULL;
}

/* ---- jobs ---- */

enum {
    PHASE_SIZE = 64,
    POLL_NANOSECONDS = 100000000 /* how long Ctrl-C may wait */
};

struct lp_waiting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done, is_cancelled;
    char phase[PHASE_SIZE];
    uint64_t done, total;
};

int lp_job_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct lp_waiting *waiting = ((lp_job *)user)->waiting;
    pthread_mutex_lock(&waiting->lock);
    PyOS_snprintf(waiting->phase, PHASE_SIZE, "%s", phase);
    waiting->done = done;
    waiting->total = total;
    int is_cancelled = waiting->is_cancelled;
    pthread_mutex_unlock(&waiting->lock);
    return is_cancelled;
}

static void *run(void *argument)
{
    lp_job *job = argument;
    job->status = job->run(job);
    pthread_mutex_lock(&job->waiting->lock);
    job->waiting->is_done = true;
    pthread_cond_signal(&job->waiting->changed);
    pthread_mutex_unlock(&job->waiting->lock);
    return NULL;
}

/* Waits a while without the interpreter's lock; whether the job is done. */
static bool wait_a_while(struct lp_waiting *waiting)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    bool is_done;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&waiting->lock);
    while (!waiting->is_done && pthread_cond_timedwait(&waiting->changed, &waiting->lock, &until) == 0)
        ;
    is_done = waiting->is_done;
    pthread_mutex_unlock(&waiting->lock);
    Py_END_ALLOW_THREADS;
    return is_done;
}

/* Signals, and the caller's function; false if either raised. */
static bool look_around(const lp_job *job)
{
    struct lp_waiting *waiting = job->waiting;
    char phase[PHASE_SIZE];
    if (PyErr_CheckSignals() < 0)
        return false;
    if (!job->progress || job->progress == Py_None)
        return true;
    pthread_mutex_lock(&waiting->lock);
    unsigned long long done = waiting->done, total = waiting->total;
    memcpy(phase, waiting->phase, PHASE_SIZE);
    pthread_mutex_unlock(&waiting->lock);
    PyObject *result = PyObject_CallFunction(job->progress, "sKK", phase, done, total);
    Py_XDECREF(result);
    return result != NULL;
}

static void cancel(struct lp_waiting *waiting)
{
    pthread_mutex_lock(&waiting->lock);
    waiting->is_cancelled = true;
    pthread_mutex_unlock(&waiting->lock);
}

static bool wait_for(lp_job *job)
{
    bool is_good = true;
    while (!wait_a_while(job->waiting)) {
        if (is_good && !look_around(job)) {
            is_good = false;
            cancel(job->waiting);
        }
    }
    return is_good && look_around(job);
}

bool lp_job_run(PyObject *module, lp_job *job)
{
    struct lp_waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    job->waiting = &waiting;
    int failure = pthread_create(&thread, NULL, run, job);
    if (failure) {
        errno = failure;
        PyErr_SetFromErrno(PyExc_OSError);
        return false;
    }
    bool is_good = wait_for(job);
    pthread_join(thread, NULL);
    job->waiting = NULL;
    if (is_good && (job->status < 0 || job->status == LODE_NOT_FOUND)) {
        lp_raise(module, &job->error);
        return false;
    }
    return is_good;
}
