/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps a catalogue: SQLite, in the program, or PostgreSQL, in a plug-in whose variable
 * CATALOGUE_BACKEND_SYMBOL is a catalogue_backend. Each asks its database; what does not depend on
 * one, such as the order of a series, is in runs/catalogue.c.
 */
#ifndef RUNS_BACKEND_H
#define RUNS_BACKEND_H

#include "runs/catalogue.h"

#define CATALOGUE_BACKEND_SYMBOL  "lode_catalogue_backend"
#define CATALOGUE_BACKEND_VERSION 1

/* Longer texts are cut when they are added. */
#define CATALOGUE_TEXT_MAX 4096
/* Labels of a run, and of a filter. */
#define CATALOGUE_LABELS_MAX 128
/* Metrics of a run that a server takes. */
#define CATALOGUE_METRICS_MAX 1024

/* What every back end has first. */
struct catalogue {
    const struct catalogue_backend *backend;
    char *name; /* as messages have it */
};

/* A cost of one run. */
typedef void (*run_value_fn)(void *user, int64_t run, double value);

/* All: 0, or -1 and the error, unless they say otherwise; as the functions of runs/catalogue.h. */
typedef struct catalogue_backend {
    unsigned version;
    /* It gets records in UTF-8, with each function once, and with an identity (runs/clean.h). */
    int needs_clean_records;
    /* The version of the library below it. */
    const char *(*library)(void);
    int (*open)(catalogue **out, const catalogue_place *place, catalogue_error *error);
    void (*close)(catalogue *c);
    int (*add)(catalogue *c, run_record *run, run_sameness sameness, catalogue_error *error);
    int (*read)(catalogue *c, int64_t run, run_record_fn on_record, void *user, catalogue_error *error);
    int (*remove)(catalogue *c, int64_t run, catalogue_error *error);
    int (*list)(catalogue *c, const run_filter *filter, run_row_fn on_run, void *user,
                catalogue_error *error);
    int (*count)(catalogue *c, const run_filter *filter, uint64_t *count, catalogue_error *error);
    int (*metrics)(catalogue *c, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error);
    int (*functions)(catalogue *c, run_name_fn on_function, void *user, catalogue_error *error);
    int (*find_function)(catalogue *c, const char *name, int64_t *id, catalogue_error *error);
    /* In any order, whatever the limit of the filter. free() the points, also after an error. */
    int (*series)(catalogue *c, const run_filter *filter, int64_t metric, int64_t function,
                  run_point **points, size_t *count, catalogue_error *error);
    /* In any order. catalogue_free_functions them, also after an error. */
    int (*run_functions)(catalogue *c, int64_t run, int64_t metric, run_function **functions, size_t *count,
                         catalogue_error *error);
    /* The newest first. free() the numbers, also after an error. */
    int (*runs)(catalogue *c, const run_filter *filter, int64_t **runs, size_t *count,
                catalogue_error *error);
    /* Costs of runs of the set, and maybe of others. */
    int (*values)(catalogue *c, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                  run_value_fn on_value, void *user, catalogue_error *error);
    int (*retain)(catalogue *c, uint64_t before, uint64_t *removed, catalogue_error *error);
    int (*status)(catalogue *c, catalogue_state *state, catalogue_error *error);
    /* NULL: not for this kind. */
    int (*set_up)(catalogue *c, int is_new, int64_t *schema, catalogue_error *error);
    int (*grant)(catalogue *c, const char *role, const char *level, catalogue_error *error);
} catalogue_backend;

/* NULL if the program was built without SQLite. */
extern const catalogue_backend *const catalogue_sqlite;

#endif
