/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, their headers and their sections. */
#include "base/error.h"
#include "format/hpctoolkit/read.h"
#include <inttypes.h>
#include <string.h>

static uint64_t header_size(const struct hpct_file_spec *spec)
{
    return WIRE_FileHeader_SIZE + (uint64_t)spec->section_count * WIRE_Section_SIZE;
}

/* Opening reports "unsupported" where checking reports a rule. */
static lode_status unsupported(lode_status status)
{
    return status == LODE_ERR_CORRUPT ? LODE_ERR_UNSUPPORTED : status;
}

static lode_status check_identity(const struct hpct_file_spec *spec, struct lode_range bytes, bool *sound,
                                  struct lode_report *report)
{
    const char *start = (const char *)bytes.data;
    *sound = false;
    if (memcmp(start, "HPCPROF-", 8) == 0 || memcmp(start, "HPCTOOLKIT_expmt", 16) == 0)
        return unsupported(lode_report_add(report, RULE_LAYOUT_OLD, spec->name, 0,
                                           "the file has a draft layout (2021 to mid-2022)"));
    if (memcmp(start, HPCT_MAGIC, HPCT_MAGIC_SIZE) != 0)
        return lode_report_add(report, RULE_FILE_MAGIC, spec->name, 0,
                               "the file does not begin with " HPCT_MAGIC);
    if (memcmp(start + HPCT_MAGIC_SIZE, spec->format, HPCT_FORMAT_SIZE) != 0)
        return lode_report_add(report, RULE_FILE_KIND, spec->name, HPCT_MAGIC_SIZE,
                               "the file is not a %s but a '%.4s'", spec->format, start + HPCT_MAGIC_SIZE);
    *sound = true;
    return LODE_OK;
}

static lode_status check_version(const struct hpct_file_spec *spec, struct lode_part_info *info,
                                 struct lode_range bytes, bool *sound, struct lode_report *report)
{
    struct wire_FileHeader header;
    lode_wire_read_FileHeader(&header, bytes.data, bytes.size);
    info->major = header.majorVersion;
    info->minor = header.minorVersion;
    *sound = header.majorVersion == HPCT_MAJOR;
    if (!*sound)
        return unsupported(lode_report_add(report, RULE_FILE_MAJOR, spec->name, WIRE_FileHeader_majorVersion,
                                           "the file has version %u.%u; only 4.x is known",
                                           header.majorVersion, header.minorVersion));
    if (header.minorVersion > HPCT_MINOR)
        return lode_report_add(report, RULE_FILE_MINOR, spec->name, WIRE_FileHeader_minorVersion,
                               "the file has version 4.%u, newer than 4.%u", header.minorVersion, HPCT_MINOR);
    return LODE_OK;
}

static lode_status check_footer(const struct hpct_file_spec *spec, struct lode_range bytes,
                                struct lode_report *report)
{
    uint64_t offset = bytes.size - HPCT_FOOTER_SIZE;
    if (memcmp(bytes.data + offset, spec->footer, HPCT_FOOTER_SIZE) == 0)
        return LODE_OK;
    return lode_report_add(report, RULE_FILE_FOOTER, spec->name, offset,
                           "the file does not end with '%s': it was truncated or never finished",
                           spec->footer);
}

static uint64_t find_string_end(struct lode_range bytes)
{
    const uint8_t *last = bytes.size ? memrchr(bytes.data, '\0', (size_t)bytes.size) : NULL;
    return last ? (uint64_t)(last - bytes.data) + 1 : 0;
}

static lode_status find_section(struct hpct_file *file, const struct hpct_file_spec *spec, unsigned index,
                                struct lode_report *report)
{
    struct lode_range bytes = file->source.bytes;
    uint64_t at = WIRE_FileHeader_SIZE + (uint64_t)index * WIRE_Section_SIZE;
    struct wire_Section header;
    lode_wire_read_Section(&header, bytes.data + at, WIRE_Section_SIZE);
    const char *name = spec->sections[index].name;
    if (header.sz == 0 && spec->sections[index].header_size == 0)
        return LODE_OK;
    struct lode_range body = {bytes.data, bytes.size - HPCT_FOOTER_SIZE}, part;
    if (header.p < header_size(spec) || !lode_range_part(body, header.p, header.sz, &part))
        return lode_report_add(report, RULE_SECTION_BOUNDS, spec->name, at,
                               "section %s: %" PRIu64 " bytes at 0x%" PRIx64 " in a file of %" PRIu64
                               " bytes",
                               name, header.sz, header.p, bytes.size);
    if (header.sz < spec->sections[index].header_size)
        return lode_report_add(report, RULE_SECTION_SHORT, spec->name, at,
                               "section %s has %" PRIu64 " bytes, its header needs %u", name, header.sz,
                               spec->sections[index].header_size);
    file->sections[index] =
        (struct hpct_section){.bytes = part, .offset = header.p, .string_end = find_string_end(part)};
    if (header.p % spec->sections[index].alignment != 0)
        return lode_report_add(report, RULE_SECTION_ALIGN, spec->name, at,
                               "section %s begins at 0x%" PRIx64 ", which is not a multiple of %u", name,
                               header.p, spec->sections[index].alignment);
    return LODE_OK;
}

