/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/build/points.h"

#include "model/database/block.h"
#include <math.h>
#include <stdlib.h>

/* Relative; sums in another order differ by less. */
#define POINTS_TOLERANCE 1e-9

struct recovery {
    const lode_database *db;
    lode_block block;
    int32_t *point_of;  /* by id of the execution scope: that of the point scope; else -1 */
    uint32_t *group_of; /* by index of context: 1 + its group, or 0 */
    uint32_t *context;  /* by group: its index */
    double *children;   /* by value: what listed children add to it */
};

static lode_status allocate(struct recovery *self, lode_error *error)
{
    self->point_of = calloc(UINT16_MAX + 1, sizeof *self->point_of);
    self->group_of = calloc((size_t)self->db->tree.count + 1, sizeof *self->group_of);
    self->context = calloc((size_t)self->block.group_count + 1, sizeof *self->context);
    self->children = calloc((size_t)self->block.value_count + 1, sizeof *self->children);
    if (!self->point_of || !self->group_of || !self->context || !self->children)
        return lode_fail_memory(error);
    for (size_t i = 0; i <= UINT16_MAX; i++)
        self->point_of[i] = -1;
    for (uint32_t m = 0; m < self->db->metric_count; m++) {
        uint16_t execution, point;
        if (lode_metric_id(&self->db->metrics[m], LODE_SCOPE_EXECUTION, &execution) == LODE_OK &&
            lode_metric_id(&self->db->metrics[m], LODE_SCOPE_POINT, &point) == LODE_OK)
            self->point_of[execution] = point;
    }
    return LODE_OK;
}

/* False if a context is not listed. */
static bool find_groups(struct recovery *self)
{
    for (uint32_t g = 0; g < self->block.group_count; g++) {
        uint32_t index = lode_context_tree_find(&self->db->tree, block_group_key(&self->block, g));
        if (index == LODE_NO_INDEX)
            return false;
        self->context[g] = index;
        self->group_of[index] = g + 1;
    }
    return true;
}

/* Adds the inclusive values of a group to those of its parent. Ids rise in both. */
static lode_status add_to_parent(struct recovery *self, uint32_t g, lode_error *error)
{
    uint32_t above = self->group_of[self->db->tree.nodes[self->context[g]].parent];
    lode_group group, parent = {0};
    LODE_TRY(lode_block_group(&self->block, g, &group, error));
    if (above > 0)
        LODE_TRY(lode_block_group(&self->block, above - 1, &parent, error));
    uint64_t at = parent.first, end = parent.first + parent.count;
    for (uint64_t i = group.first; i < group.first + group.count; i++) {
        uint32_t id = block_value_key(&self->block, i);
        while (at < end && block_value_key(&self->block, at) < id)
            at++;
        if (at < end && block_value_key(&self->block, at) == id && self->point_of[id] >= 0)
            self->children[at] += block_value(&self->block, i);
    }
    return LODE_OK;
}

/* Says what is missing in a group. */
static lode_status find_missing(const struct recovery *self, uint32_t g, lode_point_fn found, void *user,
                                lode_error *error)
{
    lode_group group;
    LODE_TRY(lode_block_group(&self->block, g, &group, error));
    for (uint64_t i = group.first; i < group.first + group.count; i++) {
        int32_t point = self->point_of[block_value_key(&self->block, i)];
        double value = block_value(&self->block, i), own = value - self->children[i], stored;
        if (point < 0 || own <= POINTS_TOLERANCE * fabs(value))
            continue;
        if (lode_group_lookup(&self->block, &group, (uint32_t)point, &stored) == LODE_NOT_FOUND)
            LODE_TRY(found(user, self->context[g], (uint16_t)point, own, error));
    }
    return LODE_OK;
}

static lode_status recover(struct recovery *self, lode_point_fn found, void *user, lode_error *error)
{
    LODE_TRY(allocate(self, error));
    if (!find_groups(self))
        return LODE_OK;
    for (uint32_t g = 0; g < self->block.group_count; g++)
        if (self->context[g] > 0)
            LODE_TRY(add_to_parent(self, g, error));
    for (uint32_t g = 0; g < self->block.group_count; g++)
        LODE_TRY(find_missing(self, g, found, user, error));
    return LODE_OK;
}

lode_status lode_points_recover(const lode_database *db, uint32_t profile, lode_point_fn found, void *user,
                                lode_error *error)
{
    struct recovery self = {.db = db};
    LODE_TRY(lode_profile_block(db, profile, &self.block, error));
    lode_status status = recover(&self, found, user, error);
    free(self.point_of);
    free(self.group_of);
    free(self.context);
    free(self.children);
    return status;
}
