/* SPDX-License-Identifier: BSD-3-Clause */
/* What a catalogue does whichever database keeps it. */
#include "runs/clean.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const catalogue *c, catalogue_error *error)
{
    snprintf(error->text, sizeof error->text, "%s: out of memory", c->name);
    return -1;
}

const char *catalogue_library(void)
{
    return catalogue_sqlite ? catalogue_sqlite->library() : NULL;
}

int catalogue_open(catalogue **out, const char *path, catalogue_mode mode, catalogue_error *error)
{
    const catalogue_place place = {.address = path, .mode = mode};
    *out = NULL;
    *error = (catalogue_error){{0}, 0};
    if (catalogue_sqlite)
        return catalogue_sqlite->open(out, &place, error);
    snprintf(error->text, sizeof error->text,
             "this program was built without SQLite, and so without a catalogue of runs: install "
             "libsqlite3-dev and build Lode with -Dsqlite=enabled");
    return -1;
}

int catalogue_is_server(const char *address)
{
    static const char *const beginnings[] = {"postgresql://", "postgres://", "service="};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(address, beginnings[i], strlen(beginnings[i])) == 0)
            return 1;
    return 0;
}

int catalogue_open_server(catalogue **out, const catalogue_backend *backend, const catalogue_place *place,
                          catalogue_error *error)
{
    *out = NULL;
    *error = (catalogue_error){{0}, 0};
    return backend->open(out, place, error);
}

void catalogue_close(catalogue *c)
{
    if (c)
        c->backend->close(c);
}

/* ---- runs ---- */

int catalogue_add(catalogue *c, run_record *run, run_sameness sameness, catalogue_error *error)
{
    unsigned char identity[RUN_IDENTITY_SIZE], store[RUN_IDENTITY_SIZE];
    if (!c->backend->needs_clean_records)
        return c->backend->add(c, run, sameness, error);
    clean_record *clean = clean_make(run);
    if (!clean)
        return no_memory(c, error);
    run_record *record = clean_get(clean);
    catalogue_identity(run, sameness, identity);
    catalogue_identity(run, RUN_OF_SAME_STORE, store);
    record->store = store;
    record->identity = run->identity ? run->identity : identity;
    int status = c->backend->add(c, record, sameness, error);
    run->id = record->id;
    clean_free(clean);
    return status;
}

int catalogue_read(catalogue *c, int64_t run, run_record_fn on_record, void *user, catalogue_error *error)
{
    return c->backend->read(c, run, on_record, user, error);
}

int catalogue_retain(catalogue *c, uint64_t before, uint64_t *removed, catalogue_error *error)
{
    return c->backend->retain(c, before, removed, error);
}

int catalogue_remove(catalogue *c, int64_t run, catalogue_error *error)
{
    return c->backend->remove(c, run, error);
}

const char *run_label_value(const run_row *run, const char *name)
{
    for (size_t i = 0; i < run->label_count; i++)
        if (strcmp(run->labels[i].name, name) == 0)
            return run->labels[i].value;
    return NULL;
}

int catalogue_list(catalogue *c, const run_filter *filter, run_row_fn on_run, void *user,
                   catalogue_error *error)
{
    return c->backend->list(c, filter, on_run, user, error);
}

int catalogue_count(catalogue *c, const run_filter *filter, uint64_t *count, catalogue_error *error)
{
    return c->backend->count(c, filter, count, error);
}

/* ---- names ---- */

int catalogue_metrics(catalogue *c, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error)
{
    return c->backend->metrics(c, run, on_metric, user, error);
}

int catalogue_functions(catalogue *c, run_name_fn on_function, void *user, catalogue_error *error)
{
    return c->backend->functions(c, on_function, user, error);
}

int catalogue_find_function(catalogue *c, const char *name, int64_t *id, catalogue_error *error)
{
    if (!c->backend->needs_clean_records)
        return c->backend->find_function(c, name, id, error);
    char *clean = clean_text(name);
    int found = clean ? c->backend->find_function(c, clean, id, error) : no_memory(c, error);
    free(clean);
    return found;
}

/* ---- the series of one function ---- */

static int by_time(const void *left, const void *right)
{
    const run_point *a = left, *b = right;
    if (a->begun != b->begun)
        return a->begun < b->begun ? -1 : 1;
    return a->run < b->run ? -1 : a->run > b->run;
}

