/* SPDX-License-Identifier: BSD-3-Clause */
/* The metric, and what contexts are: activity, place, functions around them. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/cost/key.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the metric ---- */

/* Whether a metric has a name; '*' stands for modifiers of perf, as in "cycles:ppp", or none. */
static bool is_called(const char *metric, const char *name)
{
    size_t length = strcspn(name, "*");
    if (name[length] == '\0')
        return strcmp(metric, name) == 0;
    if (strncmp(metric, name, length) != 0)
        return false;
    metric += length;
    if (*metric == ':')
        metric += 1 + strspn(metric + 1, "ukhHGIpPSDWeb");
    return strcmp(metric, name + length + 1) == 0;
}

const lode_metric *lode_diagnose_metric(const struct lode_diagnosis *d, const char *name, double *total)
{
    lode_block summary;
    if (lode_profile_block(d->profiles->db, 0, &summary, NULL) != LODE_OK)
        return NULL;
    for (uint32_t i = 0; i < lode_database_metric_count(d->profiles->db); i++) {
        const lode_metric *metric = lode_database_metric(d->profiles->db, i);
        uint16_t id;
        double value = 0;
        if (is_called(lode_metric_name(metric), name) &&
            lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &id) == LODE_OK &&
            lode_block_lookup(&summary, 0, id, &value, NULL) == LODE_OK && value > 0 && isfinite(value)) {
            if (total)
                *total = value;
            return metric;
        }
    }
    return NULL;
}

/* A database that was built from a recording of calls: nothing was sampled. */
static void choose_calls(struct lode_diagnosis *d)
{
    double calls = 0;
    const lode_metric *time = lode_diagnose_metric(d, "time (sec)", NULL);
    if (time == NULL || lode_diagnose_metric(d, "calls", &calls) == NULL)
        return;
    d->run.metric = time;
    d->run.is_seconds = true;
    d->run.calls = calls < 0x1p63 ? (uint64_t)calls : 0;
    d->profiles->is_counted = true;
}

void lode_diagnose_choose_metric(struct lode_diagnosis *d)
{
    if (d->profiles->db->profile_count == 0) {
        d->lacks[NEED_METRIC] = true;
        return;
    }
    static const struct {
        const char *name;
        bool is_seconds;
    } known[] = {{"REALTIME (sec)", true},   {"CPUTIME (sec)", true},
                 {"trace time (sec)", true}, /* of a slice by time */
                 {"cpu-clock* (sec)", true}, {"task-clock* (sec)", true},
                 {"cycles*", false},         {"perf::cpu-clock", false},
                 {"perf::task-clock", false}};
    for (size_t i = 0; i < sizeof known / sizeof *known && d->run.metric == NULL; i++) {
        d->run.metric = lode_diagnose_metric(d, known[i].name, NULL);
        d->run.is_seconds = d->run.metric && known[i].is_seconds;
    }
    if (d->run.metric == NULL)
        choose_calls(d);
    d->lacks[NEED_METRIC] = d->run.metric == NULL;
}

lode_status lode_diagnose_cost(const struct lode_diagnosis *d, const lode_metric *metric,
                               const lode_selection *selection, lode_cost **cost, lode_error *error)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    options.metric = metric;
    options.selection = selection;
    options.threads = d->options.threads;
    options.pool = d->options.pool;
    options.comm = d->options.comm;
    return lode_cost_compute(cost, d->profiles->db, &options, error);
}

/* ---- contexts ---- */

/* The names that compilers give to the bodies of OpenMP regions. */
static bool is_region(const lode_context *context)
{
    static const char *const marks[] = {"._omp_fn.", ".omp_outlined", "__omp_outlined", "_omp_par_region"};
    const char *name = context->function ? context->function->name : NULL;
    for (size_t i = 0; name && i < sizeof marks / sizeof *marks; i++)
        if (strstr(name, marks[i]))
            return true;
    return false;
}

