/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/stacks/stacks.h"

#include "export/stacks/stack_build.h"
#include "model/database/database.h"
#include "model/import/carried.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- metrics ---- */

static const double nanoseconds_per_second = 1e9;

/* "CPUTIME (sec)": the name, the unit in which it is exported, and the factor to it. */
static void name_metric(struct lode_stack_metric *metric, const char *full)
{
    static const struct {
        const char *written, *unit;
        double scale;
    } units[] = {{"sec", "nanoseconds", nanoseconds_per_second},
                 {"s", "nanoseconds", nanoseconds_per_second},
                 {"seconds", "nanoseconds", nanoseconds_per_second},
                 {"B", "bytes", 1},
                 {"", "count", 1}};
    const char *open = strrchr(full, '(');
    size_t length = strlen(full);
    char unit[sizeof metric->unit] = "";
    bool has_unit = open != NULL && open > full && full[length - 1] == ')';
    if (has_unit)
        snprintf(unit, sizeof unit, "%.*s", (int)(full + length - 1 - (open + 1)), open + 1);
    while (has_unit && open > full && open[-1] == ' ')
        open--;
    snprintf(metric->name, sizeof metric->name, "%.*s", (int)(has_unit ? (size_t)(open - full) : length),
             full);
    snprintf(metric->unit, sizeof metric->unit, "%s", unit);
    lode_export_clean(metric->name);
    lode_export_clean(metric->unit);
    metric->scale = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].written) == 0) {
            snprintf(metric->unit, sizeof metric->unit, "%s", units[i].unit);
            metric->scale = units[i].scale;
        }
}

/* As the profile has it: a metric has its name and unit in one text. */
static void name_as_carried(struct lode_stack_metric *metric, const struct lode_carried_type *type)
{
    snprintf(metric->name, sizeof metric->name, "%s", type->type);
    snprintf(metric->unit, sizeof metric->unit, "%s", type->unit);
    metric->scale = 1;
}

static lode_status name_metrics(struct lode_stacks *stacks, lode_error *error)
{
    struct lode_stack_build *build = stacks->build;
    stacks->metric_count = build->cost_count;
    stacks->metrics = calloc(build->cost_count ? build->cost_count : 1, sizeof *stacks->metrics);
    LODE_TRY_ALLOC(stacks->metrics, error);
    for (size_t i = 0; i < build->cost_count; i++)
        name_metric(&stacks->metrics[i], lode_stack_build_metric(build, i));
    const struct lode_carried *carried = lode_stacks_carried(stacks);
    for (size_t i = 0; carried && i < build->cost_count; i++)
        name_as_carried(&stacks->metrics[i], LODE_ARRAY_AT(&carried->types, struct lode_carried_type,
                                                           lode_metric_index(build->metrics[i])));
    stacks->job->written.has_stacks = true;
    stacks->job->written.metric_count = build->cost_count;
    return LODE_OK;
}

/* ---- whole numbers ---- */

static bool is_whole(double value)
{
    return value == floor(value);
}

/* Small numbers that are not whole are counted in thousandths; of large ones, nothing is lost. */
static void scale_fractions(struct lode_stacks *stacks, size_t metric)
{
    static const double large = 1e6;
    struct lode_stack_metric *m = &stacks->metrics[metric];
    const double *costs = stacks->build->sums;
    bool whole = true;
    double sum = 0;
    for (uint32_t i = 0; m->scale == 1 && i < stacks->count; i++) {
        double cost = costs[(size_t)i * stacks->metric_count + metric];
        whole = whole && is_whole(cost);
        sum += fabs(cost);
    }
    if (whole || sum >= large)
        return;
    char unit[sizeof m->unit];
    snprintf(unit, sizeof unit, "%.*s", (int)sizeof unit - 8, m->unit);
    snprintf(m->unit, sizeof m->unit, "1e-3 %.20s", unit);
    m->scale = 1000;
}

/* Readers that keep numbers as doubles lose what exceeds 2^53. */
static void limit_total(struct lode_stacks *stacks, size_t metric)
{
    struct lode_stack_metric *m = &stacks->metrics[metric];
    long double total = 0;
    for (uint32_t i = 0; i < stacks->count; i++)
        total += (long double)stacks->build->sums[(size_t)i * stacks->metric_count + metric];
    if (stacks->form.limit == 0 || strcmp(m->unit, "nanoseconds") != 0 ||
        total * (long double)m->scale <= (long double)stacks->form.limit)
        return;
    snprintf(m->unit, sizeof m->unit, "microseconds");
    m->scale /= 1000;
}

static int64_t to_int64(long double value)
{
    const long double most = 9223372036854775807.0L;
    if (!(value > -most))
        return value != value ? 0 : INT64_MIN;
    return value < most ? (int64_t)value : INT64_MAX;
}

