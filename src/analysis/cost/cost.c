/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/cost.h"

#include "base/comm/ranks.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/memory/map.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include "model/table.h"
#include <lode/private/columns.h>
#include <math.h>
#include <stdlib.h>

/* Each range of context ids belongs to one thread, which adds in profile order. */
enum {
    RANGES_PER_THREAD = 4,
    FIXED_RANGES = 64 /* where a sum over ranges is asked for, their number depends on nothing */
};

/* Differences below this fraction of the inclusive cost are rounding errors. */
#define OWN_TOLERANCE 1e-11

/* Values of the metric at contexts that are not in the metadata, by range. */
struct unlisted {
    uint64_t *contexts, *values;
    double *sums;
};

/* The source of values: blocks of profiles and the metric's id in them. */
struct gathering {
    lode_cost *cost;
    bool from_summary;
    bool inclusive; /* the id is of the execution scope, not the point scope */
    uint16_t id;
    uint32_t *profiles; /* to be summed */
    uint32_t profile_count;
    struct lode_comm *comm; /* its ranks take ranges in turn; NULL: this process alone */
    uint64_t ids_per_range, ranges;
    struct unlisted unlisted;
    struct lode_progress progress;
};

static lode_status choose_source(struct gathering *gathering, const lode_cost_options *options,
                                 lode_error *error)
{
    const lode_metric *metric = gathering->cost->metric;
    gathering->inclusive = true;
    if (options->selection == NULL &&
        lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &gathering->id) == LODE_OK) {
        gathering->from_summary = true;
        return LODE_OK;
    }
    if (lode_metric_id(metric, LODE_SCOPE_EXECUTION, &gathering->id) == LODE_OK)
        return LODE_OK;
    gathering->inclusive = false;
    if (lode_metric_id(metric, LODE_SCOPE_POINT, &gathering->id) == LODE_OK)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                     "metric '%s' has neither inclusive nor point values", metric->name);
}

static lode_status list_profiles(struct gathering *gathering, const lode_cost_options *options,
                                 lode_error *error)
{
    const lode_database *db = gathering->cost->db;
    gathering->profiles = calloc((size_t)db->profile_count + 1, sizeof *gathering->profiles);
    LODE_TRY_ALLOC(gathering->profiles, error);
    if (gathering->from_summary) {
        /* The summary is profile 0; checking all others would cost more than reading it. */
        gathering->profile_count = 1;
        gathering->cost->profiles = db->profile_count - 1;
        return LODE_OK;
    }
    LODE_TRY(lode_profile_blocks_fit(db, error));
    for (uint32_t p = 1; p < db->profile_count; p++) {
        int selected;
        LODE_TRY(lode_selection_has(options->selection, db, p, &selected, error));
        if (selected)
            gathering->profiles[gathering->profile_count++] = p;
    }
    gathering->cost->profiles = gathering->profile_count;
    if (gathering->profile_count == 0 && options->selection)
        return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "the selection has no profiles");
    return LODE_OK;
}

/* Adds a profile's values at the ids of a range. Unknown ids go to `unlisted_ids`. */
static lode_status add_profile(struct gathering *gathering, uint32_t profile, uint64_t range,
                               struct lode_map *unlisted_ids, lode_error *error)
{
    uint64_t first = range * gathering->ids_per_range;
    uint64_t end = range + 1 < gathering->ranges ? first + gathering->ids_per_range : UINT64_MAX;
    const lode_database *db = gathering->cost->db;
    double *to = gathering->inclusive ? gathering->cost->inclusive : gathering->cost->own;
    lode_block block;
    LODE_TRY(lode_profile_block(db, profile, &block, error));
    for (uint32_t g = lode_block_seek(&block, 0, (uint32_t)first); g < block.group_count; g++) {
        uint32_t key = block_group_key(&block, g);
        lode_group group;
        double value;
        if (key >= end)
            break;
        LODE_TRY(lode_block_group(&block, g, &group, error));
        if (lode_group_lookup(&block, &group, gathering->id, &value) != LODE_OK)
            continue;
        uint32_t index = lode_context_tree_find(&db->tree, key);
        if (index != LODE_NO_INDEX) {
            to[index] += value;
            continue;
        }
        if (lode_map_add(unlisted_ids, key, 0, NULL) == NULL)
            return lode_fail_memory(error);
        gathering->unlisted.values[range]++;
        gathering->unlisted.sums[range] += value;
    }
    return LODE_OK;
}

static lode_status gather_range(void *context, uint64_t range, unsigned worker, lode_error *error)
{
    struct gathering *gathering = context;
    struct lode_map unlisted_ids;
    lode_status status = LODE_OK;
    (void)worker;
    lode_map_init(&unlisted_ids);
    for (uint32_t i = 0; i < gathering->profile_count && status == LODE_OK; i++)
        status = add_profile(gathering, gathering->profiles[i], range, &unlisted_ids, error);
    gathering->unlisted.contexts[range] = unlisted_ids.count;
    lode_map_free(&unlisted_ids);
    return status;
}

