/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of rows in each profile, from the blocks of the contexts that take part in them. */
#include "analysis/spread/spread.h"

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

/* LODE_ABSENT if there can be better ones in profiles. */
static lode_status read_part(struct reader *self, const struct part *part, bool is_root, lode_error *error)
{
    lode_value values[VALUES_AT_ONCE];
    lode_block block;
    lode_group group = {0};
    double sum = 0.0, size = 0.0;
    lode_status status = lode_context_block(self->db, part->id, &block, error);
    if (status == LODE_OK)
        status = lode_block_find(&block, self->question->id, &group, error);
    if (status != LODE_NOT_FOUND)
        LODE_TRY(status);
    uint64_t count = status == LODE_OK ? group.count : 0;
    if (count > self->db->profile_count)
        return LODE_ABSENT;
    for (uint64_t done = 0; done < count; done += VALUES_AT_ONCE) {
        uint64_t some = count - done < VALUES_AT_ONCE ? count - done : VALUES_AT_ONCE;
        LODE_TRY(lode_block_read(&block, group.first + done, some, values));
        for (uint64_t i = 0; i < some; i++) {
            if (values[i].key == 0 || values[i].key >= self->db->profile_count)
                continue;
            sum += values[i].value;
            size += fabs(values[i].value);
            if (is_root)
                self->has_metric[values[i].key] = true;
            if (self->is_selected[values[i].key])
                add_value(self, part, (uint32_t)values[i].key, values[i].value);
        }
    }
    return adds_up(self, part->id, sum, size) ? LODE_OK : LODE_ABSENT;
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

static lode_status read_parts(struct reader *self, lode_error *error)
{
    const struct lode_spread_question *question = self->question;
    if (lode_metric_sum_id(question->metric, LODE_SCOPE_EXECUTION, &self->sum_id) != LODE_OK ||
        lode_profile_block(self->db, 0, &self->summary, NULL) != LODE_OK)
        return LODE_ABSENT;
    LODE_TRY(find_parts(self, error));
    self->is_selected = calloc((size_t)self->db->profile_count + 1, sizeof *self->is_selected);
    self->has_metric = calloc((size_t)self->db->profile_count + 1, sizeof *self->has_metric);
    self->sizes = calloc(question->row_count * self->db->profile_count + 1, sizeof *self->sizes);
    LODE_TRY_ALLOC(self->is_selected && self->has_metric && self->sizes, error);
    for (uint32_t p = 1; p < self->db->profile_count; p++) {
        int selected;
        LODE_TRY(lode_selection_has(question->selection, self->db, p, &selected, error));
        self->is_selected[p] = selected;
    }
    uint32_t first = self->part_count && self->parts[0].id == 0;
    struct part root = {0, LODE_NO_ROW, LODE_NO_ROW, LODE_NO_ROW};
    LODE_TRY(read_part(self, first ? &self->parts[0] : &root, true, error));
    for (uint32_t i = first; i < self->part_count; i++)
        LODE_TRY(read_part(self, &self->parts[i], false, error));
    finish_values(self);
    return LODE_OK;
}

lode_status lode_spread_by_contexts(const struct lode_spread_question *question, const lode_database *db,
                                    double *values, lode_error *error)
{
    struct reader self = {.question = question, .db = db, .values = values};
    lode_status status = lode_database_has(db, LODE_PART_CONTEXT) ? read_parts(&self, error) : LODE_ABSENT;
    free(self.parts);
    free(self.is_selected);
    free(self.has_metric);
    free(self.sizes);
    return status;
}
