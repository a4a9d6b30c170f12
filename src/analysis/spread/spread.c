/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What contexts cost in each profile. The own cost of a context is its inclusive cost less that of
 * its children, so both results are weighted sums of inclusive values: every context has a weight
 * of -1, 0 or 1 for each. Both parts of a database give them in ascending order of context ids, and
 * the results are the same to the last bit.
 */
#include "analysis/spread/spread.h"

#include "analysis/cost/key.h"
#include "base/comm/ranks.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROFILES_PER_ITEM = LODE_SPREAD_PROFILES_PER_ITEM,
    SEEK_LEAST = 8, /* groups of a block per weighted context from which on searching pays */
    VALUES_AT_ONCE = 512
};

/* Likewise for sums of values that should be in the summary. */
#define SUM_ROUNDING 1e-9

/* Flags of a context, while weights are found. */
enum {
    IS_GIVEN = 1,
    IS_COVERED = 2, /* given, or below a given one */
    IS_BODY = 4     /* given, or below one without a function between them */
};

struct weight {
    uint32_t id;
    int8_t inclusive, exclusive;
};

/* One profile while it is added up. */
struct amounts {
    double inclusive, exclusive, total;
    double size; /* sum of the positive terms of `exclusive` */
    bool is_selected, has_values, has_metric;
};

struct gathering {
    lode_spread *spread;
    const lode_database *db;
    struct lode_comm *comm; /* its ranks share out profiles; NULL: this process alone */
    bool is_inclusive;      /* the id is of the execution scope, not of the point scope */
    bool is_all;            /* every context was given */
    uint16_t id;
    uint8_t *flags; /* by index of context; NULL if all */
    struct weight *weights;
    uint32_t weight_count;
    struct amounts *amounts; /* by profile */
    struct lode_progress progress;
};

/* ---- weights ---- */

static struct weight weigh(const struct gathering *self, const lode_context *context)
{
    uint8_t flags = self->flags[context->index];
    uint8_t above = context->index ? self->flags[context->parent] : 0;
    struct weight weight = {.id = context->id};
    bool is_body = flags & IS_BODY, is_parent_body = above & IS_BODY;
    if (self->is_inclusive) {
        weight.inclusive = (flags & IS_GIVEN) && !(above & IS_COVERED);
        weight.exclusive = (int8_t)(is_body - is_parent_body);
    } else {
        weight.inclusive = (flags & IS_COVERED) != 0;
        weight.exclusive = is_body;
    }
    return weight;
}

LODE_COMPARE_BY(compare_weights, struct weight, id);

static lode_status mark_contexts(struct gathering *self, const lode_spread_options *options,
                                 lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    for (size_t i = 0; i < options->context_count; i++) {
        const lode_context *context = options->contexts[i];
        if (context == NULL || context->index >= tree->count || context != &tree->nodes[context->index])
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "a context is not of this database");
        self->flags[context->index] = IS_GIVEN | IS_COVERED | IS_BODY;
    }
    /* Nodes are in depth-first order: children follow parents. */
    for (uint32_t i = 1; i < tree->count; i++) {
        uint8_t above = self->flags[tree->nodes[i].parent];
        self->flags[i] |= above & IS_COVERED;
        if (!begins_function(&tree->nodes[i]))
            self->flags[i] |= above & IS_BODY;
    }
    return LODE_OK;
}

static lode_status find_weights(struct gathering *self, const lode_spread_options *options, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    self->is_all = options->contexts == NULL;
    if (self->is_all)
        return LODE_OK;
    self->flags = calloc(tree->count, 1);
    LODE_TRY_ALLOC(self->flags, error);
    LODE_TRY(mark_contexts(self, options, error));
    for (int pass = 0; pass < 2; pass++) {
        self->weight_count = 0;
        for (uint32_t i = 0; i < tree->count; i++) {
            struct weight weight = weigh(self, &tree->nodes[i]);
            /* Values of an id that is used twice belong to its first context. */
            if ((weight.inclusive == 0 && weight.exclusive == 0) ||
                lode_context_tree_find(tree, weight.id) != i)
                continue;
            if (pass == 1)
                self->weights[self->weight_count] = weight;
            self->weight_count++;
        }
        if (pass == 0)
            self->weights = calloc((size_t)self->weight_count + 1, sizeof *self->weights);
        LODE_TRY_ALLOC(self->weights, error);
    }
    qsort(self->weights, self->weight_count, sizeof *self->weights, compare_weights);
    return LODE_OK;
}

