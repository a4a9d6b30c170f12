/* SPDX-License-Identifier: BSD-3-Clause */
/* Run time and number of samples. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/cost/sampling.h"
#include "model/database/trace.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether profiles are of threads that count, by profile. */
static lode_status mark_threads(const struct lode_diagnosis *d, unsigned char **marks, lode_error *error)
{
    *marks = calloc((size_t)d->profiles->db->profile_count + 1, 1);
    LODE_TRY_ALLOC(*marks, error);
    for (size_t i = 0; i < d->profiles->thread_count; i++)
        (*marks)[d->profiles->threads[i].profile] = 1;
    return LODE_OK;
}

static lode_status read_lines(struct lode_diagnosis *d, const unsigned char *marks, lode_error *error)
{
    uint64_t first = UINT64_MAX, last = 0, samples = 0, lines = 0;
    double covered = 0;
    for (uint32_t i = 0; i < lode_database_trace_count(d->profiles->db); i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(d->profiles->db, i, &line, error));
        if (line.profile >= d->profiles->db->profile_count || !marks[line.profile] || line.sample_count == 0)
            continue;
        uint64_t begin = trace_time(&line, 0), end = trace_time(&line, line.sample_count - 1);
        first = begin < first ? begin : first;
        last = end > last ? end : last;
        covered += end > begin ? (double)(end - begin) : 0;
        samples += line.sample_count - 1;
        lines++;
    }
    if (lines == 0 || last <= first)
        return LODE_OK;
    d->run.samples = samples;
    d->profiles->span = (double)(last - first) * 1e-9;
    d->profiles->covered = covered * 1e-9 / (d->profiles->span * (double)lines);
    return LODE_OK;
}

/* Without trace lines. */
static lode_status guess_samples(struct lode_diagnosis *d, const unsigned char *marks, lode_error *error)
{
    double period;
    LODE_TRY(lode_sampling_period_of(d->profiles->db, d->run.metric, d->run.total, marks, &period, error));
    d->run.samples = period > 0 ? (uint64_t)(d->run.total / period) : 0;
    return LODE_OK;
}

/*
 * Recordings of perf count the samples of each event: trace lines are of one event, and also have
 * times when threads stop and go on. Of threads that were left out, the samples are left out.
 */
static void take_counted(struct lode_diagnosis *d)
{
    char name[256];
    const char *metric = lode_metric_name(d->run.metric), *unit = strstr(metric, " (sec)");
    double samples = 0, all = 0;
    snprintf(name, sizeof name, "%.*s:samples", unit ? (int)(unit - metric) : (int)strlen(metric), metric);
    if (!lode_diagnose_metric(d, name, &samples) || !(samples > 0) || !(samples < 0x1p63))
        return;
    d->profiles->tells_samples = true;
    if (lode_diagnose_metric(d, metric, &all) && all > d->run.total)
        samples *= d->run.total / all;
    d->run.samples = (uint64_t)llround(samples);
}

lode_status lode_diagnose_time(struct lode_diagnosis *d, lode_error *error)
{
    unsigned char *marks = NULL;
    if (d->lacks[NEED_METRIC])
        return LODE_OK;
    LODE_TRY(mark_threads(d, &marks, error));
    lode_status status = read_lines(d, marks, error);
    if (d->profiles->is_counted)
        d->run.samples = 0;
    else if (status == LODE_OK && d->profiles->span == 0 && d->run.total > 0)
        status = guess_samples(d, marks, error);
    if (status == LODE_OK && !d->profiles->is_counted)
        take_counted(d);
    free(marks);
    d->profiles->longest = d->run.run_time;
    d->run.seconds = d->run.is_seconds ? fmax(d->run.run_time, d->profiles->span) : d->profiles->span;
    if (d->run.is_seconds)
        d->run.run_time = d->run.seconds;
    return status;
}

double lode_diagnose_error_of_share(double share, double samples)
{
    double inside = share > 0 && share < 1 ? share * (1 - share) : 0;
    return samples > 0 ? 1.96 * sqrt(inside / samples) : 1;
}

double lode_diagnose_sample_count(const struct lode_diagnosis *d)
{
    return d->profiles->is_counted ? HUGE_VAL : (double)d->run.samples;
}

double lode_diagnose_share_error(const struct lode_diagnosis *d, double share)
{
    return lode_diagnose_error_of_share(share, lode_diagnose_sample_count(d));
}

double lode_diagnose_masters_error(const struct lode_diagnosis *d, double share)
{
    double part = d->run.total > 0 ? lode_diagnose_time_of_masters(d, ALL, EVERYWHERE) / d->run.total : 1;
    return lode_diagnose_error_of_share(share, lode_diagnose_sample_count(d) * fmin(1, part));
}

double lode_diagnose_sampling_period(const struct lode_diagnosis *d)
{
    return d->run.total / fmax(1, lode_diagnose_sample_count(d));
}
