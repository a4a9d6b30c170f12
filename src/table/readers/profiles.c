/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics and profiles of a database, as tables. */
#include "model/database/block.h"
#include "table/fields.h"
#include <lode/private/columns.h>
#include <stdlib.h>
#include <string.h>

/* ---- metrics ---- */

static const lode_field metric_fields[] = {ID, TEXT("name"), TEXT_OR_NULL("scope"), TEXT_OR_NULL("unit"),
                                           U32("metric_no", NULL)};

static const lode_field statistic_fields[] = {ID, TEXT("name"), TEXT_OR_NULL("scope"),
                                              TEXT_OR_NULL("formula"), TEXT_OR_NULL("combine")};

/* The unit in brackets at the end of a name: "sec" of "CPUTIME (sec)". */
static lode_status put_unit(struct lode_table_batch *batch, unsigned column, const char *name,
                            lode_error *error)
{
    size_t length = strlen(name);
    const char *open = length > 1 && name[length - 1] == ')' ? strrchr(name, '(') : NULL;
    if (open && open + 1 < name + length - 1)
        return lode_batch_bytes(batch, column, open + 1, (size_t)(name + length - 1 - (open + 1)), error);
    lode_batch_null(batch, column);
    return LODE_OK;
}

static bool is_wanted(const struct lode_tables *tables, const lode_metric *metric)
{
    const struct lode_table_choice *options = &tables->options;
    for (size_t i = 0; i < options->metric_count; i++)
        if (options->metrics[i] == metric)
            return true;
    return options->metric_count == 0;
}

static const char *name_of(const lode_metric *metric)
{
    const char *name = lode_metric_name(metric);
    return name ? name : "";
}

/* Where the reader is: a metric, and one of its scopes or statistics. */
struct metric_state {
    uint32_t metric, part;
};

static lode_status metric_part(struct lode_table_batch *batch, const lode_metric *metric, uint32_t part,
                               lode_error *error)
{
    lode_metric_scope scope;
    if (lode_metric_scope_at(metric, part, &scope) != LODE_OK)
        return LODE_END;
    lode_batch_u32(batch, 0, scope.id);
    LODE_TRY(lode_batch_text(batch, 1, name_of(metric), error));
    LODE_TRY(lode_batch_text(batch, 2, scope.scope ? lode_scope_name(scope.scope) : NULL, error));
    LODE_TRY(put_unit(batch, 3, name_of(metric), error));
    lode_batch_u32(batch, 4, lode_metric_index(metric));
    return LODE_OK;
}

static lode_status statistic_part(struct lode_table_batch *batch, const lode_metric *metric, uint32_t part,
                                  lode_error *error)
{
    lode_metric_statistic statistic;
    if (lode_metric_statistic_at(metric, part, &statistic) != LODE_OK)
        return LODE_END;
    lode_batch_u32(batch, 0, statistic.id);
    LODE_TRY(lode_batch_text(batch, 1, name_of(metric), error));
    LODE_TRY(lode_batch_text(batch, 2, statistic.scope ? lode_scope_name(statistic.scope) : NULL, error));
    LODE_TRY(lode_batch_text(batch, 3, statistic.formula, error));
    lode_batch_fixed(batch, 4, lode_combine_name(statistic.combine));
    return LODE_OK;
}

typedef lode_status (*part_fn)(struct lode_table_batch *batch, const lode_metric *metric, uint32_t part,
                               lode_error *error);

static lode_status next_parts(struct lode_table_reader *reader, struct lode_table_batch *batch, part_fn part,
                              lode_error *error)
{
    struct metric_state *at = reader->state;
    while (at->metric < reader->total) {
        if (lode_batch_is_full(batch))
            return LODE_OK;
        const lode_metric *metric = lode_database_metric(reader->tables->db, at->metric);
        lode_status status =
            is_wanted(reader->tables, metric) ? part(batch, metric, at->part++, error) : LODE_END;
        if (status < 0)
            return status;
        batch->rows += status == LODE_OK;
        if (status == LODE_OK)
            continue;
        at->part = 0;
        reader->done = ++at->metric;
    }
    return LODE_END;
}

