/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by profile. */
#ifndef LODE_ANALYSIS_SPREAD_H
#define LODE_ANALYSIS_SPREAD_H

#include <lode/spread.h>

struct lode_spread {
    const lode_database *db;
    const lode_metric *metric;
    lode_spread_row *rows;
    size_t count;
    uint32_t empty, without;
    lode_values_path path;
};

#endif
