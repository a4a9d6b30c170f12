/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of profile.db and cct.db: all bounds and orders. */
#include "base/error.h"
#include "base/text/count.h"
#include "format/hpctoolkit_drafts/check/check.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A block being checked. */
struct block_check {
    struct drafts_check *check;
    const char *what; /* "profile" or "context" */
    uint32_t index;
    lode_block block;
    uint64_t unlisted; /* values at contexts that the metadata does not list */
    struct drafts_sum sum;
};

static lode_status finding(struct block_check *self, unsigned rule, uint64_t offset, const char *what,
                           uint64_t number)
{
    return lode_report_add(&self->check->report, rule, self->block.file, offset,
                           "%s %" PRIu32 ": %s (%" PRIu64 ")", self->what, self->index, what, number);
}

static uint64_t group_offset(const struct block_check *self, uint64_t index)
{
    return self->block.groups_offset + index * block_group_stride(&self->block);
}

static uint64_t value_offset(const struct block_check *self, uint64_t index)
{
    const lode_block *block = &self->block;
    return block->groups_offset - (block->value_count - index) * block_value_stride(block);
}

static lode_status bad_block(struct block_check *self, enum drafts_fault fault, uint64_t offset)
{
    return fault == DRAFTS_OUTSIDE
               ? finding(self, DRAFTS_RULE_BLOCK_BOUNDS, offset,
                         "its values and their index are not inside the file", self->block.value_count)
               : finding(self, DRAFTS_RULE_BLOCK_END, offset,
                         "it does not end with its marker and its number of values", self->block.value_count);
}

/* Groups may be empty: writers keep contexts whose values are all zero. */
static lode_status check_index(struct block_check *self, bool *sound)
{
    const lode_block *block = &self->block;
    *sound = false;
    if (block->group_count == 0 && block->value_count > 0)
        return finding(self, DRAFTS_RULE_BLOCK_START, block->groups_offset, "values without an index",
                       block->value_count);
    for (uint32_t i = 0; i < block->group_count; i++) {
        uint64_t start = block_group_start(block, i);
        bool rises = i == 0 ? start == 0 : start >= block_group_start(block, i - 1);
        if (!rises || start > block->value_count)
            return finding(self, DRAFTS_RULE_BLOCK_START, group_offset(self, i),
                           "a start index that does not rise from 0, or is past the values", start);
        if (i > 0 && block_group_key(block, i) <= block_group_key(block, i - 1))
            return finding(self, DRAFTS_RULE_BLOCK_ORDER, group_offset(self, i),
                           "an index entry whose key is not above the last one's", block_group_key(block, i));
    }
    *sound = true;
    return LODE_OK;
}

static lode_status check_value(struct block_check *self, uint64_t first, uint64_t index)
{
    const lode_block *block = &self->block;
    double value = block_value(block, index);
    if (index > first && block_value_key(block, index) <= block_value_key(block, index - 1))
        LODE_TRY(finding(self, DRAFTS_RULE_VALUE_ORDER, value_offset(self, index),
                         "a value whose key is not above the last one's", block_value_key(block, index)));
    if (value == 0.0 || !isfinite(value))
        LODE_TRY(lode_report_add(&self->check->report, DRAFTS_RULE_VALUE_NUMBER, block->file,
                                 value_offset(self, index), "%s %" PRIu32 ": a value is %g", self->what,
                                 self->index, value));
    return LODE_OK;
}

static lode_status check_metric(struct block_check *self, const bool *known, uint32_t id, uint64_t offset)
{
    if (!self->check->meta_sound || known[id])
        return LODE_OK;
    return finding(self, DRAFTS_RULE_VALUE_METRIC, offset, "a metric that the metadata does not list", id);
}

/* ---- profile.db ---- */

static lode_status check_profile_values(struct block_check *self)
{
    const lode_block *block = &self->block;
    const struct drafts_check *check = self->check;
    const bool *known = self->index == 0 ? check->statistics : check->values;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint32_t context = block_group_key(block, g);
        uint64_t first = block_group_start(block, g), end = block_group_end(block, g);
        if (check->meta_sound && lode_context_tree_find(&check->db->base.tree, context) == LODE_NO_INDEX)
            self->unlisted += end - first;
        for (uint64_t i = first; i < end; i++) {
            uint32_t metric = block_value_key(block, i);
            LODE_TRY(check_value(self, first, i));
            LODE_TRY(check_metric(self, known, metric, value_offset(self, i)));
            drafts_sum_add(&self->sum, context, metric, self->index, block_value_bits(block, i));
        }
    }
    return LODE_OK;
}

