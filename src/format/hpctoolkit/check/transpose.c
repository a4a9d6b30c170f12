/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is cct.db exactly the transpose of profile.db without its summaries?
 *
 * Order-independent sums over all values, computed while the structure is checked, are equal if it
 * is. Otherwise every value of cct.db is searched in profile.db. Contexts are visited in rising
 * order, so that a cursor per profile only moves forward, and no value is copied. Keys are unique
 * on both sides, so if all values of cct.db are found and the counts match, both are equal.
 *
 * Memory: a block header per profile, and a cursor and a count per profile and thread.
 */
#include "format/hpctoolkit/check/check.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <stdlib.h>

struct transpose {
    uint32_t profile_count;
    lode_block *profiles; /* empty blocks for summaries */
    uint32_t *cursors;    /* [worker][profile]: the group found last */
    uint64_t *found;      /* [worker][profile]: values of cct.db that profile.db also has */
};

static lode_status compare_value(struct hpct_check *check, struct transpose *self, unsigned worker,
                                 uint32_t context, uint32_t metric, const lode_block *block, uint64_t index,
                                 struct lode_report *report)
{
    uint32_t profile = block_value_key(block, index);
    size_t slot = (size_t)worker * self->profile_count + profile;
    const lode_block *other = &self->profiles[profile];
    uint32_t cursor = self->cursors[slot] = lode_block_seek(other, self->cursors[slot], context);
    uint64_t offset = (uint64_t)(block->values - check->db->files[HPCT_CCT].source.bytes.data) +
                      index * block_value_stride(block);
    double stored = block_value(block, index), expected = 0.0;
    lode_status status = LODE_NOT_FOUND;
    if (cursor < other->group_count && block_group_key(other, cursor) == context) {
        lode_group group;
        LODE_TRY(lode_block_group(other, cursor, &group, report->error));
        status = lode_group_lookup(other, &group, metric, &expected);
    }
    if (status == LODE_NOT_FOUND)
        return lode_report_add(report, RULE_CCT_EXTRA, block->file, offset,
                               "context %" PRIu32 ", metric %" PRIu32 ", profile %" PRIu32
                               ": %.17g in cct.db, nothing in profile.db",
                               context, metric, profile, stored);
    self->found[slot]++;
    if (bits_of_f64(expected) == bits_of_f64(stored))
        return LODE_OK;
    return lode_report_add(report, RULE_CCT_DIFFERS, block->file, offset,
                           "context %" PRIu32 ", metric %" PRIu32 ", profile %" PRIu32
                           ": %.17g in cct.db, %.17g in profile.db",
                           context, metric, profile, stored, expected);
}

static lode_status compare_context(struct hpct_check *check, struct transpose *self, unsigned worker,
                                   uint32_t context, struct lode_report *report)
{
    struct wire_ContextInfo info;
    lode_block block;
    lode_hpct_context(check->db, context, &info);
    if (!lode_hpct_context_block(check->db, &info, &block))
        return LODE_OK;
    for (uint32_t i = 0; i < block.group_count; i++) {
        lode_group group;
        LODE_TRY(lode_block_group(&block, i, &group, report->error));
        for (uint64_t k = group.first; k < group.first + group.count; k++)
            LODE_TRY(compare_value(check, self, worker, context, group.key, &block, k, report));
    }
    return LODE_OK;
}

static lode_status compare_range(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                                 struct lode_report *report)
{
    uint64_t size = lode_hpct_contexts_per_item(check), first = item * size, end = first + size;
    for (uint64_t i = first; i < end && i < check->db->contexts.count; i++)
        LODE_TRY(compare_context(check, context, worker, (uint32_t)i, report));
    return LODE_OK;
}

