/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.db, cct.db and trace.db of the big-endian drafts, written. */
#include "base/blob.h"
#include "base/bytes.h"
#include "format/hpctoolkit_drafts/wire.h"
#include "format/hpctoolkit_drafts/write.h"
#include "model/block.h"
#include "model/trace.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    VERSION_MAJOR = 4,
    VERSION_MINOR = 0,
    MAX_IDS = 64 /* of a tuple */
};

/* One of the files under way. Records lie before what they point at, and are written last. */
struct binary {
    struct drafts_output *out;
    struct lode_output_file file;
    const char *magic, *footer; /* footer may be NULL */
    uint8_t *records;
    struct lode_blob groups; /* of one block */
    struct lode_progress progress;
};

static lode_status begin(struct binary *self, const char *name, uint64_t count, size_t stride,
                         lode_error *error)
{
    static const uint8_t zeros[DRAFTS_PADDED_HEADER];
    size_t size = (size_t)count * stride;
    self->progress.report = self->out->options->on_progress;
    self->progress.user = self->out->options->user;
    self->progress.total = count;
    LODE_TRY(lode_output_file_create(&self->file, &self->out->output, name, error));
    self->records = calloc(count + 1, stride);
    if (self->records == NULL)
        return lode_fail_memory(error);
    LODE_TRY(lode_output_write(&self->file, zeros, sizeof zeros, error));
    LODE_TRY(lode_output_write(&self->file, self->records, size, error));
    return lode_output_align(&self->file, 8, error);
}

/* The header's first fields are the same in all files; `bytes` has the rest. */
static lode_status end(struct binary *self, uint32_t count, unsigned sections, size_t stride, uint8_t *bytes,
                       lode_error *error)
{
    struct drafts_Header header = {.major = VERSION_MAJOR,
                                   .minor = VERSION_MINOR,
                                   .count = count,
                                   .num_sec = (uint16_t)sections,
                                   .size = (uint64_t)count * stride,
                                   .ptr = DRAFTS_PADDED_HEADER};
    if (self->footer)
        LODE_TRY(lode_output_write(&self->file, self->footer, DRAFTS_FOOTER_SIZE, error));
    LODE_TRY(lode_output_flush(&self->file, error));
    LODE_TRY(lode_output_write_at(&self->file, DRAFTS_PADDED_HEADER, self->records, count * stride, error));
    memcpy(bytes, self->magic, DRAFTS_MAGIC_SIZE);
    lode_drafts_write_Header(&header, bytes);
    LODE_TRY(lode_output_write_at(&self->file, 0, bytes, DRAFTS_PADDED_HEADER, error));
    return lode_output_file_close(&self->file, error);
}

static lode_status release(struct binary *self, lode_status status)
{
    lode_output_file_abandon(&self->file);
    lode_blob_free(&self->groups);
    free(self->records);
    return status;
}

/* ---- blocks ---- */