static lode_status check_ids(struct drafts_check *check, uint32_t profile, struct lode_range ids,
                             uint64_t offset)
{
    const char *file = check->db->base.parts[HPCT_PROFILE].file;
    for (uint64_t i = 0; i < ids.size; i += DRAFTS_Id_SIZE) {
        struct drafts_Id id;
        lode_drafts_read_Id(&id, ids.data + i);
        unsigned kind = id.kind & DRAFTS_ID_KIND;
        if (check->meta_sound && kind >= check->db->base.id_kind_count)
            LODE_TRY(lode_report_add(&check->report, DRAFTS_RULE_TUPLE_KIND, file, offset + i,
                                     "profile %" PRIu32 ": an id is of kind %u; %" PRIu32 " are named",
                                     profile, kind, check->db->base.id_kind_count));
        if (id.logical > UINT32_MAX)
            LODE_TRY(lode_report_add(&check->report, DRAFTS_RULE_TUPLE_NUMBER, file, offset + i,
                                     "profile %" PRIu32 ": a logical id is %" PRIu64, profile, id.logical));
    }
    return LODE_OK;
}

static lode_status check_tuple(struct drafts_check *check, uint32_t profile,
                               const struct drafts_Profile *record)
{
    const char *file = check->db->base.parts[HPCT_PROFILE].file;
    uint64_t offset = drafts_record_offset(&check->db->profiles, profile);
    struct lode_range ids;
    if (record->idt_ptr == 0 && profile == 0)
        return LODE_OK;
    if (record->idt_ptr == 0)
        return lode_report_add(&check->report, DRAFTS_RULE_TUPLE_MISSING, file, offset,
                               "profile %" PRIu32 " has no id tuple", profile);
    if (!lode_drafts_id_tuple(check->db, record->idt_ptr, &ids))
        return lode_report_add(&check->report, DRAFTS_RULE_TUPLE_BOUNDS, file, offset,
                               "the id tuple of profile %" PRIu32 " at 0x%" PRIx64
                               " is not inside its section",
                               profile, record->idt_ptr);
    return check_ids(check, profile, ids, record->idt_ptr + DRAFTS_IdTuple_SIZE);
}

static lode_status check_profile(struct drafts_check *check, uint32_t index, uint64_t *unlisted)
{
    struct block_check self = {.check = check, .what = "profile", .index = index};
    struct drafts_Profile record;
    uint64_t size;
    bool sound;
    lode_drafts_profile(check->db, index, &record);
    check->report.result.profiles++;
    LODE_TRY(check_tuple(check, index, &record));
    enum drafts_fault fault = lode_drafts_profile_block(check->db, &record, &self.block, &size);
    if (fault != DRAFTS_SOUND)
        return bad_block(&self, fault, drafts_record_offset(&check->db->profiles, index));
    LODE_TRY(check_index(&self, &sound));
    if (!sound)
        return LODE_OK;
    check->report.result.values += self.block.value_count;
    LODE_TRY(check_profile_values(&self));
    *unlisted += self.unlisted;
    if (index > 0)
        drafts_sum_merge(&check->profile_sum, &self.sum);
    return LODE_OK;
}

/* First of all: reading blocks that overlap could take excessive time. */
static lode_status check_profile_extents(struct drafts_check *check)
{
    const struct drafts_database *db = check->db;
    struct drafts_extent *extents = calloc((size_t)db->profiles.count + 1, sizeof *extents);
    struct drafts_extent taken[2] = {
        {db->profiles.offset, db->profiles.offset + db->profiles.count * db->profiles.stride, 0},
        {db->tuples_offset, db->tuples_offset + db->tuples.size, 0}};
    size_t count = 0;
    LODE_TRY_ALLOC(extents, check->report.error);
    for (uint32_t i = 0; i < db->profiles.count; i++) {
        struct drafts_Profile record;
        lode_block block;
        uint64_t size;
        lode_drafts_profile(db, i, &record);
        if (lode_drafts_profile_block(db, &record, &block, &size) != DRAFTS_OUTSIDE && size > 0)
            extents[count++] = (struct drafts_extent){record.prof_off, record.prof_off + size, i};
    }
    lode_status status = lode_drafts_check_extents(check, HPCT_PROFILE, DRAFTS_RULE_BLOCK_OVERLAP,
                                                   "the block of profile", extents, count, taken);
    free(extents);
    return status;
}

lode_status lode_drafts_check_profiles(struct drafts_check *check)
{
    const struct drafts_table *profiles = &check->db->profiles;
    const char *file = check->db->base.parts[HPCT_PROFILE].file;
    uint64_t errors = check->report.result.errors, unlisted = 0;
    if (!profiles->found)
        return LODE_OK;
    if (profiles->count == 0)
        return lode_report_add(&check->report, DRAFTS_RULE_PROFILE_SUMMARY, file, DRAFTS_Header_count,
                               "there are no profiles, not even the summary");
    LODE_TRY(check_profile_extents(check));
    if (check->report.result.errors != errors)
        return LODE_OK;
    for (uint32_t i = 0; i < profiles->count; i++)
        LODE_TRY(check_profile(check, i, &unlisted));
    check->profiles_sound = check->report.result.errors == errors;
    if (unlisted == 0)
        return LODE_OK;
    return lode_report_add(&check->report, DRAFTS_RULE_CONTEXT_UNLISTED, file, LODE_NO_OFFSET,
                           "%s at contexts that %s does not list",
                           LODE_COUNTED(unlisted, "value is", "values are"), check->db->meta->file);
}

