/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.db, cct.db and trace.db of the big-endian drafts: headers, tables, blocks and lines. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/hpctoolkit_drafts/binary.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct file_spec {
    const char *name;
    const char *magics[2]; /* the second one is of development builds of 2021 */
    const char *footer;    /* as big-endian machines write it */
    bool must_end;         /* writers always write the footer */
    const char *what;      /* its records */
    uint64_t stride, header;
};

static const struct file_spec specs[HPCT_FILES] = {
    [HPCT_PROFILE] = {"profile.db",
                      {"HPCPROF-profdb__", "HPCPROF-pmsdb___"},
                      "PROFDBft",
                      true,
                      "profiles",
                      DRAFTS_Profile_SIZE,
                      DRAFTS_ProfileHeader_SIZE},
    [HPCT_CCT] = {"cct.db",
                  {"HPCPROF-cctdb___", "HPCPROF-cmsdb___"},
                  "CCTDBftr",
                  true,
                  "contexts",
                  DRAFTS_Context_SIZE,
                  DRAFTS_Header_SIZE},
    [HPCT_TRACE] = {"trace.db",
                    {"HPCPROF-tracedb_", NULL},
                    "TRACDBft",
                    false,
                    "trace lines",
                    DRAFTS_Trace_SIZE,
                    DRAFTS_Header_SIZE},
};

/* ---- headers ---- */

static bool find_magic(const struct file_spec *spec, struct drafts_file *file)
{
    const uint8_t *bytes = file->source.bytes.data;
    for (size_t i = 0; i < 2; i++) {
        if (spec->magics[i] && memcmp(bytes, spec->magics[i], DRAFTS_MAGIC_SIZE) == 0) {
            memcpy(file->variant.magic, bytes, DRAFTS_MAGIC_SIZE);
            return true;
        }
    }
    return false;
}

static void find_footer(const struct file_spec *spec, struct drafts_file *file)
{
    struct lode_range bytes = file->source.bytes;
    char backwards[DRAFTS_FOOTER_SIZE];
    for (size_t i = 0; i < DRAFTS_FOOTER_SIZE; i++)
        backwards[i] = spec->footer[DRAFTS_FOOTER_SIZE - 1 - i];
    const uint8_t *last = bytes.data + bytes.size - DRAFTS_FOOTER_SIZE;
    file->variant.swapped = memcmp(last, backwards, sizeof backwards) == 0;
    file->variant.footer = file->variant.swapped || memcmp(last, spec->footer, DRAFTS_FOOTER_SIZE) == 0;
    file->end = bytes.size - (file->variant.footer ? DRAFTS_FOOTER_SIZE : 0);
}

static lode_status report_variant(const struct file_spec *spec, const struct drafts_file *file,
                                  const struct drafts_Header *header, struct lode_report *report)
{
    const struct drafts_variant *variant = &file->variant;
    return lode_report_add(report, DRAFTS_RULE_VARIANT, spec->name, 0,
                           "identifier %s, version %u.%u, header %s, %s", variant->magic, header->major,
                           header->minor, variant->padded ? "padded to 128 bytes" : "not padded",
                           !variant->footer   ? "no footer"
                           : variant->swapped ? "footer in the byte order of a little-endian machine"
                                              : "footer in the byte order of the file");
}

/* A section, if it is inside the file. */
static lode_status find_section(const struct file_spec *spec, const struct drafts_file *file,
                                const char *what, uint64_t offset, uint64_t size, struct lode_range *out,
                                struct lode_report *report)
{
    struct lode_range body = {file->source.bytes.data, file->end};
    *out = (struct lode_range){body.data, 0};
    if (size == 0 || (offset >= spec->header && lode_range_part(body, offset, size, out)))
        return LODE_OK;
    return lode_report_add(report, DRAFTS_RULE_SECTION_BOUNDS, spec->name, DRAFTS_Header_size,
                           "the section of %s: %" PRIu64 " bytes at 0x%" PRIx64 " in a file of %" PRIu64,
                           what, size, offset, file->source.bytes.size);
}

