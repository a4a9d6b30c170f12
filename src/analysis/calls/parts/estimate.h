/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From parts to all. Times are estimated by their share of the time that was read, counts by the
 * share of the bytes. Each group of parts is an estimate of its own: how much they differ gives the
 * margin, by Student's distribution. What is read in any case is added as it is.
 */
#ifndef LODE_ANALYSIS_ESTIMATE_H
#define LODE_ANALYSIS_ESTIMATE_H

#include "analysis/calls/calls.h"

/* Whether a worker has what is read in any case. */
static inline bool lode_sample_is_sure(const struct lode_sampling *sample, unsigned worker)
{
    return sample->piece > 0 && worker % (LODE_SAMPLE_GROUPS + 1) == LODE_SAMPLE_GROUPS;
}

/* How much more of the other parts there is than was read; not finite if nothing was. */
double lode_sample_times(const struct lode_sampling *sample);
double lode_sample_counts(const struct lode_sampling *sample);
uint64_t lode_sample_scaled(uint64_t value, double factor);
/* What `read` is of all, if `sure` of it stands for itself. */
uint64_t lode_sample_all(uint64_t read, uint64_t sure, double factor);

/* How far off the times of a function may be. */
lode_call_margin lode_sample_margin(const struct lode_sampling *sample, const struct lode_tallies *workers,
                                    unsigned count, uint32_t function);

/* The same for a piece of a track. */
void lode_sample_piece(const struct lode_sampling *sample, lode_track_row *piece);
/* And for rows that were read: their sums are estimates of all, not each of them. */
struct lode_sample_carry {
    uint64_t calls, errors, events, total, out; /* that were read so far */
};
void lode_sample_row(const struct lode_sampling *sample, struct lode_sample_carry *carry,
                     lode_track_row *row);

#endif
