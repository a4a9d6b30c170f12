/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers of sections: positions of the tables, and their record sizes. */
#include "base/error.h"
#include "format/hpctoolkit/read.h"
#include <inttypes.h>

enum {
    /* Profiles had no flags in the layout of mid-2022: profile 0 is the summary there too. */
    PROFILE_LEAST = WIRE_Profile_flags,
    /* Record sizes that identify the layout of early 2022. */
    OLD_METRIC_SIZE = 24,
    OLD_SUMMARY_SIZE = 16
};

uint32_t lode_hpct_index_of(uint64_t offset, uint64_t count, uint64_t stride, uint64_t pointer)
{
    if (pointer < offset || count == 0)
        return LODE_NO_INDEX;
    uint64_t distance = pointer - offset;
    if (distance % stride != 0 || distance / stride >= count)
        return LODE_NO_INDEX;
    return (uint32_t)(distance / stride);
}

bool lode_hpct_mark(uint64_t *marks, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t bit = UINT64_C(1) << (i % 64);
        if (marks[i / 64] & bit)
            return false;
        marks[i / 64] |= bit;
    }
    return true;
}

lode_status lode_hpct_table(struct hpct_table *table, enum hpct_file_id file,
                            const struct hpct_section *section, const char *what, uint64_t pointer,
                            uint64_t count, uint64_t stride, uint64_t least, struct lode_report *report)
{
    const char *name = lode_hpct_specs[file].name;
    *table = (struct hpct_table){.found = count == 0, .offset = pointer, .stride = stride};
    if (count == 0)
        return LODE_OK;
    if (stride < least)
        return lode_report_add(report, RULE_RECORD_SIZE, name, section->offset,
                               "records of %s have %" PRIu64 " bytes; version 4.0 needs %" PRIu64, what,
                               stride, least);
    struct lode_range bytes;
    if (pointer < section->offset ||
        !lode_range_array(section->bytes, pointer - section->offset, count, stride, &bytes))
        return lode_report_add(report, RULE_RECORD_BOUNDS, name, section->offset,
                               "%" PRIu64 " %s of %" PRIu64 " bytes at 0x%" PRIx64
                               " are not inside their section (%" PRIu64 " bytes at 0x%" PRIx64 ")",
                               count, what, stride, pointer, section->bytes.size, section->offset);
    *table = (struct hpct_table){true, bytes.data, pointer, count, stride};
    return LODE_OK;
}

static lode_status find_id_names(struct hpct_database *db, struct lode_report *report)
{
    const struct hpct_section *section = &db->files[HPCT_META].sections[META_ID_NAMES];
    if (section->bytes.size == 0)
        return LODE_OK;
    struct wire_IdNames header;
    lode_wire_read_IdNames(&header, section->bytes.data, section->bytes.size);
    return lode_hpct_table(&db->id_names, HPCT_META, section, "identifier names", header.ppNames,
                           header.nKinds, sizeof(uint64_t), sizeof(uint64_t), report);
}

static lode_status find_metrics(struct hpct_database *db, struct lode_report *report)
{
    const struct hpct_section *section = &db->files[HPCT_META].sections[META_METRICS];
    if (section->bytes.size == 0)
        return LODE_OK;
    struct wire_Metrics header;
    lode_wire_read_Metrics(&header, section->bytes.data, section->bytes.size);
    if (header.szMetric == OLD_METRIC_SIZE && header.szSummary == OLD_SUMMARY_SIZE) {
        db->files[HPCT_META].usable = false;
        lode_status status = lode_report_add(
            report, RULE_LAYOUT_OLD, lode_hpct_specs[HPCT_META].name, section->offset,
            "the layout is that of early 2022, which has version 4.0 too (metrics of %u bytes)",
            header.szMetric);
        return status == LODE_ERR_CORRUPT ? LODE_ERR_UNSUPPORTED : status;
    }
    db->scope_inst_stride = header.szScopeInst;
    db->summary_stride = header.szSummary;
    LODE_TRY(lode_hpct_table(&db->scopes, HPCT_META, section, "scopes", header.pScopes, header.nScopes,
                             header.szScope, WIRE_Scope_SIZE, report));
    return lode_hpct_table(&db->metrics, HPCT_META, section, "metrics", header.pMetrics, header.nMetrics,
                           header.szMetric, WIRE_Metric_SIZE, report);
}

/* A table of meta.db whose section begins with its own kind of header; empty without a section. */
#define FIND_TABLE(db, id, kind, table, what, pointer, count, stride, least, report)                         \
    do {                                                                                                     \
        const struct hpct_section *found = &(db)->files[HPCT_META].sections[id];                             \
        struct wire_##kind header;                                                                           \
        if (found->bytes.size == 0)                                                                          \
            break;                                                                                           \
        lode_wire_read_##kind(&header, found->bytes.data, found->bytes.size);                                \
        LODE_TRY(lode_hpct_table(&(db)->table, HPCT_META, found, what, header.pointer, header.count,         \
                                 header.stride, least, report));                                             \
    } while (0)

