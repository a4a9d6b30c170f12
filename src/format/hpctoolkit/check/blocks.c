/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of profile.db and cct.db: all bounds and orders. */
#include "base/text/count.h"
#include "format/hpctoolkit/check/dense.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    MAX_PADDING = 7 /* bytes between the two arrays of a block */
};

/* A block being checked: its identity, and the valid keys of its values. */
struct block_check {
    struct hpct_check *check;
    struct lode_report *report;
    const char *what; /* "profile" or "context" */
    uint32_t index;
    lode_block block;
    uint64_t values_offset, record_offset;
    const struct hpct_metric_id *metrics; /* table of metric ids; NULL if meta.db is unusable */
    uint64_t unlisted_values;
    struct hpct_parts parts;
    bool vague; /* as of a sum */
};

static lode_status block_finding(struct block_check *self, unsigned rule, uint64_t offset, const char *what,
                                 uint64_t number)
{
    return lode_report_add(self->report, rule, self->block.file, offset, "%s %" PRIu32 ": %s (%" PRIu64 ")",
                           self->what, self->index, what, number);
}

static uint64_t group_offset(const struct block_check *self, uint64_t index)
{
    return self->block.groups_offset + index * block_group_stride(&self->block);
}

static uint64_t value_offset(const struct block_check *self, uint64_t index)
{
    return self->values_offset + index * block_value_stride(&self->block);
}

static lode_status check_layout(struct block_check *self)
{
    const lode_block *block = &self->block;
    uint64_t end = self->values_offset + block->value_count * block_value_stride(block);
    if (block->group_count == 0 || (block->groups_offset >= end && block->groups_offset - end <= MAX_PADDING))
        return LODE_OK;
    return lode_report_add(self->report, RULE_BLOCK_LAYOUT, block->file, self->record_offset,
                           "%s %" PRIu32 ": values end at 0x%" PRIx64 ", indices begin at 0x%" PRIx64,
                           self->what, self->index, end, block->groups_offset);
}

static lode_status check_starts(struct block_check *self, bool *sound)
{
    const lode_block *block = &self->block;
    *sound = false;
    if (block->group_count == 0 && block->value_count > 0)
        return block_finding(self, RULE_BLOCK_START, self->record_offset, "values without an index",
                             block->value_count);
    for (uint32_t i = 0; i < block->group_count; i++) {
        uint64_t start = block_group_start(block, i);
        bool rises = i == 0 ? start == 0 : start > block_group_start(block, i - 1);
        if (!rises || start >= block->value_count)
            return block_finding(self, RULE_BLOCK_START, group_offset(self, i),
                                 "a start index that does not rise from 0, or is past the values", start);
    }
    *sound = true;
    return LODE_OK;
}

static lode_status check_group_keys(struct block_check *self)
{
    const lode_block *block = &self->block;
    for (uint32_t i = 1; i < block->group_count; i++)
        if (block_group_key(block, i) <= block_group_key(block, i - 1))
            return block_finding(self, RULE_BLOCK_ORDER, group_offset(self, i),
                                 "an index entry whose key is not above the last one's",
                                 block_group_key(block, i));
    return LODE_OK;
}

static lode_status odd_number(struct block_check *self, uint64_t index)
{
    double value = block_value(&self->block, index);
    return lode_report_add(self->report, value == 0.0 ? RULE_VALUE_ZERO : RULE_VALUE_FINITE, self->block.file,
                           value_offset(self, index), "%s %" PRIu32 ": a value is %g", self->what,
                           self->index, value);
}

static lode_status out_of_order(struct block_check *self, uint64_t index)
{
    return block_finding(self, RULE_VALUE_ORDER, value_offset(self, index),
                         "a value whose key is not above the last one's",
                         block_value_key(&self->block, index));
}

/* Zero, infinite or not a number. */
static inline bool is_odd(uint64_t bits)
{
    const uint64_t exponent = UINT64_C(0x7ff0000000000000);
    return (bits & exponent) == exponent || bits << 1 == 0;
}

