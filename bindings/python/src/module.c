/* SPDX-License-Identifier: BSD-3-Clause */
/* The module: its state, its types, its functions. */
#include "lodepy.h"

lp_state *lp_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static bool add_exception(PyObject *module, PyObject **slot, const char *name, const char *doc,
                          PyObject *bases)
{
    char full[64];
    PyOS_snprintf(full, sizeof full, "lode.%s", name);
    *slot = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
    return *slot && PyModule_AddObjectRef(module, name, *slot) == 0;
}

/* What the system refused is also the exception that Python has for it. */
static bool add_file_errors(PyObject *module, lp_state *state)
{
    PyObject *const builtin[LP_FILE_ERRORS] = {PyExc_FileNotFoundError, PyExc_PermissionError,
                                               PyExc_IsADirectoryError, PyExc_NotADirectoryError,
                                               PyExc_FileExistsError,   PyExc_OSError};
    static const char *const names[LP_FILE_ERRORS] = {"FileMissing", "FileRefused", "FileIsDirectory",
                                                      "NoDirectory", "FileThere",   "FileError"};
    bool is_good = true;
    for (int i = 0; is_good && i < LP_FILE_ERRORS; i++) {
        PyObject *bases = PyTuple_Pack(2, state->error, builtin[i]);
        is_good = bases && add_exception(module, &state->files[i], names[i],
                                         "What the system refuses; errno says why.", bases);
        Py_XDECREF(bases);
    }
    return is_good;
}

static bool add_exceptions(PyObject *module, lp_state *state)
{
    if (!add_exception(module, &state->error, "Error",
                       "What the library refuses. status is a name such as 'corrupt'; file and offset say "
                       "where in the store, or are None.",
                       NULL))
        return false;
    PyObject *lookup = PyTuple_Pack(2, state->error, PyExc_LookupError);
    bool is_good =
        lookup &&
        add_exception(module, &state->not_found, "NotFound", "What was asked for is not there.", lookup) &&
        add_exception(module, &state->corrupt, "Corrupt", "The bytes contradict the format.", state->error) &&
        add_exception(module, &state->unsupported, "Unsupported",
                      "A format, version or layout that this build does not read.", state->error);
    Py_XDECREF(lookup);
    return is_good && add_file_errors(module, state);
}

static bool add_type(PyObject *module, PyTypeObject **slot, PyType_Spec *spec)
{
    *slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *slot && PyModule_AddType(module, *slot) == 0;
}

static int module_exec(PyObject *module)
{
    lp_state *state = lp_state_of(module);
    PyMethodDef *const methods[] = {
        lp_store_methods,   lp_table_methods,     lp_value_methods,    lp_cost_methods,  lp_answer_methods,
        lp_picture_methods, lp_recording_methods, lp_compare_methods,  lp_check_methods, lp_scan_methods,
        lp_arrow_methods,   lp_sql_methods,       lp_diagnose_methods, lp_write_methods};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (PyModule_AddFunctions(module, methods[i]) < 0)
            return -1;
    bool is_good = add_exceptions(module, state) && add_type(module, &state->store, &lp_store_spec) &&
                   add_type(module, &state->buffer, &lp_buffer_spec) &&
                   add_type(module, &state->cost, &lp_cost_spec) &&
                   PyModule_AddStringConstant(module, "version", lode_version()) == 0;
    return is_good ? 0 : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    lp_state *state = lp_state_of(module);
    Py_VISIT(state->error);
    Py_VISIT(state->not_found);
    Py_VISIT(state->corrupt);
    Py_VISIT(state->unsupported);
    for (int i = 0; i < LP_FILE_ERRORS; i++)
        Py_VISIT(state->files[i]);
    Py_VISIT(state->store);
    Py_VISIT(state->buffer);
    Py_VISIT(state->cost);
    return 0;
}

static int module_clear(PyObject *module)
{
    lp_state *state = lp_state_of(module);
    Py_CLEAR(state->error);
    Py_CLEAR(state->not_found);
    Py_CLEAR(state->corrupt);
    Py_CLEAR(state->unsupported);
    for (int i = 0; i < LP_FILE_ERRORS; i++)
        Py_CLEAR(state->files[i]);
    Py_CLEAR(state->store);
    Py_CLEAR(state->buffer);
    Py_CLEAR(state->cost);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "lode._lode",
    .m_doc = "The public API of the library Lode; use the package lode.",
    .m_size = sizeof(lp_state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__lode(void);

PyMODINIT_FUNC PyInit__lode(void)
{
    return PyModuleDef_Init(&module_definition);
}
