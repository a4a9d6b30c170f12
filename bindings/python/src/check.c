/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of stores, and databases built from recordings. */
#include "lodepy.h"

typedef struct check_job {
    lp_job job;
    const char *path;
    lode_check_options options;
    lode_check_result result;
    lp_findings findings;
} check_job;

static int on_check_finding(void *user, const lode_finding *finding)
{
    return lp_findings_add(&((check_job *)user)->findings, finding);
}

static lode_status run_check(lp_job *job)
{
    check_job *c = (check_job *)job;
    c->options.on_finding = on_check_finding;
    c->options.on_progress = lp_job_progress;
    c->options.user = c;
    return lode_check(c->path, &c->options, &c->result, &job->error);
}

static PyObject *counts_of(const lode_check_result *r)
{
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsK}", "errors", (unsigned long long)r->errors, "warnings",
                         (unsigned long long)r->warnings, "notes", (unsigned long long)r->notes, "suppressed",
                         (unsigned long long)r->suppressed, "contexts", (unsigned long long)r->contexts,
                         "profiles", (unsigned long long)r->profiles, "values", (unsigned long long)r->values,
                         "samples", (unsigned long long)r->samples, "tracks", (unsigned long long)r->tracks,
                         "events", (unsigned long long)r->events);
}

/* check(path, level, limit, threads, progress) -> (findings, counts) */
static PyObject *module_check(PyObject *module, PyObject *arguments)
{
    PyObject *path = NULL, *result = NULL;
    int level;
    unsigned long long limit;
    check_job c = {.job = {.run = run_check}, .options = LODE_CHECK_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "O&iKIO:check", PyUnicode_FSConverter, &path, &level, &limit,
                          &c.options.threads, &c.job.progress))
        return NULL;
    c.path = PyBytes_AsString(path);
    c.options.level = (lode_check_level)level;
    c.options.limit_per_rule = limit;
    bool is_good = lp_job_run(module, &c.job);
    PyObject *findings = lp_findings_close(&c.findings);
    if (is_good && findings)
        result = Py_BuildValue("ON", findings, counts_of(&c.result));
    Py_XDECREF(findings);
    Py_DECREF(path);
    return result;
}

/* ---- building ---- */

typedef struct build_job {
    lp_job job;
    const char **paths;
    size_t count;
    const char *output;
    lode_build_options options;
    lode_build_result result;
    lp_findings findings;
} build_job;

static int on_build_finding(void *user, const lode_finding *finding)
{
    return lp_findings_add(&((build_job *)user)->findings, finding);
}

static lode_status run_build(lp_job *job)
{
    build_job *b = (build_job *)job;
    b->options.on_finding = on_build_finding;
    b->options.on_progress = lp_job_progress;
    b->options.user = b;
    return lode_build(b->paths, b->count, b->output, &b->options, &b->result, &job->error);
}

/* Borrowed from the tuple of bytes; false after raising. */
static bool take_paths(build_job *b, PyObject *tuple)
{
    b->count = (size_t)PyTuple_Size(tuple);
    b->paths = PyMem_Malloc((b->count + 1) * sizeof *b->paths);
    if (!b->paths) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < b->count; i++) {
        b->paths[i] = PyBytes_AsString(PyTuple_GetItem(tuple, (Py_ssize_t)i));
        if (!b->paths[i])
            return false;
    }
    return true;
}

static PyObject *build_counts(const lode_build_result *r)
{
    return Py_BuildValue("{sKsKsKsKsKsKsKsK}", "recordings", (unsigned long long)r->recordings, "profiles",
                         (unsigned long long)r->tracks, "events", (unsigned long long)r->events, "functions",
                         (unsigned long long)r->functions, "contexts", (unsigned long long)r->contexts,
                         "metrics", (unsigned long long)r->metrics, "values", (unsigned long long)r->values,
                         "samples", (unsigned long long)r->samples);
}

/* build(paths as bytes, output, force, strict, trace, title, threads, progress) -> (findings, counts) */
static PyObject *module_build(PyObject *module, PyObject *arguments)
{
    PyObject *paths, *output = NULL, *result = NULL;
    unsigned long long trace;
    build_job b = {.job = {.run = run_build}, .options = LODE_BUILD_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "O!O&ppKzIO:build", &PyTuple_Type, &paths, PyUnicode_FSConverter,
                          &output, &b.options.force, &b.options.strict, &trace, &b.options.title,
                          &b.options.threads, &b.job.progress))
        return NULL;
    b.output = PyBytes_AsString(output);
    b.options.trace = trace;
    bool is_good = take_paths(&b, paths) && lp_job_run(module, &b.job);
    PyObject *findings = lp_findings_close(&b.findings);
    if (is_good && findings)
        result = Py_BuildValue("ON", findings, build_counts(&b.result));
    Py_XDECREF(findings);
    PyMem_Free(b.paths);
    Py_DECREF(output);
    return result;
}

PyMethodDef lp_check_methods[] = {
    {"check", module_check, METH_VARARGS,
     "check(path, level, limit, threads, progress) -> (findings, counts)"},
    {"build", module_build, METH_VARARGS, "build(paths, output, ...) -> (findings, counts)"},
    {NULL, NULL, 0, NULL}};