static lode_status unknown_metric(struct block_check *self, uint32_t id, uint64_t offset)
{
    return block_finding(self, RULE_VALUE_METRIC, offset, "a metric that meta.db does not list", id);
}

/* A group being checked: its key, and its values. */
typedef lode_status (*group_fn)(struct block_check *self, uint32_t key, uint64_t first, uint64_t end);

/* Keys, order and values of a block inside its file. `check_group` checks the values of a group. */
static lode_status check_block(struct block_check *self, group_fn check_group)
{
    const lode_block *block = &self->block;
    bool starts_sound;
    LODE_TRY(check_layout(self));
    LODE_TRY(check_group_keys(self));
    LODE_TRY(check_starts(self, &starts_sound));
    self->report->result.values += block->value_count;
    for (uint32_t i = 0; i < block->group_count && starts_sound; i++) {
        LODE_TRY(check_group(self, block_group_key(block, i), block_group_start(block, i),
                             block_group_end(block, i)));
    }
    return LODE_OK;
}

static uint64_t metric_factor(const struct hpct_check *check, uint32_t metric)
{
    uint64_t known = check->values ? check->values[metric].factor : 0;
    return known ? known : lode_hpct_factor(&check->key, HPCT_FACTOR_METRIC, metric);
}

/* The results of a pass over a file. */
struct pass {
    uint64_t *unlisted;    /* by profile: values at unlisted contexts */
    struct hpct_sum *sums; /* by worker */
    struct lode_hpct_dense *dense;
};

/* The order of workers and ranks does not matter. */
static lode_status total_sum(const struct hpct_check *check, const struct hpct_sum *sums,
                             struct hpct_sum *total)
{
    *total = (struct hpct_sum){0};
    for (unsigned i = 0; i < check->threads; i++)
        hpct_sum_merge(total, &sums[i]);
    return lode_hpct_sum_all(total, check->comm, check->report.error);
}

/* ---- profile.db ---- */

static lode_status check_profile_group(struct block_check *self, uint32_t context, uint64_t first,
                                       uint64_t end)
{
    const struct hpct_check *check = self->check;
    const uint8_t *at = self->block.values + first * WIRE_ProfileValue_SIZE;
    struct hpct_part part = {0};
    uint32_t last = 0;
    if (check->meta_sound && lode_context_tree_find(&check->db->base.tree, context) == LODE_NO_INDEX)
        self->unlisted_values += end - first;
    for (uint64_t i = first; i < end; i++, at += WIRE_ProfileValue_SIZE) {
        uint32_t metric = get_u16le(at);
        uint64_t bits = get_u64le(at + WIRE_ProfileValue_value);
        if (i > first && metric <= last)
            LODE_TRY(out_of_order(self, i));
        if (is_odd(bits))
            LODE_TRY(odd_number(self, i));
        if (self->metrics && !self->metrics[metric].known)
            LODE_TRY(unknown_metric(self, metric, value_offset(self, i)));
        if (check->factors)
            hpct_part_add(&part, metric_factor(check, metric), bits);
        self->vague |= bits >= HPCT_PRIME;
        last = metric;
    }
    if (check->factors)
        hpct_parts_add(&self->parts, hpct_context_factor(check->factors, context), &part, end - first);
    return LODE_OK;
}

static lode_status check_id(struct hpct_check *check, uint32_t profile, const struct wire_Id *id,
                            uint64_t offset, struct lode_report *report)
{
    const char *file = lode_hpct_specs[HPCT_PROFILE].name;
    if (check->meta_sound && id->kind >= check->db->base.id_kind_count)
        LODE_TRY(lode_report_add(report, RULE_TUPLE_KIND, file, offset,
                                 "profile %" PRIu32 ": an id is of kind %u; meta.db names %" PRIu32, profile,
                                 id->kind, check->db->base.id_kind_count));
    if (!(id->flags & HPCT_ID_PHYSICAL) && id->physicalId != id->logicalId)
        LODE_TRY(lode_report_add(report, RULE_TUPLE_LOGICAL, file, offset,
                                 "profile %" PRIu32 ": logical id %" PRIu32
                                 " has the physical value %" PRIu64,
                                 profile, id->logicalId, id->physicalId));
    if (id->flags & ~(unsigned)HPCT_ID_PHYSICAL)
        LODE_TRY(lode_report_add(report, RULE_FLAGS_UNKNOWN, file, offset,
                                 "profile %" PRIu32 ": an id's flags are 0x%x", profile, id->flags));
    return LODE_OK;
}

