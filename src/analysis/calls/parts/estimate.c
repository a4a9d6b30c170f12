/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/parts/estimate.h"

#include <math.h>

/* 95 % of Student's distribution with one degree of freedom less than there are groups. */
#define STUDENT 2.365

static uint64_t of_groups(const uint64_t values[LODE_SAMPLE_GROUPS])
{
    uint64_t sum = 0;
    for (int i = 0; i < LODE_SAMPLE_GROUPS; i++)
        sum += values[i];
    return sum;
}

static double share(uint64_t all, uint64_t read)
{
    return all > 0 ? (double)all / (double)read : 1.0;
}

double lode_sample_times(const struct lode_sampling *sample)
{
    return share(sample->time, of_groups(sample->time_read));
}

double lode_sample_counts(const struct lode_sampling *sample)
{
    return share(sample->bytes, of_groups(sample->bytes_read));
}

uint64_t lode_sample_scaled(uint64_t value, double factor)
{
    return (uint64_t)((double)value * factor + 0.5);
}

uint64_t lode_sample_all(uint64_t read, uint64_t sure, double factor)
{
    return sure + lode_sample_scaled(read - sure, factor);
}

/* Half of the interval that has the exact sum in 95 of 100 cases. */
static double margin_of(const struct lode_sampling *sample, const uint64_t sums[LODE_SAMPLE_GROUPS])
{
    double shares[LODE_SAMPLE_GROUPS], mean = 0, squares = 0, n = LODE_SAMPLE_GROUPS;
    for (int i = 0; i < LODE_SAMPLE_GROUPS; i++) {
        shares[i] = sample->time_read[i] > 0 ? (double)sums[i] / (double)sample->time_read[i] : 0.0;
        mean += shares[i] / n;
    }
    for (int i = 0; i < LODE_SAMPLE_GROUPS; i++)
        squares += (shares[i] - mean) * (shares[i] - mean);
    double unread = sample->others > 0 ? 1.0 - (double)sample->others_read / (double)sample->others : 0.0;
    return STUDENT * sqrt(squares / (n - 1.0) / n * unread) * (double)sample->time;
}

lode_call_margin lode_sample_margin(const struct lode_sampling *sample, const struct lode_tallies *workers,
                                    unsigned count, uint32_t function)
{
    uint64_t self[LODE_SAMPLE_GROUPS + 1] = {0}, total[LODE_SAMPLE_GROUPS + 1] = {0};
    for (unsigned i = 0; i < count; i++) {
        const struct lode_tallies *worker = &workers[i];
        if (function >= worker->capacity)
            continue;
        const struct lode_tally *tally = &worker->items[function];
        self[i % (LODE_SAMPLE_GROUPS + 1)] += tally->sum - worker->inside[function + 1];
        total[i % (LODE_SAMPLE_GROUPS + 1)] += tally->sum - tally->nested;
    }
    return (lode_call_margin){margin_of(sample, self), margin_of(sample, total)};
}

void lode_sample_piece(const struct lode_sampling *sample, lode_track_row *piece)
{
    struct lode_sample_carry none = {0};
    lode_sample_row(sample, &none, piece);
}

/* Rounds sums, so that those of many small rows are not off. */
static void carry_over(uint64_t *carried, uint64_t *value, double factor)
{
    uint64_t before = lode_sample_scaled(*carried, factor);
    *carried += *value;
    *value = lode_sample_scaled(*carried, factor) - before;
}

void lode_sample_row(const struct lode_sampling *sample, struct lode_sample_carry *carry, lode_track_row *row)
{
    double times = lode_sample_times(sample), counts = lode_sample_counts(sample);
    carry_over(&carry->calls, &row->calls, counts);
    carry_over(&carry->errors, &row->errors, counts);
    carry_over(&carry->events, &row->events, counts);
    carry_over(&carry->total, &row->total, times);
    carry_over(&carry->out, &row->out, times);
}