/* Reports the first value of a profile that cct.db lacks; `missing` is their number. */
static lode_status report_missing(struct hpct_check *check, const lode_block *profile, uint32_t index,
                                  uint64_t missing, struct lode_report *report)
{
    for (uint32_t i = 0; i < profile->group_count; i++) {
        lode_group group;
        lode_block context = {0};
        LODE_TRY(lode_block_group(profile, i, &group, report->error));
        if (group.key < check->db->contexts.count)
            LODE_TRY(lode_context_block(&check->db->base, group.key, &context, report->error));
        for (uint64_t k = group.first; k < group.first + group.count; k++) {
            double value;
            uint32_t metric = block_value_key(profile, k);
            lode_status status = lode_block_lookup(&context, metric, index, &value, report->error);
            if (status == LODE_OK)
                continue;
            if (status != LODE_NOT_FOUND)
                return status;
            return lode_report_add(report, RULE_CCT_LACKS, lode_hpct_specs[HPCT_CCT].name, LODE_NO_OFFSET,
                                   "profile %" PRIu32 ": %" PRIu64
                                   " values are not in cct.db, the first at context %" PRIu32
                                   ", metric %" PRIu32 " (%.17g)",
                                   index, missing, group.key, metric, block_value(profile, k));
        }
    }
    return LODE_OK;
}

static lode_status compare_count(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                                 struct lode_report *report)
{
    const struct transpose *self = context;
    const lode_block *profile = &self->profiles[item];
    uint64_t found = self->found[item];
    (void)worker;
    if (found >= profile->value_count)
        return LODE_OK;
    return report_missing(check, profile, (uint32_t)item, profile->value_count - found, report);
}

/* Adds up what all workers of all ranks have found, in the row of the first. */
static lode_status compare_counts(struct hpct_check *check, struct transpose *self)
{
    for (unsigned worker = 1; worker < check->threads; worker++)
        for (uint32_t p = 0; p < self->profile_count; p++)
            self->found[p] += self->found[(size_t)worker * self->profile_count + p];
    LODE_TRY(lode_hpct_check_sum(check, self->found, self->profile_count));
    const struct hpct_items items = {.phase = "comparing profile.db with cct.db",
                                     .count = self->profile_count,
                                     .work = compare_count,
                                     .context = self,
                                     .weight = lode_hpct_profile_weight};
    return lode_hpct_check_items(check, &items);
}

static void place_profiles(const struct hpct_database *db, struct transpose *self)
{
    for (uint32_t p = 0; p < self->profile_count; p++) {
        struct wire_Profile profile;
        lode_hpct_profile(db, p, &profile);
        if (p == 0 || profile.flags & HPCT_PROFILE_SUMMARY ||
            !lode_hpct_profile_block(db, &profile, &self->profiles[p]))
            self->profiles[p] =
                (lode_block){.group_key_size = sizeof(uint32_t), .value_key_size = sizeof(uint16_t)};
    }
}

lode_status lode_hpct_check_transpose(struct hpct_check *check)
{
    const struct hpct_database *db = check->db;
    const struct hpct_sum *a = &check->profile_sum, *b = &check->context_sum;
    check->is_transpose = hpct_sums_equal(a, b);
    if (check->is_transpose)
        return LODE_OK;
    struct transpose self = {.profile_count = (uint32_t)db->profiles.count};
    size_t slots = (size_t)self.profile_count * check->threads;
    self.profiles = calloc(self.profile_count, sizeof *self.profiles);
    self.cursors = calloc(slots, sizeof *self.cursors);
    self.found = calloc(slots, sizeof *self.found);
    lode_status status = LODE_OK;
    if (self.profiles == NULL || self.cursors == NULL || self.found == NULL)
        status = lode_fail_memory(check->report.error);
    if (status == LODE_OK) {
        place_profiles(db, &self);
        status =
            lode_hpct_check_items(check, &(struct hpct_items){.phase = "comparing cct.db with profile.db",
                                                              .count = lode_hpct_context_items(check),
                                                              .work = compare_range,
                                                              .context = &self,
                                                              .weight = lode_hpct_context_weight});
    }
    if (status == LODE_OK)
        status = compare_counts(check, &self);
    free(self.profiles);
    free(self.cursors);
    free(self.found);
    return status;
}
