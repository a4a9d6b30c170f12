/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs of rows in each profile, from the blocks of the contexts that take part in them.
 *
 * On ranks, each checks some contexts, and then adds up some profiles at all contexts, in their
 * order: the sums are those of one process to the last bit.
 */
#include "analysis/spread/spread.h"

#include "base/comm/ranks.h"
#include "base/compare.h"
#include "base/error.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_AT_ONCE = 512,
    TREE_PER_CONTEXT = 4 /* contexts of the tree for each one that is read, from which on it pays */
};

/* Sums of values that should be in the summary differ from it by rounding errors below this. */
#define SUM_ROUNDING 1e-9

/* A context that is read: what its values add to, and are taken from. */
struct part {
    uint32_t id;
    uint32_t inclusive, exclusive, above; /* rows, or LODE_NO_ROW */
};

struct reader {
    const struct lode_spread_question *question;
    const lode_database *db;
    struct lode_comm *comm;     /* NULL: this process alone */
    struct lode_share profiles; /* that this rank adds up */
    struct part *parts;
    uint32_t part_count;
    bool *is_selected, *has_metric; /* by profile */
    double *values;                 /* by row, profile, and kind */
    double *sizes;                  /* by row and profile: sum of positive terms */
    lode_block summary;
    uint16_t sum_id;
};

LODE_COMPARE_BY(compare_parts, struct part, id);

static bool part_of(const struct lode_spread_question *question, const lode_context *context,
                    struct part *part)
{
    const uint32_t *rows = question->rows;
    uint32_t row = rows[context->index], above = context->index ? rows[context->parent] : LODE_NO_ROW;
    *part = (struct part){context->id, LODE_NO_ROW, LODE_NO_ROW, LODE_NO_ROW};
    if (row != LODE_NO_ROW && question->is_outer[context->index])
        part->inclusive = row;
    if (row != above) {
        part->exclusive = row;
        part->above = above;
    }
    return part->inclusive != LODE_NO_ROW || part->exclusive != LODE_NO_ROW || part->above != LODE_NO_ROW;
}

/* LODE_ABSENT if there are too many. */
static lode_status find_parts(struct reader *self, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    uint32_t most = tree->count / TREE_PER_CONTEXT;
    most = most > self->db->profile_count ? most : self->db->profile_count;
    for (int pass = 0; pass < 2; pass++) {
        self->part_count = 0;
        for (uint32_t i = 0; i < tree->count; i++) {
            struct part part;
            /* Values of an id that is used twice belong to its first context. */
            if (!part_of(self->question, &tree->nodes[i], &part) ||
                lode_context_tree_find(tree, part.id) != i)
                continue;
            if (pass == 1)
                self->parts[self->part_count] = part;
            self->part_count++;
        }
        if (self->part_count > most)
            return LODE_ABSENT;
        if (pass == 0)
            self->parts = calloc((size_t)self->part_count + 1, sizeof *self->parts);
        LODE_TRY_ALLOC(self->parts, error);
    }
    /* Profiles have their values in this order, and sums depend on it. */
    qsort(self->parts, self->part_count, sizeof *self->parts, compare_parts);
    return LODE_OK;
}

static void add_value(struct reader *self, const struct part *part, uint32_t profile, double value)
{
    size_t profiles = self->db->profile_count;
    if (part->inclusive != LODE_NO_ROW)
        self->values[2 * (part->inclusive * profiles + profile) + 1] += value;
    if (part->exclusive != LODE_NO_ROW) {
        self->values[2 * (part->exclusive * profiles + profile)] += value;
        self->sizes[part->exclusive * profiles + profile] += fabs(value);
    }
    if (part->above != LODE_NO_ROW)
        self->values[2 * (part->above * profiles + profile)] -= value;
}

