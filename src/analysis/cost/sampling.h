/* SPDX-License-Identifier: BSD-3-Clause */
/* What one sample costs, where no trace lines say how many there are. */
#ifndef LODE_ANALYSIS_SAMPLING_H
#define LODE_ANALYSIS_SAMPLING_H

#include <lode/cost.h>

/*
 * The lower quartile of the values at contexts, in some profiles at equal distances: many are one
 * sample. `marks` says which profiles count; NULL: all. 0 if too few values tell.
 */
lode_status lode_sampling_period_of(const lode_database *db, const lode_metric *metric, double total,
                                    const unsigned char *marks, double *period, lode_error *error);

#endif
