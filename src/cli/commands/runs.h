/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `lode runs`. */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "command.h"
#include "runs/catalogue.h"

/* In the order of the words of the first operand. */
enum {
    RUNS_ADD,
    RUNS_LIST
};

typedef struct runs_options {
    shared_options shared;
    const char *catalogue; /* NULL: the default one */
    text_list labels;
    const char *time;
    const char *since, *until;
    int is_again;
} runs_options;

/* ---- the catalogue ---- */

/* Opens what --catalogue names. EXIT_DONE, or EXIT_TROUBLE after a message. */
int runs_open(catalogue **c, const runs_options *options, catalogue_mode mode);
/* The path that is used; free() it. NULL after a message. */
char *runs_catalogue_path(const runs_options *options);
/* Says what the catalogue said. Returns EXIT_TROUBLE. */
int runs_failed(const catalogue_error *error);

/* ---- labels ---- */

#define RUNS_LABEL_MAX 128

typedef struct runs_labels {
    run_label items[RUNS_LABEL_MAX];
    size_t count;
} runs_labels;

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

/* ---- what is in a store ---- */

typedef struct runs_gathered runs_gathered;

/* The store as the catalogue has it. EXIT_DONE, or EXIT_TROUBLE after a message. */
int runs_gather(runs_gathered **gathered, const invocation *call, const char *path);
const run_record *runs_gathered_record(const runs_gathered *gathered);
void runs_gathered_free(runs_gathered *gathered);

/* ---- times and filters ---- */

/* "2026-03-02", "2026-03-02T09:00Z" or "30d", "12h" ago. EXIT_DONE, or a message. */
int runs_time(const char *option, const char *text, uint64_t *nanoseconds);
uint64_t runs_now(void);
/* Runs that --label, --since and --until select. The labels belong to `labels`. */
int runs_filter(run_filter *filter, runs_labels *labels, const runs_options *options);

/* ---- commands ---- */

int runs_add(const invocation *call, const char *store);
int runs_list(const invocation *call);

#endif