static lode_status check_tuple(struct hpct_check *check, uint32_t index, const struct wire_Profile *profile,
                               uint64_t offset, struct lode_report *report)
{
    const char *file = lode_hpct_specs[HPCT_PROFILE].name;
    bool summary = profile->flags & HPCT_PROFILE_SUMMARY;
    if (profile->pIdTuple == 0)
        return summary || index == 0
                   ? LODE_OK
                   : lode_report_add(report, RULE_TUPLE_MISSING, file, offset + WIRE_Profile_pIdTuple,
                                     "profile %" PRIu32 " has no id tuple", index);
    if (index == 0)
        LODE_TRY(lode_report_add(report, RULE_TUPLE_SUMMARY, file, offset + WIRE_Profile_pIdTuple,
                                 "the summary of all profiles has an id tuple"));
    /* A missing section is reported with the header. */
    if (check->db->files[HPCT_PROFILE].sections[1].bytes.size == 0)
        return LODE_OK;
    struct lode_range ids;
    if (!lode_hpct_id_tuple(check->db, profile->pIdTuple, &ids))
        return lode_report_add(report, RULE_TUPLE_BOUNDS, file, offset + WIRE_Profile_pIdTuple,
                               "the id tuple of profile %" PRIu32 " at 0x%" PRIx64
                               " is not inside its section",
                               index, profile->pIdTuple);
    for (uint64_t i = 0; i < ids.size; i += WIRE_Id_SIZE) {
        struct wire_Id id;
        lode_wire_read_Id(&id, ids.data + i, WIRE_Id_SIZE);
        LODE_TRY(check_id(check, index, &id, profile->pIdTuple + WIRE_IdTuple_SIZE + i, report));
    }
    return LODE_OK;
}

static lode_status check_profile_block(struct block_check *self, struct pass *pass, unsigned worker)
{
    struct hpct_check *check = self->check;
    struct hpct_dense_result result;
    if (pass->dense && check->measured[self->index] &&
        lode_hpct_dense_read(pass->dense, worker, &self->block, &result)) {
        self->report->result.values += self->block.value_count;
        self->parts = result.parts;
        self->unlisted_values = result.unlisted_values;
        check->adds_up[self->index] = result.adds_up;
        LODE_TRY(check_layout(self));
    } else {
        LODE_TRY(check_block(self, check_profile_group));
    }
    pass->unlisted[self->index] = self->unlisted_values;
    return LODE_OK;
}

static lode_status check_profile(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                                 struct lode_report *report)
{
    struct pass *pass = context;
    uint32_t index = (uint32_t)item;
    struct wire_Profile profile;
    lode_hpct_profile(check->db, index, &profile);
    uint64_t offset = check->db->profiles.offset + index * check->db->profiles.stride;
    bool summary = profile.flags & HPCT_PROFILE_SUMMARY;
    const char *file = lode_hpct_specs[HPCT_PROFILE].name;
    if (index == 0 && !summary)
        LODE_TRY(lode_report_add(report, RULE_PROFILE_SUMMARY, file, offset + WIRE_Profile_flags,
                                 "profile 0 is not marked as the summary; its flags are 0x%" PRIx32,
                                 profile.flags));
    if (profile.flags & ~(uint32_t)HPCT_PROFILE_SUMMARY)
        LODE_TRY(lode_report_add(report, RULE_FLAGS_UNKNOWN, file, offset + WIRE_Profile_flags,
                                 "profile %" PRIu32 ": flags are 0x%" PRIx32, index, profile.flags));
    LODE_TRY(check_tuple(check, index, &profile, offset, report));
    /* The position of profile 0 makes it the summary, whatever its flags. */
    struct block_check self = {.check = check,
                               .report = report,
                               .what = "profile",
                               .index = index,
                               .values_offset = profile.pValues,
                               .record_offset = offset,
                               .metrics = !check->meta_sound      ? NULL
                                          : summary || index == 0 ? check->statistics
                                                                  : check->values};
    report->result.profiles++;
    if (!lode_hpct_profile_block(check->db, &profile, &self.block))
        return lode_report_add(report, RULE_BLOCK_BOUNDS, file, offset,
                               "profile %" PRIu32 ": %" PRIu64 " values at 0x%" PRIx64 " and %" PRIu32
                               " indices at 0x%" PRIx64 " are not inside the file",
                               index, profile.nValues, profile.pValues, profile.nCtxs, profile.pCtxIndices);
    LODE_TRY(check_profile_block(&self, pass, worker));
    if (check->measured[index] && check->factors)
        hpct_sum_add_parts(&pass->sums[worker], &self.parts, check->factors->profiles[index]);
    pass->sums[worker].vague |= self.vague;
    return LODE_OK;
}