/* Rounds a running sum, in the order of positions. */
static void round_metric(struct lode_stacks *stacks, size_t metric)
{
    const double *costs = stacks->build->sums;
    double scale = stacks->metrics[metric].scale;
    long double sum = 0;
    int64_t emitted = 0;
    for (uint32_t i = 0; i < stacks->count; i++) {
        size_t at = (size_t)i * stacks->metric_count + metric;
        double cost = costs[at];
        if (cost < 0 && stacks->form.no_negative) {
            cost = 0;
            stacks->clamped++;
        }
        sum += (long double)cost * (long double)scale;
        int64_t now = to_int64(floorl(sum + 0.5L));
        stacks->values[at] = (int64_t)((uint64_t)now - (uint64_t)emitted);
        emitted = now;
    }
}

static lode_status round_all(struct lode_stacks *stacks, lode_error *error)
{
    size_t count = (size_t)stacks->count * stacks->metric_count;
    int64_t *values = realloc(stacks->values, (count ? count : 1) * sizeof *values);
    LODE_TRY_ALLOC(values, error);
    stacks->values = values;
    for (size_t i = 0; i < stacks->metric_count; i++) {
        /* Units are the same in all groups: they are decided by the first one that needs it. */
        scale_fractions(stacks, i);
        limit_total(stacks, i);
        round_metric(stacks, i);
    }
    return LODE_OK;
}

/* ---- groups ---- */

lode_status lode_stacks_open(struct lode_stacks *stacks, struct lode_export *job,
                             const struct lode_stack_form *form, lode_error *error)
{
    *stacks = (struct lode_stacks){.job = job, .form = *form};
    lode_export_frames_init(&stacks->frames, job->options->names);
    stacks->frames.by_name = form->by_name;
    stacks->build = calloc(1, sizeof *stacks->build);
    LODE_TRY_ALLOC(stacks->build, error);
    LODE_TRY(lode_stack_build_open(stacks->build, stacks, error));
    return name_metrics(stacks, error);
}

lode_status lode_stacks_next(struct lode_stacks *stacks, lode_error *error)
{
    LODE_TRY(lode_stack_build_next(stacks->build, stacks, error));
    return round_all(stacks, error);
}

lode_status lode_stacks_report(struct lode_stacks *stacks, lode_error *error)
{
    if (stacks->clamped > 0)
        LODE_TRY(lode_export_lost(stacks->job, "negative", error,
                                  "%llu negative values became 0: the format has none",
                                  (unsigned long long)stacks->clamped));
    if (stacks->cut > 0)
        LODE_TRY(lode_export_lost(stacks->job, "depth", error,
                                  "%llu contexts are below %lu levels; their cost is with the last level",
                                  (unsigned long long)stacks->cut, (unsigned long)stacks->form.depth));
    for (size_t i = 0; i < stacks->metric_count; i++) {
        const struct lode_stack_metric *metric = &stacks->metrics[i];
        if (strcmp(metric->unit, "microseconds") == 0 && metric->scale != 1)
            LODE_TRY(lode_export_lost(stacks->job, "unit", error,
                                      "%s is in microseconds: readers lose digits of its sum in nanoseconds",
                                      metric->name));
        if (strncmp(metric->unit, "1e-3 ", strlen("1e-3 ")) == 0)
            LODE_TRY(lode_export_lost(
                stacks->job, "unit", error,
                "%s is in thousandths: it is not whole, and the format has whole numbers", metric->name));
    }
    return LODE_OK;
}

void lode_stacks_close(struct lode_stacks *stacks)
{
    lode_export_frames_free(&stacks->frames);
    if (stacks->build)
        lode_stack_build_close(stacks->build);
    free(stacks->build);
    free(stacks->metrics);
    free(stacks->positions);
    free(stacks->values);
}

const struct lode_carried *lode_stacks_carried(const struct lode_stacks *stacks)
{
    const struct lode_export *job = stacks->job;
    bool has_metrics = stacks->form.carries && job->db && stacks->build->metrics;
    return has_metrics ? job->db->carried : NULL;
}

uint32_t lode_stacks_metric(const struct lode_stacks *stacks, size_t metric)
{
    return lode_metric_index(stacks->build->metrics[metric]);
}

uint32_t lode_stacks_position(const struct lode_stacks *stacks, uint32_t context)
{
    return lode_stack_build_position(stacks->build, context);
}

bool lode_stacks_has_value(const struct lode_stacks *stacks, uint32_t position)
{
    const int64_t *values = stacks->values + (size_t)position * stacks->metric_count;
    for (size_t i = 0; i < stacks->metric_count; i++)
        if (values[i] != 0)
            return true;
    return false;
}

int64_t *lode_stacks_inclusive(const struct lode_stacks *stacks)
{
    size_t metrics = stacks->metric_count, count = (size_t)stacks->count * metrics;
    int64_t *sums = malloc((count ? count : 1) * sizeof *sums);
    if (sums == NULL)
        return NULL;
    memcpy(sums, stacks->values, count * sizeof *sums);
    for (uint32_t i = stacks->count; i-- > 1;)
        for (size_t m = 0; m < metrics; m++) {
            int64_t *caller = &sums[stacks->positions[i].caller * metrics + m];
            *caller = (int64_t)((uint64_t)*caller + (uint64_t)sums[i * metrics + m]);
        }
    return sums;
}