static lode_status find_table(const struct file_spec *spec, const struct drafts_file *file,
                              const struct drafts_Header *header, struct drafts_table *table,
                              struct lode_report *report)
{
    struct lode_range section;
    uint64_t errors = report->result.errors;
    *table = (struct drafts_table){.offset = header->ptr, .stride = spec->stride};
    LODE_TRY(find_section(spec, file, spec->what, header->ptr, header->size, &section, report));
    if (report->result.errors != errors)
        return LODE_OK;
    if (section.size / spec->stride < header->count)
        return lode_report_add(report, DRAFTS_RULE_SECTION_BOUNDS, spec->name, DRAFTS_Header_count,
                               "%" PRIu32 " %s of %" PRIu64 " bytes do not fit into their section of %" PRIu64
                               " bytes",
                               header->count, spec->what, spec->stride, section.size);
    table->found = true;
    table->bytes = section.data;
    table->count = header->count;
    return LODE_OK;
}

static lode_status find_tuples(struct drafts_database *db, const struct drafts_Header *header,
                               struct lode_report *report)
{
    const struct drafts_file *file = &db->files[HPCT_PROFILE];
    struct drafts_ProfileHeader more;
    lode_drafts_read_ProfileHeader(&more, file->source.bytes.data);
    db->tuples_offset = more.idt_ptr;
    LODE_TRY(find_section(&specs[HPCT_PROFILE], file, "id tuples", more.idt_ptr, more.idt_size, &db->tuples,
                          report));
    uint64_t end = header->ptr + db->profiles.count * db->profiles.stride;
    if (db->tuples.size > 0 && db->profiles.count > 0 && db->tuples_offset < end &&
        header->ptr < db->tuples_offset + db->tuples.size)
        return lode_report_add(report, DRAFTS_RULE_SECTION_OVERLAP, specs[HPCT_PROFILE].name,
                               DRAFTS_ProfileHeader_idt_ptr,
                               "the id tuples (%" PRIu64 " bytes at 0x%" PRIx64
                               ") overlap the profiles (%" PRIu32 " at 0x%" PRIx64 ")",
                               db->tuples.size, db->tuples_offset, db->profiles.count, header->ptr);
    return LODE_OK;
}

/* The documentation of the draft with meta.db has time bounds after the fields of the header. */
static void find_bounds(struct drafts_database *db, const struct drafts_Header *header)
{
    const struct drafts_file *file = &db->files[HPCT_TRACE];
    struct drafts_TraceHeader bounds;
    if (file->end < DRAFTS_TraceHeader_SIZE || header->ptr < DRAFTS_TraceHeader_SIZE)
        return;
    lode_drafts_read_TraceHeader(&bounds, file->source.bytes.data);
    db->base.trace_min = bounds.min_time;
    db->base.trace_max = bounds.max_time;
}

static lode_status read_tables(struct drafts_database *db, enum hpct_file_id id,
                               const struct drafts_Header *header, struct lode_report *report)
{
    const struct drafts_file *file = &db->files[id];
    if (id == HPCT_PROFILE) {
        LODE_TRY(find_table(&specs[id], file, header, &db->profiles, report));
        LODE_TRY(find_tuples(db, header, report));
        db->base.profile_count = db->profiles.count;
    } else if (id == HPCT_CCT) {
        LODE_TRY(find_table(&specs[id], file, header, &db->contexts, report));
        db->base.context_block_count = db->contexts.count;
    } else {
        LODE_TRY(find_table(&specs[id], file, header, &db->traces, report));
        db->base.trace_count = db->traces.count;
        find_bounds(db, header);
    }
    return LODE_OK;
}

static lode_status read_file(struct drafts_database *db, enum hpct_file_id id, struct lode_report *report)
{
    const struct file_spec *spec = &specs[id];
    struct drafts_file *file = &db->files[id];
    struct drafts_Header header;
    uint64_t size = file->source.bytes.size;
    if (size < spec->header + (spec->must_end ? DRAFTS_FOOTER_SIZE : 0))
        return lode_report_add(report, DRAFTS_RULE_FILE_SHORT, spec->name, 0,
                               "the file has %" PRIu64 " bytes; its header needs %" PRIu64, size,
                               spec->header);
    if (!find_magic(spec, file))
        return lode_report_add(report, DRAFTS_RULE_FILE_MAGIC, spec->name, 0,
                               "the file does not begin with %s", spec->magics[0]);
    lode_drafts_read_Header(&header, file->source.bytes.data);
    db->base.parts[id].major = header.major;
    db->base.parts[id].minor = header.minor;
    if ((header.major != 1 && header.major != HPCT_MAJOR) || header.minor != 0)
        return lode_report_add(report, DRAFTS_RULE_FILE_VERSION, spec->name, DRAFTS_Header_major,
                               "the file has version %u.%u; drafts have 1.0 or 4.0", header.major,
                               header.minor);
    find_footer(spec, file);
    file->usable = true;
    file->content = spec->header;
    file->variant.padded = header.ptr >= DRAFTS_PADDED_HEADER;
    LODE_TRY(report_variant(spec, file, &header, report));
    if (spec->must_end && !file->variant.footer)
        LODE_TRY(lode_report_add(
            report, DRAFTS_RULE_FILE_FOOTER, spec->name, file->end - DRAFTS_FOOTER_SIZE,
            "the file does not end with '%s' in either byte order: it was truncated or never finished",
            spec->footer));
    return read_tables(db, id, &header, report);
}