/* ---- cct.db ---- */

static lode_status check_context_values(struct block_check *self)
{
    const lode_block *block = &self->block;
    uint32_t profiles = self->check->db->profiles.count;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint32_t metric = block_group_key(block, g);
        uint64_t first = block_group_start(block, g), end = block_group_end(block, g);
        LODE_TRY(check_metric(self, self->check->values, metric, group_offset(self, g)));
        for (uint64_t i = first; i < end; i++) {
            uint32_t profile = block_value_key(block, i);
            LODE_TRY(check_value(self, first, i));
            if (profiles > 0 && (profile >= profiles || profile == 0))
                LODE_TRY(finding(self, DRAFTS_RULE_VALUE_PROFILE, value_offset(self, i),
                                 "a profile that does not exist, or the summary", profile));
            drafts_sum_add(&self->sum, self->index, metric, profile, block_value_bits(block, i));
        }
    }
    return LODE_OK;
}

static lode_status check_context(struct drafts_check *check, uint32_t index)
{
    struct block_check self = {.check = check, .what = "context", .index = index};
    struct drafts_Context record;
    uint64_t size, offset = drafts_record_offset(&check->db->contexts, index);
    bool sound;
    lode_drafts_context(check->db, index, &record);
    enum drafts_fault fault = lode_drafts_context_block(check->db, &record, &self.block, &size);
    if (record.ctx_id != index)
        LODE_TRY(finding(&self, DRAFTS_RULE_CONTEXT_NUMBER, offset, "its record is of another context",
                         record.ctx_id));
    if (fault != DRAFTS_SOUND)
        return bad_block(&self, fault, offset);
    LODE_TRY(check_index(&self, &sound));
    if (!sound)
        return LODE_OK;
    check->report.result.values += self.block.value_count;
    LODE_TRY(check_context_values(&self));
    drafts_sum_merge(&check->context_sum, &self.sum);
    return LODE_OK;
}

/* The extents of all blocks inside the file. The caller frees them. */
static lode_status context_extents(struct drafts_check *check, struct drafts_extent **out, size_t *count)
{
    const struct drafts_database *db = check->db;
    *count = 0;
    *out = calloc((size_t)db->contexts.count + 1, sizeof **out);
    if (*out == NULL)
        return lode_fail_memory(check->report.error);
    for (uint32_t i = 0; i < db->contexts.count; i++) {
        struct drafts_Context record;
        lode_block block;
        uint64_t size;
        lode_drafts_context(db, i, &record);
        if (lode_drafts_context_block(db, &record, &block, &size) != DRAFTS_OUTSIDE && size > 0)
            (*out)[(*count)++] = (struct drafts_extent){record.ctx_off, record.ctx_off + size, i};
    }
    return LODE_OK;
}

/* Whether there are blocks and all are zero. They do not overlap, so each byte is read once. */
static bool all_zero(const struct drafts_database *db, const struct drafts_extent *extents, size_t count)
{
    const uint8_t *bytes = db->files[HPCT_CCT].source.bytes.data;
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = extents[i].start; at < extents[i].end; at++)
            if (bytes[at] != 0)
                return false;
    return count > 0;
}

static lode_status check_context_extents(struct drafts_check *check, bool *usable)
{
    const struct drafts_table *contexts = &check->db->contexts;
    struct drafts_extent *extents,
        taken[2] = {{contexts->offset, contexts->offset + contexts->count * contexts->stride, 0}, {0, 0, 0}};
    uint64_t errors = check->report.result.errors;
    size_t count;
    LODE_TRY(context_extents(check, &extents, &count));
    lode_status status = lode_drafts_check_extents(check, HPCT_CCT, DRAFTS_RULE_BLOCK_OVERLAP,
                                                   "the block of context", extents, count, taken);
    *usable = status == LODE_OK && check->report.result.errors == errors;
    if (*usable && all_zero(check->db, extents, count)) {
        *usable = false;
        status = lode_report_add(
            &check->report, DRAFTS_RULE_CCT_ZERO, check->db->base.parts[HPCT_CCT].file, extents[0].start,
            "the values of all %zu contexts are zero bytes: hpcprof never wrote them. profile.db has them; lode convert recreates cct.db",
            count);
    }
    free(extents);
    return status;
}

lode_status lode_drafts_check_contexts(struct drafts_check *check)
{
    const struct drafts_table *contexts = &check->db->contexts;
    uint64_t errors = check->report.result.errors;
    bool usable;
    if (!contexts->found)
        return LODE_OK;
    LODE_TRY(check_context_extents(check, &usable));
    if (!usable)
        return LODE_OK;
    for (uint32_t i = 0; i < contexts->count; i++)
        LODE_TRY(check_context(check, i));
    check->contexts_sound = check->report.result.errors == errors;
    return LODE_OK;
}
