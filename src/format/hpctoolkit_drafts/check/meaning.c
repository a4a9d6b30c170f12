/* SPDX-License-Identifier: BSD-3-Clause */
/* Consistency between files and of sums. All blocks are valid here. */
#include "base/compare.h"
#include "base/error.h"
#include "format/hpctoolkit_drafts/check/check.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <stdlib.h>

/* Blocks that were checked cannot fail. */
static lode_block profile_block(const struct drafts_check *check, uint32_t profile)
{
    struct drafts_Profile record;
    lode_block block;
    uint64_t size;
    lode_drafts_profile(check->db, profile, &record);
    (void)lode_drafts_profile_block(check->db, &record, &block, &size);
    return block;
}

/* The position of the value of (context, metric), from group *from on, or UINT64_MAX. */
static uint64_t position_of(const lode_block *block, uint32_t *from, uint32_t context, uint32_t metric)
{
    uint32_t group = lode_block_seek(block, *from, context);
    *from = group;
    if (group >= block->group_count || block_group_key(block, group) != context)
        return UINT64_MAX;
    uint64_t low = block_group_start(block, group), end = block_group_end(block, group), high = end;
    LODE_BISECT(low, high, block_value_key(block, middle) < metric);
    return low < end && block_value_key(block, low) == metric ? low : UINT64_MAX;
}

/* ---- cct.db against profile.db ---- */

static lode_status compare_context(struct drafts_check *check, uint32_t context, uint64_t *equal)
{
    struct drafts_Context record;
    lode_block block;
    uint64_t size;
    lode_drafts_context(check->db, context, &record);
    (void)lode_drafts_context_block(check->db, &record, &block, &size);
    for (uint32_t g = 0; g < block.group_count; g++) {
        uint32_t metric = block_group_key(&block, g);
        for (uint64_t i = block_group_start(&block, g); i < block_group_end(&block, g); i++) {
            uint32_t profile = block_value_key(&block, i), from = 0;
            lode_block other = profile_block(check, profile);
            uint64_t position = position_of(&other, &from, context, metric);
            if (position != UINT64_MAX && block_value_bits(&other, position) == block_value_bits(&block, i))
                (*equal)++;
            else
                LODE_TRY(lode_report_add(&check->report, DRAFTS_RULE_CCT_DIFFERS, block.file, record.ctx_off,
                                         "context %" PRIu32 ", metric %" PRIu32 ", profile %" PRIu32
                                         ": %.17g in cct.db, %.17g in profile.db",
                                         context, metric, profile, block_value(&block, i),
                                         position == UINT64_MAX ? 0.0 : block_value(&other, position)));
        }
    }
    return LODE_OK;
}

lode_status lode_drafts_check_transpose(struct drafts_check *check)
{
    const struct drafts_sum *a = &check->profile_sum, *b = &check->context_sum;
    uint64_t equal = 0, errors = check->report.result.errors;
    if (a->low == b->low && a->high == b->high && a->count == b->count)
        return LODE_OK;
    for (uint32_t i = 0; i < check->db->contexts.count; i++)
        LODE_TRY(compare_context(check, i, &equal));
    /* Values that differ exist on both sides. */
    uint64_t differ = check->report.result.errors - errors;
    if (a->count <= equal + differ)
        return LODE_OK;
    return lode_report_add(&check->report, DRAFTS_RULE_CCT_LACKS, check->db->base.parts[HPCT_CCT].file,
                           LODE_NO_OFFSET, "cct.db has %" PRIu64 " values, profile.db has %" PRIu64, b->count,
                           a->count);
}

/* ---- inclusive values ---- */

/* By metric id: 1 if its values are inclusive. */
static uint8_t *inclusive_ids(const lode_database *db)
{
    uint8_t *inclusive = calloc(UINT16_MAX + 1, sizeof *inclusive);
    for (uint32_t m = 0; inclusive && m < db->metric_count; m++)
        for (uint32_t i = 0; i < db->metrics[m].scope_count; i++)
            inclusive[db->metrics[m].scopes[i].id] =
                db->metrics[m].scopes[i].scope->type == LODE_SCOPE_EXECUTION;
    return inclusive;
}

/* Adds the values of one context to those of its parent. */
static lode_status add_to_parent(struct drafts_check *check, const lode_block *block, uint32_t group,
                                 const uint8_t *inclusive, double *sums)
{
    const struct lode_context_tree *tree = &check->db->base.tree;
    uint32_t id = block_group_key(block, group), index = lode_context_tree_find(tree, id);
    if (index == LODE_NO_INDEX || index == 0)
        return LODE_OK;
    uint32_t parent = tree->nodes[tree->nodes[index].parent].id;
    for (uint64_t i = block_group_start(block, group); i < block_group_end(block, group); i++) {
        uint32_t metric = block_value_key(block, i), from = 0;
        if (!inclusive[metric])
            continue;
        uint64_t position = position_of(block, &from, parent, metric);
        if (position != UINT64_MAX)
            sums[position] += block_value(block, i);
        else
            LODE_TRY(lode_report_add(&check->report, DRAFTS_RULE_SCOPE_EXECUTION, block->file, LODE_NO_OFFSET,
                                     "context %" PRIu32 " has a value of metric %" PRIu32
                                     ", its parent %" PRIu32 " has none",
                                     id, metric, parent));
    }
    return LODE_OK;
}