/* Even indices are the values of a block, odd ones its index. */
static bool array_extent(uint64_t offset, uint64_t count, uint64_t stride, uint64_t *start, uint64_t *end)
{
    *start = offset;
    *end = offset + count * stride;
    return count > 0;
}

static bool profile_extent(const struct hpct_database *db, uint64_t index, uint64_t *start, uint64_t *end)
{
    struct wire_Profile profile;
    lode_block block;
    lode_hpct_profile(db, (uint32_t)(index / 2), &profile);
    if (!lode_hpct_profile_block(db, &profile, &block))
        return false;
    return index % 2 == 0
               ? array_extent(profile.pValues, profile.nValues, block_value_stride(&block), start, end)
               : array_extent(profile.pCtxIndices, profile.nCtxs, block_group_stride(&block), start, end);
}

static lode_status report_unlisted(struct hpct_check *check, const uint64_t *unlisted)
{
    const struct hpct_database *db = check->db;
    uint64_t values = 0, contexts = 0;
    for (uint32_t i = 0; i < db->profiles.count; i++)
        values += unlisted[i];
    LODE_TRY(lode_hpct_check_sum(check, &values, 1));
    if (values == 0)
        return LODE_OK;
    struct wire_Profile profile;
    lode_block block;
    lode_hpct_profile(db, 0, &profile);
    if (lode_hpct_profile_block(db, &profile, &block))
        for (uint32_t i = 0; i < block.group_count; i++)
            contexts += lode_context_tree_find(&db->base.tree, block_group_key(&block, i)) == LODE_NO_INDEX;
    return lode_report_add(&check->report, RULE_CONTEXT_UNLISTED, lode_hpct_specs[HPCT_PROFILE].name,
                           LODE_NO_OFFSET, "%s at contexts that meta.db does not list (%s in the summary)",
                           LODE_COUNTED(values, "value is", "values are"),
                           LODE_COUNTED(contexts, "context", "contexts"));
}

/* Overlapping id tuples could take excessive time. A few profiles may share one. */
static lode_status check_tuples(struct hpct_check *check)
{
    const struct hpct_section *section = &check->db->files[HPCT_PROFILE].sections[1];
    uint64_t left = section->bytes.size * 2;
    for (uint32_t i = 0; i < check->db->profiles.count; i++) {
        struct wire_Profile profile;
        struct lode_range ids;
        lode_hpct_profile(check->db, i, &profile);
        if (!lode_hpct_id_tuple(check->db, profile.pIdTuple, &ids))
            continue;
        if (ids.size > left)
            return lode_report_add(&check->report, RULE_BLOCK_OVERLAP, lode_hpct_specs[HPCT_PROFILE].name,
                                   section->offset,
                                   "the id tuples of profiles overlap: those of the first %" PRIu32
                                   " are more than twice as large as their section",
                                   i + 1);
        left -= ids.size;
    }
    return LODE_OK;
}