static lode_status find_symbols(struct hpct_database *db, struct lode_report *report)
{
    FIND_TABLE(db, META_MODULES, Modules, modules, "load modules", pModules, nModules, szModule,
               WIRE_Module_SIZE, report);
    FIND_TABLE(db, META_FILES, Files, source_files, "source files", pFiles, nFiles, szFile, WIRE_File_SIZE,
               report);
    FIND_TABLE(db, META_FUNCTIONS, Functions, functions, "functions", pFunctions, nFunctions, szFunction,
               WIRE_Function_SIZE, report);
    return LODE_OK;
}

static lode_status find_entries(struct hpct_database *db, struct lode_report *report)
{
    FIND_TABLE(db, META_CONTEXT, Contexts, entries, "entry points", pEntryPoints, nEntryPoints, szEntryPoint,
               WIRE_EntryPoint_SIZE, report);
    return LODE_OK;
}

lode_status lode_hpct_find_meta_tables(struct hpct_database *db, struct lode_report *report)
{
    if (!db->files[HPCT_META].usable)
        return LODE_OK;
    LODE_TRY(db->layout->find_metrics(db, report));
    if (!db->files[HPCT_META].usable)
        return LODE_OK;
    LODE_TRY(find_id_names(db, report));
    LODE_TRY(find_symbols(db, report));
    return db->layout->find_entries(db, report);
}

const struct hpct_layout lode_hpct_layout = {
    .format = HPCT_FORMAT,
    .context_size = WIRE_Context_SIZE,
    .profile_flags = true,
    .find_metrics = find_metrics,
    .find_entries = find_entries,
    .load_metrics = lode_hpct_load_metrics,
};

static lode_status find_profiles(struct hpct_database *db, const struct hpct_section *section,
                                 struct lode_report *report)
{
    struct wire_ProfileInfos header;
    lode_wire_read_ProfileInfos(&header, section->bytes.data, section->bytes.size);
    LODE_TRY(lode_hpct_table(&db->profiles, HPCT_PROFILE, section, "profiles", header.pProfiles,
                             header.nProfiles, header.szProfile, PROFILE_LEAST, report));
    db->base.profile_count = (uint32_t)db->profiles.count;
    db->base.points_lost = db->profiles.count > 0 && header.szProfile == PROFILE_LEAST;
    if (db->base.points_lost && db->layout->profile_flags)
        return lode_report_add(
            report, RULE_PROFILE_FLAGLESS, lode_hpct_specs[HPCT_PROFILE].name,
            section->offset + WIRE_ProfileInfos_szProfile,
            "profiles have no flags: the layout is that of mid-2022, which has version 4.0 too");
    return LODE_OK;
}

static lode_status find_contexts(struct hpct_database *db, const struct hpct_section *section,
                                 struct lode_report *report)
{
    struct wire_ContextInfos header;
    lode_wire_read_ContextInfos(&header, section->bytes.data, section->bytes.size);
    LODE_TRY(lode_hpct_table(&db->contexts, HPCT_CCT, section, "contexts", header.pCtxs, header.nCtxs,
                             header.szCtx, WIRE_ContextInfo_SIZE, report));
    db->base.context_block_count = (uint32_t)db->contexts.count;
    return LODE_OK;
}

static lode_status find_traces(struct hpct_database *db, const struct hpct_section *section,
                               struct lode_report *report)
{
    struct wire_TraceInfos header;
    lode_wire_read_TraceInfos(&header, section->bytes.data, section->bytes.size);
    LODE_TRY(lode_hpct_table(&db->traces, HPCT_TRACE, section, "traces", header.pTraces, header.nTraces,
                             header.szTrace, WIRE_Trace_SIZE, report));
    db->base.trace_count = (uint32_t)db->traces.count;
    db->base.trace_min = header.minTimestamp;
    db->base.trace_max = header.maxTimestamp;
    return LODE_OK;
}

lode_status lode_hpct_find_value_tables(struct hpct_database *db, struct lode_report *report)
{
    const struct hpct_section *profiles = &db->files[HPCT_PROFILE].sections[0];
    const struct hpct_section *contexts = &db->files[HPCT_CCT].sections[0];
    const struct hpct_section *traces = &db->files[HPCT_TRACE].sections[0];
    if (profiles->bytes.size)
        LODE_TRY(find_profiles(db, profiles, report));
    if (contexts->bytes.size)
        LODE_TRY(find_contexts(db, contexts, report));
    if (traces->bytes.size)
        LODE_TRY(find_traces(db, traces, report));
    return LODE_OK;
}
