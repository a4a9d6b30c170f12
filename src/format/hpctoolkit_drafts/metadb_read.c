/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft's meta.db: header, sections, general properties. */
#include "format/hpctoolkit_drafts/metadb_read.h"

#include "base/io/bytes.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const section_names[METADB_SECTIONS] = {
    "General Properties", "Performance Metric", "Context Tree", "Context Attribute Strings",
    "Application Binary", "Source File",        "Function",
};

lode_status lode_metadb_finding(const struct metadb_reader *reader, unsigned rule, uint64_t offset,
                                const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lode_report_add(reader->report, rule, reader->db->meta->file, offset, "%s", text);
}

/* ---- cursors ---- */

struct metadb_cursor lode_metadb_cursor(const struct metadb_part *part)
{
    return (struct metadb_cursor){.rest = part->bytes, .offset = part->offset};
}

/* The next bytes, or NULL. */
static const uint8_t *take(struct metadb_cursor *cursor, uint64_t size)
{
    if (cursor->rest.size < size) {
        cursor->is_short = true;
        cursor->rest.size = 0;
        return NULL;
    }
    const uint8_t *bytes = cursor->rest.data;
    cursor->rest.data += size;
    cursor->rest.size -= size;
    cursor->offset += size;
    return bytes;
}

uint8_t lode_metadb_u8(struct metadb_cursor *cursor)
{
    const uint8_t *bytes = take(cursor, 1);
    return bytes ? get_u8(bytes) : 0;
}

uint16_t lode_metadb_u16(struct metadb_cursor *cursor)
{
    const uint8_t *bytes = take(cursor, 2);
    return bytes ? get_u16be(bytes) : 0;
}

uint32_t lode_metadb_u32(struct metadb_cursor *cursor)
{
    const uint8_t *bytes = take(cursor, 4);
    return bytes ? get_u32be(bytes) : 0;
}

const char *lode_metadb_text(struct metadb_cursor *cursor)
{
    const uint8_t *nul =
        cursor->rest.size ? memchr(cursor->rest.data, '\0', (size_t)cursor->rest.size) : NULL;
    uint64_t size = nul ? (uint64_t)(nul - cursor->rest.data) + 1 : cursor->rest.size + 1;
    const uint8_t *bytes = take(cursor, size);
    return bytes ? (const char *)bytes : "";
}

lode_status lode_metadb_ended(const struct metadb_reader *reader, const struct metadb_cursor *cursor,
                              const char *what)
{
    if (!cursor->is_short)
        return LODE_OK;
    return lode_metadb_finding(reader, DRAFTS_RULE_METADB_BOUNDS, cursor->offset,
                               "%s: the section is truncated", what);
}

/* ---- header and sections ---- */

static lode_status find_part(struct metadb_reader *reader, unsigned place, const char *name,
                             struct metadb_part *part)
{
    const struct drafts_file *file = &reader->db->files[HPCT_META];
    uint64_t at = DRAFTS_MetaHeader_SIZE + (uint64_t)place * DRAFTS_MetaSection_SIZE;
    struct drafts_MetaSection section;
    struct lode_range body = {file->source.bytes.data, file->end};
    lode_drafts_read_MetaSection(&section, file->source.bytes.data + at);
    part->offset = section.ptr;
    if (section.size == 0)
        return LODE_OK;
    if (section.ptr >= METADB_HEADER_SIZE && lode_range_part(body, section.ptr, section.size, &part->bytes))
        return LODE_OK;
    return lode_metadb_finding(reader, DRAFTS_RULE_SECTION_BOUNDS, at,
                               "the section %s: %" PRIu64 " bytes at 0x%" PRIx64 " in a file of %" PRIu64,
                               name, section.size, section.ptr, file->source.bytes.size);
}

static lode_status check_overlap(const struct metadb_reader *reader)
{
    for (unsigned i = 0; i < METADB_SECTIONS; i++)
        for (unsigned k = i + 1; k < METADB_SECTIONS; k++) {
            const struct metadb_part *a = &reader->parts[i], *b = &reader->parts[k];
            if (a->bytes.size && b->bytes.size && a->offset < b->offset + b->bytes.size &&
                b->offset < a->offset + a->bytes.size)
                LODE_TRY(lode_metadb_finding(reader, DRAFTS_RULE_SECTION_OVERLAP, a->offset,
                                             "the section %s overlaps the section %s", section_names[i],
                                             section_names[k]));
        }
    return LODE_OK;
}

/* An unfinished writer put the table of identifier names into a section of its own, the second. */
static lode_status find_parts(struct metadb_reader *reader, unsigned count)
{
    unsigned more = count > METADB_SECTIONS;
    if (more)
        LODE_TRY(find_part(reader, 1, "Hierarchical Identifier Table", &reader->id_names));
    for (unsigned i = 0; i < METADB_SECTIONS; i++)
        LODE_TRY(find_part(reader, i == 0 ? 0 : i + more, section_names[i], &reader->parts[i]));
    return check_overlap(reader);
}

