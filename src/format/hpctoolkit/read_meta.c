/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db: strings, general properties, identifier names. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/text/utf8.h"
#include "format/hpctoolkit/read.h"
#include <inttypes.h>
#include <string.h>

static lode_status check_utf8(const char *text, size_t length, uint64_t pointer, const char *what,
                              struct lode_report *report)
{
    size_t bad = lode_utf8_valid_prefix(text, length);
    if (bad == length)
        return LODE_OK;
    return lode_report_add(report, RULE_STRING_UTF8, lode_hpct_specs[HPCT_META].name, pointer + bad,
                           "%s is not valid UTF-8 from byte %zu on", what, bad);
}

lode_status lode_hpct_string(struct hpct_database *db, enum hpct_meta_section section_id, uint64_t pointer,
                             const char *what, const char **out, struct lode_report *report)
{
    const struct hpct_section *section = &db->files[HPCT_META].sections[section_id];
    *out = "";
    /* A missing section is already reported. */
    if (section->bytes.size == 0)
        return LODE_OK;
    if (pointer < section->offset || pointer - section->offset >= section->string_end)
        return lode_report_add(report, RULE_STRING_BOUNDS, lode_hpct_specs[HPCT_META].name, pointer,
                               "%s at 0x%" PRIx64 " does not begin and end inside section %s (%" PRIu64
                               " bytes at 0x%" PRIx64 ")",
                               what, pointer, lode_hpct_specs[HPCT_META].sections[section_id].name,
                               section->bytes.size, section->offset);
    const char *text = (const char *)section->bytes.data + (pointer - section->offset);
    size_t length;
    if (!lode_string_take(&db->string_budget, text, &length))
        return lode_report_add(report, RULE_STRING_SHARED, lode_hpct_specs[HPCT_META].name, pointer,
                               "with %s, strings together are several times as large as the file", what);
    *out = text;
    return report->seen ? check_utf8(text, length, pointer, what, report) : LODE_OK;
}

static lode_status load_general(struct hpct_database *db, struct lode_report *report)
{
    const struct hpct_section *section = &db->files[HPCT_META].sections[META_GENERAL];
    if (section->bytes.size == 0)
        return LODE_OK;
    struct wire_General general;
    lode_wire_read_General(&general, section->bytes.data, section->bytes.size);
    LODE_TRY(lode_hpct_string(db, META_GENERAL, general.pTitle, "the title", &db->base.title, report));
    return lode_hpct_string(db, META_GENERAL, general.pDescription, "the description", &db->base.description,
                            report);
}

static lode_status load_id_names(struct hpct_database *db, struct lode_report *report)
{
    size_t count = (size_t)db->id_names.count;
    db->base.id_kinds = lode_arena_alloc(&db->base.arena, count, sizeof *db->base.id_kinds);
    LODE_TRY_ALLOC(db->base.id_kinds, report->error);
    for (size_t i = 0; i < count; i++)
        LODE_TRY(lode_hpct_string(db, META_ID_NAMES, get_u64le(hpct_record(&db->id_names, i)),
                                  "the name of an identifier", &db->base.id_kinds[i], report));
    db->base.id_kind_count = (uint32_t)count;
    return LODE_OK;
}

lode_status lode_hpct_load_meta(struct hpct_database *db, struct lode_report *report)
{
    LODE_TRY(load_general(db, report));
    LODE_TRY(load_id_names(db, report));
    LODE_TRY(db->layout->load_metrics(db, report));
    LODE_TRY(lode_hpct_load_symbols(db, report));
    return lode_hpct_load_contexts(db, report);
}
