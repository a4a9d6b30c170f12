/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/import/analysed.h"

#include "base/error.h"
#include "base/pool.h"
#include <stdlib.h>
#include <string.h>

enum {
    CONTEXTS_MOST = 1 << 14 /* whose sums over all profiles are in memory at once */
};

struct reading {
    struct lode_memory_database *db;
    struct lode_profile_source *source;
};

/* ---- profiles ---- */

/* A copy of bytes in a blob of the database. */
static const unsigned char *copy(struct lode_blob *to, const unsigned char *bytes, uint64_t size)
{
    static const unsigned char nothing[1] = {0};
    if (size == 0)
        return nothing;
    size_t at = lode_blob_extend(to, (size_t)size);
    return at == LODE_BLOB_FULL ? NULL : memcpy(to->bytes + at, bytes, (size_t)size);
}

static lode_status read_profile(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct reading *self = context;
    struct lode_memory_database *db = self->db;
    uint32_t profile = (uint32_t)item + 1;
    struct lode_block_builder *builder = &db->builders[profile];
    lode_block block;
    LODE_TRY(self->source->ops->values(self->source, worker, profile, &block, error));
    const unsigned char *groups =
        copy(&builder->groups, block.groups, (uint64_t)block.group_count * BLOCK_GROUP_SIZE);
    const unsigned char *values = copy(&builder->bytes, block.values, block.value_count * BLOCK_VALUE_SIZE);
    LODE_TRY_ALLOC(groups && values, error);
    db->blocks[profile] = block_of_profile(groups, block.group_count, values, block.value_count);
    db->blocks[profile].file = db->base.parts[LODE_PART_PROFILE].file;
    return LODE_OK;
}

/* ---- the summary ---- */

/* By id of a value, that of its sum; LODE_BLOCK_NO_ID: there is none. */
static uint16_t *sum_ids(const struct lode_description *about)
{
    uint16_t *ids = calloc((size_t)about->value_ids + 1, sizeof *ids);
    for (uint32_t i = 0; ids && i <= about->value_ids; i++)
        ids[i] = LODE_BLOCK_NO_ID;
    for (uint32_t m = 0; ids && m < about->metric_count; m++) {
        const struct lode_metric *metric = &about->metrics[m];
        for (uint32_t i = 0; i < metric->statistic_count; i++) {
            const lode_metric_statistic *statistic = &metric->statistics[i];
            if (statistic->combine == LODE_COMBINE_SUM && strcmp(statistic->formula, "$$") == 0)
                ids[lode_statistic_value_id(metric, statistic)] = (uint16_t)statistic->id;
        }
    }
    return ids;
}

/* Adds the values that a profile has in some contexts. */
static uint32_t add_profile(const lode_block *block, uint32_t group, uint32_t first, uint32_t end,
                            uint32_t ids, double *sums)
{
    for (; group < block->group_count && block_group_key(block, group) < end; group++) {
        double *row = sums + (size_t)(block_group_key(block, group) - first) * ids;
        for (uint64_t i = block_group_start(block, group); i < block_group_end(block, group); i++)
            row[block_value_key(block, i)] += block_value(block, i);
    }
    return group;
}

static lode_status put_sums(struct lode_memory_database *db, const uint16_t *ids, uint32_t first,
                            uint32_t end, const double *sums, lode_error *error)
{
    uint32_t count = db->about.value_ids;
    for (uint32_t context = first; context < end; context++)
        for (uint32_t i = 0; i < count; i++)
            if (ids[i] != LODE_BLOCK_NO_ID)
                LODE_TRY(lode_block_builder_add(&db->builders[0], context, ids[i],
                                                sums[(size_t)(context - first) * count + i], error));
    return LODE_OK;
}

static uint32_t at_once(uint32_t contexts)
{
    return contexts < CONTEXTS_MOST ? contexts : CONTEXTS_MOST;
}

/* Sums over profiles, in their order, for some contexts after the others. */
static lode_status sum_up(struct lode_memory_database *db, const uint16_t *ids, uint32_t *groups,
                          double *sums, lode_error *error)
{
    uint32_t contexts = db->about.id_count, count = db->about.value_ids;
    for (uint32_t first = 0, end; first < contexts; first = end) {
        end = first + at_once(contexts - first);
        memset(sums, 0, (size_t)(end - first) * count * sizeof *sums);
        for (uint32_t p = 1; p < db->block_count; p++)
            groups[p] = add_profile(&db->blocks[p], groups[p], first, end, count, sums);
        LODE_TRY(put_sums(db, ids, first, end, sums, error));
    }
    return lode_block_builder_end(&db->builders[0], contexts, &db->blocks[0], error);
}

static lode_status make_summary(struct lode_memory_database *db, lode_error *error)
{
    uint16_t *ids = sum_ids(&db->about);
    uint32_t *groups = calloc(db->block_count, sizeof *groups);
    double *sums = calloc((size_t)at_once(db->about.id_count) * db->about.value_ids + 1, sizeof *sums);
    lode_status status =
        ids && groups && sums ? sum_up(db, ids, groups, sums, error) : lode_fail_memory(error);
    free(ids);
    free(groups);
    free(sums);
    db->blocks[0].file = db->base.parts[LODE_PART_PROFILE].file;
    return status;
}

/* ---- all of it ---- */

static lode_status read_values(struct lode_memory_database *db, struct lode_profile_source *source,
                               unsigned threads, lode_error *error)
{
    struct reading self = {db, source};
    struct lode_job job = {.items = db->about.profile_count, .work = read_profile, .context = &self};
    threads = lode_pool_threads(threads, job.items);
    LODE_TRY(source->ops->open_slots(source, threads, error));
    LODE_TRY(lode_pool_run(threads, &job, error));
    return make_summary(db, error);
}

static lode_status fill(struct lode_memory_database *db, struct lode_profile_source *source,
                        const struct lode_analysed *from, lode_error *error)
{
    struct lode_description *about = &db->about;
    LODE_TRY(source->ops->describe(source, about, false, from->scratch, error));
    LODE_TRY(lode_description_seal(about, error));
    LODE_TRY(source->ops->number(source, about, error));
    db->base.usual_names = from->usual_names;
    LODE_TRY(lode_memory_database_name(db, about->title, about->text, from->file, from->size, error));
    LODE_TRY(lode_memory_database_prepare(db, about->profile_count + 1, error));
    for (uint32_t i = 0; i < about->profile_count; i++)
        db->tuples[i] = about->profiles[i];
    LODE_TRY(lode_memory_database_show(db, error));
    LODE_TRY(read_values(db, source, from->threads, error));
    lode_memory_database_measure(db);
    if (from->owner == NULL || from->owner->trace_line == NULL)
        return LODE_OK;
    db->base.trace_count = about->line_count;
    db->base.trace_min = about->trace_min;
    db->base.trace_max = about->trace_max;
    db->base.parts[LODE_PART_TRACE] = db->base.parts[LODE_PART_PROFILE];
    db->base.parts[LODE_PART_TRACE].size = from->owner->trace_bytes;
    return LODE_OK;
}

lode_status lode_analysed_open(lode_database **out, struct lode_profile_source *source,
                               const struct lode_analysed *from, lode_error *error)
{
    struct lode_memory_database *db = lode_memory_database_new(from->format);
    lode_status status = db ? fill(db, source, from, error) : lode_fail_memory(error);
    if (status == LODE_OK) {
        db->owner = from->owner;
        *out = &db->base;
        return LODE_OK;
    }
    lode_memory_database_free(db);
    if (from->owner)
        from->owner->close(from->owner);
    return status;
}
