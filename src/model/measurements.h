/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements in memory: counts and totals of all files, and the names that they use. */
#ifndef LODE_MODEL_MEASUREMENTS_H
#define LODE_MODEL_MEASUREMENTS_H

#include "base/io/range.h"
#include "base/memory/blob.h"
#include "base/memory/intern.h"
#include "base/memory/map.h"
#include <lode/unstable/measurements.h>

struct lode_measurements {
    struct lode_arena arena;
    struct lode_strings strings;
    struct lode_array profiles;   /* lode_measured_profile */
    struct lode_array metrics;    /* lode_measured_metric */
    struct lode_array modules;    /* lode_measured_module */
    struct lode_array structures; /* lode_measured_structure */
    struct lode_array skips;      /* lode_measured_skip */
    struct lode_map metric_of;    /* from the number of a name */
    struct lode_map module_of;    /* from the number of a path */
    struct lode_map id_kinds;     /* from a kind to the number of its name */
    struct lode_blob buffer;      /* of a string that is being added */
};

/* NULL if out of memory. */
lode_measurements *lode_measurements_new(void);
/* A string of bytes without NUL; its number may be wanted, too. NULL if out of memory. */
const char *lode_measurements_string(lode_measurements *self, struct lode_range bytes, uint32_t *number);
/* The item of a name, added with that name if new; NULL if out of memory. */
lode_measured_metric *lode_measurements_add_metric(lode_measurements *self, struct lode_range name,
                                                   bool *added);
lode_measured_module *lode_measurements_add_module(lode_measurements *self, struct lode_range path);
/* False if out of memory. */
bool lode_measurements_add_id_kind(lode_measurements *self, unsigned kind, struct lode_range name);
bool lode_measurements_add_skip(lode_measurements *self, const char *file, const char *text);

#endif