static lode_status check_overlap(const struct hpct_file *file, const struct hpct_file_spec *spec,
                                 struct lode_report *report)
{
    for (unsigned i = 0; i < spec->section_count; i++) {
        const struct hpct_section *a = &file->sections[i];
        for (unsigned k = i + 1; k < spec->section_count; k++) {
            const struct hpct_section *b = &file->sections[k];
            bool overlap = a->bytes.size && b->bytes.size && a->offset < b->offset + b->bytes.size &&
                           b->offset < a->offset + a->bytes.size;
            if (overlap)
                LODE_TRY(lode_report_add(report, RULE_SECTION_OVERLAP, spec->name, a->offset,
                                         "section %s (%" PRIu64 " bytes at 0x%" PRIx64
                                         ") overlaps section %s (%" PRIu64 " bytes at 0x%" PRIx64 ")",
                                         spec->sections[i].name, a->bytes.size, a->offset,
                                         spec->sections[k].name, b->bytes.size, b->offset));
        }
    }
    return LODE_OK;
}

/* Writers reserve space for a second section that does not exist, and leave it uninitialized. */
static lode_status check_cct_header(const struct hpct_file *file, struct lode_report *report)
{
    uint64_t from = header_size(&lode_hpct_specs[HPCT_CCT]), to = from + WIRE_Section_SIZE;
    if (file->sections[0].offset < to)
        return LODE_OK;
    for (uint64_t i = from; i < to; i++)
        if (file->source.bytes.data[i] != 0)
            return lode_report_add(
                report, RULE_HEADER_GARBAGE, lode_hpct_specs[HPCT_CCT].name, from,
                "bytes 0x%" PRIx64 " to 0x%" PRIx64 " belong to no section and are not zero", from, to - 1);
    return LODE_OK;
}

static lode_status read_header(struct hpct_file *file, const struct hpct_file_spec *spec,
                               struct lode_part_info *info, struct lode_report *report)
{
    struct lode_range bytes = file->source.bytes;
    info->size = bytes.size;
    if (bytes.size < header_size(spec) + HPCT_FOOTER_SIZE)
        return lode_report_add(report, RULE_FILE_SHORT, spec->name, 0,
                               "the file has %" PRIu64 " bytes; its header and footer need %" PRIu64,
                               bytes.size, header_size(spec) + HPCT_FOOTER_SIZE);
    bool sound;
    LODE_TRY(check_identity(spec, bytes, &sound, report));
    if (!sound)
        return LODE_OK;
    LODE_TRY(check_version(spec, info, bytes, &sound, report));
    if (!sound)
        return LODE_OK;
    file->usable = true;
    LODE_TRY(check_footer(spec, bytes, report));
    for (unsigned i = 0; i < spec->section_count; i++)
        LODE_TRY(find_section(file, spec, i, report));
    return check_overlap(file, spec, report);
}

static lode_status open_file(struct hpct_database *db, enum hpct_file_id id, const struct lode_folder *folder,
                             struct lode_report *report)
{
    const struct hpct_file_spec *spec = &lode_hpct_specs[id];
    struct hpct_file *file = &db->files[id];
    struct lode_part_info *info = &db->base.parts[id];
    info->file = spec->name;
    lode_status status = lode_input_open(&file->source, folder, spec->name, report->error);
    if (status == LODE_ABSENT) {
        bool must = id == HPCT_META || id == HPCT_PROFILE;
        return lode_report_add(report, must ? RULE_PART_MISSING : RULE_PART_ABSENT, spec->name,
                               LODE_NO_OFFSET, "there is no %s", spec->name);
    }
    LODE_TRY(status);
    file->present = info->present = true;
    uint64_t errors = report->result.errors;
    LODE_TRY(read_header(file, spec, info, report));
    file->sound = report->result.errors == errors;
    return LODE_OK;
}

lode_status lode_hpct_open_files(struct hpct_database *db, const struct lode_folder *folder,
                                 struct lode_report *report)
{
    for (unsigned id = 0; id < HPCT_FILES; id++)
        LODE_TRY(open_file(db, (enum hpct_file_id)id, folder, report));
    if (db->files[HPCT_CCT].usable)
        LODE_TRY(check_cct_header(&db->files[HPCT_CCT], report));
    db->string_budget = lode_string_budget(db->files[HPCT_META].source.bytes.size);
    return LODE_OK;
}
