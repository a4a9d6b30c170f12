/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are values consistent over the tree? For each profile, metric, context c, listed children k:
 *
 *   execution(c) = point(c) + sum of execution(k)
 *   transitive(c) = execution(c) - sum of execution(k) + sum of transitive(k) with the scope's bit
 *   sum of point over all contexts = execution(global context)
 *
 * Writers omit instruction contexts from meta.db, but keep their values. Where a profile has values
 * at unlisted contexts, execution(c) may exceed the right side, except at the global context.
 *
 * Zeros are not stored. A quantity that can decrease, such as memory in use, may be zero while its
 * parts are not. Metrics with negative values are therefore checked again, with sums for contexts
 * without a value, before anything is reported.
 *
 * Memory: an index per context and a number per value of one profile, for each thread; for
 * quantities that decrease, two sums per context.
 */
#include "format/hpctoolkit/check/check.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_VALUE UINT64_MAX

/* A decoded group of the block. */
struct group {
    const lode_context *context; /* NULL if meta.db does not list it */
    uint64_t first, end;         /* values */
};

/* The sum over children, and the sum of magnitudes: values may cancel out, rounding does not. */
struct sum {
    double value, size;
};

/* Whether a metric has negative values in a profile. */
enum fall {
    FALL_NEVER,
    FALL_SEEN,
    FALL_DOUBTED /* and a sum did not match */
};

enum {
    FALLING_MAX = 64 /* metrics of a profile that are checked again: each takes a pass */
};

struct scratch {
    uint32_t *group_of; /* by index of context: 1 + its group in the block, or 0 */
    double *children;   /* by value: sum over listed children */
    size_t capacity;    /* of children */
    struct group *groups;
    size_t group_capacity;
    double *point_sums; /* by metric: all points, and the execution value of the global context */
    uint8_t *falls;     /* by metric: enum fall; valid if `falls_known` */
    bool falls_known;
    struct sum *inclusive, *passed; /* by context index; NULL until needed */
};

struct scopes {
    struct scratch *workers;
    unsigned worker_count;
    /* By metric: ids of its execution and point values, or -1. */
    int32_t *execution, *point;
};

/* A profile being checked. */
struct scope_check {
    struct hpct_check *check;
    const struct scopes *scopes;
    struct scratch *scratch;
    struct lode_report *report;
    uint32_t profile;
    lode_block block;
    bool has_unlisted;
    uint64_t lost; /* inclusive values that exceed their parts, at unlisted contexts */
};

static bool roughly_equal(double a, double b, double scale)
{
    return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(scale), fmax(fabs(a), fabs(b)));
}

/* The position of a metric's value in a group, or NO_VALUE. Groups are short. */
static inline uint64_t find_value(const lode_block *block, const struct group *group, int32_t metric_id)
{
    for (uint64_t i = group->first; metric_id >= 0 && i < group->end; i++)
        if (get_u16le(block->values + i * WIRE_ProfileValue_SIZE) == (uint32_t)metric_id)
            return i;
    return NO_VALUE;
}

static inline double value_at(const lode_block *block, uint64_t position)
{
    return get_f64le(block->values + position * WIRE_ProfileValue_SIZE + WIRE_ProfileValue_value);
}

static inline uint32_t id_at(const lode_block *block, uint64_t position)
{
    return get_u16le(block->values + position * WIRE_ProfileValue_SIZE);
}

static double value_or_zero(const lode_block *block, uint64_t position)
{
    return position == NO_VALUE ? 0.0 : value_at(block, position);
}

static lode_status report_scope(struct scope_check *self, unsigned rule, uint32_t context, uint32_t metric,
                                double stored, double expected)
{
    return lode_report_add(self->report, rule, self->block.file, LODE_NO_OFFSET,
                           "profile %" PRIu32 ", context %" PRIu32 ", metric %" PRIu32
                           ": %.17g is stored, its parts give %.17g",
                           self->profile, context, metric, stored, expected);
}

static bool has_transitive(const lode_metric *metric)
{
    for (uint32_t k = 0; k < metric->scope_count; k++)
        if (metric->scopes[k].scope->type == LODE_SCOPE_TRANSITIVE)
            return true;
    return false;
}

