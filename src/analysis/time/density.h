/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of durations over time, while a search fills them. */
#ifndef LODE_ANALYSIS_DENSITY_H
#define LODE_ANALYSIS_DENSITY_H

#include "analysis/search/search.h"
#include "analysis/time/intervals.h"
#include <lode/unstable/density.h>

/* Empty cells for a time window; to == from: without columns. */
lode_status lode_density_init(lode_density **out, struct lode_intervals columns, lode_error *error);
/* Counts a track. Only those that match the method best stay. */
lode_status lode_density_add(lode_density *density, const struct lode_found *found, uint64_t duration,
                             lode_error *error);
/* Sorts the cells. Nothing can be added after that. */
void lode_density_finish(lode_density *density);

#endif
