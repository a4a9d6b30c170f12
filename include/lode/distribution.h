/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributions: how a number spreads over profiles. */
#ifndef LODE_DISTRIBUTION_H
#define LODE_DISTRIBUTION_H

#include <lode/status.h>
#include <stddef.h>

LODE_BEGIN_DECLS

/* Percentiles interpolate linearly between the closest ranks. */
typedef struct lode_distribution {
    uint64_t count;
    double sum, min, max, mean, stddev; /* stddev of the population */
    double p5, p25, p50, p75, p95, p99;
    /* max / mean - 1: how much longer the slowest took than if all had the same */
    double imbalance;
} lode_distribution;

/* All zero for no values. Sorts the values in place. MT: any thread. */
LODE_API void lode_distribution_of(lode_distribution *out, double *values, size_t count);

LODE_END_DECLS
#endif