/* Of all profiles: whether the sum is that of the summary. */
static bool adds_up(const struct reader *self, uint32_t id, double sum, double size)
{
    double wanted = 0.0;
    if (lode_block_lookup(&self->summary, id, self->sum_id, &wanted, NULL) < 0)
        return false;
    return fabs(sum - wanted) <= SUM_ROUNDING * (size + fabs(wanted));
}

/* The values of a part, by profile; none: `count` is 0. LODE_ABSENT if there are too many. */
static lode_status find_values(const struct reader *self, const struct part *part, lode_block *block,
                               lode_group *group, lode_error *error)
{
    *group = (lode_group){0};
    lode_status status = lode_context_block(self->db, part->id, block, error);
    if (status == LODE_OK)
        status = lode_block_find(block, self->question->id, group, error);
    if (status != LODE_NOT_FOUND)
        LODE_TRY(status);
    return group->count > self->db->profile_count ? LODE_ABSENT : LODE_OK;
}

/*
 * LODE_ABSENT if there can be better values in profiles: sums differ, or profiles do not rise. A
 * single process adds up values on the way.
 */
static lode_status check_part(struct reader *self, const struct part *part, bool is_root, lode_error *error)
{
    lode_value values[VALUES_AT_ONCE];
    lode_block block;
    lode_group group;
    double sum = 0.0, size = 0.0;
    uint64_t least = 0;
    LODE_TRY(find_values(self, part, &block, &group, error));
    for (uint64_t done = 0; done < group.count; done += VALUES_AT_ONCE) {
        uint64_t some = group.count - done < VALUES_AT_ONCE ? group.count - done : VALUES_AT_ONCE;
        LODE_TRY(lode_block_read(&block, group.first + done, some, values));
        for (uint64_t i = 0; i < some; i++) {
            if (values[i].key < least)
                return LODE_ABSENT;
            least = (uint64_t)values[i].key + 1;
            if (values[i].key == 0 || values[i].key >= self->db->profile_count)
                continue;
            sum += values[i].value;
            size += fabs(values[i].value);
            if (is_root)
                self->has_metric[values[i].key] = true;
            else if (self->comm == NULL && self->is_selected[values[i].key])
                add_value(self, part, (uint32_t)values[i].key, values[i].value);
        }
    }
    return adds_up(self, part->id, sum, size) ? LODE_OK : LODE_ABSENT;
}

/* Adds up the profiles of a rank. */
static lode_status add_part(struct reader *self, const struct part *part, lode_error *error)
{
    lode_value values[VALUES_AT_ONCE];
    lode_block block;
    lode_group group;
    LODE_TRY(find_values(self, part, &block, &group, error));
    if (group.count == 0 || self->profiles.count == 0)
        return LODE_OK;
    uint64_t end = self->profiles.first + self->profiles.count;
    uint64_t at = lode_group_seek(&block, &group, (uint32_t)self->profiles.first);
    uint64_t stop = end < self->db->profile_count ? lode_group_seek(&block, &group, (uint32_t)end)
                                                  : group.first + group.count;
    for (; at < stop; at += VALUES_AT_ONCE) {
        uint64_t some = stop - at < VALUES_AT_ONCE ? stop - at : VALUES_AT_ONCE;
        LODE_TRY(lode_block_read(&block, at, some, values));
        for (uint64_t i = 0; i < some; i++)
            if (values[i].key > 0 && values[i].key < end && self->is_selected[values[i].key])
                add_value(self, part, (uint32_t)values[i].key, values[i].value);
    }
    return LODE_OK;
}

static void finish_values(struct reader *self)
{
    size_t profiles = self->db->profile_count, count = self->question->row_count * profiles;
    for (size_t i = 0; i < count; i++) {
        double *values = &self->values[2 * i];
        if (!self->has_metric[i % profiles])
            values[0] = values[1] = 0.0;
        else if (fabs(values[0]) <= LODE_SPREAD_ROUNDING * self->sizes[i])
            values[0] = 0.0;
    }
}

