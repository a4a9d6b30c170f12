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

const char *run_label_value(const run_row *run, const char *name)
{
    (void)run;
    (void)name;
    return NULL;
}