/* Whether a metric decreases somewhere in the profile and its own values allow another check. */
static bool may_fall(struct scope_check *self, uint32_t metric)
{
    const lode_database *db = &self->check->db->base;
    struct scratch *scratch = self->scratch;
    unsigned count = 0;
    if (!scratch->falls_known) {
        memset(scratch->falls, FALL_NEVER, db->metric_count);
        for (uint64_t i = 0; i < self->block.value_count; i++) {
            uint8_t *falls = &scratch->falls[self->check->values[id_at(&self->block, i)].metric];
            if (value_at(&self->block, i) < 0.0 && *falls == FALL_NEVER && count++ < FALLING_MAX)
                *falls = FALL_SEEN;
        }
        scratch->falls_known = true;
    }
    return scratch->falls[metric] != FALL_NEVER && self->scopes->execution[metric] >= 0 &&
           (self->scopes->point[metric] >= 0 || has_transitive(&db->metrics[metric]));
}

/* Reports a finding, or doubts a metric that can decrease. */
static lode_status scope_finding(struct scope_check *self, unsigned rule, uint32_t context, uint32_t id,
                                 double stored, double expected)
{
    uint32_t metric = self->check->values[id].metric;
    if (may_fall(self, metric)) {
        self->scratch->falls[metric] = FALL_DOUBTED;
        return LODE_OK;
    }
    return report_scope(self, rule, context, id, stored, expected);
}

static const lode_context *parent_of(const lode_context *context)
{
    return context - (context->index - context->parent);
}

/* Adds the values of a context to the sum over its parent's children. */
static lode_status add_to_parent(struct scope_check *self, const struct group *group)
{
    const lode_context *context = group->context, *parent = parent_of(context);
    const lode_block *block = &self->block;
    static const struct group none;
    uint32_t parent_group = self->scratch->group_of[parent->index];
    const struct group *above = parent_group ? &self->scratch->groups[parent_group - 1] : &none;
    uint64_t at = above->first; /* ids rise in both groups */
    for (uint64_t i = group->first; i < group->end; i++) {
        uint32_t id = id_at(block, i);
        const struct hpct_metric_id *metric = &self->check->values[id];
        bool passes = metric->type == LODE_SCOPE_EXECUTION ||
                      (metric->type == LODE_SCOPE_TRANSITIVE && (context->propagation >> metric->bit & 1));
        if (!passes)
            continue;
        while (at < above->end && id_at(block, at) < id)
            at++;
        if (at < above->end && id_at(block, at) == id)
            self->scratch->children[at] += value_at(block, i);
        else if (value_at(block, i) != 0.0)
            LODE_TRY(scope_finding(
                self, metric->type == LODE_SCOPE_EXECUTION ? RULE_SCOPE_EXECUTION : RULE_SCOPE_FUNCTION,
                parent->id, id, 0.0, value_at(block, i)));
    }
    return LODE_OK;
}

static lode_status check_execution(struct scope_check *self, const struct group *group, uint64_t at)
{
    const lode_context *context = group->context;
    uint32_t id = id_at(&self->block, at);
    uint32_t metric = self->check->values[id].metric;
    double stored = value_at(&self->block, at);
    double point = value_or_zero(&self->block, find_value(&self->block, group, self->scopes->point[metric]));
    double parts = self->scratch->children[at] + point;
    /* Without a point scope, the context's own part is not stored. */
    bool exact = self->scopes->point[metric] >= 0 && (!self->has_unlisted || context->index == 0);
    if (roughly_equal(stored, parts, 0.0) || (!exact && stored > parts))
        return LODE_OK;
    if (self->check->db->base.points_lost && stored > parts) {
        self->lost++;
        return LODE_OK;
    }
    return scope_finding(self, RULE_SCOPE_EXECUTION, context->id, id, stored, parts);
}

/* `id` is a transitive scope of the metric whose execution value is at `at`. */
static lode_status check_transitive(struct scope_check *self, const struct group *group, uint64_t at,
                                    uint16_t id)
{
    double inclusive = value_or_zero(&self->block, at);
    double own = at == NO_VALUE ? 0.0 : inclusive - self->scratch->children[at];
    uint64_t position = find_value(&self->block, group, id);
    double children = position == NO_VALUE ? 0.0 : self->scratch->children[position];
    double stored = value_or_zero(&self->block, position);
    if (roughly_equal(stored, own + children, inclusive))
        return LODE_OK;
    return scope_finding(self, RULE_SCOPE_FUNCTION, group->context->id, id, stored, own + children);
}

