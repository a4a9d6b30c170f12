/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A catalogue of runs: one SQLite file with the costs of many stores by function, for trends.
 * doc/runs.md describes its tables. Others may have written the file: nothing in it is trusted.
 */
#ifndef RUNS_CATALOGUE_H
#define RUNS_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct catalogue catalogue;

/* What went wrong, in words. */
typedef struct catalogue_error {
    char text[768];
} catalogue_error;

/* The version of SQLite; NULL if the program was built without it. */
const char *catalogue_library(void);

typedef enum catalogue_mode {
    CATALOGUE_READ,
    CATALOGUE_WRITE /* creates the file, which nobody else can read, if there is none */
} catalogue_mode;

/* All: 0, or -1 and the error, unless they say otherwise. */
int catalogue_open(catalogue **out, const char *path, catalogue_mode mode, catalogue_error *error);
/* NULL is allowed. */
void catalogue_close(catalogue *c);

/* ---- runs ---- */

typedef struct run_label {
    const char *name, *value;
} run_label;

/* The cost of everything, of one metric. */
typedef struct run_total {
    const char *metric;
    double value;
} run_total;

/* The cost of one function. A number that is not known is NaN. */
typedef struct run_cost {
    const char *name, *module, *file; /* the last two: "" if not known */
    size_t metric;                    /* index into the totals */
    double exclusive, inclusive;
    double min, max; /* of the inclusive costs of profiles */
} run_cost;

typedef struct run_record {
    int64_t id; /* set by catalogue_add */
    const char *path, *format;
    /* nanoseconds since the epoch: when it began, was added, and when its files were written */
    uint64_t begun, added, modified;
    uint64_t bytes, profiles;
    const run_label *labels; /* each name once */
    size_t label_count;
    const run_total *totals; /* the first one is the metric that people most likely mean */
    size_t total_count;
    const run_cost *costs; /* each function once for each metric */
    size_t cost_count;
} run_record;

/*
 * In one transaction. Returns 1, and the id of the run that has it, if the store is there already:
 * with the same path, size and time of writing; unless `is_forced`.
 */
int catalogue_add(catalogue *c, run_record *run, int is_forced, catalogue_error *error);

/* One run. Strings are valid until the callback returns. */
typedef struct run_row {
    int64_t id;
    uint64_t begun, added, bytes, profiles;
    const char *path, *format;
    const run_label *labels; /* in the order of names */
    size_t label_count;
    const char *metric; /* of `total`; NULL if the run does not have it */
    double total;
} run_row;

/* The value of a label; NULL if the run does not have it. */
const char *run_label_value(const run_row *run, const char *name);

/* Which runs. */
typedef struct run_filter {
    const run_label *labels; /* that runs have; of several with one name, one of them */
    size_t label_count;
    uint64_t from, to;  /* times at which they began; `to` is exclusive, 0: no end */
    int64_t before;     /* 0, or a run: only those that began before it */
    const char *metric; /* of the totals; NULL: the first of each run */
    uint64_t limit;     /* the newest; 0: all */
} run_filter;

/* Not 0 ends the list. */
typedef int (*run_row_fn)(void *user, const run_row *run);

/* The newest first. */
int catalogue_list(catalogue *c, const run_filter *filter, run_row_fn on_run, void *user,
                   catalogue_error *error);
/* How many runs the filter has, whatever its limit. */
int catalogue_count(catalogue *c, const run_filter *filter, uint64_t *count, catalogue_error *error);

#endif
