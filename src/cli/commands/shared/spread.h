/* SPDX-License-Identifier: BSD-3-Clause */
/* How a number spreads over profiles: as sentences, as JSON, as bars. */
#ifndef CLI_SPREAD_H
#define CLI_SPREAD_H

#include "output/out.h"

#include <lode/unstable.h>

/* Text: three lines. JSON: an object. */
void spread_print(out *o, const char *key, const lode_distribution *d, metric_unit unit);

#define BAR_SIZE 256
/* A bar of up to `width` columns, at most 80. */
void spread_bar(char buffer[BAR_SIZE], double fraction, unsigned width, int is_utf8);

/* A table of how many values lie in each of `bin_count` equal ranges. */
void spread_histogram(out *o, const char *key, const lode_distribution *d, const double *values, size_t count,
                      size_t bin_count, metric_unit unit);

#endif