static lode_status check_group(struct scope_check *self, const struct group *group)
{
    const lode_database *db = &self->check->db->base;
    for (uint64_t i = group->first; i < group->end; i++) {
        uint32_t number = id_at(&self->block, i);
        const struct hpct_metric_id *id = &self->check->values[number];
        if (id->type == LODE_SCOPE_TRANSITIVE) {
            /* Without an execution value, its parts are not known. */
            int32_t execution = self->scopes->execution[id->metric];
            if (execution >= 0 && find_value(&self->block, group, execution) == NO_VALUE)
                LODE_TRY(check_transitive(self, group, NO_VALUE, (uint16_t)number));
        }
        if (id->type != LODE_SCOPE_EXECUTION)
            continue;
        const lode_metric *metric = &db->metrics[id->metric];
        LODE_TRY(check_execution(self, group, i));
        for (uint32_t k = 0; k < metric->scope_count; k++)
            if (metric->scopes[k].scope->type == LODE_SCOPE_TRANSITIVE)
                LODE_TRY(check_transitive(self, group, i, metric->scopes[k].id));
    }
    return LODE_OK;
}

/* ---- quantities that can decrease ---- */

static double stored_at(const struct scope_check *self, const lode_context *context, int32_t id)
{
    uint32_t group = self->scratch->group_of[context->index];
    if (group == 0)
        return 0.0;
    return value_or_zero(&self->block, find_value(&self->block, &self->scratch->groups[group - 1], id));
}

/* Sums children under a value id; those without the bit of a transitive scope do not count. */
static void sum_children(const struct scope_check *self, struct sum *sums, uint32_t id)
{
    const struct hpct_metric_id *metric = &self->check->values[id];
    for (uint32_t g = 0; g < self->block.group_count; g++) {
        const lode_context *context = self->scratch->groups[g].context;
        if (context)
            sums[context->index] = sums[context->parent] = (struct sum){0.0, 0.0};
    }
    for (uint32_t g = 0; g < self->block.group_count; g++) {
        const lode_context *context = self->scratch->groups[g].context;
        if (context == NULL || context->index == 0 ||
            (metric->type == LODE_SCOPE_TRANSITIVE && !(context->propagation >> metric->bit & 1)))
            continue;
        double value = stored_at(self, context, (int32_t)id);
        sums[context->parent].value += value;
        sums[context->parent].size += fabs(value);
    }
}

/* Checks the own value of any context. `id` is of the point scope or a transitive one. */
static lode_status check_own(struct scope_check *self, const lode_context *context, uint32_t metric,
                             uint32_t id)
{
    const struct sum *inclusive = &self->scratch->inclusive[context->index];
    struct sum *passed = &self->scratch->passed[context->index];
    bool is_point = self->check->values[id].type == LODE_SCOPE_POINT;
    double own = stored_at(self, context, self->scopes->execution[metric]) - inclusive->value;
    double stored = stored_at(self, context, (int32_t)id), parts = own + (is_point ? 0.0 : passed->value);
    if (roughly_equal(stored, parts, inclusive->size + passed->size))
        return LODE_OK;
    return report_scope(self, is_point ? RULE_SCOPE_EXECUTION : RULE_SCOPE_FUNCTION, context->id, id, stored,
                        parts);
}

static lode_status check_own_of_all(struct scope_check *self, uint32_t metric, uint32_t id)
{
    sum_children(self, self->scratch->passed, id);
    for (uint32_t g = 0; g < self->block.group_count; g++) {
        const lode_context *context = self->scratch->groups[g].context;
        if (context == NULL)
            continue;
        LODE_TRY(check_own(self, context, metric, id));
        /* A parent without values has no group of its own. */
        if (self->scratch->group_of[context->parent] == 0)
            LODE_TRY(check_own(self, parent_of(context), metric, id));
    }
    return LODE_OK;
}