static lode_status finish_range(void *context, uint64_t range, lode_error *error)
{
    struct gathering *gathering = context;
    (void)range;
    return lode_progress_add(&gathering->progress, 1, error);
}

/* Ranges are the same on all ranks, whose machines may differ. */
static lode_status choose_ranges(struct gathering *gathering, unsigned threads, lode_error *error)
{
    const struct lode_database *db = gathering->cost->db;
    struct lode_comm *comm = gathering->comm;
    uint64_t ids = db->tree.table_size ? db->tree.table_size : UINT64_C(1) << 32;
    gathering->ranges = threads > 1 || comm ? (uint64_t)threads * RANGES_PER_THREAD : 1;
    if (comm)
        gathering->ranges *= comm->place.size;
    if (!gathering->inclusive)
        gathering->ranges = FIXED_RANGES;
    if (comm)
        LODE_TRY(lode_comm_broadcast(comm, &gathering->ranges, sizeof gathering->ranges, error));
    gathering->ids_per_range = ids / gathering->ranges + 1;
    return LODE_OK;
}

static lode_status collect_all(struct gathering *gathering, lode_error *error)
{
    lode_cost *cost = gathering->cost;
    const struct unlisted *unlisted = &gathering->unlisted;
    uint64_t ranges = gathering->ranges;
    double *costs = gathering->inclusive ? cost->inclusive : cost->own;
    LODE_TRY(lode_ranks_collect(gathering->comm, costs, cost->tree->count, error));
    LODE_TRY(lode_ranks_collect(gathering->comm, unlisted->contexts, ranges, error));
    LODE_TRY(lode_ranks_collect(gathering->comm, unlisted->values, ranges, error));
    LODE_TRY(lode_ranks_collect(gathering->comm, unlisted->sums, ranges, error));
    for (uint64_t i = 0; i < ranges; i++) {
        cost->unlisted_contexts += unlisted->contexts[i];
        cost->unlisted_values += unlisted->values[i];
        /* Inclusive values of listed contexts contain it; point values have no other place. */
        if (!gathering->inclusive)
            cost->own[0] += unlisted->sums[i];
    }
    return LODE_OK;
}

static lode_status gather_ranges(struct gathering *gathering, const lode_cost_options *options,
                                 unsigned threads, lode_error *error)
{
    uint64_t ranges = gathering->ranges;
    const struct lode_share share = lode_ranks_turns(gathering->comm, ranges);
    struct unlisted *unlisted = &gathering->unlisted;
    unlisted->contexts = calloc((size_t)ranges, sizeof *unlisted->contexts);
    unlisted->values = calloc((size_t)ranges, sizeof *unlisted->values);
    unlisted->sums = calloc((size_t)ranges, sizeof *unlisted->sums);
    LODE_TRY_ALLOC(unlisted->contexts && unlisted->values && unlisted->sums, error);
    struct lode_job job = {
        .work = gather_range, .finish = finish_range, .context = gathering, .pool = options->pool};
    gathering->progress.total = share.count;
    LODE_TRY(lode_ranks_job(gathering->comm, threads, &job, &share, error));
    return collect_all(gathering, error);
}

static lode_status gather(struct gathering *gathering, const lode_cost_options *options, lode_error *error)
{
    unsigned asked = lode_ranks_threads(gathering->comm, lode_pool_asked(options->threads, options->pool));
    unsigned threads = lode_pool_threads(asked, gathering->cost->db->tree.count / 1024 + 1);
    LODE_TRY(choose_ranges(gathering, threads, error));
    lode_status status = gather_ranges(gathering, options, threads, error);
    free(gathering->unlisted.contexts);
    free(gathering->unlisted.values);
    free(gathering->unlisted.sums);
    return status;
}

/* Nodes are in depth-first order: children follow parents. */
static void complete(lode_cost *cost, bool inclusive_known)
{
    const struct lode_context_tree *tree = cost->tree;
    for (uint32_t i = 0; i < tree->count; i++)
        if (inclusive_known)
            cost->own[i] = cost->inclusive[i];
        else
            cost->inclusive[i] = cost->own[i];
    for (uint32_t i = tree->count; i-- > 1;)
        if (inclusive_known)
            cost->own[tree->nodes[i].parent] -= cost->inclusive[i];
        else
            cost->inclusive[tree->nodes[i].parent] += cost->inclusive[i];
    for (uint32_t i = 0; i < tree->count; i++)
        if (fabs(cost->own[i]) <= OWN_TOLERANCE * fabs(cost->inclusive[i]))
            cost->own[i] = 0.0;
}