static void add(struct amounts *amounts, struct weight weight, double value)
{
    amounts->inclusive += weight.inclusive * value;
    amounts->exclusive += weight.exclusive * value;
    amounts->size += weight.exclusive > 0 ? fabs(value) : 0.0;
}

/* ---- ranks ---- */

uint64_t lode_spread_weight(const void *context, uint64_t item)
{
    const lode_database *db = context;
    uint64_t end = (item + 1) * PROFILES_PER_ITEM, weight = 1;
    for (uint64_t p = item * PROFILES_PER_ITEM; p < end && p < db->profile_count; p++) {
        lode_block block;
        if (lode_profile_block(db, (uint32_t)p, &block, NULL) == LODE_OK)
            weight += block.value_count * block_value_stride(&block);
    }
    return weight;
}

lode_status lode_spread_agree(struct lode_comm *comm, const lode_database *db, uint16_t id, int path,
                              lode_error *error)
{
    const uint64_t numbers[] = {db->profile_count, db->tree.count, id, (uint64_t)path};
    return comm ? lode_ranks_agree(comm, numbers, 4, "adding up profiles", error) : LODE_OK;
}

/* ---- values by profile ---- */

static lode_status group_value(const struct gathering *self, const lode_block *block, uint32_t index,
                               double *value, lode_error *error)
{
    lode_group group;
    LODE_TRY(lode_block_group(block, index, &group, error));
    return lode_group_lookup(block, &group, self->id, value);
}

static lode_status add_total(const struct gathering *self, const lode_block *block, struct amounts *amounts,
                             lode_error *error)
{
    lode_status status = lode_block_lookup(block, 0, self->id, &amounts->total, error);
    amounts->has_metric = status == LODE_OK;
    return status == LODE_NOT_FOUND ? LODE_OK : status;
}

/* Few contexts: searches for each. */
static lode_status seek_weights(const struct gathering *self, const lode_block *block,
                                struct amounts *amounts, lode_error *error)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < self->weight_count && at < block->group_count; i++) {
        double value;
        at = lode_block_seek(block, at, self->weights[i].id);
        if (at >= block->group_count || block_group_key(block, at) != self->weights[i].id)
            continue;
        lode_status status = group_value(self, block, at, &value, error);
        if (status < 0)
            return status;
        if (status == LODE_OK)
            add(amounts, self->weights[i], value);
    }
    return LODE_OK;
}

/* Many: reads all groups. Point values of contexts that are not listed belong to the root. */
static lode_status scan_groups(const struct gathering *self, const lode_block *block, struct amounts *amounts,
                               lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint32_t index = lode_context_tree_find(tree, block_group_key(block, g));
        double value;
        if (index == LODE_NO_INDEX && self->is_inclusive)
            continue;
        struct weight weight = {.inclusive = 1, .exclusive = 1};
        if (!self->is_all)
            weight = weigh(self, &tree->nodes[index == LODE_NO_INDEX ? 0 : index]);
        if (self->is_inclusive && weight.inclusive == 0 && weight.exclusive == 0)
            continue;
        lode_status status = group_value(self, block, g, &value, error);
        if (status < 0)
            return status;
        if (status != LODE_OK)
            continue;
        add(amounts, weight, value);
        if (!self->is_inclusive) {
            amounts->total += value;
            amounts->has_metric = true;
        }
    }
    return LODE_OK;
}