static lode_status check_falling(struct scope_check *self, uint32_t metric)
{
    const lode_database *db = &self->check->db->base;
    struct scratch *scratch = self->scratch;
    if (scratch->inclusive == NULL)
        scratch->inclusive = calloc(db->tree.count, sizeof *scratch->inclusive);
    if (scratch->passed == NULL)
        scratch->passed = calloc(db->tree.count, sizeof *scratch->passed);
    LODE_TRY_ALLOC(scratch->inclusive && scratch->passed, self->report->error);
    sum_children(self, scratch->inclusive, (uint32_t)self->scopes->execution[metric]);
    if (self->scopes->point[metric] >= 0 && !self->has_unlisted)
        LODE_TRY(check_own_of_all(self, metric, (uint32_t)self->scopes->point[metric]));
    for (uint32_t k = 0; k < db->metrics[metric].scope_count; k++)
        if (db->metrics[metric].scopes[k].scope->type == LODE_SCOPE_TRANSITIVE)
            LODE_TRY(check_own_of_all(self, metric, db->metrics[metric].scopes[k].id));
    return LODE_OK;
}

static lode_status check_all_falling(struct scope_check *self)
{
    const lode_database *db = &self->check->db->base;
    for (uint32_t m = 0; self->scratch->falls_known && m < db->metric_count; m++)
        if (self->scratch->falls[m] == FALL_DOUBTED)
            LODE_TRY(check_falling(self, m));
    return LODE_OK;
}

static lode_status check_point_sums(struct scope_check *self)
{
    const lode_database *db = &self->check->db->base;
    const lode_block *block = &self->block;
    double *sums = self->scratch->point_sums;
    for (uint32_t m = 0; m < db->metric_count; m++)
        sums[m] = 0.0;
    for (uint64_t i = 0; i < block->value_count; i++) {
        const struct hpct_metric_id *id = &self->check->values[id_at(block, i)];
        if (id->type == LODE_SCOPE_POINT)
            sums[id->metric] += value_at(block, i);
    }
    for (uint32_t m = 0; m < db->metric_count; m++) {
        int32_t execution = self->scopes->execution[m];
        double total;
        if (execution < 0 || self->scopes->point[m] < 0)
            continue;
        lode_status status = lode_block_lookup(block, 0, (uint32_t)execution, &total, self->report->error);
        if (status < 0)
            return status;
        if (!lode_hpct_close_enough(sums[m], total) && (self->lost == 0 || sums[m] > total))
            LODE_TRY(report_scope(self, RULE_SCOPE_POINT, 0, (uint32_t)execution, total, sums[m]));
    }
    return LODE_OK;
}

static lode_status report_lost(struct scope_check *self)
{
    if (self->lost == 0)
        return LODE_OK;
    return lode_report_add(
        self->report, RULE_SCOPE_LOST, self->block.file, LODE_NO_OFFSET,
        "profile %" PRIu32 ": %" PRIu64
        " inclusive values are more than their parts; hpcprof of 2022 did not store the point values of instructions",
        self->profile, self->lost);
}

static void read_groups(struct scope_check *self)
{
    const struct lode_context_tree *tree = &self->check->db->base.tree;
    const lode_block *block = &self->block;
    for (uint32_t g = 0; g < block->group_count; g++) {
        struct group *group = &self->scratch->groups[g];
        uint32_t index = lode_context_tree_find(tree, block_group_key(block, g));
        group->context = index == LODE_NO_INDEX ? NULL : &tree->nodes[index];
        group->first = block_group_start(block, g);
        group->end = block->value_count;
        if (g > 0)
            group[-1].end = group->first;
        if (group->context)
            self->scratch->group_of[index] = g + 1;
        else
            self->has_unlisted = true;
    }
}

static lode_status check_tree(struct scope_check *self)
{
    const struct group *groups = self->scratch->groups;
    read_groups(self);
    for (uint32_t g = 0; g < self->block.group_count; g++)
        if (groups[g].context && groups[g].context->index > 0)
            LODE_TRY(add_to_parent(self, &groups[g]));
    for (uint32_t g = 0; g < self->block.group_count; g++)
        if (groups[g].context)
            LODE_TRY(check_group(self, &groups[g]));
    return check_all_falling(self);
}