/* Some writers never wrote the values: then even the first block has no end marker. */
static bool is_unwritten(const struct drafts_database *db, uint64_t *offset)
{
    for (uint32_t i = 0; i < db->contexts.count; i++) {
        struct drafts_Context record;
        lode_block block;
        uint64_t size;
        lode_drafts_context(db, i, &record);
        enum drafts_fault fault = lode_drafts_context_block(db, &record, &block, &size);
        *offset = record.ctx_off;
        if (size > 0)
            return fault == DRAFTS_UNENDED;
    }
    return false;
}

/* cct.db repeats profile.db, so a damaged one does not prevent opening. Checking reports all. */
static lode_status read_contexts(struct drafts_database *db, struct lode_report *report)
{
    const char *name = specs[HPCT_CCT].name;
    lode_error error = {0};
    struct lode_report own;
    if (report->seen)
        return read_file(db, HPCT_CCT, report);
    lode_report_strict(&own, lode_drafts_rules, &error);
    lode_status status = read_file(db, HPCT_CCT, &own);
    if (status == LODE_OK && is_unwritten(db, &error.offset)) {
        status = LODE_ERR_CORRUPT;
        snprintf(error.text, sizeof error.text, "its values were never written");
    }
    if (status != LODE_ERR_CORRUPT)
        return status;
    db->base.parts[HPCT_CCT].present = db->files[HPCT_CCT].present = false;
    db->contexts = (struct drafts_table){0};
    db->base.context_block_count = 0;
    strncat(error.text, "; values by context come from profile.db",
            sizeof error.text - strlen(error.text) - 1);
    return lode_drafts_remark(db, "draft-cct-damaged", LODE_WARNING, name, error.offset, error.text,
                              report->error);
}

static lode_status open_file(struct drafts_database *db, enum hpct_file_id id, const char *name,
                             const struct lode_folder *folder, struct lode_report *report)
{
    struct drafts_file *file = &db->files[id];
    struct lode_part_info *info = &db->base.parts[id];
    bool must = id == HPCT_META || id == HPCT_PROFILE;
    info->file = name;
    lode_status status = lode_input_open(&file->source, folder, name, report->error);
    if (status == LODE_ABSENT)
        return lode_report_add(report, must ? DRAFTS_RULE_PART_MISSING : DRAFTS_RULE_PART_ABSENT, name,
                               LODE_NO_OFFSET, "there is no %s", name);
    LODE_TRY(status);
    file->present = info->present = true;
    info->size = file->source.bytes.size;
    if (id == HPCT_META)
        return LODE_OK;
    return id == HPCT_CCT ? read_contexts(db, report) : read_file(db, id, report);
}

lode_status lode_drafts_open_files(struct drafts_database *db, const struct lode_folder *folder,
                                   struct lode_report *report)
{
    LODE_TRY(open_file(db, HPCT_META, db->meta->file, folder, report));
    for (unsigned id = HPCT_PROFILE; id < HPCT_FILES; id++)
        LODE_TRY(open_file(db, (enum hpct_file_id)id, specs[id].name, folder, report));
    return LODE_OK;
}

/* ---- values ---- */

void lode_drafts_profile(const struct drafts_database *db, uint32_t index, struct drafts_Profile *out)
{
    lode_drafts_read_Profile(out, drafts_record(&db->profiles, index));
}

void lode_drafts_context(const struct drafts_database *db, uint32_t index, struct drafts_Context *out)
{
    lode_drafts_read_Context(out, drafts_record(&db->contexts, index));
}