static lode_status add_profile(struct gathering *self, uint32_t profile, lode_error *error)
{
    struct amounts *amounts = &self->amounts[profile];
    lode_block block;
    if (!amounts->is_selected)
        return LODE_OK;
    LODE_TRY(lode_profile_block(self->db, profile, &block, error));
    amounts->has_values = block.value_count > 0;
    if (self->is_inclusive)
        LODE_TRY(add_total(self, &block, amounts, error));
    if (!amounts->has_values || (self->is_inclusive && self->is_all))
        return LODE_OK;
    if (self->is_inclusive && self->weight_count < block.group_count / SEEK_LEAST)
        return seek_weights(self, &block, amounts, error);
    return scan_groups(self, &block, amounts, error);
}

static lode_status add_profiles(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct gathering *self = context;
    uint64_t end = (item + 1) * PROFILES_PER_ITEM;
    (void)worker;
    for (uint64_t p = item * PROFILES_PER_ITEM; p < end && p < self->db->profile_count; p++)
        LODE_TRY(add_profile(self, (uint32_t)p, error));
    return LODE_OK;
}

static lode_status finish_profiles(void *context, uint64_t item, lode_error *error)
{
    struct gathering *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* All ranks have zeros but for the profiles that they have read. */
static lode_status share_amounts(struct gathering *self, const struct lode_share *share, lode_error *error)
{
    uint64_t count = self->db->profile_count, first = share->first * PROFILES_PER_ITEM,
             end = first + share->count * PROFILES_PER_ITEM;
    if (self->comm == NULL)
        return LODE_OK;
    for (uint64_t p = 0; p < count; p++)
        if (p < first || p >= end)
            memset(&self->amounts[p], 0, sizeof *self->amounts);
    return lode_ranks_collect(self->comm, self->amounts, count * (sizeof *self->amounts / sizeof(uint64_t)),
                              error);
}

static lode_status read_by_profiles(struct gathering *self, const lode_spread_options *options,
                                    lode_error *error)
{
    uint64_t items = self->db->profile_count / PROFILES_PER_ITEM + 1;
    struct lode_job job = {
        .work = add_profiles, .finish = finish_profiles, .context = self, .pool = options->pool};
    unsigned threads = lode_ranks_threads(self->comm, lode_pool_asked(options->threads, options->pool));
    self->spread->path = LODE_VALUES_BY_PROFILES;
    LODE_TRY(lode_profile_blocks_fit(self->db, error));
    const struct lode_share share = lode_ranks_share(self->comm, items, lode_spread_weight, self->db);
    self->progress.total = share.count;
    LODE_TRY(lode_ranks_job(self->comm, threads, &job, &share, error));
    return share_amounts(self, &share, error);
}

/* ---- values by context ---- */

/* A reading of one context: its values, and whether they are those of the summary. */
struct reading {
    struct weight weight;
    bool is_root;
    double sum, size;
};

static void take_values(struct gathering *self, struct reading *reading, const lode_value *values,
                        uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (values[i].key == 0 || values[i].key >= self->db->profile_count)
            continue;
        struct amounts *amounts = &self->amounts[values[i].key];
        reading->sum += values[i].value;
        reading->size += fabs(values[i].value);
        add(amounts, reading->weight, values[i].value);
        if (reading->is_root) {
            amounts->total = values[i].value;
            amounts->has_metric = true;
        }
    }
}

/* LODE_ABSENT if there can be better ones in profiles. */
static lode_status read_context(struct gathering *self, struct reading *reading, lode_error *error)
{
    lode_value values[VALUES_AT_ONCE];
    lode_block block;
    lode_group group;
    lode_status status = lode_context_block(self->db, reading->weight.id, &block, error);
    if (status == LODE_OK)
        status = lode_block_find(&block, self->id, &group, error);
    if (status == LODE_NOT_FOUND)
        return LODE_OK;
    LODE_TRY(status);
    if (group.count > self->db->profile_count)
        return LODE_ABSENT;
    for (uint64_t done = 0; done < group.count; done += VALUES_AT_ONCE) {
        uint64_t part = group.count - done < VALUES_AT_ONCE ? group.count - done : VALUES_AT_ONCE;
        LODE_TRY(lode_block_read(&block, group.first + done, part, values));
        take_values(self, reading, values, part);
    }
    return LODE_OK;
}

