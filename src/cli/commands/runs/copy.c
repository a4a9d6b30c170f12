/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode runs copy`: runs from one catalogue to another, of any kind. */
#include "commands/runs/runs.h"

#include "output/out.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct copier {
    catalogue *to;
    uint64_t copied, present;
    catalogue_error error;
} copier;

static int copy_record(void *user, const run_record *run)
{
    copier *c = user;
    run_record record = *run;
    int status = catalogue_add(c->to, &record, RUN_OF_SAME_ADD, &c->error);
    c->copied += status == 0;
    c->present += status == 1;
    return status < 0;
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* In the order of their numbers, so that those of an empty catalogue stay as they are. */
static int copy_runs(catalogue *from, copier *c, const run_filter *filter)
{
    catalogue_error error = {{0}, 0};
    run_set set;
    int status = catalogue_runs(from, filter, &set, &error) == 0 ? EXIT_DONE : runs_failed(&error);
    if (status == EXIT_DONE && set.count)
        qsort(set.runs, set.count, sizeof *set.runs, by_number);
    for (size_t i = 0; status == EXIT_DONE && i < set.count; i++)
        /* 1: somebody has removed it meanwhile. */
        if (catalogue_read(from, set.runs[i], copy_record, c, &error) < 0)
            status = runs_failed(c->error.text[0] ? &c->error : &error);
    run_set_free(&set);
    return status;
}

static void say_copied(const invocation *call, const char *from, const char *to, const copier *c)
{
    out *o = call->out;
    out_begin(o, SCHEMA_RUNS_COPY, NULL);
    OUT_FIELDS(o, "from", from, "catalogue", to, "copied_count", c->copied, "present_count", c->present);
    out_say(o, "%s copied from %s to %s%s", COUNTED(c->copied, "run", "runs"), from, to,
            c->present ? "; it had the others" : "");
    out_end(o);
}

int runs_copy_all(const invocation *call, const char *from, const char *to)
{
    catalogue *source = NULL;
    copier c = {.to = NULL};
    run_filter filter;
    runs_labels labels;
    int status = runs_filter(&filter, &labels, call->options);
    if (status == EXIT_DONE)
        status = runs_open_at(&source, from, call->options, CATALOGUE_READ);
    if (status == EXIT_DONE)
        status = runs_open_at(&c.to, to, call->options, CATALOGUE_WRITE);
    if (status == EXIT_DONE)
        status = copy_runs(source, &c, &filter);
    catalogue_close(source);
    catalogue_close(c.to);
    runs_labels_free(&labels);
    if (status == EXIT_DONE)
        say_copied(call, from, to, &c);
    return status;
}