/* A pair of a group's key and the index of its first value. */
static lode_status add_group(struct binary *self, unsigned key_size, uint32_t key, uint64_t index,
                             lode_error *error)
{
    size_t at = lode_blob_reserve(&self->groups, key_size + 8, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    uint8_t *bytes = self->groups.bytes + at;
    if (key_size == 2)
        put_u16be(bytes, (uint16_t)key);
    else
        put_u32be(bytes, key);
    put_u64be(bytes + key_size, index);
    return LODE_OK;
}

/* Which values of a block are written: by the key of values, or by that of groups. */
struct choice {
    const bool *values, *groups;
};

static lode_status put_group(struct binary *self, const lode_block *block, const lode_group *group,
                             const bool *chosen, uint64_t *written, lode_error *error)
{
    uint8_t bytes[DRAFTS_CONTEXT_VALUE_SIZE];
    for (uint64_t i = group->first; i < group->first + group->count; i++) {
        uint32_t key = block_value_key(block, i);
        if (chosen && !chosen[key])
            continue;
        put_u64be(bytes, block_value_bits(block, i));
        if (block->value_key_size == 2)
            put_u16be(bytes + 8, (uint16_t)key);
        else
            put_u32be(bytes + 8, key);
        LODE_TRY(lode_output_write(&self->file, bytes, 8u + block->value_key_size, error));
        ++*written;
    }
    return LODE_OK;
}

/* Values, then groups, then what ends them. Groups that have no values left are not written, and an empty block is nothing at all. */
static lode_status put_block(struct binary *self, const lode_block *block, struct choice choice,
                             uint32_t end_key, uint64_t *values, uint32_t *groups, lode_error *error)
{
    *values = 0;
    *groups = 0;
    self->groups.size = 0;
    for (uint32_t g = 0; g < block->group_count; g++) {
        lode_group group;
        uint64_t first = *values;
        LODE_TRY(lode_block_group(block, g, &group, error));
        if (choice.groups && !choice.groups[group.key])
            continue;
        LODE_TRY(put_group(self, block, &group, choice.values, values, error));
        if (*values == first)
            continue;
        ++*groups;
        LODE_TRY(add_group(self, block->group_key_size, group.key, first, error));
    }
    if (*groups == 0)
        return LODE_OK;
    LODE_TRY(add_group(self, block->group_key_size, end_key, *values, error));
    return lode_output_write(&self->file, self->groups.bytes, self->groups.size, error);
}

/* ---- profile.db ---- */

static uint16_t kind_of(const lode_id *id)
{
    unsigned meaning = id->flags & LODE_ID_PHYSICAL ? 0 : DRAFTS_ID_LOGICAL_ONLY;
    return (uint16_t)((id->kind & DRAFTS_ID_KIND) | meaning << DRAFTS_ID_MEANING_SHIFT);
}

static lode_status put_tuple(struct binary *self, uint32_t profile, lode_error *error)
{
    lode_id ids[MAX_IDS] = {{0}};
    uint32_t count = 1;
    uint8_t bytes[DRAFTS_Id_SIZE];
    if (profile > 0)
        LODE_TRY(lode_profile_ids(self->out->db, profile, ids, MAX_IDS, &count, error));
    else
        ids[0].flags = LODE_ID_PHYSICAL; /* SUMMARY 0, which has no meaning in its kind */
    if (count > MAX_IDS)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "profile %" PRIu32 " has an id tuple of %" PRIu32 " ids; at most %d are converted",
                         profile, count, MAX_IDS);
    put_u16be(bytes, (uint16_t)count);
    LODE_TRY(lode_output_write(&self->file, bytes, DRAFTS_IdTuple_SIZE, error));
    for (uint32_t i = 0; i < count; i++) {
        struct drafts_Id id = {
            .kind = kind_of(&ids[i]), .physical = ids[i].physical, .logical = ids[i].logical};
        lode_drafts_write_Id(&id, bytes);
        LODE_TRY(lode_output_write(&self->file, bytes, sizeof bytes, error));
    }
    return LODE_OK;
}

static lode_status put_profile(struct binary *self, uint32_t profile, uint64_t tuple, lode_error *error)
{
    lode_block block;
    struct drafts_Profile record = {.idt_ptr = tuple, .prof_off = self->file.size};
    struct choice choice = {.values = profile == 0 ? self->out->statistics : self->out->values};
    LODE_TRY(lode_profile_block(self->out->db, profile, &block, error));
    LODE_TRY(
        put_block(self, &block, choice, DRAFTS_PROFILE_END, &record.num_vals, &record.num_nzctxs, error));
    lode_drafts_write_Profile(&record, self->records + (size_t)profile * DRAFTS_Profile_SIZE);
    return lode_progress_add(&self->progress, 1, error);
}

static lode_status put_profiles(struct binary *self, uint64_t *tuples, lode_error *error)
{
    uint32_t count = self->out->db->profile_count;
    uint8_t header[DRAFTS_PADDED_HEADER] = {0};
    struct drafts_ProfileHeader more;
    LODE_TRY(begin(self, "profile.db", count, DRAFTS_Profile_SIZE, error));
    more.idt_ptr = self->file.size;
    for (uint32_t i = 0; i < count; i++) {
        tuples[i] = self->file.size;
        LODE_TRY(put_tuple(self, i, error));
    }
    more.idt_size = self->file.size - more.idt_ptr;
    LODE_TRY(lode_output_align(&self->file, 8, error));
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(put_profile(self, i, tuples[i], error));
    lode_drafts_write_ProfileHeader(&more, header);
    return end(self, count, 2, DRAFTS_Profile_SIZE, header, error);
}