static bool adds_up(const struct reading *reading, const lode_block *summary, uint16_t sum_id)
{
    double wanted = 0.0;
    if (lode_block_lookup(summary, reading->weight.id, sum_id, &wanted, NULL) < 0)
        return false;
    return fabs(reading->sum - wanted) <= SUM_ROUNDING * (reading->size + fabs(wanted));
}

static lode_status read_contexts(struct gathering *self, lode_error *error)
{
    lode_block summary;
    uint16_t sum_id;
    bool is_forced = self->spread->path == LODE_VALUES_BY_CONTEXTS;
    bool has_sum = lode_metric_sum_id(self->spread->metric, LODE_SCOPE_EXECUTION, &sum_id) == LODE_OK &&
                   lode_profile_block(self->db, 0, &summary, NULL) == LODE_OK;
    if (!has_sum && !is_forced)
        return LODE_ABSENT;
    struct reading root = {.is_root = true};
    uint32_t first = self->weight_count && self->weights[0].id == 0;
    if (first)
        root.weight = self->weights[0];
    LODE_TRY(read_context(self, &root, error));
    if (!is_forced && !adds_up(&root, &summary, sum_id))
        return LODE_ABSENT;
    for (uint32_t i = first; i < self->weight_count; i++) {
        struct reading reading = {.weight = self->weights[i]};
        LODE_TRY(read_context(self, &reading, error));
        if (!is_forced && !adds_up(&reading, &summary, sum_id))
            return LODE_ABSENT;
    }
    return LODE_OK;
}

static lode_status mark_empty(struct gathering *self, lode_error *error)
{
    for (uint32_t p = 1; p < self->db->profile_count; p++) {
        lode_block block;
        LODE_TRY(lode_profile_block(self->db, p, &block, error));
        self->amounts[p].has_values = block.value_count > 0;
    }
    return LODE_OK;
}

/* Values by context are so few that all ranks have read them. */
static lode_status end_contexts(struct gathering *self, lode_error *error)
{
    self->spread->path = LODE_VALUES_BY_CONTEXTS;
    LODE_TRY(lode_spread_agree(self->comm, self->db, self->id, LODE_VALUES_BY_CONTEXTS, error));
    return mark_empty(self, error);
}

static lode_status choose_profiles(struct gathering *self, const lode_spread_options *options,
                                   lode_error *error)
{
    memset(self->amounts, 0, ((size_t)self->db->profile_count + 1) * sizeof *self->amounts);
    for (uint32_t p = 1; p < self->db->profile_count; p++) {
        int selected;
        LODE_TRY(lode_selection_has(options->selection, self->db, p, &selected, error));
        self->amounts[p].is_selected = selected;
    }
    return LODE_OK;
}

/* ---- the whole ---- */

static lode_status choose_id(struct gathering *self, lode_error *error)
{
    const lode_metric *metric = self->spread->metric;
    self->is_inclusive = lode_metric_id(metric, LODE_SCOPE_EXECUTION, &self->id) == LODE_OK;
    if (self->is_inclusive || lode_metric_id(metric, LODE_SCOPE_POINT, &self->id) == LODE_OK)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                     "metric '%s' has neither inclusive nor point values", metric->name);
}

/* Values by context are worth it if there are fewer contexts than profiles to search for them. */
static bool are_contexts_better(const struct gathering *self, const lode_spread_options *options)
{
    if (!self->is_inclusive || !lode_database_has(self->db, LODE_PART_CONTEXT))
        return false;
    return options->path == LODE_VALUES_CHEAPER && self->weight_count < self->db->profile_count;
}

