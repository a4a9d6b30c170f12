/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From parts to all. Times are estimated by their share of the time that was read, counts by the
 * share of the bytes. Each group of parts is an estimate of its own: how much they differ gives the
 * margin, by Student's distribution.
 */
#include "analysis/calls/calls.h"

#include <math.h>

/* 95 % of Student's distribution with one degree of freedom less than there are groups. */
#define STUDENT 2.365

static uint64_t time_read(const struct lode_sampling *sample)
{
    uint64_t time = 0;
    for (int i = 0; i < LODE_SAMPLE_GROUPS; i++)
        time += sample->time_read[i];
    return time;
}

double lode_sample_times(const struct lode_sampling *sample)
{
    uint64_t time = time_read(sample);
    return time > 0 ? (double)sample->time / (double)time : 1.0;
}

double lode_sample_counts(const struct lode_sampling *sample)
{
    return sample->read.bytes_read > 0 ? (double)sample->read.bytes / (double)sample->read.bytes_read : 1.0;
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
    double unread = 1.0 - (double)sample->read.parts_read / (double)sample->read.parts;
    return STUDENT * sqrt(squares / (n - 1.0) / n * unread) * (double)sample->time;
}

uint64_t lode_sample_scaled(uint64_t value, double factor)
{
    return (uint64_t)((double)value * factor + 0.5);
}

void lode_sample_rows(const struct lode_sampling *sample, lode_track_row *rows, uint32_t count)
{
    double times = lode_sample_times(sample), counts = lode_sample_counts(sample);
    for (uint32_t i = 0; i < count && sample->piece > 0; i++) {
        rows[i].calls = lode_sample_scaled(rows[i].calls, counts);
        rows[i].errors = lode_sample_scaled(rows[i].errors, counts);
        rows[i].events = lode_sample_scaled(rows[i].events, counts);
        rows[i].total = lode_sample_scaled(rows[i].total, times);
        rows[i].out = lode_sample_scaled(rows[i].out, times);
    }
}

void lode_sample_estimate(const struct lode_sampling *sample, const struct lode_tallies *workers,
                          unsigned count, uint32_t function, lode_call_row *row, lode_call_margin *margin)
{
    uint64_t self[LODE_SAMPLE_GROUPS] = {0}, total[LODE_SAMPLE_GROUPS] = {0};
    double times = lode_sample_times(sample);
    for (unsigned i = 0; i < count; i++) {
        const struct lode_tallies *worker = &workers[i];
        if (function >= worker->capacity)
            continue;
        const struct lode_tally *tally = &worker->items[function];
        self[i % LODE_SAMPLE_GROUPS] += tally->sum - worker->inside[function + 1];
        total[i % LODE_SAMPLE_GROUPS] += tally->sum - tally->nested;
    }
    *margin = (lode_call_margin){margin_of(sample, self), margin_of(sample, total)};
    row->calls = lode_sample_scaled(row->calls, lode_sample_counts(sample));
    row->errors = lode_sample_scaled(row->errors, lode_sample_counts(sample));
    row->self = lode_sample_scaled(row->self, times);
    row->total = lode_sample_scaled(row->total, times);
    row->elapsed = lode_sample_scaled(row->elapsed, times);
    /* A call that was open in all parts. */
    if (row->calls == 0)
        row->calls = 1;
}