lode_status lode_drafts_put_profiles(struct drafts_output *out, lode_error *error)
{
    struct binary self = {.out = out,
                          .file.fd = -1,
                          .magic = "HPCPROF-profdb__",
                          .footer = "PROFDBft",
                          .progress.phase = "writing profiles"};
    uint64_t *tuples = calloc((size_t)out->db->profile_count + 1, sizeof *tuples);
    lode_status status = tuples ? put_profiles(&self, tuples, error) : lode_fail_memory(error);
    free(tuples);
    return release(&self, status);
}

/* ---- cct.db ---- */

static lode_status put_context(struct binary *self, uint32_t id, lode_error *error)
{
    struct drafts_Context record = {.ctx_id = id, .ctx_off = self->file.size};
    if (id < self->out->db->context_block_count) {
        struct choice choice = {.groups = self->out->values};
        lode_block block;
        uint32_t metrics;
        LODE_TRY(lode_context_block(self->out->db, id, &block, error));
        LODE_TRY(put_block(self, &block, choice, DRAFTS_CONTEXT_END, &record.num_vals, &metrics, error));
        record.num_nzmids = (uint16_t)metrics;
    }
    lode_drafts_write_Context(&record, self->records + (size_t)id * DRAFTS_Context_SIZE);
    return lode_progress_add(&self->progress, 1, error);
}

static lode_status put_contexts(struct binary *self, lode_error *error)
{
    uint32_t count = self->out->id_count;
    uint8_t header[DRAFTS_PADDED_HEADER] = {0};
    LODE_TRY(begin(self, "cct.db", count, DRAFTS_Context_SIZE, error));
    for (uint32_t id = 0; id < count; id++)
        LODE_TRY(put_context(self, id, error));
    return end(self, count, 1, DRAFTS_Context_SIZE, header, error);
}

lode_status lode_drafts_put_contexts(struct drafts_output *out, lode_error *error)
{
    struct binary self = {.out = out,
                          .file.fd = -1,
                          .magic = "HPCPROF-cctdb___",
                          .footer = "CCTDBftr",
                          .progress.phase = "writing contexts"};
    return release(&self, put_contexts(&self, error));
}

/* ---- trace.db ---- */

static lode_status put_line(struct binary *self, uint32_t index, lode_error *error)
{
    lode_trace_line line;
    LODE_TRY(lode_database_trace_line(self->out->db, index, &line, error));
    struct drafts_Trace record = {.prof_info_idx = line.profile, .line_ptr = self->file.size};
    for (uint64_t i = 0; i < line.sample_count; i++) {
        uint8_t bytes[TRACE_SAMPLE_SIZE];
        uint32_t context = trace_context(&line, i);
        put_u64be(bytes, trace_time(&line, i));
        put_u32be(bytes + 8, context == 0 ? self->out->idle : context);
        LODE_TRY(lode_output_write(&self->file, bytes, sizeof bytes, error));
    }
    record.line_end = self->file.size;
    lode_drafts_write_Trace(&record, self->records + (size_t)index * DRAFTS_Trace_SIZE);
    return lode_progress_add(&self->progress, 1, error);
}

static lode_status put_lines(struct binary *self, lode_error *error)
{
    const lode_database *db = self->out->db;
    uint8_t header[DRAFTS_PADDED_HEADER] = {0};
    struct drafts_TraceHeader bounds = {.min_time = db->trace_min, .max_time = db->trace_max};
    LODE_TRY(begin(self, "trace.db", db->trace_count, DRAFTS_Trace_SIZE, error));
    for (uint32_t i = 0; i < db->trace_count; i++)
        LODE_TRY(put_line(self, i, error));
    if (self->out->trace_bounds)
        lode_drafts_write_TraceHeader(&bounds, header);
    return end(self, db->trace_count, 1, DRAFTS_Trace_SIZE, header, error);
}

lode_status lode_drafts_put_traces(struct drafts_output *out, lode_error *error)
{
    struct binary self = {.out = out,
                          .file.fd = -1,
                          .magic = "HPCPROF-tracedb_",
                          .footer = out->trace_bounds ? NULL : "TRACDBft",
                          .progress.phase = "writing traces"};
    return release(&self, put_lines(&self, error));
}