lode_status lode_hpct_check_profiles(struct hpct_check *check)
{
    uint64_t count = check->db->profiles.count, errors = check->report.result.errors;
    if (!check->db->profiles.found)
        return LODE_OK;
    if (count == 0)
        return lode_report_add(&check->report, RULE_PROFILE_SUMMARY, lode_hpct_specs[HPCT_PROFILE].name,
                               check->db->files[HPCT_PROFILE].sections[0].offset,
                               "there are no profiles, not even the summary");
    /* First of all: reading blocks that overlap could take excessive time. */
    LODE_TRY(lode_hpct_check_extents(check, HPCT_PROFILE, RULE_BLOCK_OVERLAP, "the block of profile", count,
                                     2, profile_extent));
    LODE_TRY(check_tuples(check));
    if (check->report.result.errors != errors)
        return LODE_OK;
    struct pass pass = {.unlisted = calloc((size_t)count, sizeof(uint64_t)),
                        .sums = calloc(check->threads, sizeof(struct hpct_sum))};
    lode_status status = pass.unlisted && pass.sums ? LODE_OK : lode_fail_memory(check->report.error);
    if (status == LODE_OK && check->meta_sound && check->factors)
        status = lode_hpct_dense_open(check, &pass.dense);
    if (status == LODE_OK)
        status = lode_hpct_check_items(check, &(struct hpct_items){.phase = "checking profile.db",
                                                                   .count = count,
                                                                   .work = check_profile,
                                                                   .context = &pass,
                                                                   .weight = lode_hpct_profile_weight});
    if (status == LODE_OK)
        status = report_unlisted(check, pass.unlisted);
    if (status == LODE_OK)
        status = total_sum(check, pass.sums, &check->profile_sum);
    lode_hpct_dense_close(pass.dense);
    free(pass.unlisted);
    free(pass.sums);
    LODE_TRY(status);
    check->profiles_sound = check->report.result.errors == errors;
    return LODE_OK;
}

/* ---- cct.db ---- */

/* Adds up a group whose values are in order, plain and of known profiles; false for any other. */
static bool sum_context_group(const struct block_check *self, uint64_t first, uint64_t end,
                              struct hpct_part *part)
{
    const uint8_t *at = self->block.values + first * WIRE_ContextValue_SIZE;
    const uint8_t *measured = self->check->measured;
    const uint64_t *factors = self->check->factors->profiles;
    uint64_t profiles = self->check->db->profiles.count, least = 0;
    struct hpct_part own = {0};
    for (uint64_t i = first; i < end; i++, at += WIRE_ContextValue_SIZE) {
        uint32_t profile = get_u32le(at);
        uint64_t bits = get_u64le(at + WIRE_ContextValue_value);
        if (profile < least || profile >= profiles || !measured[profile] || is_odd(bits))
            return false;
        hpct_part_add(&own, factors[profile], bits);
        least = (uint64_t)profile + 1;
    }
    *part = own;
    return true;
}

static lode_status check_context_values(struct block_check *self, uint32_t metric, uint64_t first,
                                        uint64_t end, struct hpct_part *part)
{
    const struct hpct_check *check = self->check;
    const uint8_t *at = self->block.values + first * WIRE_ContextValue_SIZE;
    uint64_t profiles = check->db->profiles.count;
    uint32_t last = 0;
    if (self->metrics && !self->metrics[metric].known)
        LODE_TRY(unknown_metric(self, metric, self->record_offset));
    if (check->factors && sum_context_group(self, first, end, part))
        return LODE_OK;
    for (uint64_t i = first; i < end; i++, at += WIRE_ContextValue_SIZE) {
        uint32_t profile = get_u32le(at);
        uint64_t bits = get_u64le(at + WIRE_ContextValue_value);
        if (i > first && profile <= last)
            LODE_TRY(out_of_order(self, i));
        if (is_odd(bits))
            LODE_TRY(odd_number(self, i));
        if (profiles > 0 && (profile >= profiles || !check->measured[profile]))
            LODE_TRY(block_finding(self, RULE_VALUE_PROFILE, value_offset(self, i),
                                   "a profile that does not exist, or a summary", profile));
        if (check->factors)
            hpct_part_add(part, hpct_profile_factor(check->factors, profile), bits);
        self->vague |= bits >= HPCT_PRIME;
        last = profile;
    }
    return LODE_OK;
}