/* On ranks that see different files, nobody waits for what never comes. */
static lode_status agree(const struct gathering *gathering, lode_error *error)
{
    const lode_database *db = gathering->cost->db;
    const uint64_t numbers[] = {db->tree.count, db->tree.table_size, gathering->id, gathering->profile_count};
    return lode_ranks_agree(gathering->comm, numbers, 4, "adding up profiles", error);
}

/* `comm` may be NULL. The summary is not worth sharing out. */
static lode_status compute(lode_cost *cost, const lode_cost_options *options, struct lode_comm *comm,
                           lode_error *error)
{
    struct gathering gathering = {.cost = cost,
                                  .progress = {.report = ranks_is_first(comm) ? options->on_progress : NULL,
                                               .user = options->user,
                                               .phase = "adding up profiles"}};
    cost->metric = options->metric;
    if (cost->metric == NULL)
        LODE_TRY(lode_database_default_metric(cost->db, &cost->metric, error));
    LODE_TRY(choose_source(&gathering, options, error));
    lode_status status = list_profiles(&gathering, options, error);
    gathering.comm = gathering.from_summary ? NULL : comm;
    if (status == LODE_OK && gathering.comm)
        status = agree(&gathering, error);
    if (status == LODE_OK)
        status = gather(&gathering, options, error);
    free(gathering.profiles);
    if (status == LODE_OK)
        complete(cost, gathering.inclusive);
    return status;
}

lode_status lode_cost_make(lode_cost **out, const lode_database *db, lode_error *error)
{
    lode_cost *cost = calloc(1, sizeof *cost);
    LODE_TRY_ALLOC(cost, error);
    cost->db = db;
    cost->tree = &db->tree;
    cost->inclusive = calloc(db->tree.count, sizeof *cost->inclusive);
    cost->own = calloc(db->tree.count, sizeof *cost->own);
    if (cost->inclusive && cost->own) {
        *out = cost;
        return LODE_OK;
    }
    lode_cost_free(cost);
    return lode_fail_memory(error);
}

/* What all ranks are given. */
struct order {
    const lode_database *db;
    const lode_cost_options *options;
};

static lode_status make(void **out, const void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    lode_cost *cost = NULL;
    LODE_TRY(lode_cost_make(&cost, order->db, error));
    lode_status status = compute(cost, order->options, comm, error);
    if (status == LODE_OK)
        *out = cost;
    else
        lode_cost_free(cost);
    return status;
}

static void free_cost(void *cost)
{
    lode_cost_free(cost);
}

lode_status lode_cost_compute(lode_cost **out, const lode_database *db, const lode_cost_options *given,
                              lode_error *error)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    const struct order order = {db, &options};
    const struct lode_ranks_result result = {make, free_cost, &order};
    void *made = NULL;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    LODE_TRY(lode_ranks_make(&made, &ranks, &result, error));
    *out = made;
    return LODE_OK;
}

void lode_cost_free(lode_cost *cost)
{
    if (cost == NULL)
        return;
    free(cost->inclusive);
    free(cost->own);
    free(cost);
}

LODE_GETTER(const lode_metric *, lode_cost_metric, lode_cost, metric);
LODE_GETTER(const lode_database *, lode_cost_database, lode_cost, db);

double lode_cost_total(const lode_cost *cost)
{
    return cost->inclusive[0];
}

double lode_cost_inclusive(const lode_cost *cost, const lode_context *context)
{
    return cost->inclusive[context->index];
}

double lode_cost_own(const lode_cost *cost, const lode_context *context)
{
    return cost->own[context->index];
}

LODE_GETTER(uint32_t, lode_cost_profiles, lode_cost, profiles);
LODE_GETTER(uint64_t, lode_cost_unlisted_contexts, lode_cost, unlisted_contexts);
LODE_GETTER(uint64_t, lode_cost_unlisted_values, lode_cost, unlisted_values);
LODE_GETTER(uint64_t, lode_cost_samples, lode_cost, samples);
LODE_GETTER(double, lode_cost_idle, lode_cost, idle);

lode_status lode_cost_table(lode_table **out, const lode_cost *cost, lode_error *error)
{
    const struct lode_column_spec specs[] = {
        {.name = "inclusive", .type = LODE_COLUMN_F64, .array = cost->inclusive},
        {.name = "exclusive", .type = LODE_COLUMN_F64, .array = cost->own},
    };
    struct lode_rows rows = {.count = cost->tree->count, .owner = LODE_OWNER_STORE};
    return lode_table_make(out, &rows, specs, 2, error);
}

const lode_context *lode_cost_context(const lode_cost *cost, uint32_t id)
{
    if (cost->db)
        return lode_database_context(cost->db, id);
    /* Contexts of a call tree are numbered as they are stored. */
    return id < cost->tree->count && cost->tree->nodes[id].id == id ? &cost->tree->nodes[id] : NULL;
}