int catalogue_series(catalogue *c, const run_filter *filter, int64_t metric, int64_t function,
                     run_point **points, size_t *count, catalogue_error *error)
{
    *points = NULL;
    *count = 0;
    if (c->backend->series(c, filter, metric, function, points, count, error) != 0) {
        free(*points);
        *points = NULL;
        *count = 0;
        return -1;
    }
    if (*count)
        qsort(*points, *count, sizeof **points, by_time);
    if (filter->limit && filter->limit < *count) {
        memmove(*points, *points + (*count - (size_t)filter->limit), (size_t)filter->limit * sizeof **points);
        *count = (size_t)filter->limit;
    }
    return 0;
}

/* ---- the functions of one run ---- */

static int by_cost(const void *left, const void *right)
{
    const run_function *a = left, *b = right;
    if (a->exclusive != b->exclusive)
        return a->exclusive > b->exclusive ? -1 : 1;
    return strcmp(a->name, b->name);
}

void catalogue_free_functions(run_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(functions[i].name);
    free(functions);
}

int catalogue_run_functions(catalogue *c, int64_t run, int64_t metric, run_function **functions,
                            size_t *count, catalogue_error *error)
{
    *functions = NULL;
    *count = 0;
    int status = c->backend->run_functions(c, run, metric, functions, count, error);
    if (*count)
        qsort(*functions, *count, sizeof **functions, by_cost);
    return status;
}

/* ---- one number for each of some runs ---- */

struct run_position {
    int64_t run;
    size_t position;
};

static int by_number(const void *left, const void *right)
{
    const struct run_position *a = left, *b = right;
    return a->run < b->run ? -1 : a->run > b->run;
}

void run_set_free(run_set *set)
{
    free(set->runs);
    free(set->by_id);
    *set = (run_set){NULL, 0, NULL, 0, 0};
}

int catalogue_runs(catalogue *c, const run_filter *filter, run_set *set, catalogue_error *error)
{
    *set = (run_set){NULL, 0, NULL, 0, 0};
    int status = c->backend->runs(c, filter, &set->runs, &set->count, error);
    set->by_id = calloc(set->count + 1, sizeof *set->by_id);
    if (status == 0 && !set->by_id)
        status = no_memory(c, error);
    for (size_t i = 0; status == 0 && i < set->count / 2; i++) {
        int64_t swap = set->runs[i];
        set->runs[i] = set->runs[set->count - 1 - i];
        set->runs[set->count - 1 - i] = swap;
    }
    for (size_t i = 0; status == 0 && i < set->count; i++)
        set->by_id[i] = (struct run_position){set->runs[i], i};
    if (status == 0 && set->count) {
        qsort(set->by_id, set->count, sizeof *set->by_id, by_number);
        set->least = set->by_id[0].run;
        set->greatest = set->by_id[set->count - 1].run;
    }
    return status;
}

typedef struct placed_values {
    const run_set *set;
    double *values;
} placed_values;

static void place_value(void *user, int64_t run, double value)
{
    const placed_values *to = user;
    struct run_position wanted = {run, 0};
    const struct run_position *at =
        bsearch(&wanted, to->set->by_id, to->set->count, sizeof *to->set->by_id, by_number);
    if (at && isfinite(value))
        to->values[at->position] = value;
}

int catalogue_values(catalogue *c, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                     double *values, catalogue_error *error)
{
    placed_values to = {set, values};
    for (size_t i = 0; i < set->count; i++)
        values[i] = (double)NAN;
    if (set->count == 0)
        return 0;
    return c->backend->values(c, set, metric, function, is_inclusive, place_value, &to, error);
}

/* ---- the catalogue as a whole ---- */

int catalogue_status(catalogue *c, catalogue_state *state, catalogue_error *error)
{
    *state = (catalogue_state){.schema = 0};
    return c->backend->status(c, state, error);
}

static int only_for_servers(const catalogue *c, catalogue_error *error)
{
    snprintf(error->text, sizeof error->text, "%s: only the catalogue of a server has projects and roles",
             c->name);
    return -1;
}

int catalogue_set_up(catalogue *c, int is_new, int64_t *schema, catalogue_error *error)
{
    return c->backend->set_up ? c->backend->set_up(c, is_new, schema, error) : only_for_servers(c, error);
}

int catalogue_grant(catalogue *c, const char *role, const char *level, catalogue_error *error)
{
    return c->backend->grant ? c->backend->grant(c, role, level, error) : only_for_servers(c, error);
}
