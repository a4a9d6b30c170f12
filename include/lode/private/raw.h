/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in the files of measurements, as hpcrun wrote it: nodes, values and samples. */
#ifndef LODE_PRIVATE_RAW_H
#define LODE_PRIVATE_RAW_H

#include <lode/unstable/measurements.h>

LODE_BEGIN_DECLS

/* Structs that callbacks get are the library's own; new fields come at the end. */

typedef struct lode_raw_attribute {
    const char *name, *value;
} lode_raw_attribute;

/* Load modules have numbers from 1. */
typedef struct lode_raw_module {
    const char *path;
    uint64_t flags;
} lode_raw_module;

/* Metrics have numbers from 0. */
typedef struct lode_raw_metric {
    const char *name, *description;
    const char *formula; /* "": measured; else computed, and #N is metric N */
    const char *format;  /* how viewers should print it; may be "" */
    uint64_t period;     /* values are stored in units of it */
    unsigned type, visibility;
    int is_integer, is_relation, shows_percent;
} lode_raw_metric;

typedef struct lode_raw_id_kind {
    unsigned kind;
    const char *name;
} lode_raw_id_kind;

/* Of an id tuple. */
typedef struct lode_raw_id {
    unsigned kind;
    unsigned meaning; /* 0 both are valid, 1 and 2 logical ids are to be given, 3 logical only */
    uint64_t physical, logical;
} lode_raw_id;

/* The tables of a profile. */
typedef struct lode_raw_profile {
    const char *file;
    const lode_raw_attribute *attributes; /* those that hpcrun is known to write */
    const lode_raw_module *modules;
    const lode_raw_metric *metrics;
    const lode_raw_id_kind *id_kinds;
    const lode_raw_id *ids;
    uint32_t attribute_count, module_count, metric_count, id_kind_count, id_count;
    uint64_t node_count, value_count;
} lode_raw_profile;

/* A node of the calling context tree. Parents come before children. */
typedef struct lode_raw_node {
    uint32_t id, parent; /* 0: it is the root */
    unsigned module;     /* its number; 0: a placeholder, and `offset` is its code */
    unsigned flags;      /* bit 0: its callers were unwound */
    uint64_t offset;
} lode_raw_node;

typedef struct lode_raw_value {
    uint32_t node, metric; /* the node's id; the metric's number */
    int is_integer;        /* as its metric is; else floating point */
    uint64_t bits;         /* as stored: an integer, or a double */
    double number;         /* the same as a number, in units of the period */
} lode_raw_value;

typedef struct lode_raw_trace {
    const char *file;
    uint64_t flags, sample_count;
} lode_raw_trace;

typedef struct lode_raw_sample {
    uint64_t time; /* ns since 1970 */
    uint32_t node;
} lode_raw_sample;

/*
 * Callbacks; each may be NULL, and a nonzero result ends the walk. Of each profile that can be
 * read: on_profile, on_nodes and on_values; if it has a trace, on_trace and on_samples; then
 * on_end. For a trace file that is opened alone, on_trace comes first. Arrays come in parts, at
 * least one of each, and are valid during the call.
 */
typedef struct lode_raw_visitor {
    size_t size;
    int (*on_profile)(void *user, const lode_raw_profile *profile);
    int (*on_nodes)(void *user, const lode_raw_node *nodes, size_t count);
    int (*on_values)(void *user, const lode_raw_value *values, size_t count);
    int (*on_trace)(void *user, const lode_raw_trace *trace);
    int (*on_samples)(void *user, const lode_raw_sample *samples, size_t count);
    int (*on_end)(void *user);
    void *user;
} lode_raw_visitor;
#define LODE_RAW_VISITOR_INIT                                                                                \
    {                                                                                                        \
        sizeof(lode_raw_visitor), NULL, NULL, NULL, NULL, NULL, NULL, NULL                                   \
    }

/*
 * Reads measurements as lode_measurements_open does, and shows what is in each profile meanwhile.
 * Files that cannot be read are not shown; lode_measurements_skip tells of them. `out` is set if it
 * succeeds. LODE_ERR_CANCELLED if a callback ended it. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_raw_visit(lode_measurements **out, const char *path,
                                                 const lode_raw_visitor *visitor, lode_error *error);

LODE_END_DECLS
#endif
