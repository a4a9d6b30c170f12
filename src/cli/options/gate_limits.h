/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of `lode gate`: from options, and from a file in which a line is an option without its
 * dashes.
 */
#ifndef CLI_GATE_LIMITS_H
#define CLI_GATE_LIMITS_H

#include "text/number.h"

#include <stddef.h>
#include <stdint.h>

#define GATE_FILE_MAX    65536 /* bytes of a file */
#define GATE_LINE_MAX    2048  /* bytes of a line, and of an option's argument */
#define GATE_LIMIT_MAX   256   /* limits */
#define GATE_METRIC_MAX  16
#define GATE_EXCLUDE_MAX 64
#define GATE_PROBLEM_MAX 256

typedef enum gate_kind {
    GATE_TOTAL,     /* --max-slower: everything, in each metric */
    GATE_METRIC,    /* --max METRIC=PERCENT: everything, in that metric */
    GATE_FUNCTIONS, /* --max-function: every function with a share, in each metric */
    GATE_FUNCTION,  /* --max-exclusive NAME=PERCENT */
    GATE_SUBTREE,   /* --max-inclusive NAME=PERCENT */
    GATE_ABSENT,    /* --absent NAME: not in the new runs */
    GATE_IMBALANCE  /* --max-imbalance: max/mean - 1 of the new runs */
} gate_kind;

typedef struct gate_limit {
    gate_kind kind;
    char *name;    /* of a function or a metric; NULL: none */
    double amount; /* a fraction: 0.05 is 5 % */
} gate_limit;

typedef struct gate_limits {
    gate_limit limits[GATE_LIMIT_MAX];
    size_t count;
    char *metrics[GATE_METRIC_MAX];
    size_t metric_count;
    char *excludes[GATE_EXCLUDE_MAX]; /* patterns of functions that are not judged */
    size_t exclude_count;
    double min_share;
    double level;
    double floors[UNIT_BYTES + 1]; /* by metric_unit: smaller changes do not matter */
    uint64_t require_runs;
    int statistic; /* as in statistic.h */
    int fails_unsure;
    char problem[GATE_PROBLEM_MAX]; /* what is wrong, in words */
} gate_limits;

void gate_limits_init(gate_limits *limits);
void gate_limits_free(gate_limits *limits);

/* Takes one limit, by the name of its option; 0, or -1 and the problem. */
int gate_limits_set(gate_limits *limits, const char *key, const char *value);
/* Takes the limits of a file; the problem begins with the line. */
int gate_limits_read(gate_limits *limits, const char *text, size_t size);
/* The default limits, if none was set. */
void gate_limits_complete(gate_limits *limits);

/* Such as "max-function 10%". */
void gate_limit_text(const gate_limit *limit, char *buffer, size_t capacity);

#endif
