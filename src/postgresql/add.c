/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding and removing runs: each is one call of a function of the server, in one round trip. */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Costs as the server has them: a row of all functions for each metric; NaN: not in this metric. */
typedef struct table {
    const char **names, **modules, **files; /* by function */
    size_t count;
    double *costs[4]; /* exclusive, inclusive, min, max: metric by metric */
    int has_ranges;
} table;

static void table_free(table *t)
{
    free(t->names);
    free(t->modules);
    free(t->files);
    for (size_t i = 0; i < 4; i++)
        free(t->costs[i]);
}

static int table_allocate(table *t, size_t functions, size_t metrics)
{
    size_t cells = functions * metrics;
    t->names = calloc(functions + 1, sizeof *t->names);
    t->modules = calloc(functions + 1, sizeof *t->modules);
    t->files = calloc(functions + 1, sizeof *t->files);
    for (size_t i = 0; i < 4; i++)
        if (!(t->costs[i] = malloc((cells + 1) * sizeof *t->costs[i])))
            return -1;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < cells; k++)
            t->costs[i][k] = (double)NAN;
    return t->names && t->modules && t->files ? 0 : -1;
}

static double finite_or_nan(double value)
{
    return isfinite(value) ? value : (double)NAN;
}

/* Costs are in the order of names. */
static int is_same_function(const run_cost *a, const run_cost *b)
{
    return strcmp(a->name, b->name) == 0;
}

static int table_make(table *t, const run_record *run)
{
    size_t functions = 0, at = 0;
    for (size_t i = 0; i < run->cost_count; i++)
        functions += i == 0 || !is_same_function(&run->costs[i - 1], &run->costs[i]);
    if (table_allocate(t, functions, run->total_count) != 0)
        return -1;
    for (size_t i = 0; i < run->cost_count; i++) {
        const run_cost *cost = &run->costs[i];
        if (i == 0 || !is_same_function(&run->costs[i - 1], cost)) {
            at = t->count++;
            t->names[at] = cost->name;
            t->modules[at] = cost->module;
            t->files[at] = cost->file;
        }
        size_t cell = cost->metric * functions + at;
        t->costs[0][cell] = finite_or_nan(cost->exclusive);
        t->costs[1][cell] = finite_or_nan(cost->inclusive);
        t->costs[2][cell] = finite_or_nan(cost->min);
        t->costs[3][cell] = finite_or_nan(cost->max);
        t->has_ranges |= isfinite(cost->min) || isfinite(cost->max);
    }
    return 0;
}

static int64_t bounded(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static void put_run(parameters *p, const session *s, const run_record *run)
{
    buffer labels = {NULL, 0, 0, 0};
    const char *metrics[CATALOGUE_METRICS_MAX];
    double totals[CATALOGUE_METRICS_MAX];
    put_text(p, s->project);
    put_bytes(p, run->identity, RUN_IDENTITY_SIZE);
    put_bytes(p, run->store, RUN_IDENTITY_SIZE);
    put_integer(p, bounded(run->begun));
    put_integer(p, bounded(run->added));
    put_integer(p, bounded(run->modified));
    put_integer(p, bounded(run->bytes));
    put_integer(p, bounded(run->profiles));
    put_text(p, run->format);
    put_text(p, run->path);
    json_of_labels(&labels, run->labels, run->label_count);
    put_text(p, labels.bytes);
    buffer_free(&labels);
    for (size_t i = 0; i < run->total_count; i++) {
        metrics[i] = run->totals[i].metric;
        totals[i] = run->totals[i].value;
    }
    put_texts(p, metrics, run->total_count);
    put_reals(p, totals, run->total_count);
}

static void put_costs(parameters *p, const run_record *run, const table *t)
{
    put_texts(p, t->names, t->count);
    put_texts(p, t->modules, t->count);
    put_texts(p, t->files, t->count);
    for (size_t i = 0; i < 4; i++)
        if (i < 2 || t->has_ranges)
            put_reals(p, t->costs[i], t->count * run->total_count);
        else
            put_null(p, OID_REALS);
}

int server_add(catalogue *of, run_record *run, run_sameness sameness, catalogue_error *error)
{
    session *s = session_of(of);
    table t = {.count = 0};
    if (run->total_count > CATALOGUE_METRICS_MAX)
        return session_fail(s, error, "the run has too many metrics");
    parameters *p = calloc(1, sizeof *p);
    PGresult *result = NULL;
    if (p && table_make(&t, run) == 0) {
        put_run(p, s, run);
        put_costs(p, run, &t);
        result =
            session_ask(s,
                        "SELECT id, added_ns, is_new FROM lode.add_run($1, $2, $3, $4, $5, $6, $7, $8, $9, "
                        "$10, $11::jsonb, $12, $13, $14, $15, $16, $17, $18, $19, $20)",
                        p, "iib", ASK_AGAIN, error);
    } else {
        session_no_memory(s, error);
    }
    table_free(&t);
    if (p)
        parameters_free(p);
    free(p);
    if (!result || PQntuples(result) != 1) {
        int status = result ? session_fail(s, error, "the server did not add the run") : -1;
        PQclear(result);
        return status;
    }
    run->id = cell_integer(result, 0, 0);
    /* The answer to an earlier attempt may have been lost. A copy has this time always. */
    int is_own =
        cell_bool(result, 0, 2) || (sameness != RUN_OF_SAME_ADD && cell_unsigned(result, 0, 1) == run->added);
    PQclear(result);
    return is_own ? 0 : 1;
}

int server_remove(catalogue *of, int64_t run, catalogue_error *error)
{
    session *s = session_of(of);
    parameters p = {.count = 0};
    if (session_find_project(s, error) != 0)
        return -1;
    put_text(&p, s->project_name);
    put_integer(&p, run);
    PGresult *result = session_ask(s, "SELECT lode.remove_run($1, $2)", &p, "b", ASK_ONCE, error);
    parameters_free(&p);
    int status = !result ? -1 : PQntuples(result) == 1 && cell_bool(result, 0, 0) ? 0 : 1;
    PQclear(result);
    return status;
}
