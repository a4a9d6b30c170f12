/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes profile.db, cct.db and trace.db of the big-endian drafts. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/hpctoolkit_drafts/wire.h"
#include "format/hpctoolkit_drafts/write/write.h"
#include <stdlib.h>
#include <string.h>

enum {
    VERSION_MAJOR = 4,
    VERSION_MINOR = 0
};

static lode_status begin(struct drafts_sink *out, struct drafts_binary *self, const char *name,
                         uint32_t count, size_t stride, lode_error *error)
{
    static const uint8_t zeros[DRAFTS_PADDED_HEADER];
    self->count = count;
    self->stride = stride;
    self->records = calloc((size_t)count + 1, stride);
    if (self->records == NULL)
        return lode_fail_memory(error);
    LODE_TRY(lode_output_file_create(&self->file, &out->base.output, name, error));
    LODE_TRY(lode_output_write(&self->file, zeros, sizeof zeros, error));
    LODE_TRY(lode_output_write(&self->file, self->records, count * stride, error));
    return lode_output_align(&self->file, 8, error);
}

/* All headers begin with the same fields; `bytes` has the rest. `footer` may be NULL. */
static lode_status end(struct drafts_binary *self, const char *magic, const char *footer, unsigned sections,
                       uint8_t *bytes, lode_error *error)
{
    struct drafts_Header header = {.major = VERSION_MAJOR,
                                   .minor = VERSION_MINOR,
                                   .count = self->count,
                                   .num_sec = (uint16_t)sections,
                                   .size = (uint64_t)self->count * self->stride,
                                   .ptr = DRAFTS_PADDED_HEADER};
    if (footer)
        LODE_TRY(lode_output_write(&self->file, footer, DRAFTS_FOOTER_SIZE, error));
    LODE_TRY(lode_output_flush(&self->file, error));
    LODE_TRY(lode_output_write_at(&self->file, DRAFTS_PADDED_HEADER, self->records,
                                  self->count * self->stride, error));
    memcpy(bytes, magic, DRAFTS_MAGIC_SIZE);
    lode_drafts_write_Header(&header, bytes);
    LODE_TRY(lode_output_write_at(&self->file, 0, bytes, DRAFTS_PADDED_HEADER, error));
    return lode_output_file_close(&self->file, error);
}

/* ---- blocks ---- */

/* A pair of a group's key and the index of its first value. */
static lode_status add_group(struct drafts_sink *out, unsigned key_size, uint32_t key, uint64_t index,
                             lode_error *error)
{
    size_t at = lode_blob_reserve(&out->groups, key_size + 8, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    uint8_t *bytes = out->groups.bytes + at;
    if (key_size == 2)
        put_u16be(bytes, (uint16_t)key);
    else
        put_u32be(bytes, key);
    put_u64be(bytes + key_size, index);
    return LODE_OK;
}

/* Selects the values of a block to write: by the key of values, or by that of groups. */
struct choice {
    const bool *values, *groups;
};

static lode_status put_group(struct lode_output_file *file, const lode_block *block, const lode_group *group,
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
        LODE_TRY(lode_output_write(file, bytes, 8u + block->value_key_size, error));
        ++*written;
    }
    return LODE_OK;
}

/* Values, groups, end marker. Skips groups without selected values; an empty block has no bytes. */
static lode_status put_block(struct drafts_sink *out, struct lode_output_file *file, const lode_block *block,
                             struct choice choice, uint32_t end_key, uint64_t *values, uint32_t *groups,
                             lode_error *error)
{
    *values = 0;
    *groups = 0;
    out->groups.size = 0;
    for (uint32_t g = 0; g < block->group_count; g++) {
        lode_group group;
        uint64_t first = *values;
        LODE_TRY(lode_block_group(block, g, &group, error));
        if (choice.groups && !choice.groups[group.key])
            continue;
        LODE_TRY(put_group(file, block, &group, choice.values, values, error));
        if (*values == first)
            continue;
        ++*groups;
        LODE_TRY(add_group(out, block->group_key_size, group.key, first, error));
    }
    if (*groups == 0)
        return LODE_OK;
    LODE_TRY(add_group(out, block->group_key_size, end_key, *values, error));
    return lode_output_write(file, out->groups.bytes, out->groups.size, error);
}

/* ---- profile.db ---- */

static uint16_t kind_of(const lode_id *id)
{
    unsigned meaning = id->flags & LODE_ID_PHYSICAL ? 0 : DRAFTS_ID_LOGICAL_ONLY;
    return (uint16_t)((id->kind & DRAFTS_ID_KIND) | meaning << DRAFTS_ID_MEANING_SHIFT);
}

static lode_status put_tuple(struct lode_output_file *file, const struct lode_id_tuple *ids,
                             lode_error *error)
{
    uint8_t bytes[DRAFTS_Id_SIZE];
    put_u16be(bytes, (uint16_t)ids->count);
    LODE_TRY(lode_output_write(file, bytes, DRAFTS_IdTuple_SIZE, error));
    for (uint32_t i = 0; i < ids->count; i++) {
        struct drafts_Id id = {
            .kind = kind_of(&ids->ids[i]), .physical = ids->ids[i].physical, .logical = ids->ids[i].logical};
        lode_drafts_write_Id(&id, bytes);
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    }
    return LODE_OK;
}