static lode_status check_context_group(struct block_check *self, uint32_t metric, uint64_t first,
                                       uint64_t end)
{
    struct hpct_part part = {0};
    LODE_TRY(check_context_values(self, metric, first, end, &part));
    if (self->check->factors)
        hpct_parts_add(&self->parts, metric_factor(self->check, metric), &part, end - first);
    return LODE_OK;
}

static lode_status check_context(struct hpct_check *check, uint32_t index, struct hpct_sum *sum,
                                 struct lode_report *report)
{
    struct wire_ContextInfo context;
    lode_hpct_context(check->db, index, &context);
    struct block_check self = {.check = check,
                               .report = report,
                               .what = "context",
                               .index = index,
                               .values_offset = context.pValues,
                               .record_offset =
                                   check->db->contexts.offset + index * check->db->contexts.stride,
                               .metrics = check->meta_sound ? check->values : NULL};
    if (!lode_hpct_context_block(check->db, &context, &self.block))
        return lode_report_add(report, RULE_BLOCK_BOUNDS, lode_hpct_specs[HPCT_CCT].name, self.record_offset,
                               "context %" PRIu32 ": %" PRIu64 " values at 0x%" PRIx64
                               " and %u indices at 0x%" PRIx64 " are not inside the file",
                               index, context.nValues, context.pValues, context.nMetrics,
                               context.pMetricIndices);
    LODE_TRY(check_block(&self, check_context_group));
    if (check->factors)
        hpct_sum_add_parts(sum, &self.parts, check->factors->contexts[index]);
    sum->vague |= self.vague;
    return LODE_OK;
}

static lode_status check_context_range(struct hpct_check *check, void *context, uint64_t item,
                                       unsigned worker, struct lode_report *report)
{
    struct pass *pass = context;
    uint64_t size = lode_hpct_contexts_per_item(check), first = item * size, end = first + size;
    for (uint64_t i = first; i < end && i < check->db->contexts.count; i++)
        LODE_TRY(check_context(check, (uint32_t)i, &pass->sums[worker], report));
    return LODE_OK;
}

static bool context_extent(const struct hpct_database *db, uint64_t index, uint64_t *start, uint64_t *end)
{
    struct wire_ContextInfo context;
    lode_block block;
    lode_hpct_context(db, (uint32_t)(index / 2), &context);
    if (!lode_hpct_context_block(db, &context, &block))
        return false;
    return index % 2 == 0
               ? array_extent(context.pValues, context.nValues, block_value_stride(&block), start, end)
               : array_extent(context.pMetricIndices, context.nMetrics, block_group_stride(&block), start,
                              end);
}

lode_status lode_hpct_check_contexts(struct hpct_check *check)
{
    uint64_t count = check->db->contexts.count, errors = check->report.result.errors;
    if (!check->db->contexts.found)
        return LODE_OK;
    LODE_TRY(lode_hpct_check_extents(check, HPCT_CCT, RULE_BLOCK_OVERLAP, "the block of context", count, 2,
                                     context_extent));
    if (check->report.result.errors != errors)
        return LODE_OK;
    struct pass pass = {.sums = calloc(check->threads, sizeof(struct hpct_sum))};
    LODE_TRY_ALLOC(pass.sums, check->report.error);
    const struct hpct_items items = {.phase = "checking cct.db",
                                     .count = lode_hpct_context_items(check),
                                     .work = check_context_range,
                                     .context = &pass,
                                     .weight = lode_hpct_context_weight};
    lode_status status = lode_hpct_check_items(check, &items);
    if (status == LODE_OK)
        status = total_sum(check, pass.sums, &check->context_sum);
    free(pass.sums);
    LODE_TRY(status);
    check->contexts_sound = check->report.result.errors == errors;
    return LODE_OK;
}
