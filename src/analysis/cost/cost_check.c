/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/cost.h"

#include "base/error.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include <inttypes.h>
#include <lode/private/cost_check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FINDINGS_MAX = 100
};

/* Sums of the same numbers in different orders are as close, compared with the inclusive cost. */
#define TOLERANCE 1e-9

/*
 * What the metadata does not list, and writers of 2022 did not store, is part of the inclusive cost
 * of the contexts around it, which then exceeds its parts.
 */
static bool is_contradiction(const lode_cost *cost, uint32_t index, double point)
{
    double inclusive = cost->inclusive[index], own = cost->own[index];
    double scale = fmax(fabs(inclusive), fmax(fabs(inclusive - own), fabs(point)));
    bool may_exceed = cost->unlisted_values > 0 || cost->db->points_lost;
    return !(may_exceed && own > point) && !(fabs(own - point) <= TOLERANCE * scale);
}

struct checking {
    const lode_cost *cost;
    lode_finding_fn on_finding;
    void *user;
    uint32_t findings;
};

static lode_status compare(struct checking *self, uint32_t index, double point, lode_error *error)
{
    const lode_cost *cost = self->cost;
    char text[256];
    if (!is_contradiction(cost, index, point) || self->findings++ >= FINDINGS_MAX)
        return LODE_OK;
    (void)snprintf(text, sizeof text,
                   "the summary has %.17g of '%s' at context %" PRIu32 ", and its parts give %.17g",
                   cost->inclusive[index], cost->metric->name, cost->tree->nodes[index].id,
                   cost->inclusive[index] - cost->own[index] + point);
    const lode_finding finding = {"scope-execution", LODE_ERROR, "profile.db", LODE_NO_OFFSET, text};
    if (self->on_finding(self->user, &finding) != 0)
        return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled");
    return LODE_OK;
}

/* Contexts with a point value, which get a mark, and then all others. */
static lode_status compare_all(struct checking *self, const lode_block *block, uint16_t point_id,
                               uint8_t *marks, lode_error *error)
{
    const struct lode_context_tree *tree = self->cost->tree;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint32_t index = lode_context_tree_find(tree, block_group_key(block, g));
        lode_group group;
        double point;
        LODE_TRY(lode_block_group(block, g, &group, error));
        if (index == LODE_NO_INDEX || lode_group_lookup(block, &group, point_id, &point) != LODE_OK)
            continue;
        marks[index] = 1;
        LODE_TRY(compare(self, index, point, error));
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (!marks[i])
            LODE_TRY(compare(self, i, 0.0, error));
    return LODE_OK;
}

lode_status lode_cost_check(const lode_cost *cost, lode_finding_fn on_finding, void *user, lode_error *error)
{
    struct checking self = {.cost = cost, .on_finding = on_finding, .user = user};
    uint16_t inclusive_id, point_id;
    lode_block block;
    /* Without these, costs are sums of something else, or there is nothing to compare them with. */
    if (cost->metric == NULL ||
        lode_metric_sum_id(cost->metric, LODE_SCOPE_EXECUTION, &inclusive_id) != LODE_OK ||
        lode_metric_sum_id(cost->metric, LODE_SCOPE_POINT, &point_id) != LODE_OK)
        return LODE_OK;
    LODE_TRY(lode_profile_block(cost->db, 0, &block, error));
    uint8_t *marks = calloc(cost->tree->count, 1);
    LODE_TRY_ALLOC(marks, error);
    lode_status status = compare_all(&self, &block, point_id, marks, error);
    free(marks);
    return status;
}
