/* SPDX-License-Identifier: BSD-3-Clause */
/* One metric of one context, over profiles. */
#include "lodepy.h"

typedef struct spread_query {
    const lode_database *db;
    uint32_t context;
    uint16_t metric; /* under a scope */
    const lode_selection *selection;
    uint32_t profiles;
    double *values;   /* by profile */
    uint8_t *is_used; /* selected, and not empty */
} spread_query;

static lode_status read_group(const spread_query *q, const lode_block *block, lode_error *error)
{
    lode_group group;
    lode_status status = lode_block_find(block, q->metric, &group, error);
    for (uint64_t i = 0; status == LODE_OK && i < group.count; i++) {
        lode_value value;
        status = lode_block_read(block, group.first + i, 1, &value);
        if (status == LODE_OK && value.key < q->profiles)
            q->values[value.key] = value.value;
    }
    return status;
}

static lode_status read_profile(const spread_query *q, uint32_t profile, bool by_context, lode_error *error)
{
    lode_block block;
    int is_selected = 0;
    lode_status status = lode_selection_has(q->selection, q->db, profile, &is_selected, error);
    if (status == LODE_OK && is_selected)
        status = lode_profile_block(q->db, profile, &block, error);
    if (status != LODE_OK || !is_selected)
        return status;
    q->is_used[profile] = lode_block_value_count(&block) > 0;
    if (!by_context)
        status = lode_block_lookup(&block, q->context, q->metric, &q->values[profile], error);
    return status < 0 ? status : LODE_OK;
}

static lode_status read_spread(const spread_query *q, lode_error *error)
{
    lode_block block;
    lode_status status = lode_context_block(q->db, q->context, &block, error);
    bool by_context = status == LODE_OK;
    if (by_context)
        status = read_group(q, &block, error);
    for (uint32_t i = 0; status >= 0 && i < q->profiles; i++)
        status = read_profile(q, i, by_context, error);
    return status;
}

static PyObject *spread_frame(PyObject *module, const spread_query *q)
{
    static const lp_field fields[] = {{"profile", 'I'}, {"value", 'd'}};
    lp_frame frame;
    size_t count = 0;
    for (uint32_t i = 0; i < q->profiles; i++)
        count += q->is_used[i];
    if (!lp_frame_open(&frame, fields, 2, count))
        return NULL;
    for (uint32_t i = 0; i < q->profiles; i++) {
        if (!q->is_used[i])
            continue;
        lp_frame_u64(&frame, i);
        lp_frame_real(&frame, q->values[i]);
    }
    return lp_frame_close(&frame, module);
}

/* spread(store, context id, metric id, selection) -> dict: profile, value, also where it is zero */
PyObject *lp_module_spread(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    const char *selected;
    unsigned short metric;
    lode_selection *selection = NULL;
    lode_error error;
    spread_query q = {0};
    if (!PyArg_ParseTuple(arguments, "OIHz:spread", &argument, &q.context, &metric, &selected))
        return NULL;
    lp_store *store = lp_use_database(module, argument);
    if (!store)
        return NULL;
    bool is_good = lp_selection_open(module, store, selected, &selection);
    q.db = store->db;
    q.metric = metric;
    q.selection = selection;
    q.profiles = lode_database_profile_count(store->db);
    q.values = calloc((size_t)q.profiles + 1, sizeof *q.values);
    q.is_used = calloc((size_t)q.profiles + 1, 1);
    if (is_good && q.values && q.is_used) {
        lode_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = read_spread(&q, &error);
        Py_END_ALLOW_THREADS;
        result = status >= 0 ? spread_frame(module, &q) : lp_raise(module, &error);
    } else if (is_good) {
        PyErr_NoMemory();
    }
    free(q.values);
    free(q.is_used);
    lode_selection_free(selection);
    lp_store_release(store);
    return result;
}