static lode_status begin_profiles(struct drafts_sink *out, lode_error *error)
{
    const struct lode_description *about = out->base.about;
    struct lode_output_file *file = &out->profiles.file;
    /* SUMMARY 0, which has no meaning. */
    static const lode_id summary = {.flags = LODE_ID_PHYSICAL};
    static const struct lode_id_tuple first = {&summary, 1};
    uint32_t count = about->profile_count + 1;
    out->tuples = calloc(count, sizeof *out->tuples);
    if (out->tuples == NULL)
        return lode_fail_memory(error);
    LODE_TRY(begin(out, &out->profiles, "profile.db", count, DRAFTS_Profile_SIZE, error));
    out->tuples_at = file->size;
    for (uint32_t i = 0; i < count; i++) {
        out->tuples[i] = file->size;
        LODE_TRY(put_tuple(file, i == 0 ? &first : &about->profiles[i - 1], error));
    }
    out->tuples_size = file->size - out->tuples_at;
    out->next_profile = 1;
    return lode_output_align(file, 8, error);
}

static lode_status put_profile(struct drafts_sink *out, uint32_t profile, const lode_block *block,
                               lode_error *error)
{
    struct drafts_Profile record = {.idt_ptr = out->tuples[profile], .prof_off = out->profiles.file.size};
    struct choice choice = {.values = profile == 0 ? out->statistics : out->values};
    LODE_TRY(put_block(out, &out->profiles.file, block, choice, DRAFTS_PROFILE_END, &record.num_vals,
                       &record.num_nzctxs, error));
    lode_drafts_write_Profile(&record, out->profiles.records + (size_t)profile * DRAFTS_Profile_SIZE);
    return LODE_OK;
}

lode_status lode_drafts_summary(struct lode_sink *base, const lode_block *block, lode_error *error)
{
    return put_profile(drafts_sink_of(base), 0, block, error);
}

lode_status lode_drafts_append(struct lode_sink *base, void *scratch, const struct lode_id_tuple *ids,
                               const lode_block *block, lode_error *error)
{
    struct drafts_sink *out = drafts_sink_of(base);
    (void)scratch;
    (void)ids;
    return put_profile(out, out->next_profile++, block, error);
}

/* ---- cct.db ---- */

lode_status lode_drafts_append_context(struct lode_sink *base, uint32_t id, const lode_block *block,
                                       lode_error *error)
{
    struct drafts_sink *out = drafts_sink_of(base);
    struct drafts_Context record = {.ctx_id = id, .ctx_off = out->contexts.file.size};
    struct choice choice = {.groups = out->values};
    uint32_t metrics;
    LODE_TRY(put_block(out, &out->contexts.file, block, choice, DRAFTS_CONTEXT_END, &record.num_vals,
                       &metrics, error));
    record.num_nzmids = (uint16_t)metrics;
    lode_drafts_write_Context(&record, out->contexts.records + (size_t)id * DRAFTS_Context_SIZE);
    return LODE_OK;
}

/* Contexts without values. */
static void end_contexts(struct drafts_sink *out)
{
    for (uint32_t id = out->base.about->context_blocks; id < out->id_count; id++) {
        struct drafts_Context record = {.ctx_id = id, .ctx_off = out->contexts.file.size};
        lode_drafts_write_Context(&record, out->contexts.records + (size_t)id * DRAFTS_Context_SIZE);
    }
}

/* ---- trace.db ---- */

lode_status lode_drafts_append_samples(struct lode_sink *base, uint32_t line, const lode_trace_line *samples,
                                       lode_error *error)
{
    struct drafts_sink *out = drafts_sink_of(base);
    struct lode_output_file *file = &out->traces.file;
    if (line == out->next_line) {
        out->line_at = file->size;
        out->next_line++;
    }
    for (uint64_t i = 0; i < samples->sample_count; i++) {
        uint8_t bytes[TRACE_SAMPLE_SIZE];
        uint32_t context = trace_context(samples, i);
        put_u64be(bytes, trace_time(samples, i));
        put_u32be(bytes + 8, context == 0 ? out->idle : context);
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    }
    struct drafts_Trace record = {
        .prof_info_idx = samples->profile, .line_ptr = out->line_at, .line_end = file->size};
    lode_drafts_write_Trace(&record, out->traces.records + (size_t)line * DRAFTS_Trace_SIZE);
    return LODE_OK;
}

/* ---- top level ---- */

lode_status lode_drafts_begin_files(struct drafts_sink *out, lode_error *error)
{
    LODE_TRY(begin_profiles(out, error));
    LODE_TRY(begin(out, &out->contexts, "cct.db", out->id_count, DRAFTS_Context_SIZE, error));
    if (!out->base.options.traces)
        return LODE_OK;
    return begin(out, &out->traces, "trace.db", out->base.about->line_count, DRAFTS_Trace_SIZE, error);
}

lode_status lode_drafts_end_files(struct drafts_sink *out, lode_error *error)
{
    const struct lode_description *about = out->base.about;
    uint8_t profiles[DRAFTS_PADDED_HEADER] = {0}, contexts[DRAFTS_PADDED_HEADER] = {0},
            traces[DRAFTS_PADDED_HEADER] = {0};
    struct drafts_ProfileHeader tuples = {.idt_ptr = out->tuples_at, .idt_size = out->tuples_size};
    struct drafts_TraceHeader bounds = {.min_time = about->trace_min, .max_time = about->trace_max};
    bool has_bounds = out->writer->trace_bounds;
    lode_drafts_write_ProfileHeader(&tuples, profiles);
    LODE_TRY(end(&out->profiles, "HPCPROF-profdb__", "PROFDBft", 2, profiles, error));
    end_contexts(out);
    LODE_TRY(end(&out->contexts, "HPCPROF-cctdb___", "CCTDBftr", 1, contexts, error));
    if (!out->base.options.traces)
        return LODE_OK;
    if (has_bounds)
        lode_drafts_write_TraceHeader(&bounds, traces);
    return end(&out->traces, "HPCPROF-tracedb_", has_bounds ? NULL : "TRACDBft", 1, traces, error);
}