static lode_status gather(struct gathering *self, const lode_spread_options *options, lode_error *error)
{
    LODE_TRY(choose_profiles(self, options, error));
    if (options->path == LODE_VALUES_BY_CONTEXTS || are_contexts_better(self, options)) {
        self->spread->path = options->path;
        lode_status status = self->is_inclusive ? read_contexts(self, error) : LODE_ABSENT;
        if (status == LODE_OK)
            return end_contexts(self, error);
        if (options->path == LODE_VALUES_BY_CONTEXTS)
            return status;
        LODE_TRY(choose_profiles(self, options, error));
    }
    LODE_TRY(lode_spread_agree(self->comm, self->db, self->id, LODE_VALUES_BY_PROFILES, error));
    return read_by_profiles(self, options, error);
}

static lode_status collect(struct gathering *self, const lode_spread_options *options, lode_error *error)
{
    lode_spread *spread = self->spread;
    spread->rows = calloc((size_t)self->db->profile_count + 1, sizeof *spread->rows);
    LODE_TRY_ALLOC(spread->rows, error);
    for (uint32_t p = 1; p < self->db->profile_count; p++) {
        const struct amounts *from = &self->amounts[p];
        if (!from->is_selected)
            continue;
        spread->empty += !from->has_values;
        spread->without += from->has_values && !from->has_metric;
        if (!from->has_values || !from->has_metric)
            continue;
        lode_spread_row *row = &spread->rows[spread->count++];
        *row = (lode_spread_row){p, from->inclusive, from->exclusive, from->total};
        if (options->contexts == NULL)
            row->inclusive = row->exclusive = from->total;
        if (fabs(row->exclusive) <= LODE_SPREAD_ROUNDING * from->size)
            row->exclusive = 0.0;
    }
    return LODE_OK;
}

static lode_status compute(struct gathering *self, const lode_spread_options *options, lode_error *error)
{
    lode_spread *spread = self->spread;
    spread->metric = options->metric;
    if (spread->metric == NULL)
        LODE_TRY(lode_database_default_metric(self->db, &spread->metric, error));
    LODE_TRY(choose_id(self, error));
    LODE_TRY(find_weights(self, options, error));
    self->amounts = calloc((size_t)self->db->profile_count + 1, sizeof *self->amounts);
    LODE_TRY_ALLOC(self->amounts, error);
    LODE_TRY(gather(self, options, error));
    return collect(self, options, error);
}

/* What all ranks are given. */
struct order {
    const lode_database *db;
    const lode_spread_options *options;
};

static lode_status make(void **out, const void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    const lode_spread_options *options = order->options;
    lode_spread *spread = calloc(1, sizeof *spread);
    LODE_TRY_ALLOC(spread, error);
    spread->db = order->db;
    struct gathering self = {.spread = spread,
                             .db = order->db,
                             .comm = comm,
                             .progress = {.report = ranks_is_first(comm) ? options->on_progress : NULL,
                                          .user = options->user,
                                          .phase = "adding up profiles"}};
    lode_status status = compute(&self, options, error);
    free(self.flags);
    free(self.weights);
    free(self.amounts);
    if (status == LODE_OK)
        *out = spread;
    else
        lode_spread_free(spread);
    return status;
}

static void free_spread(void *spread)
{
    lode_spread_free(spread);
}

lode_status lode_spread_compute(lode_spread **out, const lode_database *db, const lode_spread_options *given,
                                lode_error *error)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    const struct order order = {db, &options};
    const struct lode_ranks_result result = {make, free_spread, &order};
    void *made = NULL;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    LODE_TRY(lode_ranks_make(&made, &ranks, &result, error));
    *out = made;
    return LODE_OK;
}

void lode_spread_free(lode_spread *spread)
{
    if (spread == NULL)
        return;
    free(spread->rows);
    free(spread);
}

LODE_GETTER(const lode_metric *, lode_spread_metric, lode_spread, metric);
LODE_GETTER(size_t, lode_spread_count, lode_spread, count);
LODE_GETTER(uint32_t, lode_spread_empty, lode_spread, empty);
LODE_GETTER(uint32_t, lode_spread_without, lode_spread, without);
LODE_GETTER(lode_values_path, lode_spread_path, lode_spread, path);

const lode_spread_row *lode_spread_at(const lode_spread *spread, size_t index)
{
    return index < spread->count ? &spread->rows[index] : NULL;
}