static lode_status open_metrics(struct lode_table_reader *reader, lode_error *error)
{
    (void)error;
    reader->total = lode_database_metric_count(reader->tables->db);
    return LODE_OK;
}

static lode_status next_metric(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               lode_error *error)
{
    return next_parts(reader, batch, metric_part, error);
}

static lode_status next_statistic(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                  lode_error *error)
{
    return next_parts(reader, batch, statistic_part, error);
}

const struct lode_table_def lode_table_metric = {INFO("metrics, one row for each scope", metric),
                                                 .state_size = sizeof(struct metric_state),
                                                 .open = open_metrics, .next = next_metric};
const struct lode_table_def lode_table_statistic = {
    INFO("statistics over profiles, of the table total", statistic),
    .state_size = sizeof(struct metric_state), .open = open_metrics, .next = next_statistic};

/* ---- profiles ---- */

static const lode_field profile_fields[] = {ID,
                                            U32_OR_NULL("node", NULL),
                                            U32_OR_NULL("rank", NULL),
                                            U32_OR_NULL("thread", NULL),
                                            U32_OR_NULL("core", NULL),
                                            U32_OR_NULL("gpu_device", NULL),
                                            U32_OR_NULL("gpu_context", NULL),
                                            U32_OR_NULL("gpu_stream", NULL),
                                            TEXT("name"),
                                            I64("value_count", 0),
                                            I64("sample_count", 0)};

/* Kinds of ids by column, from the second on. */
static const char *const id_columns[] = {"NODE",      "RANK",       "THREAD",   "CORE",
                                         "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM"};

struct profile_state {
    lode_id *ids;
    uint32_t capacity, count, level, loaded; /* of the ids of profile `loaded` - 1 */
};

static lode_status read_ids(struct lode_table_reader *reader, uint32_t profile, lode_error *error)
{
    struct profile_state *state = reader->state;
    const lode_database *db = reader->tables->db;
    if (state->loaded == profile + 1)
        return LODE_OK;
    LODE_TRY(lode_profile_ids(db, profile, state->ids, state->capacity, &state->count, error));
    if (state->count > state->capacity) {
        LODE_TRY_ALLOC(LODE_GROW(state->ids, state->capacity, state->count), error);
        LODE_TRY(lode_profile_ids(db, profile, state->ids, state->capacity, &state->count, error));
    }
    state->loaded = profile + 1;
    state->level = 0;
    return LODE_OK;
}

/* LODE_END for a summary and for what was not selected. */
static lode_status choose_profile(const struct lode_tables *tables, uint32_t profile, lode_error *error)
{
    int selected;
    LODE_TRY(lode_selection_has(tables->options.selection, tables->db, profile, &selected, error));
    return selected && !lode_profile_is_summary(tables->db, profile) ? LODE_OK : LODE_END;
}

struct profile_name {
    const lode_database *db;
    uint32_t profile;
};

static size_t profile_label(const void *thing, char *buffer, size_t capacity)
{
    const struct profile_name *name = thing;
    return lode_profile_label(name->db, name->profile, buffer, capacity);
}

static void put_ids(struct lode_table_reader *reader, struct lode_table_batch *batch)
{
    const struct profile_state *state = reader->state;
    for (unsigned column = 0; column < COUNT(id_columns); column++) {
        lode_batch_null(batch, column + 1);
        for (uint32_t i = state->count; i-- > 0;) {
            const char *kind = lode_database_id_kind_name(reader->tables->db, state->ids[i].kind);
            if (kind && strcmp(kind, id_columns[column]) == 0)
                lode_batch_u32(batch, column + 1, state->ids[i].logical);
        }
    }
}

static lode_status profile_row(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               uint32_t profile, lode_error *error)
{
    const lode_database *db = reader->tables->db;
    lode_block block;
    LODE_TRY(choose_profile(reader->tables, profile, error));
    LODE_TRY(read_ids(reader, profile, error));
    LODE_TRY(lode_profile_block(db, profile, &block, error));
    lode_batch_u32(batch, 0, profile);
    put_ids(reader, batch);
    struct profile_name name = {db, profile};
    LODE_TRY(lode_batch_label(batch, 8, profile_label, &name, error));
    lode_batch_u64(batch, 9, lode_block_value_count(&block));
    lode_batch_u64(batch, 10, reader->tables->sample_counts[profile]);
    return LODE_OK;
}

