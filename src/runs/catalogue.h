/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A catalogue of runs: the costs of many stores by function, for trends. It is an SQLite file, or a
 * schema of a PostgreSQL server (runs/backend.h). doc/runs.md describes the tables. Others may have
 * written them: nothing in them is trusted.
 */
#ifndef RUNS_CATALOGUE_H
#define RUNS_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct catalogue catalogue;

/* What went wrong, in words. */
typedef struct catalogue_error {
    char text[768];
    int is_away; /* a server cannot be reached, or does not answer: it may later */
} catalogue_error;

/* The version of SQLite; NULL if the program was built without it. */
const char *catalogue_library(void);

typedef enum catalogue_mode {
    CATALOGUE_READ,
    CATALOGUE_WRITE /* creates the file, which nobody else can read, if there is none */
} catalogue_mode;

/* Where a catalogue is. */
typedef struct catalogue_place {
    const char *address; /* the path of a file, or the address of a server */
    catalogue_mode mode;
    const char *project;   /* of a server; NULL: the only one that the user has */
    unsigned milliseconds; /* that a server may take for an answer, attempts included */
    int is_hasty;          /* one attempt: somebody waits, or can keep what is added */
} catalogue_place;

/* Whether it is that of a server: "postgresql://...", "postgres://..." or "service=NAME". */
int catalogue_is_server(const char *address);

/* All: 0, or -1 and the error, unless they say otherwise. */
int catalogue_open(catalogue **out, const char *path, catalogue_mode mode, catalogue_error *error);
/*
 * The catalogue of a server, through a back end that the program has loaded. The connection is made
 * by the first question.
 */
struct catalogue_backend;
int catalogue_open_server(catalogue **out, const struct catalogue_backend *backend,
                          const catalogue_place *place, catalogue_error *error);
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

/* Of 16 bytes. What has the same one is the same run. */
#define RUN_IDENTITY_SIZE 16

/* When a run is the same as one that the catalogue has. */
typedef enum run_sameness {
    RUN_OF_SAME_STORE, /* the same path, size and time of writing; on a server, of this host */
    RUN_NEVER_SAME,
    RUN_OF_SAME_ADD /* also the same time of adding: a copy */
} run_sameness;

typedef struct run_record {
    int64_t id; /* set by catalogue_add */
    /* NULL, or what a server recognises the run by, instead of what the sameness says. */
    const unsigned char *identity;
    const unsigned char *store; /* the same of the store; set by catalogue_add */
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

/* In one transaction. Returns 1, and the id of the run, if the catalogue has the same run. */
int catalogue_add(catalogue *c, run_record *run, run_sameness sameness, catalogue_error *error);
/* What catalogue_add takes if the record does not have one. */
void catalogue_identity(const run_record *run, run_sameness sameness,
                        unsigned char identity[RUN_IDENTITY_SIZE]);

/* Valid until the callback returns. Not 0 is an error, which the callback has reported. */
typedef int (*run_record_fn)(void *user, const run_record *run);
/* Everything that the catalogue has of a run. 1: there is no such run. */
int catalogue_read(catalogue *c, int64_t run, run_record_fn on_record, void *user, catalogue_error *error);

/*
 * Removes a run in one transaction, and from a file also functions and metrics that no other run
 * has. Returns 1 if there is no such run.
 */
int catalogue_remove(catalogue *c, int64_t run, catalogue_error *error);
/* Removes runs that began before a time, the first of a month; of a server, of all projects. */
int catalogue_retain(catalogue *c, uint64_t before, uint64_t *removed, catalogue_error *error);

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
    int64_t only;       /* 0, or a run */
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

/* ---- history ---- */

/* Metrics and functions by number; `value` is the total of a metric in the run, if there is one. */
typedef int (*run_name_fn)(void *user, int64_t id, const char *name, double value);

/* The metrics of a run, in the order in which the catalogue met them; of run 0, all metrics. */
int catalogue_metrics(catalogue *c, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error);
/* All functions, in the order of their names. */
int catalogue_functions(catalogue *c, run_name_fn on_function, void *user, catalogue_error *error);
/* 1 and the number of a function, by its exact name; 0 if there is none. */
int catalogue_find_function(catalogue *c, const char *name, int64_t *id, catalogue_error *error);

/* One run of a series. */
typedef struct run_point {
    int64_t run;
    uint64_t begun;
    double exclusive, inclusive;
} run_point;

/*
 * What a function cost in the runs of the filter that have it, in chronological order; function 0
 * is everything. free() the points.
 */
int catalogue_series(catalogue *c, const run_filter *filter, int64_t metric, int64_t function,
                     run_point **points, size_t *count, catalogue_error *error);

/* One function of a run. */
typedef struct run_function {
    int64_t id;
    char *name;
    double exclusive, inclusive;
} run_function;

/* The functions of a run, the most expensive first; catalogue_free_functions them. */
int catalogue_run_functions(catalogue *c, int64_t run, int64_t metric, run_function **functions,
                            size_t *count, catalogue_error *error);
void catalogue_free_functions(run_function *functions, size_t count);

/* A set of runs in chronological order. */
typedef struct run_set {
    int64_t *runs;
    size_t count;
    struct run_position *by_id; /* the same, sorted by number */
    int64_t least, greatest;    /* of the numbers */
} run_set;

int catalogue_runs(catalogue *c, const run_filter *filter, run_set *set, catalogue_error *error);
void run_set_free(run_set *set);
/*
 * What a function cost in each of the runs: NaN where one does not have it. Function 0 is all.
 * Reads the part of the function's history from the first of the runs to the last.
 */
int catalogue_values(catalogue *c, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                     double *values, catalogue_error *error);

/* ---- the catalogue as a whole ---- */

typedef struct catalogue_state {
    char library[96];           /* what keeps it, with its version */
    int64_t schema;             /* the version of its tables */
    char project[80], user[80]; /* of a server; else "" */
    int can_write;
    uint64_t runs, functions, metrics, bytes;
    uint64_t first, last; /* when the oldest and the newest run began; 0: there is none */
} catalogue_state;

int catalogue_status(catalogue *c, catalogue_state *state, catalogue_error *error);

/*
 * Creates the tables on a server, or brings them to the version of this program; with `is_new` also
 * a project, to which the user may add. Of several processes at once one does it. Not for files.
 */
int catalogue_set_up(catalogue *c, int is_new, int64_t *schema, catalogue_error *error);
/* What a role of a server may do in the project: "reader", "writer", "admin" or "none". */
int catalogue_grant(catalogue *c, const char *role, const char *level, catalogue_error *error);

#endif