/* Functions of the standard library that are compiled into the program belong to their callers. */
static bool is_std(const lode_context *context)
{
    static const char *const beginnings[] = {"std::",  "__gnu_cxx::",   "_ZSt",          "_ZNSt",
                                             "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
    const char *name = context->function ? context->function->name : NULL;
    for (size_t i = 0; name && i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

bool lode_diagnose_has_function(const lode_context *context)
{
    return begins_function(context) && context->lexical != LODE_LEXICAL_ENTRY &&
           context->lexical != LODE_LEXICAL_GLOBAL && context->function;
}

/* Off-CPU time that no library function explains. */
static bool is_off_cpu(const lode_context *context)
{
    const char *name = lode_diagnose_has_function(context) ? context->function->name : NULL;
    return name && strncmp(name, "linux:schedule", strlen("linux:schedule")) == 0;
}

/* An application function below others: it is the place of what it calls. */
static void enter_application(struct lode_diagnosis *d, const lode_context *context)
{
    uint32_t i = context->index;
    if (d->profiles->places[i] < PLACE_APPLICATION)
        d->profiles->places[i] = PLACE_APPLICATION;
    if (is_region(context))
        d->profiles->places[i] = PLACE_REGION;
    if (!is_std(context) || d->profiles->holders[i] == 0)
        d->profiles->holders[i] = i;
    d->profiles->entries[i] = i;
}

static bool is_join(const struct lode_diagnosis *d, const lode_context *context)
{
    const char *name = lode_diagnose_has_function(context) ? context->function->name : NULL;
    return name && d->profiles->activities_of[context->index] == LODE_ACTIVITY_LOCK && strstr(name, "join");
}

/* Who ended a wait, which recordings of perf have below it: no function of the program. */
static bool is_waker(const lode_context *context)
{
    const lode_module *module = lode_diagnose_has_function(context) ? context->function->module : NULL;
    return module && strcmp(module->path, "[waker]") == 0;
}

static void find_place(struct lode_diagnosis *d, const lode_context *context, bool is_own)
{
    uint32_t i = context->index, above = context->parent;
    if (is_waker(context)) {
        d->profiles->activities_of[i] = d->profiles->activities_of[above];
        is_own = false;
    }
    d->profiles->places[i] = d->profiles->places[above];
    d->profiles->holders[i] = d->profiles->holders[above];
    d->profiles->entries[i] = d->profiles->entries[above];
    d->profiles->functions[i] = begins_function(context) ? i : d->profiles->functions[above];
    if (d->profiles->activities_of[i] == LODE_ACTIVITY_OWN && is_off_cpu(context))
        d->profiles->activities_of[i] = LODE_ACTIVITY_OFF_CPU;
    if (is_own)
        enter_application(d, context);
    else if (is_join(d, context))
        d->profiles->places[i] = PLACE_JOIN;
    else if (is_off_cpu(context) && strstr(context->function->name, "pre-empted"))
        d->profiles->places[i] = PLACE_READY;
    if (!is_own && d->profiles->activities_of[i] != d->profiles->activities_of[above])
        d->profiles->entries[i] = i;
}

/*
 * By index of function: it calls no other. In recordings, calls of library functions have the
 * module of the program. NULL: there is no memory.
 */
static unsigned char *find_leaves(const lode_database *db)
{
    const struct lode_context_tree *tree = &db->tree;
    uint32_t functions = 0;
    for (uint32_t i = 1; i < tree->count; i++)
        if (lode_diagnose_has_function(&tree->nodes[i]) && tree->nodes[i].function->index >= functions)
            functions = tree->nodes[i].function->index + 1;
    unsigned char *leaves = malloc((size_t)functions + 1);
    if (leaves == NULL)
        return NULL;
    memset(leaves, 1, (size_t)functions + 1);
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *caller = &tree->nodes[tree->nodes[i].parent];
        if (lode_diagnose_has_function(&tree->nodes[i]) && !is_off_cpu(&tree->nodes[i]) &&
            lode_diagnose_has_function(caller))
            leaves[caller->function->index] = 0;
    }
    return leaves;
}

lode_status lode_diagnose_contexts(struct lode_diagnosis *d, lode_error *error)
{
    const struct lode_context_tree *tree = &d->profiles->db->tree;
    size_t count = (size_t)tree->count + 1;
    d->profiles->activities_of = calloc(count, 1);
    d->profiles->places = calloc(count, 1);
    d->profiles->holders = calloc(count, sizeof *d->profiles->holders);
    d->profiles->entries = calloc(count, sizeof *d->profiles->entries);
    d->profiles->functions = calloc(count, sizeof *d->profiles->functions);
    LODE_TRY_ALLOC(d->profiles->activities_of && d->profiles->places && d->profiles->holders &&
                       d->profiles->entries && d->profiles->functions,
                   error);
    unsigned char *is_own = calloc(count, 1);
    unsigned char *leaves = d->profiles->is_counted ? find_leaves(d->profiles->db) : NULL;
    lode_status status =
        is_own == NULL || (d->profiles->is_counted && leaves == NULL)
            ? lode_fail_memory(error)
            : lode_activity_paths(d->profiles->activities_of, is_own, tree, d->options.kinds, leaves, error);
    free(leaves);
    for (uint32_t i = 1; i < tree->count && status == LODE_OK; i++)
        find_place(d, &tree->nodes[i], is_own[i]);
    free(is_own);
    return status;
}