/* The first of some parts that cannot be used, or cannot be read: `part_count` if all can. */
static lode_status check_parts(struct reader *self, const struct lode_share *share, uint64_t *bad,
                               lode_error *error)
{
    *bad = self->part_count;
    for (uint64_t i = share->first; i < share->first + share->count; i++) {
        lode_status status = check_part(self, &self->parts[i], false, error);
        if (status == LODE_OK)
            continue;
        *bad = i;
        return status;
    }
    return LODE_OK;
}

static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct reader *self = context;
    lode_block block;
    lode_group group;
    return 64 + (find_values(self, &self->parts[item], &block, &group, NULL) == LODE_OK ? group.count : 0);
}

/* What is said of the first bad part holds for all ranks. Its error is raised by its rank. */
static lode_status check_on_ranks(struct reader *self, lode_error *error)
{
    const struct lode_share share = lode_ranks_share(self->comm, self->part_count, weight_of, self);
    uint64_t bad, first;
    lode_status status = check_parts(self, &share, &bad, error);
    if (self->comm == NULL)
        return status;
    first = bad << 1 | (status != LODE_ABSENT);
    uint64_t own = first;
    LODE_TRY(lode_comm_allreduce(self->comm, &first, 1, LODE_COMM_MIN, error));
    if (first == own || first >> 1 == self->part_count)
        return status;
    if ((first & 1) == 0)
        return LODE_ABSENT;
    LODE_TRY(lode_comm_barrier(self->comm, error));
    return LODE_ERR_CANCELLED;
}

static lode_status add_parts(struct reader *self, lode_error *error)
{
    const struct lode_spread_question *question = self->question;
    self->profiles = lode_ranks_share(self->comm, self->db->profile_count, NULL, NULL);
    for (uint32_t i = 0; i < self->part_count && self->comm; i++)
        LODE_TRY(add_part(self, &self->parts[i], error));
    finish_values(self);
    return lode_ranks_collect(self->comm, self->values, 2 * question->row_count * self->db->profile_count,
                              error);
}

static lode_status choose_profiles(struct reader *self, lode_error *error)
{
    const struct lode_spread_question *question = self->question;
    self->is_selected = calloc((size_t)self->db->profile_count + 1, sizeof *self->is_selected);
    self->has_metric = calloc((size_t)self->db->profile_count + 1, sizeof *self->has_metric);
    self->sizes = calloc(question->row_count * self->db->profile_count + 1, sizeof *self->sizes);
    LODE_TRY_ALLOC(self->is_selected && self->has_metric && self->sizes, error);
    for (uint32_t p = 1; p < self->db->profile_count; p++) {
        int selected;
        LODE_TRY(lode_selection_has(question->selection, self->db, p, &selected, error));
        self->is_selected[p] = selected;
    }
    return LODE_OK;
}

static lode_status read_parts(struct reader *self, lode_error *error)
{
    const struct part root = {0, LODE_NO_ROW, LODE_NO_ROW, LODE_NO_ROW};
    if (lode_metric_sum_id(self->question->metric, LODE_SCOPE_EXECUTION, &self->sum_id) != LODE_OK ||
        lode_profile_block(self->db, 0, &self->summary, NULL) != LODE_OK)
        return LODE_ABSENT;
    LODE_TRY(find_parts(self, error));
    LODE_TRY(choose_profiles(self, error));
    LODE_TRY(check_part(self, &root, true, error));
    LODE_TRY(check_on_ranks(self, error));
    return add_parts(self, error);
}

lode_status lode_spread_by_contexts(const struct lode_spread_question *question, const lode_database *db,
                                    struct lode_comm *comm, double *values, lode_error *error)
{
    struct reader self = {.question = question, .db = db, .comm = comm, .values = values};
    lode_status status = lode_database_has(db, LODE_PART_CONTEXT) ? read_parts(&self, error) : LODE_ABSENT;
    free(self.parts);
    free(self.is_selected);
    free(self.has_metric);
    free(self.sizes);
    return status;
}