static lode_status count_samples(struct lode_tables *tables, lode_error *error)
{
    uint32_t profiles = lode_database_profile_count(tables->db);
    uint64_t *counts = calloc((size_t)profiles + 1, sizeof *counts);
    LODE_TRY_ALLOC(counts, error);
    tables->sample_counts = counts;
    for (uint32_t i = 0; i < lode_database_trace_count(tables->db); i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(tables->db, i, &line, error));
        if (line.profile < profiles)
            counts[line.profile] += line.sample_count;
    }
    return LODE_OK;
}

static lode_status open_profile(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_tables *tables = reader->tables;
    /* Profiles that share ids could take more time than the file justifies. */
    LODE_TRY(lode_tables_profiles_fit(tables, error));
    pthread_mutex_lock(&tables->lock);
    lode_status status = tables->sample_counts ? LODE_OK : count_samples(tables, error);
    if (status != LODE_OK) {
        free(tables->sample_counts);
        tables->sample_counts = NULL;
    }
    pthread_mutex_unlock(&tables->lock);
    LODE_TRY(status);
    return lode_table_choose_rows(reader, lode_database_profile_count(tables->db), error);
}

static lode_status count_profiles(struct lode_tables *tables, double *rows, lode_error *error)
{
    (void)error;
    *rows = lode_database_profile_count(tables->db);
    return LODE_OK;
}

static lode_status next_profile(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                lode_error *error)
{
    return lode_table_next_rows(reader, batch, profile_row, error);
}

static void close_profile(struct lode_table_reader *reader)
{
    struct profile_state *state = reader->state;
    free(state->ids);
}

const struct lode_table_def lode_table_profile = {TABLE("profiles: threads and GPU streams", profile), BY_ID,
                                                  .state_size = sizeof(struct profile_state),
                                                  .close = close_profile, .count = count_profiles};

static const lode_field profile_id_fields[] = {{"profile_id", LODE_COLUMN_U32, LODE_FIELD_KEY, "profile"},
                                               {"level", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
                                               TEXT_OR_NULL("kind"),
                                               U32("logical", NULL),
                                               I64("physical", LODE_FIELD_ADDRESS)};

/* One row for each element of the id tuples. */
static lode_status next_profile_id(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                   lode_error *error)
{
    struct profile_state *state = reader->state;
    const struct lode_table_rows *rows = &reader->rows;
    for (; reader->done < reader->total; reader->done++) {
        uint32_t at = (uint32_t)reader->done, profile = rows->numbers ? rows->numbers[at] : rows->first + at;
        lode_status status = choose_profile(reader->tables, profile, error);
        if (status == LODE_END)
            continue;
        LODE_TRY(status);
        LODE_TRY(read_ids(reader, profile, error));
        for (; state->level < state->count; state->level++, batch->rows++) {
            if (lode_batch_is_full(batch))
                return LODE_OK;
            const lode_id *id = &state->ids[state->level];
            lode_batch_u32(batch, 0, profile);
            lode_batch_u32(batch, 1, state->level);
            LODE_TRY(
                lode_batch_text(batch, 2, lode_database_id_kind_name(reader->tables->db, id->kind), error));
            lode_batch_u32(batch, 3, id->logical);
            lode_batch_u64(batch, 4, id->physical);
        }
    }
    return LODE_END;
}

/* Its rows by number are profiles, with a row of the table for each element. */
const struct lode_table_def lode_table_profile_id = {INFO("the id tuples of profiles", profile_id),
                                                     .state_size = sizeof(struct profile_state),
                                                     .open = open_profile,
                                                     .next = next_profile_id,
                                                     .close = close_profile,
                                                     .orders = {{{0, 1}, 2}},
                                                     .order_count = 1,
                                                     .is_numbered = true,
                                                     .number_column = 0,
                                                     .count = count_profiles};