static lode_status check_profile_scopes(struct drafts_check *check, uint32_t profile,
                                        const uint8_t *inclusive, double *sums)
{
    lode_block block = profile_block(check, profile);
    for (uint32_t g = 0; g < block.group_count; g++)
        LODE_TRY(add_to_parent(check, &block, g, inclusive, sums));
    for (uint32_t g = 0; g < block.group_count; g++) {
        for (uint64_t i = block_group_start(&block, g); i < block_group_end(&block, g); i++) {
            double value = block_value(&block, i);
            if (sums[i] <= value || lode_hpct_close_enough(sums[i], value))
                continue;
            LODE_TRY(lode_report_add(&check->report, DRAFTS_RULE_SCOPE_EXECUTION, block.file, LODE_NO_OFFSET,
                                     "profile %" PRIu32 ", context %" PRIu32 ", metric %" PRIu32
                                     ": %.17g, but its children add up to %.17g",
                                     profile, block_group_key(&block, g), block_value_key(&block, i), value,
                                     sums[i]));
        }
    }
    return LODE_OK;
}

lode_status lode_drafts_check_scopes(struct drafts_check *check)
{
    uint8_t *inclusive = inclusive_ids(&check->db->base);
    lode_status status = inclusive ? LODE_OK : lode_fail_memory(check->report.error);
    for (uint32_t p = 1; p < check->db->profiles.count && status == LODE_OK; p++) {
        lode_block block = profile_block(check, p);
        double *sums = calloc((size_t)block.value_count + 1, sizeof *sums);
        status =
            sums ? check_profile_scopes(check, p, inclusive, sums) : lode_fail_memory(check->report.error);
        free(sums);
    }
    free(inclusive);
    return status;
}

/* ---- the summary ---- */

/* By id of values: the id of their sum in the summary, or -1. */
static int32_t *sum_ids(const lode_database *db)
{
    int32_t *ids = calloc(UINT16_MAX + 1, sizeof *ids);
    for (size_t i = 0; ids && i <= UINT16_MAX; i++)
        ids[i] = -1;
    for (uint32_t m = 0; ids && m < db->metric_count; m++) {
        for (uint32_t i = 0; i < db->metrics[m].scope_count; i++) {
            uint16_t sum;
            const lode_metric_scope *scope = &db->metrics[m].scopes[i];
            /* hpcprof does not sum up custom scopes. */
            if (scope->scope->type != LODE_SCOPE_CUSTOM &&
                lode_metric_sum_id(&db->metrics[m], scope->scope->type, &sum) == LODE_OK)
                ids[scope->id] = sum;
        }
    }
    return ids;
}

static void add_profile(const struct drafts_check *check, const lode_block *summary, uint32_t profile,
                        const int32_t *ids, double *sums)
{
    lode_block block = profile_block(check, profile);
    uint32_t from = 0;
    for (uint32_t g = 0; g < block.group_count; g++) {
        for (uint64_t i = block_group_start(&block, g); i < block_group_end(&block, g); i++) {
            int32_t id = ids[block_value_key(&block, i)];
            uint64_t position =
                id < 0 ? UINT64_MAX : position_of(summary, &from, block_group_key(&block, g), (uint32_t)id);
            if (position != UINT64_MAX)
                sums[position] += block_value(&block, i);
        }
    }
}

static lode_status compare_summary(struct drafts_check *check, const lode_block *summary, const int32_t *ids,
                                   const double *sums)
{
    bool *is_sum = calloc(UINT16_MAX + 1, sizeof *is_sum);
    lode_status status = is_sum ? LODE_OK : lode_fail_memory(check->report.error);
    for (size_t i = 0; is_sum && i <= UINT16_MAX; i++)
        if (ids[i] >= 0)
            is_sum[ids[i]] = true;
    for (uint32_t g = 0; g < summary->group_count && status == LODE_OK; g++) {
        for (uint64_t i = block_group_start(summary, g); i < block_group_end(summary, g) && status == LODE_OK;
             i++) {
            double value = block_value(summary, i);
            if (!is_sum[block_value_key(summary, i)] || lode_hpct_close_enough(value, sums[i]))
                continue;
            status = lode_report_add(
                &check->report, DRAFTS_RULE_SUMMARY_DIFFERS, summary->file, LODE_NO_OFFSET,
                "context %" PRIu32 ", metric %" PRIu32 ": %.17g, but the profiles add up to %.17g",
                block_group_key(summary, g), block_value_key(summary, i), value, sums[i]);
        }
    }
    free(is_sum);
    return status;
}

lode_status lode_drafts_check_summary(struct drafts_check *check)
{
    lode_block summary = profile_block(check, 0);
    int32_t *ids = sum_ids(&check->db->base);
    double *sums = calloc((size_t)summary.value_count + 1, sizeof *sums);
    lode_status status = ids && sums ? LODE_OK : lode_fail_memory(check->report.error);
    for (uint32_t p = 1; p < check->db->profiles.count && status == LODE_OK; p++)
        add_profile(check, &summary, p, ids, sums);
    if (status == LODE_OK)
        status = compare_summary(check, &summary, ids, sums);
    free(ids);
    free(sums);
    return status;
}
