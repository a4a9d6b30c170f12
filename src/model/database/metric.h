/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics, scopes and statistics in memory. */
#ifndef LODE_MODEL_METRIC_H
#define LODE_MODEL_METRIC_H

#include <lode/metric.h>

struct lode_scope {
    uint32_t index;
    uint8_t type;
    uint8_t propagation_index;
    const char *name;
};

struct lode_metric {
    uint32_t index;
    uint16_t scope_count;
    uint16_t statistic_count;
    const char *name;
    lode_metric_scope *scopes;
    lode_metric_statistic *statistics;
};

/* How a statistic uses the value of one profile. */
enum lode_formula {
    LODE_FORMULA_VALUE,  /* $$ */
    LODE_FORMULA_ONE,    /* 1 */
    LODE_FORMULA_SQUARE, /* ($$^2) */
    LODE_FORMULA_OTHER,
};

enum lode_formula lode_formula_of(const char *text);

#endif
