/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was built without SQLite has no catalogue: none can be opened. */
#include "runs/catalogue.h"

#include <stdio.h>

const char *catalogue_library(void)
{
    return NULL;
}

int catalogue_open(catalogue **out, const char *path, catalogue_mode mode, catalogue_error *error)
{
    (void)path;
    (void)mode;
    *out = NULL;
    snprintf(error->text, sizeof error->text, "this program was built without SQLite: it has no catalogue");
    return -1;
}

void catalogue_close(catalogue *c)
{
    (void)c;
}

int catalogue_add(catalogue *c, run_record *run, int is_forced, catalogue_error *error)
{
    (void)run;
    (void)is_forced;
    return catalogue_open(&c, "", CATALOGUE_WRITE, error);
}

int catalogue_remove(catalogue *c, int64_t run, catalogue_error *error)
{
    (void)run;
    return catalogue_open(&c, "", CATALOGUE_WRITE, error);
}

int catalogue_list(catalogue *c, const run_filter *filter, run_row_fn on_run, void *user,
                   catalogue_error *error)
{
    (void)filter;
    (void)on_run;
    (void)user;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

int catalogue_count(catalogue *c, const run_filter *filter, uint64_t *count, catalogue_error *error)
{
    (void)filter;
    *count = 0;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

int catalogue_metrics(catalogue *c, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error)
{
    (void)run;
    (void)on_metric;
    (void)user;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

int catalogue_functions(catalogue *c, run_name_fn on_function, void *user, catalogue_error *error)
{
    return catalogue_metrics(c, 0, on_function, user, error);
}

int catalogue_find_function(catalogue *c, const char *name, int64_t *id, catalogue_error *error)
{
    (void)name;
    *id = 0;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

int catalogue_series(catalogue *c, const run_filter *filter, int64_t metric, int64_t function,
                     run_point **points, size_t *count, catalogue_error *error)
{
    (void)filter;
    (void)metric;
    (void)function;
    *points = NULL;
    *count = 0;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

int catalogue_run_functions(catalogue *c, int64_t run, int64_t metric, run_function **functions,
                            size_t *count, catalogue_error *error)
{
    (void)run;
    (void)metric;
    *functions = NULL;
    *count = 0;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

void catalogue_free_functions(run_function *functions, size_t count)
{
    (void)functions;
    (void)count;
}

int catalogue_runs(catalogue *c, const run_filter *filter, run_set *set, catalogue_error *error)
{
    (void)filter;
    *set = (run_set){NULL, 0, NULL};
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

void run_set_free(run_set *set)
{
    (void)set;
}

int catalogue_values(catalogue *c, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                     double *values, catalogue_error *error)
{
    (void)set;
    (void)metric;
    (void)function;
    (void)is_inclusive;
    (void)values;
    return catalogue_open(&c, "", CATALOGUE_READ, error);
}

const char *run_label_value(const run_row *run, const char *name)
{
    (void)run;
    (void)name;
    return NULL;
}
