/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnoses and efficiencies, as dicts with the names of the program's JSON; costs of groups. */
#include "lodepy.h"

static PyObject *real_or_none(bool is_known, double value)
{
    return is_known ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

static PyObject *number_or_none(bool is_known, long long value)
{
    return is_known ? PyLong_FromLongLong(value) : Py_NewRef(Py_None);
}

/* One of the items of a subject. NULL: there are no more, or there is an exception. */
typedef PyObject *(*item_fn)(const void *subject, size_t index);

static PyObject *list_of(item_fn item, const void *subject)
{
    PyObject *list = PyList_New(0), *value;
    for (size_t i = 0; list && (value = item(subject, i)); i++) {
        if (PyList_Append(list, value) < 0)
            Py_CLEAR(list);
        Py_DECREF(value);
    }
    if (list && PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

/* ---- parts of a diagnosis ---- */

static PyObject *word_at(const void *subject, size_t index)
{
    const lode_evidence *evidence = subject;
    bool is_word = index < LODE_EVIDENCE_WORDS && evidence->command[index];
    return is_word ? lp_text(evidence->command[index]) : NULL;
}

static PyObject *evidence_at(const void *subject, size_t index)
{
    const lode_statement *statement = subject;
    if (index >= statement->evidence_count)
        return NULL;
    const lode_evidence *evidence = &statement->evidence[index];
    return Py_BuildValue("{sNsdsNsN}", "text", lp_text(evidence->text), "value", evidence->value, "unit",
                         lp_text(evidence->unit), "command", list_of(word_at, evidence));
}

static PyObject *evidence_list(const lode_statement *statement)
{
    return list_of(evidence_at, statement);
}

static PyObject *explained_at(const void *subject, size_t index)
{
    const lode_statement *statement = subject;
    bool is_rule = index < LODE_EXPLAINS_MAX && statement->explains[index];
    return is_rule ? lp_text(statement->explains[index]) : NULL;
}

static PyObject *explains_list(const lode_statement *statement)
{
    return list_of(explained_at, statement);
}

static PyObject *statement_dict(const lode_statement *s)
{
    bool has_gain = s->has_gain != 0;
    return Py_BuildValue(
        "{sNsNsNsNsNsNsNsNsNsNsNsNsNsNsNsN}", "id", lp_text(s->id), "confidence",
        lp_text(lode_confidence_name((int)s->confidence)), "gain_percent",
        real_or_none(has_gain, 100 * s->gain), "low_percent", real_or_none(has_gain, 100 * s->low),
        "high_percent", real_or_none(has_gain, 100 * s->high), "is_bound",
        PyBool_FromLong(has_gain && s->is_bound), "text", lp_text(s->text), "advice", lp_text(s->advice),
        "function", lp_text(s->function), "context",
        number_or_none(s->context != NULL, s->context ? lode_context_id(s->context) : 0), "rank",
        number_or_none(s->has_rank, s->rank), "thread", number_or_none(s->has_thread, s->thread), "from_ns",
        number_or_none(s->to != 0, (long long)s->from), "to_ns", number_or_none(s->to != 0, (long long)s->to),
        "explains", explains_list(s), "evidence", evidence_list(s));
}

static PyObject *statement_at(const void *diagnosis, size_t index)
{
    const lode_statement *statement = lode_diagnosis_statement(diagnosis, index);
    return statement ? statement_dict(statement) : NULL;
}

static PyObject *note_at(const void *diagnosis, size_t index)
{
    static const char *const levels[] = {"left out", "biased", "too little", "damaged"};
    const lode_quality_note *note = lode_diagnosis_note(diagnosis, index);
    if (!note)
        return NULL;
    return Py_BuildValue("{sNsssNsd}", "id", lp_text(note->id), "level", levels[note->level], "text",
                         lp_text(note->text), "value", note->value);
}

static PyObject *rule_at(const void *diagnosis, size_t index)
{
    const lode_rule_state *rule = lode_diagnosis_rule(diagnosis, index);
    if (!rule)
        return NULL;
    return Py_BuildValue("{sNsNsOsN}", "id", lp_text(rule->id), "summary", lp_text(rule->summary), "ran",
                         rule->ran ? Py_True : Py_False, "reason", lp_text(rule->reason));
}

static PyObject *run_dict(const lode_run *run)
{
    return Py_BuildValue(
        "{sNsNsIsIsIsIsdsdsNsOsNsKsKsIsK}", "program", lp_text(run->program[0] ? run->program : NULL),
        "metric", lp_text(run->metric ? lode_metric_name(run->metric) : NULL), "ranks", run->ranks, "threads",
        run->threads, "empty", run->empty, "helpers", run->helpers, "run_time", run->run_time, "total",
        run->total, "samples", number_or_none(run->samples != 0, (long long)run->samples), "can_judge",
        run->can_judge ? Py_True : Py_False, "seconds", real_or_none(run->seconds > 0, run->seconds), "calls",
        (unsigned long long)run->calls, "requests", (unsigned long long)run->requests, "processors",
        run->processors, "entry_points", (unsigned long long)run->entry_points);
}

/* Shares, as `scale` of one; the parts of hybrid runs are None in others. */
static PyObject *efficiency_dict(const lode_efficiency *e, const char *suffix, double scale)
{
    const struct {
        const char *key;
        double value;
        bool is_hybrid;
    } members[] = {{"parallel", e->parallel, false},
                   {"low", e->useful_low, false},
                   {"high", e->useful_high, false},
                   {"load_balance", e->load_balance, false},
                   {"communication", e->communication, false},
                   {"process", e->process, true},
                   {"serial", e->serial, true},
                   {"openmp", e->openmp, true},
                   {"rank_balance", e->rank_balance, true},
                   {"rank_communication", e->rank_communication, true}};
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof members / sizeof *members; i++) {
        char key[64];
        PyOS_snprintf(key, sizeof key, "%s%s", members[i].key, suffix);
        bool is_known = !members[i].is_hybrid || e->is_hybrid;
        if (!lp_put(dict, key, real_or_none(is_known, scale * members[i].value)))
            Py_CLEAR(dict);
    }
    return dict;
}

/* ---- diagnoses ---- */

typedef struct diagnose_job {
    lp_job job;
    lp_store *store;
    lode_diagnose_options options;
    lode_kind_rules *rules;
    lode_diagnosis *diagnosis;
} diagnose_job;

static lode_status run_diagnose(lp_job *job)
{
    diagnose_job *d = (diagnose_job *)job;
    d->options.kinds = d->rules ? d->rules : d->store->rules;
    d->options.on_progress = lp_job_progress;
    d->options.user = d;
    return d->store->db
               ? lode_diagnose(&d->diagnosis, d->store->db, &d->options, &job->error)
               : lode_diagnose_recording(&d->diagnosis, d->store->recording, &d->options, &job->error);
}

static PyObject *diagnosis_dict(const lode_diagnosis *diagnosis)
{
    const lode_efficiency *efficiency = lode_diagnosis_efficiency(diagnosis);
    return Py_BuildValue("{sNsNsNsNsN}", "run", run_dict(lode_diagnosis_run(diagnosis)), "efficiency",
                         efficiency ? efficiency_dict(efficiency, "", 1) : Py_NewRef(Py_None), "quality",
                         list_of(note_at, diagnosis), "statements", list_of(statement_at, diagnosis), "rules",
                         list_of(rule_at, diagnosis));
}

/* diagnose(store, rules or None, findings, deep, threads, progress) -> dict */
static PyObject *module_diagnose(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    const char *rules;
    Py_ssize_t size;
    unsigned long long findings;
    int is_deep;
    diagnose_job d = {.job = {.run = run_diagnose}, .options = LODE_DIAGNOSE_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "Oz#KpIO:diagnose", &argument, &rules, &size, &findings, &is_deep,
                          &d.options.threads, &d.job.progress))
        return NULL;
    d.store = lp_use_any(module, argument);
    if (!d.store)
        return NULL;
    d.options.findings = findings;
    d.options.read_limit = is_deep ? UINT64_MAX : 0;
    if (lp_rules_open(module, &d.rules, rules, size) && lp_job_run(module, &d.job))
        result = diagnosis_dict(d.diagnosis);
    lode_diagnosis_free(d.diagnosis);
    lode_kind_rules_free(d.rules);
    lp_store_release(d.store);
    return result;
}

/* ---- efficiencies ---- */

typedef struct efficiency_job {
    lp_job job;
    lp_store *store;
    lode_efficiency_options options;
    lode_kind_rules *rules;
    unsigned kinds[LODE_GROUP_KINDS];
    lode_efficiencies *rows;
} efficiency_job;

static lode_status run_efficiency(lp_job *job)
{
    efficiency_job *e = (efficiency_job *)job;
    e->options.kinds = e->rules ? e->rules : e->store->rules;
    e->options.by = e->kinds;
    e->options.on_progress = lp_job_progress;
    e->options.user = e;
    return lode_efficiencies_compute(&e->rows, e->store->db, &e->options, &job->error);
}

typedef struct id_tuple {
    const lode_database *db;
    const lode_id *ids;
    size_t count;
} id_tuple;

/* (kind or None, number, physical number or None) */
static PyObject *id_at(const void *subject, size_t index)
{
    const id_tuple *tuple = subject;
    if (index >= tuple->count)
        return NULL;
    const lode_id *id = &tuple->ids[index];
    return Py_BuildValue("NIN", lp_text(lode_database_id_kind_name(tuple->db, id->kind)), id->logical,
                         id->flags & LODE_ID_PHYSICAL ? PyLong_FromUnsignedLongLong(id->physical)
                                                      : Py_NewRef(Py_None));
}

static PyObject *ids_list(const lode_database *db, const lode_id *ids, size_t count)
{
    return list_of(id_at, &(id_tuple){db, ids, count});
}

static PyObject *efficiency_at(const void *job, size_t index)
{
    const efficiency_job *e = job;
    if (index >= lode_efficiencies_count(e->rows))
        return NULL;
    const lode_efficiency_row *row = lode_efficiencies_at(e->rows, index);
    PyObject *dict = efficiency_dict(row->efficiency, "_percent", 100);
    bool is_good =
        dict && lp_put(dict, "from_ns", number_or_none(row->to != 0, (long long)row->from)) &&
        lp_put(dict, "to_ns", number_or_none(row->to != 0, (long long)row->to)) &&
        lp_put(dict, "is_hybrid", PyBool_FromLong(row->efficiency->is_hybrid)) &&
        lp_put(dict, "run_time", PyFloat_FromDouble(row->run_time)) &&
        lp_put(dict, "useful", PyFloat_FromDouble(row->useful)) &&
        lp_put(dict, "ranks", PyLong_FromUnsignedLong(row->ranks)) &&
        lp_put(dict, "threads", PyLong_FromUnsignedLong(row->threads)) &&
        lp_put(dict, "is_group", PyBool_FromLong(row->is_group)) &&
        lp_put(dict, "ids", ids_list(e->store->db, row->ids, row->is_group ? e->options.by_count : 0));
    if (!is_good)
        Py_CLEAR(dict);
    return dict;
}

/* efficiency(store, rules or None, kinds of ids or None, phases, from, to, threads, progress) -> (rows, reason) */
static PyObject *module_efficiency(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    const char *rules, *by;
    Py_ssize_t size;
    unsigned long long phases, from, to;
    lode_error error;
    efficiency_job e = {.job = {.run = run_efficiency}, .options = LODE_EFFICIENCY_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "Oz#zKKKIO:efficiency", &argument, &rules, &size, &by, &phases, &from,
                          &to, &e.options.threads, &e.job.progress))
        return NULL;
    e.store = lp_use_database(module, argument);
    if (!e.store)
        return NULL;
    e.options.phases = phases;
    e.options.from = from;
    e.options.to = to;
    if (by && lode_database_find_kinds(e.store->db, by, e.kinds, &e.options.by_count, &error) != LODE_OK)
        lp_raise(module, &error);
    else if (lp_rules_open(module, &e.rules, rules, size) && lp_job_run(module, &e.job))
        result = e.rows ? Py_BuildValue("NN", list_of(efficiency_at, &e),
                                        lp_text(lode_efficiencies_reason(e.rows)))
                        : lp_raise(module, &e.job.error);
    lode_efficiencies_free(e.rows);
    lode_kind_rules_free(e.rules);
    lp_store_release(e.store);
    return result;
}

