/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode compare`: what the parts of the command share. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "command.h"
#include "stores/compare_side.h"
#include "stores/judged.h"

#include <lode/private/statistics.h>
#include <lode/unstable.h>

enum {
    COMPARE_BY_DIFFERENCE,
    COMPARE_BY_RATIO,
    COMPARE_BY_BASE,
    COMPARE_BY_NEW,
    COMPARE_BY_NAME
};

typedef struct compare_options {
    shared_options shared;
    text_list base, new_stores;
    const char *by, *function, *rules;
    int inclusive, normalize, all, tree, explain, diagnose;
    int statistic, scaling;       /* scaling: -1 is none */
    double confidence, min_share; /* as fractions */
    uint64_t ranks_base, ranks_new;
    side_part base_part, new_part; /* of stores */
} compare_options;

/* The question, the open stores, and the comparison. */
typedef struct compare_job {
    const invocation *call;
    const compare_options *options;
    side_set sides;
    size_t base_runs, new_runs;
    lode_group_by by;
    const char *by_name;
    lode_name_rules *rules;
    lode_filter *filter;
    const lode_cost **costs; /* by run and metric, those of base first */
    double *scales;          /* the same */
    lode_comparison *comparison;
    int names;                                      /* form of names to show */
    lode_diagnosis *base_diagnosis, *new_diagnosis; /* of --diagnose; NULL: without */
} compare_job;

/* Numbers of a row, or of everything, in one metric. */
typedef struct compare_amounts {
    double base, new_value; /* several runs: geometric means */
    double difference;
    double ratio;    /* NaN: 0 in both */
    double error;    /* standard error of the difference by sampling; NaN: not known */
    int is_beyond;   /* more than sampling error; -1: not known */
    int has_verdict; /* several runs */
    lode_judgement judgement;
    double adjusted_p;
    lode_verdict verdict;
} compare_amounts;

typedef struct compare_row {
    size_t index; /* in the comparison */
    const lode_compare_row *row;
    compare_amounts amounts;
    double base_inclusive, new_inclusive, base_exclusive, new_exclusive;
    uint32_t ranks, ranks_same; /* profiles of both sides, and those with this sign */
    char *name;
} compare_row;

/* The rows of one metric that changed, sorted. */
typedef struct compare_table {
    size_t metric;
    compare_row *rows;
    size_t count, unchanged;
    compare_amounts total;
    double gross;           /* sum of absolute differences */
    size_t tests;           /* that share the level */
    size_t pooled_count;    /* rows that are too small for a test of their own */
    compare_amounts pooled; /* their sum, if has_pooled */
    int has_pooled, has_speed, is_equal_speed;
    lode_estimate speed; /* of new runs, as a ratio of costs */
} compare_table;

/* EXIT_DONE, or EXIT_TROUBLE after a message; compare_table_free is due in both cases. */
int compare_table_make(compare_table *table, compare_job *job, size_t metric);
void compare_table_free(compare_table *table);

/* Counts profiles whose difference has the sign of the row, for the first rows of each table. */
int compare_count_ranks(compare_job *job, compare_table *tables, size_t shown_most);
/* The name of a row of one side, for the caller to free; NULL for NULL. */
char *compare_name(const compare_job *job, const lode_compare_row *row, const lode_hotspot *hotspot);

/* The stores, and what was asked. */
void compare_heading(out *o, const compare_job *job);
/* The totals of a metric, and how much was matched. */
void compare_say_metric(out *o, const compare_job *job, const compare_table *table);
/* What the marks mean, and what is not known. */
void compare_footing(out *o, const compare_job *job, const compare_table *tables);

/* Diagnoses both runs, if --diagnose is given. EXIT_TROUBLE after a message. */
int compare_diagnose(compare_job *job);
/* What changed in kind: time of threads by activity, and statements that are new or gone. */
void compare_print_kinds(out *o, const compare_job *job);

/* By function, line, loop, module or file. */
int compare_print_rows(compare_job *job);
/* By profiles or groups of them. */
int compare_print_profiles(compare_job *job);
/* Both trees as one. */
int compare_print_tree(compare_job *job);
/* The built-in rules and those of a file; NULL: none. EXIT_TROUBLE after a message. */
int compare_open_rules(lode_name_rules **rules, const char *path);
/* Losses of efficiency from fewer to more ranks. */
int compare_print_scaling(compare_job *job);
/* Which rules changed which names. */
int compare_print_rules(compare_job *job);

/* "more" or "slower", as the metric is. */
const char *compare_verdict_word(const side_metric *metric, lode_verdict verdict);

#endif
