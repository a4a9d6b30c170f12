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
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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
    /* Groups that ranges have met, and that there are: fewer are met where keys do not rise. */
    _Atomic uint64_t met, there;
    uint64_t *disordered; /* by profile of the list: each range has to look at all keys */
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

/* A range of ids that one thread adds up. */
struct range {
    uint64_t number, first, end;
    uint64_t met, there;
    struct lode_map unlisted_ids;
};

static lode_status add_unlisted(struct gathering *gathering, struct range *range, uint32_t id, double value,
                                lode_error *error)
{
    LODE_TRY_ALLOC(lode_map_add(&range->unlisted_ids, id, 0, NULL), error);
    gathering->unlisted.values[range->number]++;
    gathering->unlisted.sums[range->number] += value;
    return LODE_OK;
}

/* Adds values at the ids of a range: of all groups, or up to the first that is out of order. */
static lode_status add_block(struct gathering *gathering, struct range *range, const lode_block *block,
                             bool is_disordered, lode_error *error)
{
    const struct lode_context_tree *tree = &gathering->cost->db->tree;
    double *to = gathering->inclusive ? gathering->cost->inclusive : gathering->cost->own;
    uint64_t least = range->first, end = range->end;
    uint32_t g = is_disordered ? 0 : lode_block_seek(block, 0, (uint32_t)least), met = 0;
    for (; g < block->group_count; g++) {
        uint32_t key = block_group_key(block, g);
        lode_group group;
        double value;
        if (key < least || key >= end) {
            if (is_disordered)
                continue;
            break;
        }
        met++;
        least = is_disordered ? least : (uint64_t)key + 1;
        LODE_TRY(lode_block_group(block, g, &group, error));
        if (lode_group_lookup(block, &group, gathering->id, &value) != LODE_OK)
            continue;
        uint32_t index = lode_context_tree_find(tree, key);
        if (index != LODE_NO_INDEX)
            to[index] += value;
        else
            LODE_TRY(add_unlisted(gathering, range, key, value, error));
    }
    range->met += met;
    return LODE_OK;
}

static lode_status add_profile(struct gathering *gathering, struct range *range, uint32_t item,
                               lode_error *error)
{
    lode_block block;
    if (range->first > UINT32_MAX)
        return LODE_OK;
    LODE_TRY(lode_profile_block(gathering->cost->db, gathering->profiles[item], &block, error));
    range->there += range->number == 0 ? block.group_count : 0;
    return add_block(gathering, range, &block, gathering->disordered[item] != 0, error);
}

/* Of all profiles, in their order: which one a range has met depends on the range. */
static lode_status find_first_error(const struct gathering *gathering, lode_error *error)
{
    for (uint32_t i = 0; i < gathering->profile_count; i++) {
        lode_block block;
        lode_group group;
        LODE_TRY(lode_profile_block(gathering->cost->db, gathering->profiles[i], &block, error));
        for (uint32_t g = 0; g < block.group_count; g++)
            LODE_TRY(lode_block_group(&block, g, &group, error));
    }
    return LODE_ERR_CORRUPT;
}

static lode_status gather_range(void *context, uint64_t number, unsigned worker, lode_error *error)
{
    struct gathering *gathering = context;
    struct range range = {.number = number, .first = number * gathering->ids_per_range};
    lode_status status = LODE_OK;
    (void)worker;
    range.end = number + 1 < gathering->ranges ? range.first + gathering->ids_per_range : UINT64_MAX;
    lode_map_init(&range.unlisted_ids);
    for (uint32_t i = 0; i < gathering->profile_count && status == LODE_OK; i++)
        status = add_profile(gathering, &range, i, error);
    if (status == LODE_ERR_CORRUPT)
        status = find_first_error(gathering, error);
    gathering->unlisted.contexts[number] = range.unlisted_ids.count;
    gathering->met += range.met;
    gathering->there += range.there;
    lode_map_free(&range.unlisted_ids);
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

static lode_status run_ranges(struct gathering *gathering, const lode_cost_options *options, unsigned threads,
                              lode_error *error)
{
    const struct lode_share share = lode_ranks_turns(gathering->comm, gathering->ranges);
    struct lode_job job = {
        .work = gather_range, .finish = finish_range, .context = gathering, .pool = options->pool};
    gathering->progress.done = 0;
    gathering->progress.total = share.count;
    return lode_ranks_job(gathering->comm, threads, &job, &share, error);
}

static lode_status find_disorder(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct gathering *gathering = context;
    lode_block block;
    (void)worker;
    LODE_TRY(lode_profile_block(gathering->cost->db, gathering->profiles[item], &block, error));
    for (uint32_t g = 1; g < block.group_count && !gathering->disordered[item]; g++)
        gathering->disordered[item] = block_group_key(&block, g) <= block_group_key(&block, g - 1);
    return LODE_OK;
}

static void clear(struct gathering *gathering)
{
    const struct unlisted *unlisted = &gathering->unlisted;
    lode_cost *cost = gathering->cost;
    memset(gathering->inclusive ? cost->inclusive : cost->own, 0, cost->tree->count * sizeof *cost->own);
    memset(unlisted->values, 0, (size_t)gathering->ranges * sizeof *unlisted->values);
    memset(unlisted->sums, 0, (size_t)gathering->ranges * sizeof *unlisted->sums);
}

/* Costs do not depend on how ids are cut into ranges, whatever is wrong with their order. */
static lode_status repeat_disordered(struct gathering *gathering, const lode_cost_options *options,
                                     unsigned threads, lode_error *error)
{
    struct lode_comm *comm = gathering->comm;
    const struct lode_share share = lode_ranks_turns(comm, gathering->profile_count);
    struct lode_job job = {.work = find_disorder, .context = gathering, .pool = options->pool};
    uint64_t numbers[] = {atomic_load(&gathering->met), atomic_load(&gathering->there)};
    LODE_TRY(comm ? lode_comm_allreduce(comm, numbers, 2, LODE_COMM_SUM, error) : LODE_OK);
    if (numbers[0] == numbers[1])
        return LODE_OK;
    LODE_TRY(lode_ranks_job(comm, threads, &job, &share, error));
    LODE_TRY(lode_ranks_collect(comm, gathering->disordered, gathering->profile_count, error));
    clear(gathering);
    return run_ranges(gathering, options, threads, error);
}

static lode_status gather_ranges(struct gathering *gathering, const lode_cost_options *options,
                                 unsigned threads, lode_error *error)
{
    uint64_t ranges = gathering->ranges;
    struct unlisted *unlisted = &gathering->unlisted;
    unlisted->contexts = calloc((size_t)ranges, sizeof *unlisted->contexts);
    unlisted->values = calloc((size_t)ranges, sizeof *unlisted->values);
    unlisted->sums = calloc((size_t)ranges, sizeof *unlisted->sums);
    gathering->disordered = calloc((size_t)gathering->profile_count + 1, sizeof *gathering->disordered);
    LODE_TRY_ALLOC(unlisted->contexts && unlisted->values && unlisted->sums && gathering->disordered, error);
    LODE_TRY(run_ranges(gathering, options, threads, error));
    LODE_TRY(repeat_disordered(gathering, options, threads, error));
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
    free(gathering->disordered);
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
