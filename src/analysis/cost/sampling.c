/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/sampling.h"

#include "analysis/cost/cost.h"
#include "analysis/statistics/sketch.h"
#include "base/error.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include <lode/private/sampling.h>
#include <stdlib.h>

enum {
    PROFILES_LOOKED_AT = 4096,
    POINTS_MIN = 20 /* fewer values do not tell the period */
};

struct points {
    uint64_t *buckets, count;
    double total, unit;
};

static lode_status add_profile(const lode_database *db, uint32_t profile, uint16_t id, struct points *points,
                               lode_error *error)
{
    lode_block block;
    LODE_TRY(lode_profile_block(db, profile, &block, error));
    for (uint32_t g = 0; g < block.group_count; g++) {
        lode_group group;
        double value;
        LODE_TRY(lode_block_group(&block, g, &group, error));
        if (lode_group_lookup(&block, &group, id, &value) != LODE_OK ||
            !(value > 0 && value <= points->total))
            continue;
        points->buckets[sketch_bucket((uint64_t)(value / points->unit))]++;
        points->count++;
    }
    return LODE_OK;
}

static double lower_quartile(const struct points *points)
{
    uint64_t below = 0;
    if (points->count < POINTS_MIN)
        return 0;
    for (uint32_t b = 0; b < LODE_SKETCH_BUCKETS; b++) {
        below += points->buckets[b];
        if (below >= (points->count + 3) / 4)
            return (double)lode_sketch_value(b) * points->unit;
    }
    return 0;
}

lode_status lode_sampling_period_of(const lode_database *db, const lode_metric *metric, double total,
                                    const unsigned char *marks, double *period, lode_error *error)
{
    struct points points = {.total = total, .unit = total / 1e15}; /* far below one sample */
    uint32_t step = db->profile_count / PROFILES_LOOKED_AT + 1;
    lode_status status = LODE_OK;
    uint16_t id;
    *period = 0;
    if (!(total > 0) || lode_metric_id(metric, LODE_SCOPE_POINT, &id) != LODE_OK)
        return LODE_OK;
    points.buckets = calloc(LODE_SKETCH_BUCKETS, sizeof *points.buckets);
    LODE_TRY_ALLOC(points.buckets, error);
    for (uint32_t p = 1; p < db->profile_count && status == LODE_OK; p += step)
        if (marks == NULL || marks[p])
            status = add_profile(db, p, id, &points, error);
    if (status == LODE_OK)
        *period = lower_quartile(&points);
    free(points.buckets);
    return status;
}

lode_status lode_cost_period(const lode_cost *cost, double *period, lode_error *error)
{
    *period = 0;
    if (cost->db == NULL || cost->metric == NULL)
        return LODE_OK;
    return lode_sampling_period_of(cost->db, cost->metric, cost->inclusive[0], NULL, period, error);
}
