/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `lode runs`. */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "command.h"
#include "runs/catalogue.h"
#include <lode/private/statistics.h>

/* In the order of the words of the first operand. */
enum {
    RUNS_ADD,
    RUNS_LIST,
    RUNS_TREND,
    RUNS_CHECK,
    RUNS_REMOVE,
    RUNS_COPY,
    RUNS_FLUSH,
    RUNS_STATUS,
    RUNS_RETAIN,
    RUNS_INIT,
    RUNS_MIGRATE,
    RUNS_GRANT
};

#define RUNS_NO_LIMIT UINT64_MAX /* --limit was not given */

typedef struct runs_options {
    shared_options shared;
    const char *catalogue; /* NULL: the default one */
    const char *project;   /* of a server; NULL: the only one */
    text_list labels;
    const char *time;
    const char *since, *until;
    int is_again;
    const char *same; /* names of labels, with commas */
    const char *svg;
    double min_change; /* negative: not given */
    uint64_t history;  /* runs that a check takes; 0: the default */
    uint64_t run;      /* that is checked; 0: the newest */
    int is_inclusive;
} runs_options;

/* ---- the catalogue ---- */

/* Opens what --catalogue names. EXIT_DONE, or EXIT_TROUBLE after a message. */
int runs_open(catalogue **c, const runs_options *options, catalogue_mode mode);
/* The same with another file or server. */
int runs_open_at(catalogue **c, const char *address, const runs_options *options, catalogue_mode mode);
/* Whether it can be opened: a file that is there, or a plug-in for servers, which are not asked. */
int runs_try(const char *address, const char *project);
/* A server, which is asked once if `is_hasty`. */
int runs_open_server(catalogue **c, const char *address, const runs_options *options, int is_hasty);
/* The path that is used; free() it. NULL after a message. */
char *runs_catalogue_path(const runs_options *options);
/* Of a server, as --project or LODE_PROJECT names it; NULL: the only one. */
const char *runs_project(const runs_options *options);
/* The directory of the user's data; free() it. NULL if there is no home. */
char *runs_data_directory(void);
/* Creates what is missing of the directories of a path, for the user alone. */
int runs_make_folders(const char *path);
/* Says what the catalogue said. Returns EXIT_TROUBLE. */
int runs_failed(const catalogue_error *error);

/* ---- labels ---- */

#define RUNS_LABEL_MAX 128

typedef struct runs_labels {
    run_label items[RUNS_LABEL_MAX];
    char *texts[RUNS_LABEL_MAX][2]; /* the same, to free */
    size_t count;
} runs_labels;

/* Never NULL; free() it. */
char *runs_copy(const char *text);

/* Replaces the label of that name; an empty value removes it. Both are copied. */
void runs_label_set(runs_labels *labels, const char *name, const char *value);
/* Labels from the environment of CI systems and of Slurm. */
void runs_labels_of_environment(runs_labels *labels);
/* What --label says: EXIT_DONE, or EXIT_TROUBLE after a message. */
int runs_labels_parse(runs_labels *labels, const text_list *texts, int is_filter);
void runs_labels_free(runs_labels *labels);
/* A member "labels" of JSON; "branch=main; commit=12ab" for people, which the caller frees. */
void runs_labels_write(out *o, const run_label *labels, size_t count);
char *runs_labels_text(const run_label *labels, size_t count);

/* ---- stores ---- */

/* The size of the files of a store, and when the last of them was written. */
void runs_measure_files(const char *path, uint64_t *bytes, uint64_t *modified);
/*
 * The path of the store of a run, if it is there and as it was when the run was added. EXIT_DONE,
 * or EXIT_TROUBLE after a message. free() the path in both cases.
 */
int runs_store_of(const char *address, const char *project, int64_t run, char **path);

/* ---- what is in a store ---- */

typedef struct runs_gathered runs_gathered;

/* The store as the catalogue has it. EXIT_DONE, or EXIT_TROUBLE after a message. */
int runs_gather(runs_gathered **gathered, const invocation *call, const char *path);
const run_record *runs_gathered_record(const runs_gathered *gathered);
void runs_gathered_free(runs_gathered *gathered);

/* ---- the spool ---- */

/* The directory for runs that a server could not take; free() it. NULL: there is none. */
char *runs_spool(const char *address, const runs_options *options);
/* Stores a run there, and says why. */
int runs_spool_add(const invocation *call, const char *folder, const run_record *run, run_sameness sameness,
                   const char *why);
/* Delivers some of what is there, without a word. */
void runs_spool_deliver(catalogue *c, const char *folder);

/* ---- times and filters ---- */

/* "2026-03-02", "2026-03-02T09:00Z" or "30d", "12h" ago. EXIT_DONE, or a message. */
int runs_time(const char *option, const char *text, uint64_t *nanoseconds);
uint64_t runs_now(void);
/* Runs that --label, --since and --until select. The labels belong to `labels`. */
int runs_filter(run_filter *filter, runs_labels *labels, const runs_options *options);

/* ---- history ---- */

/* Runs that can be compared with one run: those with the same labels. */
typedef struct runs_history {
    run_filter filter;
    runs_labels labels;
    runs_labels same;  /* of the run, those that --same names */
    runs_labels known; /* of the run, all */
    int64_t run;
    uint64_t begun;
    char *default_metric;
    int64_t metric; /* that was asked for, or the default one */
    char *metric_name;
} runs_history;

/*
 * The newest run of --label, --since and --until and, for the filter, those that have the same
 * labels. EXIT_DONE, or EXIT_TROUBLE after a message; runs_history_close is due in both cases.
 */
int runs_history_open(runs_history *h, catalogue *c, const runs_options *options);
void runs_history_close(runs_history *h);
/* Whether --metric is all of them. */
int runs_wants_all(const runs_options *options);
/* The metric of --metric, by its name or a part of it, or the default one of the run. */
int runs_history_metric(runs_history *h, catalogue *c, const runs_options *options);
/*
 * The function that a text means: by its name, its name without parameters, a part of it, or a
 * pattern. EXIT_TROUBLE after a message if there is none or more than one. free()
 * the name.
 */
int runs_find_function(catalogue *c, const char *text, int64_t *id, char **name);
/* "run 12, 2026-03-02 09:00, commit=12ab": for people; free() it. */
char *runs_describe(catalogue *c, int64_t run);

/* ---- plots ---- */

typedef struct runs_plot {
    const char *title, *metric;
    const run_point *points;
    const double *values;
    size_t count;
    const lode_change_points *changes; /* may be NULL */
    metric_unit unit;
} runs_plot;

void runs_plot_text(out *o, const runs_plot *plot);
/* EXIT_DONE, or EXIT_TROUBLE after a message. */
int runs_plot_svg(const char *path, const runs_plot *plot);

/* ---- commands ---- */

int runs_add(const invocation *call, const char *store);
int runs_list(const invocation *call);
int runs_trend(const invocation *call, const char *function);
int runs_check(const invocation *call);
int runs_copy_all(const invocation *call, const char *from, const char *to);
int runs_flush(const invocation *call);
int runs_status(const invocation *call);
int runs_retain(const invocation *call, const char *span);
int runs_set_up(const invocation *call, int is_new);
int runs_grant(const invocation *call, const char *role, const char *level);

#endif