void lode_drafts_trace(const struct drafts_database *db, uint32_t index, struct drafts_Trace *out)
{
    lode_drafts_read_Trace(out, drafts_record(&db->traces, index));
}

/* The values, groups and end marker of a block are contiguous; counts and key sizes are set. */
static enum drafts_fault place_block(const struct drafts_database *db, enum hpct_file_id id, uint64_t offset,
                                     uint32_t marker, lode_block *block, uint64_t *size)
{
    const struct drafts_file *file = &db->files[id];
    struct lode_range body = {file->source.bytes.data, file->end}, values, groups;
    block->layout = LODE_LAYOUT_BIG;
    block->file = specs[id].name;
    block->values = block->groups = body.data;
    block->groups_offset = offset;
    *size = 0;
    /* Contexts without values have no block at all. */
    if (block->value_count == 0 && block->group_count == 0)
        return DRAFTS_SOUND;
    uint64_t group_stride = block_group_stride(block);
    if (!lode_range_array(body, offset, block->value_count, block_value_stride(block), &values) ||
        !lode_range_array(body, offset + values.size, (uint64_t)block->group_count + 1, group_stride,
                          &groups))
        return DRAFTS_OUTSIDE;
    block->values = values.data;
    block->groups = groups.data;
    block->groups_offset = offset + values.size;
    *size = values.size + groups.size;
    const uint8_t *end = groups.data + block->group_count * group_stride;
    if (block_key(block, end, block->group_key_size) != marker ||
        get_u64be(end + block->group_key_size) != block->value_count)
        return DRAFTS_UNENDED;
    return DRAFTS_SOUND;
}

enum drafts_fault lode_drafts_profile_block(const struct drafts_database *db,
                                            const struct drafts_Profile *profile, lode_block *out,
                                            uint64_t *size)
{
    *out = (lode_block){.value_count = profile->num_vals,
                        .group_count = profile->num_nzctxs,
                        .group_key_size = sizeof(uint32_t),
                        .value_key_size = sizeof(uint16_t)};
    return place_block(db, HPCT_PROFILE, profile->prof_off, DRAFTS_PROFILE_END, out, size);
}

enum drafts_fault lode_drafts_context_block(const struct drafts_database *db,
                                            const struct drafts_Context *context, lode_block *out,
                                            uint64_t *size)
{
    *out = (lode_block){.value_count = context->num_vals,
                        .group_count = context->num_nzmids,
                        .group_key_size = sizeof(uint16_t),
                        .value_key_size = sizeof(uint32_t)};
    return place_block(db, HPCT_CCT, context->ctx_off, DRAFTS_CONTEXT_END, out, size);
}

bool lode_drafts_trace_line(const struct drafts_database *db, const struct drafts_Trace *trace,
                            lode_trace_line *out)
{
    const struct drafts_file *file = &db->files[HPCT_TRACE];
    struct lode_range body = {file->source.bytes.data, file->end}, bytes;
    *out = (lode_trace_line){.profile = trace->prof_info_idx,
                             .idle_id = db->idle_id,
                             .layout = LODE_LAYOUT_BIG,
                             .samples = body.data};
    if (trace->line_ptr == trace->line_end)
        return true;
    if (trace->line_end < trace->line_ptr || (trace->line_end - trace->line_ptr) % WIRE_Sample_SIZE != 0 ||
        !lode_range_part(body, trace->line_ptr, trace->line_end - trace->line_ptr, &bytes))
        return false;
    /* Samples of metrics are not samples of contexts. */
    if (trace->trace_type != 0)
        return true;
    out->samples = bytes.data;
    out->sample_count = bytes.size / WIRE_Sample_SIZE;
    return true;
}

bool lode_drafts_id_tuple(const struct drafts_database *db, uint64_t pointer, struct lode_range *ids)
{
    struct lode_range head;
    if (pointer < db->tuples_offset ||
        !lode_range_part(db->tuples, pointer - db->tuples_offset, DRAFTS_IdTuple_SIZE, &head))
        return false;
    struct drafts_IdTuple tuple;
    lode_drafts_read_IdTuple(&tuple, head.data);
    return lode_range_array(db->tuples, pointer - db->tuples_offset + DRAFTS_IdTuple_SIZE, tuple.len,
                            DRAFTS_Id_SIZE, ids);
}