/* Allocates for a profile, and clears the sums. */
static lode_status reset_scratch(struct scratch *scratch, const lode_block *block, lode_error *error)
{
    size_t values = (size_t)block->value_count;
    if (values > scratch->capacity) {
        free(scratch->children);
        scratch->children = malloc(values * sizeof *scratch->children);
        scratch->capacity = scratch->children ? values : 0;
    }
    if (block->group_count > scratch->group_capacity) {
        free(scratch->groups);
        scratch->groups = malloc(block->group_count * sizeof *scratch->groups);
        scratch->group_capacity = scratch->groups ? block->group_count : 0;
    }
    if (scratch->capacity < values || scratch->group_capacity < block->group_count)
        return lode_fail_memory(error);
    for (size_t i = 0; i < values; i++)
        scratch->children[i] = 0.0;
    scratch->falls_known = false;
    return LODE_OK;
}

static lode_status check_profile_scopes(struct hpct_check *check, void *context, uint64_t item,
                                        unsigned worker, struct lode_report *report)
{
    struct scopes *scopes = context;
    struct scope_check self = {.check = check,
                               .scopes = scopes,
                               .scratch = &scopes->workers[worker],
                               .report = report,
                               .profile = (uint32_t)item};
    if (lode_profile_is_summary(&check->db->base, self.profile) || check->adds_up[self.profile])
        return LODE_OK;
    LODE_TRY(lode_profile_block(&check->db->base, self.profile, &self.block, report->error));
    LODE_TRY(reset_scratch(self.scratch, &self.block, report->error));
    lode_status status = check_tree(&self);
    for (uint32_t g = 0; g < self.block.group_count; g++)
        if (self.scratch->groups[g].context)
            self.scratch->group_of[self.scratch->groups[g].context->index] = 0;
    if (status == LODE_OK)
        status = check_point_sums(&self);
    return status == LODE_OK ? report_lost(&self) : status;
}

static lode_status allocate(struct hpct_check *check, struct scopes *scopes)
{
    const lode_database *db = &check->db->base;
    size_t metrics = db->metric_count ? db->metric_count : 1;
    scopes->workers = calloc(scopes->worker_count, sizeof *scopes->workers);
    scopes->execution = calloc(metrics, sizeof *scopes->execution);
    scopes->point = calloc(metrics, sizeof *scopes->point);
    bool enough = scopes->workers && scopes->execution && scopes->point;
    for (unsigned i = 0; enough && i < scopes->worker_count; i++) {
        scopes->workers[i].group_of = calloc(db->tree.count, sizeof(uint32_t));
        scopes->workers[i].point_sums = calloc(metrics, sizeof(double));
        scopes->workers[i].falls = calloc(metrics, 1);
        enough = scopes->workers[i].group_of && scopes->workers[i].point_sums && scopes->workers[i].falls;
    }
    if (!enough)
        return lode_fail_memory(check->report.error);
    for (uint32_t m = 0; m < db->metric_count; m++) {
        uint16_t id;
        scopes->execution[m] =
            lode_metric_id(&db->metrics[m], LODE_SCOPE_EXECUTION, &id) == LODE_OK ? id : -1;
        scopes->point[m] = lode_metric_id(&db->metrics[m], LODE_SCOPE_POINT, &id) == LODE_OK ? id : -1;
    }
    return LODE_OK;
}

lode_status lode_hpct_check_scopes(struct hpct_check *check)
{
    struct scopes scopes = {.worker_count = check->threads};
    lode_status status = allocate(check, &scopes);
    if (status == LODE_OK)
        status = lode_hpct_check_items(check, &(struct hpct_items){.phase = "adding up scopes",
                                                                   .count = check->db->profiles.count,
                                                                   .work = check_profile_scopes,
                                                                   .context = &scopes,
                                                                   .weight = lode_hpct_profile_weight});
    for (unsigned i = 0; scopes.workers && i < scopes.worker_count; i++) {
        free(scopes.workers[i].group_of);
        free(scopes.workers[i].children);
        free(scopes.workers[i].groups);
        free(scopes.workers[i].point_sums);
        free(scopes.workers[i].falls);
        free(scopes.workers[i].inclusive);
        free(scopes.workers[i].passed);
    }
    free(scopes.workers);
    free(scopes.execution);
    free(scopes.point);
    return status;
}
