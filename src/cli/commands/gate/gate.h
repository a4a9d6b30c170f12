/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode gate`: what the parts of the command share. */
#ifndef CLI_GATE_H
#define CLI_GATE_H

#include "command.h"
#include "options/gate_limits.h"
#include "stores/compare_side.h"
#include "stores/judged.h"

#include <lode/private/statistics.h>
#include <lode/unstable.h>

typedef struct gate_options {
    shared_options shared;
    text_list base, new_stores;
    const char *limits, *junit, *report, *rules;
    text_list max, exclusive, inclusive, absent, floor;
    const char *max_slower, *max_function, *max_imbalance, *require_runs;
    double min_share;  /* below 0: not given */
    double confidence; /* 0: not given */
    int fail_unsure;
    int statistic; /* -1: not given */
} gate_options;

typedef enum gate_outcome {
    GATE_PASS,
    GATE_FAIL,
    GATE_CANNOT_TELL
} gate_outcome;

/* One limit, applied to one row in one metric. */
typedef struct gate_verdict {
    const gate_limit *limit;
    gate_outcome outcome;
    const char *reason; /* why, where numbers do not say it; NULL: they do */
    char *within;       /* moved within this; NULL: not moved */
    char *name;         /* of the function; NULL: everything */
    size_t metric;      /* SIZE_MAX: none */
    int is_judged;      /* there is a judgement; others have at most base and new */
    lode_judgement judgement;
    double share;         /* of the larger side; NaN: does not apply */
    double adjusted;      /* p of being beyond the limit, for all tests together; NaN: no test */
    uint32_t needed_runs; /* a side, to decide; 0: not known, or decided */
} gate_verdict;

typedef struct gate_job {
    const invocation *call;
    const gate_options *options;
    gate_limits limits;
    side_set sides;
    size_t base_runs, new_runs;
    lode_name_rules *rules;
    const lode_cost **costs; /* by run and metric, those of base first */
    double *scales;          /* the same */
    lode_comparison *comparison;
    lode_filter *filter;
    int has_default_metrics;      /* nobody asked for one */
    lode_judgements **judgements; /* by metric: exclusive and inclusive; NULL: not needed yet */
    const char **skipped;         /* by metric: why it is not judged; NULL: it is */
    int names;                    /* form of names to show */
    size_t rows;                  /* tests that share the level */
    gate_verdict *verdicts;
    size_t count, capacity;
    size_t outcomes[3]; /* how many there are of each */
} gate_job;

/* Applies all limits. EXIT_DONE, or EXIT_TROUBLE after a message. */
int gate_judge(gate_job *job);

const char *gate_outcome_name(gate_outcome outcome);
/* What a verdict is about, such as "time of solve". */
void gate_subject(const gate_job *job, const gate_verdict *verdict, char *buffer, size_t capacity);
/* Its numbers in one line. */
void gate_numbers(const gate_job *job, const gate_verdict *verdict, char *buffer, size_t capacity);

/* All verdicts, in the format that was asked for. */
void gate_print(gate_job *job);
/* Writes all verdicts as JUnit XML. EXIT_TROUBLE after a message. */
int gate_write_junit(const gate_job *job, const char *path);

#endif
