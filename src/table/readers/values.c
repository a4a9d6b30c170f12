/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values and totals of a database, as tables. Values are read in the order of profile blocks or of
 * context blocks, whichever the filters and the order ask for. For an order by metrics, context
 * blocks are visited once for each metric: that takes less than to sort the values.
 */
#include "base/pool.h"
#include "model/database/database.h"
#include "table/fields.h"
#include "table/readers/blocks.h"
#include <stdlib.h>

enum {
    BY_PROFILE, /* (profile, context, metric): from profile.db */
    BY_CONTEXT, /* (context, metric, profile): from cct.db */
    BY_METRIC,  /* (metric, context, profile): from cct.db, in several passes */
    LOOK = 30,  /* rows that a search costs */
    VISIT = 4,  /* rows that a group costs which is looked up */
    SORT = 8,   /* how much longer it takes to sort a value than to read it */
    METRICS = 1 + UINT16_MAX
};

/* The first two are part of the key; so is the third, but a metric may have no row in `metric`. */
static const lode_field value_fields[] = {{"profile_id", LODE_COLUMN_U32, LODE_FIELD_KEY, "profile"},
                                          {"context_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
                                          {"metric_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
                                          {"value", LODE_COLUMN_F64, 0, NULL}};

/* ---- what tables know about values, found once ---- */

lode_status lode_tables_profiles_fit(struct lode_tables *tables, lode_error *error)
{
    pthread_mutex_lock(&tables->lock);
    lode_status status = tables->profiles_fit ? LODE_OK : lode_profile_blocks_fit(tables->db, error);
    tables->profiles_fit |= status == LODE_OK;
    pthread_mutex_unlock(&tables->lock);
    return status;
}

lode_status lode_tables_contexts_fit(struct lode_tables *tables, lode_error *error)
{
    pthread_mutex_lock(&tables->lock);
    lode_status status = tables->contexts_fit ? LODE_OK : lode_context_blocks_fit(tables->db, error);
    tables->contexts_fit |= status == LODE_OK;
    pthread_mutex_unlock(&tables->lock);
    return status;
}

static lode_status count_values(const struct lode_tables *tables, uint8_t *wanted, uint64_t *total,
                                lode_error *error)
{
    for (uint32_t p = 0; p < lode_database_profile_count(tables->db); p++) {
        lode_block block;
        int selected;
        LODE_TRY(lode_selection_has(tables->options.selection, tables->db, p, &selected, error));
        if (!selected || lode_profile_is_summary(tables->db, p))
            continue;
        LODE_TRY(lode_profile_block(tables->db, p, &block, error));
        wanted[p] = 1;
        *total += lode_block_value_count(&block);
    }
    return LODE_OK;
}

/* Most often all profiles but the summary are wanted: then the ends of a range tell. */
static void find_range(struct lode_tables *tables)
{
    uint32_t wanted = 0;
    for (uint32_t p = 0; p < lode_database_profile_count(tables->db); p++) {
        if (!tables->profile_wanted[p])
            continue;
        tables->first_wanted = wanted++ ? tables->first_wanted : p;
        tables->last_wanted = p;
    }
    tables->wants_range = wanted > 0 && tables->last_wanted - tables->first_wanted == wanted - 1;
}

/* Which profiles are wanted, and how many values they have. */
static lode_status know_profiles(struct lode_tables *tables, lode_error *error)
{
    lode_status status = LODE_OK;
    LODE_TRY(lode_tables_profiles_fit(tables, error));
    pthread_mutex_lock(&tables->lock);
    if (tables->profile_wanted == NULL) {
        uint8_t *wanted = calloc((size_t)lode_database_profile_count(tables->db) + 1, 1);
        uint64_t total = 0;
        status = wanted ? count_values(tables, wanted, &total, error) : lode_fail_memory(error);
        if (status == LODE_OK) {
            tables->profile_wanted = wanted;
            tables->value_count = total;
            find_range(tables);
        } else {
            free(wanted);
        }
    }
    pthread_mutex_unlock(&tables->lock);
    return status;
}

/* ---- plans ---- */

/* Rows that are touched: blocks, searches in them, and values. `share` is by column. */
static double cost_of(const struct lode_tables *tables, unsigned order, const double share[3])
{
    const struct lode_table_order *columns = &lode_table_value.orders[order];
    double blocks = order == BY_PROFILE ? lode_database_profile_count(tables->db)
                                        : lode_database_context_block_count(tables->db);
    double values = blocks > 0 ? (double)tables->value_count / blocks : 0;
    double in_groups = share[columns->columns[1]], in_keys = share[columns->columns[2]];
    /* Values of a group are few: looking for one is not much cheaper than reading them. */
    double rows = values * in_groups * (in_keys < 0.25 && order == BY_PROFILE ? 0.25 : in_keys);
    bool searches = in_groups < 1 || in_keys < 1;
    return share[columns->columns[0]] * blocks * ((searches ? LOOK : 1) + rows);
}

/*
 * By metric, if no other order serves and sorting would take longer. That is decided without the
 * numbers of filters: they are not known yet when SQLite is told which orders there are.
 */
static void plan_by_metric(struct lode_tables *tables, struct lode_table_query *query, const double share[3])
{
    struct lode_table_plan *plan = &query->plan;
    double contexts = lode_database_context_block_count(tables->db), values = (double)tables->value_count;
    double visits = contexts * (lode_database_metric_count(tables->db) * 2.0 + 1) * VISIT;
    if (visits > SORT * values || !lode_table_order_serves(&lode_table_value, BY_METRIC, query))
        return;
    plan->order = BY_METRIC;
    plan->cost = visits * share[1] * share[2] + values * share[1] * share[2];
}

static lode_status plan_value(struct lode_tables *tables, struct lode_table_query *query, lode_error *error)
{
    struct lode_table_plan *plan = &query->plan;
    LODE_TRY(know_profiles(tables, error));
    double keys[] = {lode_database_profile_count(tables->db), lode_database_context_block_count(tables->db),
                     lode_database_metric_count(tables->db) * 2.0};
    double share[3], rows = (double)tables->value_count;
    for (unsigned i = 0; i < 3; i++) {
        share[i] = lode_key_set_share(query, i, keys[i]);
        rows *= share[i];
        plan->seeks |= lode_key_set_filters(query, i);
    }
    plan->rows = rows;
    plan->order = BY_PROFILE;
    plan->cost = cost_of(tables, BY_PROFILE, share);
    if (!lode_database_has(tables->db, LODE_PART_CONTEXT))
        return LODE_OK;
    bool profile_serves = lode_table_order_serves(&lode_table_value, BY_PROFILE, query);
    bool context_serves = lode_table_order_serves(&lode_table_value, BY_CONTEXT, query);
    double cost = cost_of(tables, BY_CONTEXT, share);
    /* That of the file where nothing speaks for the other. */
    bool is_cheaper = share[0] == 1 ? cost <= plan->cost || share[1] == 1 : cost < plan->cost;
    if (context_serves != profile_serves ? context_serves : is_cheaper) {
        plan->order = BY_CONTEXT;
        plan->cost = cost;
    }
    if (query->options.order_count > 0 && !context_serves && !profile_serves)
        plan_by_metric(tables, query, share);
    return LODE_OK;
}

/* ---- values ---- */

struct value_state {
    /* By context, without a query: */
    lode_values *values;
    lode_column columns[LODE_VALUES_COLUMNS];
    uint64_t at, count; /* rows of the columns */
    /* Blocks: */
    struct lode_block_walk walk;
    struct lode_key_set blocks;
    size_t block_at;
    uint64_t next_block;
    bool by_context, is_open;
    /* By metric: those that occur, and the position among those that are wanted. */
    uint8_t *has_metric; /* by id; NULL: another order */
    struct lode_key_set metrics;
    size_t metric_at;
    uint64_t next_metric;
};

static void choose_blocks(struct lode_table_reader *reader)
{
    struct value_state *state = reader->state;
    const struct lode_tables *tables = reader->tables;
    struct lode_key_set sets[3];
    for (unsigned i = 0; i < 3; i++)
        sets[i] = lode_key_set_of(reader->query, i, UINT32_MAX);
    sets[0].flags = tables->profile_wanted;
    sets[0].flag_count = lode_database_profile_count(tables->db);
    sets[0].is_range = tables->wants_range;
    sets[0].range_first = tables->first_wanted;
    sets[0].range_last = tables->last_wanted;
    sets[2].flags = tables->metric_wanted;
    sets[2].flag_count = METRICS;
    const unsigned *columns = lode_table_value.orders[state->by_context].columns;
    state->blocks = sets[columns[0]];
    bool is_ordered = state->by_context || (reader->query && reader->query->plan.is_ordered);
    state->walk = (struct lode_block_walk){.block_column = (int)columns[0],
                                           .group_column = columns[1],
                                           .key_column = columns[2],
                                           .value_column = 3,
                                           .groups = sets[columns[1]],
                                           .keys = sets[columns[2]],
                                           .what = !is_ordered         ? NULL
                                                   : state->by_context ? "context"
                                                                       : "profile"};
    uint64_t count = state->by_context ? lode_database_context_block_count(tables->db)
                                       : lode_database_profile_count(tables->db);
    if (count == 0)
        state->blocks = (struct lode_key_set){.first = 1, .last = 0};
    else if (state->blocks.last >= count)
        state->blocks.last = count - 1;
}

static void close_value(struct lode_table_reader *reader)
{
    struct value_state *state = reader->state;
    lode_values_close(state->values);
    free(state->has_metric);
}

static void copy_values(const struct lode_tables *tables, struct value_state *state,
                        struct lode_table_batch *batch)
{
    const uint32_t *contexts = state->columns[0].data, *profiles = state->columns[2].data;
    const uint16_t *metrics = state->columns[1].data;
    const double *values = state->columns[3].data;
    uint32_t *to_profile = batch->data[0], *to_context = batch->data[1], *to_metric = batch->data[2];
    double *to_value = batch->data[3];
    uint64_t row = batch->rows;
    for (; state->at < state->count && row < batch->capacity; state->at++) {
        to_profile[row] = profiles[state->at];
        to_context[row] = contexts[state->at];
        to_metric[row] = metrics[state->at];
        to_value[row] = values[state->at];
        row += tables->metric_wanted == NULL || tables->metric_wanted[metrics[state->at]];
    }
    batch->rows = row;
}

static lode_status next_merged(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               lode_error *error)
{
    struct value_state *state = reader->state;
    while (batch->rows < batch->capacity) {
        if (state->at == state->count) {
            state->at = state->count = 0;
            LODE_TRY(lode_values_next(state->values, state->columns, error));
            state->count = state->columns[0].count;
            reader->done += state->count;
        }
        copy_values(reader->tables, state, batch);
    }
    return LODE_OK;
}

/* LODE_END if there are no more blocks. */
static lode_status open_next_block(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    uint64_t key;
    if (!lode_key_set_next(&state->blocks, state->next_block, &state->block_at, &key))
        return LODE_END;
    LODE_TRY((state->by_context ? lode_context_block : lode_profile_block)(reader->tables->db, (uint32_t)key,
                                                                           &state->walk.block, error));
    lode_block_walk_begin(&state->walk, (uint32_t)key);
    state->next_block = key + 1;
    state->is_open = true;
    return LODE_OK;
}

/* ---- by metric ---- */

/* Finds the metrics that occur. Searches for them need groups in order. */
static lode_status find_metrics(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    uint64_t key, next = 0;
    size_t at = 0;
    state->has_metric = calloc(METRICS, 1);
    LODE_TRY_ALLOC(state->has_metric, error);
    for (; lode_key_set_next(&state->blocks, next, &at, &key); next = key + 1) {
        lode_block block;
        LODE_TRY(lode_context_block(reader->tables->db, (uint32_t)key, &block, error));
        for (uint32_t g = 0; g < block.group_count; g++) {
            uint32_t metric = block_group_key(&block, g);
            if (g > 0 && metric <= block_group_key(&block, g - 1))
                return lode_fail(error, LODE_ERR_CORRUPT, block.file, LODE_NO_OFFSET,
                                 "the values of context %u are not in ascending order", (uint32_t)key);
            state->has_metric[metric] = 1;
        }
    }
    return LODE_OK;
}

/* Goes back to the first block, for the next metric; LODE_END if there is none. */
static lode_status begin_metric(struct value_state *state)
{
    uint64_t key;
    do {
        if (!lode_key_set_next(&state->metrics, state->next_metric, &state->metric_at, &key))
            return LODE_END;
        state->next_metric = key + 1;
    } while (!state->has_metric[key]);
    state->walk.groups = (struct lode_key_set){.first = key, .last = key};
    state->next_block = 0;
    state->block_at = 0;
    return LODE_OK;
}

static lode_status open_by_metric(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    state->metrics = state->walk.groups;
    state->metrics.last = state->metrics.last < METRICS ? state->metrics.last : METRICS - 1;
    LODE_TRY(lode_tables_contexts_fit(reader->tables, error));
    LODE_TRY(find_metrics(reader, error));
    reader->can_split = false;
    /* No metric: no block either. */
    if (begin_metric(state) == LODE_END)
        state->blocks = (struct lode_key_set){.first = 1, .last = 0};
    return LODE_OK;
}

static lode_status open_next(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    lode_status status = open_next_block(reader, error);
    while (status == LODE_END && state->has_metric && begin_metric(state) == LODE_OK)
        status = open_next_block(reader, error);
    return status;
}

static lode_status next_value(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    struct value_state *state = reader->state;
    if (state->values)
        return next_merged(reader, batch, error);
    while (batch->taken < batch->capacity) {
        if (!state->is_open)
            LODE_TRY(open_next(reader, error));
        lode_status status = lode_block_walk_read(&state->walk, batch, &reader->done, error);
        if (status < 0)
            return status;
        state->is_open = status == LODE_OK;
    }
    return LODE_OK;
}

static lode_status pass_values(struct lode_table_reader *reader, bool are_rows, uint64_t *count)
{
    struct value_state *state = reader->state;
    while (*count > 0) {
        if (!state->is_open)
            LODE_TRY(open_next_block(reader, NULL));
        lode_status status = lode_block_walk_pass(&state->walk, are_rows, count);
        if (status < 0)
            return status;
        state->is_open = status == LODE_OK;
    }
    return LODE_OK;
}

/* ---- opening ---- */

/* Whether the groups of all contexts are where they should be; looks once. */
static bool is_transpose_sound(struct lode_table_reader *reader)
{
    struct value_state *state = reader->state, before = *state;
    struct lode_tables *tables = reader->tables;
    pthread_mutex_lock(&tables->lock);
    if (!tables->is_transpose_known) {
        uint64_t count = UINT64_MAX;
        tables->is_transpose_sound = pass_values(reader, false, &count) == LODE_END;
        tables->is_transpose_known = true;
        *state = before;
    }
    bool is_sound = tables->is_transpose_sound;
    pthread_mutex_unlock(&tables->lock);
    return is_sound;
}

/*
 * Where nobody asked for the order of contexts, a damaged cct.db is not needed: profile.db has the
 * same values.
 */
static lode_status choose_part(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    const struct lode_table_query *query = reader->query;
    lode_status status = lode_tables_contexts_fit(reader->tables, error);
    bool is_free = query && !query->plan.is_ordered && query->plan.seeks == 0;
    if (!is_free || (status == LODE_OK && is_transpose_sound(reader)))
        return status;
    state->by_context = false;
    choose_blocks(reader);
    return LODE_OK;
}

static lode_status open_value(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    struct lode_tables *tables = reader->tables;
    LODE_TRY(know_profiles(tables, error));
    reader->total = tables->value_count;
    state->by_context = reader->query ? reader->query->plan.order != BY_PROFILE
                                      : tables->options.order == LODE_TABLE_NATIVE &&
                                            lode_database_has(tables->db, LODE_PART_CONTEXT);
    /* Exports read whichever file takes less, and so get by with a damaged one. */
    if (reader->query == NULL && state->by_context) {
        lode_values_options options = LODE_VALUES_OPTIONS_INIT;
        options.selection = tables->options.selection;
        return lode_values_open(&state->values, tables->db, &options, error);
    }
    choose_blocks(reader);
    if (reader->query && reader->query->plan.order == BY_METRIC)
        return open_by_metric(reader, error);
    reader->can_split = reader->query && lode_block_walk_can_pass(&state->walk);
    /* A few blocks cannot take long, even if contexts share them. */
    if (state->by_context && state->blocks.list == NULL && state->blocks.first != state->blocks.last)
        return choose_part(reader, error);
    return LODE_OK;
}

const struct lode_table_def lode_table_value = {
    INFO("values: what each profile measured at each context", value),
    .state_size = sizeof(struct value_state),
    .open = open_value,
    .next = next_value,
    .close = close_value,
    .pass = pass_values,
    .orders = {[BY_PROFILE] = {{0, 1, 2}, 3}, [BY_CONTEXT] = {{1, 2, 0}, 3}, [BY_METRIC] = {{2, 1, 0}, 3}},
    .order_count = 3,
    .plan = plan_value};

/* ---- totals ---- */

static const lode_field total_fields[] = {{"context_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
                                          {"statistic_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
                                          {"value", LODE_COLUMN_F64, 0, NULL}};

static lode_status open_total(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_block_walk *walk = reader->state;
    const lode_database *db = reader->tables->db;
    *walk =
        (struct lode_block_walk){.block_column = LODE_NO_COLUMN,
                                 .group_column = 0,
                                 .key_column = 1,
                                 .value_column = 2,
                                 .groups = lode_key_set_of(reader->query, 0, UINT32_MAX),
                                 .keys = lode_key_set_of(reader->query, 1, UINT32_MAX),
                                 .what = reader->query && reader->query->plan.is_ordered ? "profile" : NULL};
    if (lode_database_profile_count(db) == 0)
        return LODE_OK;
    LODE_TRY(lode_profile_block(db, 0, &walk->block, error));
    reader->total = lode_block_value_count(&walk->block);
    return LODE_OK;
}

static lode_status next_total(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    return lode_block_walk_read(reader->state, batch, &reader->done, error);
}

static lode_status plan_total(struct lode_tables *tables, struct lode_table_query *query, lode_error *error)
{
    struct lode_table_plan *plan = &query->plan;
    lode_block block;
    double values = 0;
    if (lode_database_profile_count(tables->db) > 0) {
        LODE_TRY(lode_profile_block(tables->db, 0, &block, error));
        values = (double)lode_block_value_count(&block);
    }
    plan->order = 0;
    plan->seeks = lode_key_set_filters(query, 0) | lode_key_set_filters(query, 1);
    double in_contexts = lode_key_set_share(query, 0, lode_database_context_count(tables->db));
    plan->cost = LOOK + values * in_contexts;
    plan->rows = values * in_contexts * lode_key_set_share(query, 1, lode_database_metric_count(tables->db));
    return LODE_OK;
}

const struct lode_table_def lode_table_total = {
    INFO("the summary: statistics over all profiles at each context", total),
    .state_size = sizeof(struct lode_block_walk),
    .open = open_total,
    .next = next_total,
    .orders = {{{0, 1}, 2}},
    .order_count = 1,
    .plan = plan_total};