/* ---- groups ---- */

typedef struct group_job {
    lp_job job;
    lp_store *store;
    lode_spread_options options;
    lode_selection *selection;
    unsigned kinds[LODE_GROUP_KINDS];
    size_t kind_count;
    lode_spread *spread;
    lode_spread_groups *groups;
} group_job;

static lode_status run_groups(lp_job *job)
{
    group_job *g = (group_job *)job;
    g->options.selection = g->selection;
    g->options.on_progress = lp_job_progress;
    g->options.user = g;
    lode_status status = lode_spread_compute(&g->spread, g->store->db, &g->options, &job->error);
    return status == LODE_OK
               ? lode_spread_group_by(&g->groups, g->spread, g->kinds, g->kind_count, &job->error)
               : status;
}

static PyObject *group_at(const void *job, size_t index)
{
    const group_job *g = job;
    if (index >= lode_spread_groups_count(g->groups))
        return NULL;
    const lode_spread_group *group = lode_spread_groups_at(g->groups, index);
    return Py_BuildValue("NIdddddI", ids_list(g->store->db, group->ids, g->kind_count), group->profiles,
                         group->inclusive, group->exclusive, group->total, group->min, group->max,
                         group->first);
}

/* The contexts of ids, in memory of PyMem; NULL after raising. */
static const lode_context **contexts_of(const lode_database *db, PyObject *ids, size_t *count)
{
    *count = (size_t)PyTuple_Size(ids);
    const lode_context **contexts = PyMem_Calloc(*count + 1, sizeof(lode_context *));
    if (!contexts)
        PyErr_NoMemory();
    for (size_t i = 0; contexts && i < *count && !PyErr_Occurred(); i++) {
        unsigned long id = PyLong_AsUnsignedLong(PyTuple_GetItem(ids, (Py_ssize_t)i));
        contexts[i] = lode_database_context(db, (uint32_t)id);
        if (!contexts[i] && !PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no such context");
    }
    return contexts;
}

/*
 * groups(store, kinds of ids, metric or -1, selection, context ids or None, threads, progress) -> list of
 * (ids, profiles, inclusive, exclusive, total, min, max, first profile)
 */
static PyObject *module_groups(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *ids, *result = NULL;
    const char *by, *selected;
    int metric;
    lode_error error;
    group_job g = {.job = {.run = run_groups}, .options = LODE_SPREAD_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "OsizOIO:groups", &argument, &by, &metric, &selected, &ids,
                          &g.options.threads, &g.job.progress))
        return NULL;
    g.store = lp_use_database(module, argument);
    if (!g.store)
        return NULL;
    const lode_context **contexts =
        ids == Py_None ? NULL : contexts_of(g.store->db, ids, &g.options.context_count);
    g.options.contexts = contexts;
    g.options.metric = metric < 0 ? NULL : lode_database_metric(g.store->db, (unsigned)metric);
    if (PyErr_Occurred())
        ;
    else if (lode_database_find_kinds(g.store->db, by, g.kinds, &g.kind_count, &error) != LODE_OK)
        lp_raise(module, &error);
    else if (lp_selection_open(module, g.store, selected, &g.selection) && lp_job_run(module, &g.job))
        result = list_of(group_at, &g);
    lode_spread_groups_free(g.groups);
    lode_spread_free(g.spread);
    lode_selection_free(g.selection);
    PyMem_Free((void *)contexts);
    lp_store_release(g.store);
    return result;
}

PyMethodDef lp_diagnose_methods[] = {
    {"diagnose", module_diagnose, METH_VARARGS, "diagnose(store, rules, ...) -> dict"},
    {"efficiency", module_efficiency, METH_VARARGS, "efficiency(store, rules, kinds, ...) -> (list, reason)"},
    {"groups", module_groups, METH_VARARGS, "groups(store, kinds, ...) -> list"},
    {NULL, NULL, 0, NULL}};