static lode_status check_footer(struct metadb_reader *reader, const struct drafts_MetaHeader *header)
{
    struct drafts_file *file = &reader->db->files[HPCT_META];
    char backwards[DRAFTS_FOOTER_SIZE];
    for (size_t i = 0; i < DRAFTS_FOOTER_SIZE; i++)
        backwards[i] = METADB_FOOTER[DRAFTS_FOOTER_SIZE - 1 - i];
    file->end = file->source.bytes.size - DRAFTS_FOOTER_SIZE;
    const uint8_t *last = file->source.bytes.data + file->end;
    bool swapped = memcmp(last, backwards, sizeof backwards) == 0;
    if (!swapped && memcmp(last, METADB_FOOTER, DRAFTS_FOOTER_SIZE) != 0)
        return lode_metadb_finding(
            reader, DRAFTS_RULE_FILE_FOOTER, file->end,
            "the file does not end with '%s' in either byte order: it was truncated or never finished",
            METADB_FOOTER);
    return lode_metadb_finding(reader, DRAFTS_RULE_VARIANT, 0,
                               "identifier %s, version %u.%u, %u sections, footer in the byte order of %s",
                               METADB_MAGIC, header->major, header->minor, header->num_sec,
                               swapped ? "a little-endian machine" : "the file");
}

static lode_status read_header(struct metadb_reader *reader, bool *usable)
{
    struct lode_range bytes = reader->db->files[HPCT_META].source.bytes;
    struct lode_part_info *info = &reader->db->base.parts[HPCT_META];
    struct drafts_MetaHeader header;
    *usable = false;
    if (bytes.size < METADB_HEADER_SIZE + DRAFTS_MetaSection_SIZE + DRAFTS_FOOTER_SIZE)
        return lode_metadb_finding(reader, DRAFTS_RULE_FILE_SHORT, 0,
                                   "the file has %" PRIu64 " bytes, fewer than its header needs", bytes.size);
    if (memcmp(bytes.data, METADB_MAGIC, DRAFTS_MAGIC_SIZE) != 0)
        return lode_metadb_finding(reader, DRAFTS_RULE_FILE_MAGIC, 0, "the file does not begin with %s",
                                   METADB_MAGIC);
    lode_drafts_read_MetaHeader(&header, bytes.data);
    info->major = header.major;
    info->minor = header.minor;
    if (header.major != HPCT_MAJOR || header.minor != 0 || header.num_sec < METADB_SECTIONS ||
        header.num_sec > METADB_SECTIONS + 1)
        return lode_metadb_finding(reader, DRAFTS_RULE_FILE_VERSION, DRAFTS_MetaHeader_major,
                                   "the file has version %u.%u and %u sections; the draft has 4.0 and 7 or 8",
                                   header.major, header.minor, header.num_sec);
    *usable = true;
    LODE_TRY(check_footer(reader, &header));
    return find_parts(reader, header.num_sec);
}

/* ---- general properties ---- */

static lode_status load_id_names(struct metadb_reader *reader, struct metadb_cursor *cursor)
{
    struct lode_database *base = &reader->db->base;
    uint16_t count = lode_metadb_u16(cursor);
    /* Each name takes at least a byte. */
    uint64_t most = count < cursor->rest.size ? count : cursor->rest.size;
    base->id_kinds = lode_arena_alloc(&base->arena, (size_t)most, sizeof *base->id_kinds);
    LODE_TRY_ALLOC(base->id_kinds, reader->report->error);
    for (uint64_t i = 0; i < most; i++)
        base->id_kinds[i] = lode_metadb_text(cursor);
    base->id_kind_count = (uint32_t)most;
    cursor->is_short = cursor->is_short || most < count;
    return lode_metadb_ended(reader, cursor, "the names of identifiers");
}

static lode_status load_general(struct metadb_reader *reader)
{
    struct lode_database *base = &reader->db->base;
    struct metadb_cursor cursor = lode_metadb_cursor(&reader->parts[METADB_GENERAL]);
    base->title = lode_metadb_text(&cursor);
    if (reader->id_names.bytes.size == 0)
        return load_id_names(reader, &cursor);
    base->description = lode_metadb_text(&cursor);
    LODE_TRY(lode_metadb_ended(reader, &cursor, "the title and the description"));
    cursor = lode_metadb_cursor(&reader->id_names);
    return load_id_names(reader, &cursor);
}

lode_status lode_drafts_load_metadb(struct drafts_database *db, struct lode_report *report)
{
    struct metadb_reader reader = {.db = db,
                                   .report = report,
                                   .string_budget =
                                       lode_string_budget(db->files[HPCT_META].source.bytes.size)};
    bool usable;
    LODE_TRY(read_header(&reader, &usable));
    if (!usable)
        return LODE_OK;
    LODE_TRY(load_general(&reader));
    LODE_TRY(lode_metadb_load_metrics(&reader));
    LODE_TRY(lode_metadb_load_symbols(&reader));
    return lode_metadb_load_contexts(&reader);
}
