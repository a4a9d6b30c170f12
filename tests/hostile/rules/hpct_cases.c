/* SPDX-License-Identifier: BSD-3-Clause */
#include "hpct_cases.h"

#include "base/io/bytes.h"
#include "unit.h"
#include <lode/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *at(struct victim *victim, enum hpct_file_id file, uint64_t offset)
{
    return minidb_at(&victim->db, file, offset);
}

static unsigned char *meta(struct victim *victim, uint64_t offset)
{
    return at(victim, HPCT_META, offset);
}

static unsigned char *section_entry(struct victim *victim, enum hpct_file_id file, unsigned index)
{
    return at(victim, file, WIRE_FileHeader_SIZE + index * WIRE_Section_SIZE);
}

static unsigned char *section(struct victim *victim, enum hpct_file_id file, unsigned index)
{
    return at(victim, file, victim->db.sections[file][index]);
}

static unsigned char *profile_record(struct victim *victim, uint32_t index)
{
    return at(victim, HPCT_PROFILE, victim->db.profiles + index * WIRE_Profile_SIZE);
}

static unsigned char *profile_index(struct victim *victim, uint32_t profile, uint32_t index)
{
    uint64_t indices = get_u64le(profile_record(victim, profile) + WIRE_Profile_pCtxIndices);
    return at(victim, HPCT_PROFILE, indices + index * WIRE_ContextIndex_SIZE);
}

static unsigned char *profile_value(struct victim *victim, uint32_t profile, uint32_t context,
                                    uint32_t metric)
{
    uint64_t offset = minidb_profile_value(&victim->db, profile, context, metric);
    assert_int_not_equal(offset, 0);
    return at(victim, HPCT_PROFILE, offset);
}

static unsigned char *context_value(struct victim *victim, uint32_t context, uint32_t metric,
                                    uint32_t profile)
{
    uint64_t offset = minidb_context_value(&victim->db, context, metric, profile);
    assert_int_not_equal(offset, 0);
    return at(victim, HPCT_CCT, offset);
}

static unsigned char *context_record(struct victim *victim, uint32_t id)
{
    assert_int_not_equal(victim->db.contexts[id], 0);
    return meta(victim, victim->db.contexts[id]);
}

static unsigned char *trace_record(struct victim *victim, uint32_t line)
{
    return at(victim, HPCT_TRACE, victim->db.traces + line * WIRE_Trace_SIZE);
}

static unsigned char *sample(struct victim *victim, uint32_t line, uint64_t index)
{
    return at(victim, HPCT_TRACE, minidb_sample(&victim->db, line, index));
}

/* Changes a value of metric 0 in profile.db and cct.db, and its sum in the summary. */
static void change_everywhere(struct victim *victim, uint32_t profile, uint32_t context, uint32_t metric,
                              double value)
{
    unsigned char *stored = profile_value(victim, profile, context, metric) + WIRE_ProfileValue_value;
    unsigned char *sum = profile_value(victim, 0, context, metric) + WIRE_ProfileValue_value;
    put_f64le(sum, get_f64le(sum) + (value - get_f64le(stored)));
    put_f64le(stored, value);
    put_f64le(context_value(victim, context, metric, profile) + WIRE_ContextValue_value, value);
}

static double stored_value(struct victim *victim, uint32_t profile, uint32_t context, uint32_t metric)
{
    return get_f64le(profile_value(victim, profile, context, metric) + WIRE_ProfileValue_value);
}

static void drop_file(struct victim *victim, enum hpct_file_id file)
{
    memmove(&victim->files[file], &victim->files[file + 1], (HPCT_FILES - 1 - file) * sizeof *victim->files);
    victim->count--;
}

/* ---- what breaks each rule ---- */

static const uint64_t FAR_AWAY = UINT64_C(1) << 40;

#define BREAK(name) static void break_##name(struct victim *v)

BREAK(part_missing)
{
    drop_file(v, HPCT_PROFILE);
}
BREAK(part_absent)
{
    drop_file(v, HPCT_TRACE);
}
BREAK(file_short)
{
    v->files[HPCT_TRACE].size = 20;
}
BREAK(file_magic)
{
    at(v, HPCT_TRACE, 0)[0] ^= 1;
}
BREAK(file_kind)
{
    memcpy(at(v, HPCT_TRACE, HPCT_MAGIC_SIZE), "prof", HPCT_FORMAT_SIZE);
}
BREAK(file_major)
{
    at(v, HPCT_TRACE, WIRE_FileHeader_majorVersion)[0] = 5;
}
BREAK(file_minor)
{
    at(v, HPCT_TRACE, WIRE_FileHeader_minorVersion)[0] = 1;
}
BREAK(file_footer)
{
    at(v, HPCT_TRACE, v->db.size[HPCT_TRACE] - 1)[0] ^= 1;
}
BREAK(header_garbage)
{
    at(v, HPCT_CCT, WIRE_FileHeader_SIZE + WIRE_Section_SIZE)[0] = 1;
}
BREAK(section_bounds)
{
    put_u64le(section_entry(v, HPCT_TRACE, 0) + WIRE_Section_p, FAR_AWAY);
}
BREAK(section_short)
{
    put_u64le(section_entry(v, HPCT_TRACE, 0) + WIRE_Section_sz, 8);
}
BREAK(section_overlap)
{
    unsigned char *size = section_entry(v, HPCT_PROFILE, 0) + WIRE_Section_sz;
    put_u64le(size, get_u64le(size) + 16);
}
BREAK(section_align)
{
    unsigned char *entry = section_entry(v, HPCT_PROFILE, 1);
    put_u64le(entry + WIRE_Section_p, get_u64le(entry + WIRE_Section_p) - 4);
    put_u64le(entry + WIRE_Section_sz, get_u64le(entry + WIRE_Section_sz) + 4);
}
BREAK(layout_old)
{
    memcpy(at(v, HPCT_TRACE, 0), "HPCPROF-tracedb_", 16);
}
BREAK(record_size)
{
    section(v, HPCT_TRACE, 0)[WIRE_TraceInfos_szTrace] = 16;
}
BREAK(record_bounds)
{
    put_u32le(section(v, HPCT_TRACE, 0) + WIRE_TraceInfos_nTraces, 1000000);
}
BREAK(string_bounds)
{
    put_u64le(meta(v, v->db.functions + WIRE_Function_pName), FAR_AWAY);
}
BREAK(string_shared)
{
    /* All kinds of identifiers have the same long name. */
    enum {
        KINDS = UINT8_MAX,
        NAMES = 16,
        LENGTH = 4096,
        NAME = NAMES + KINDS * 8
    };
    static unsigned char names[NAME + LENGTH + 1];
    memset(names + NAME, 'x', LENGTH);
    uint64_t offset = minidb_append(&v->db, HPCT_META, names, sizeof names);
    const struct wire_IdNames header = {.ppNames = offset + NAMES, .nKinds = KINDS};
    const struct wire_Section entry = {.sz = sizeof names, .p = offset};
    lode_wire_write_IdNames(&header, meta(v, offset));
    lode_wire_write_Section(&entry, section_entry(v, HPCT_META, META_ID_NAMES));
    for (unsigned i = 0; i < KINDS; i++)
        put_u64le(meta(v, offset + NAMES + 8 * i), offset + NAME);
    minidb_files(&v->db, v->files);
}
BREAK(string_utf8)
{
    meta(v, v->db.strings_end)[1] = 0xff;
}
BREAK(record_pointer)
{
    unsigned char *pointer = meta(v, v->db.functions + WIRE_Function_pModule);
    put_u64le(pointer, get_u64le(pointer) + 4);
}
BREAK(enum_unknown)
{
    context_record(v, 6)[WIRE_Context_lexicalType] = 77;
}
BREAK(flags_unknown)
{
    meta(v, v->db.files + WIRE_File_flags)[1] = 0x80;
}
BREAK(reserved_garbage)
{
    put_u32le(meta(v, v->db.functions + WIRE_Function_flags), 0x7f81);
}
BREAK(scope_bit)
{
    meta(v, v->db.scopes + FUNCTION * WIRE_Scope_SIZE)[WIRE_Scope_propagationIndex] = 16;
}
BREAK(metric_id)
{
    put_u16le(meta(v, v->db.scope_insts[1] + WIRE_ScopeInst_propMetricId), 0);
}
BREAK(function_empty)
{
    unsigned char *function = meta(v, v->db.functions + 2 * WIRE_Function_SIZE);
    put_u64le(function + WIRE_Function_pName, 0);
    put_u64le(function + WIRE_Function_pModule, 0);
    put_u64le(function + WIRE_Function_pFile, 0);
}
BREAK(context_bounds)
{
    put_u64le(context_record(v, 5) + WIRE_Context_pChildren, FAR_AWAY);
}
BREAK(context_size)
{
    unsigned char *size = context_record(v, 5) + WIRE_Context_szChildren;
    put_u64le(size, get_u64le(size) - 8);
}
BREAK(context_flex)
{
    context_record(v, 6)[WIRE_Context_flags] = 7;
}
BREAK(context_shared)
{
    memcpy(context_record(v, 6), context_record(v, 5), WIRE_Context_pChildren + 8);
}
BREAK(context_id)
{
    put_u32le(context_record(v, 6) + WIRE_Context_ctxId, 7);
}
BREAK(children_stale)
{
    put_u64le(context_record(v, 6) + WIRE_Context_pChildren, 8);
}
BREAK(profile_summary)
{
    put_u32le(profile_record(v, 0) + WIRE_Profile_flags, 0);
}
BREAK(no_profiles)
{
    put_u32le(section(v, HPCT_PROFILE, 0) + WIRE_ProfileInfos_nProfiles, 0);
}
BREAK(no_contexts)
{
    put_u32le(section(v, HPCT_CCT, 0) + WIRE_ContextInfos_nCtxs, 0);
}
BREAK(no_traces)
{
    put_u32le(section(v, HPCT_TRACE, 0) + WIRE_TraceInfos_nTraces, 0);
}
BREAK(tuple_bounds)
{
    put_u64le(profile_record(v, 1) + WIRE_Profile_pIdTuple, FAR_AWAY);
}
BREAK(tuple_missing)
{
    put_u64le(profile_record(v, 1) + WIRE_Profile_pIdTuple, 0);
}
BREAK(tuple_summary)
{
    put_u64le(profile_record(v, 0) + WIRE_Profile_pIdTuple, v->db.id_tuples);
}
BREAK(tuple_kind)
{
    at(v, HPCT_PROFILE, v->db.id_tuples + WIRE_IdTuple_SIZE)[WIRE_Id_kind] = 9;
}
BREAK(tuple_logical)
{
    put_u64le(at(v, HPCT_PROFILE, v->db.id_tuples + WIRE_IdTuple_SIZE + WIRE_Id_SIZE + WIRE_Id_physicalId),
              77);
}
BREAK(block_bounds)
{
    put_u64le(profile_record(v, 1) + WIRE_Profile_pValues, FAR_AWAY);
}
BREAK(block_overlap)
{
    memcpy(profile_record(v, 1), profile_record(v, 2), WIRE_Profile_pIdTuple);
}
BREAK(block_in_header)
{
    unsigned char *record = at(v, HPCT_CCT, v->db.context_infos + 3 * WIRE_ContextInfo_SIZE);
    put_u64le(record + WIRE_ContextInfo_pValues, 0);
}
BREAK(block_layout)
{
    uint32_t count = get_u32le(profile_record(v, 1) + WIRE_Profile_nCtxs);
    size_t size = (size_t)count * WIRE_ContextIndex_SIZE;
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, profile_index(v, 1, 0), size);
    uint64_t offset = minidb_append(&v->db, HPCT_PROFILE, copy, size);
    put_u64le(profile_record(v, 1) + WIRE_Profile_pCtxIndices, offset);
    free(copy);
    minidb_files(&v->db, v->files);
}
BREAK(block_start)
{
    put_u64le(profile_index(v, 1, 1) + WIRE_ContextIndex_startIndex, 0);
}
BREAK(block_order)
{
    put_u32le(profile_index(v, 1, 1) + WIRE_ContextIndex_ctxId, 0);
}
BREAK(value_order)
{
    /* Profile 1 has both metrics at the global context. */
    put_u16le(profile_value(v, 1, 0, EXECUTION + MINIDB_SCOPES), EXECUTION);
}
BREAK(value_metric)
{
    put_u16le(profile_value(v, 1, 0, EXECUTION + MINIDB_SCOPES), 4000);
}
BREAK(value_profile)
{
    put_u32le(context_value(v, 0, EXECUTION, 3), 99);
}
BREAK(value_zero)
{
    change_everywhere(v, 2, 6, LEX_AWARE, 0.0);
}
BREAK(value_finite)
{
    change_everywhere(v, 2, 6, LEX_AWARE, (double)INFINITY);
}
BREAK(context_unlisted)
{
    (void)v; /* the options make it so */
}
BREAK(trace_bounds)
{
    unsigned char *end = trace_record(v, 0) + WIRE_Trace_pEnd;
    put_u64le(end, get_u64le(end) - 5);
}
BREAK(trace_overlap)
{
    memcpy(trace_record(v, 1) + WIRE_Trace_pStart, trace_record(v, 0) + WIRE_Trace_pStart, 16);
}
BREAK(trace_profile)
{
    put_u32le(trace_record(v, 0) + WIRE_Trace_profIndex, 99);
}
BREAK(trace_position)
{
    put_u32le(trace_record(v, 0) + WIRE_Trace_profIndex, 2);
    put_u32le(trace_record(v, 1) + WIRE_Trace_profIndex, 1);
}
BREAK(trace_order)
{
    put_u64le(sample(v, 0, 2), get_u64le(sample(v, 0, 1)) - 1);
}
BREAK(trace_range)
{
    unsigned char *max = section(v, HPCT_TRACE, 0) + WIRE_TraceInfos_maxTimestamp;
    put_u64le(max, get_u64le(sample(v, 0, 3)));
}
BREAK(trace_idle)
{
    /* Sample 2 of line 0 says that the thread did not run. */
    assert_int_equal(get_u32le(sample(v, 0, 2) + WIRE_Sample_ctxId), 0);
    put_u32le(sample(v, 0, 3) + WIRE_Sample_ctxId, 0);
}
BREAK(trace_context)
{
    put_u32le(sample(v, 0, 1) + WIRE_Sample_ctxId, 50);
}
BREAK(cct_differs)
{
    /* The last bit of a number is enough. */
    context_value(v, 6, EXECUTION, 2)[WIRE_ContextValue_value] ^= 1;
}
BREAK(cct_extra)
{
    (void)v;
}
BREAK(cct_lacks)
{
    (void)v;
}
BREAK(scope_execution)
{
    /* The point values still sum up; exclusive costs are computed from inclusive values. */
    change_everywhere(v, 2, 10, POINT, stored_value(v, 2, 10, POINT) - 1);
    change_everywhere(v, 2, 6, POINT, stored_value(v, 2, 6, POINT) + 1);
}
BREAK(scope_function)
{
    change_everywhere(v, 2, 9, FUNCTION, stored_value(v, 2, 9, FUNCTION) + 1);
}
BREAK(scope_point)
{
    change_everywhere(v, 2, 8, POINT, stored_value(v, 2, 8, POINT) + 1);
}
BREAK(profile_flagless)
{
    /* Contiguous records without flags, as in mid-2022. */
    unsigned char *records = profile_record(v, 0);
    for (size_t i = 1; i <= v->db.options.profiles; i++)
        memmove(records + i * WIRE_Profile_flags, records + i * WIRE_Profile_SIZE, WIRE_Profile_flags);
    section(v, HPCT_PROFILE, 0)[WIRE_ProfileInfos_szProfile] = WIRE_Profile_flags;
}
BREAK(scope_lost)
{
    change_everywhere(v, 2, 10, POINT, stored_value(v, 2, 10, POINT) - 1);
    break_profile_flagless(v);
}
BREAK(summary_differs)
{
    put_f64le(profile_value(v, 0, 6, EXECUTION) + WIRE_ProfileValue_value, 12345.0);
}
BREAK(summary_lacks)
{
    (void)v;
}
BREAK(summary_extra)
{
    (void)v;
}
BREAK(summary_loops)
{
    put_f64le(profile_value(v, 0, 5, LEX_AWARE) + WIRE_ProfileValue_value, 12345.0);
}
/* Ids of the statistics of metric 1: sum, count, squares, min, max, of each scope. */
static uint32_t statistic(unsigned kind, unsigned scope)
{
    return MINIDB_SCOPES + kind * MINIDB_SCOPES + scope;
}
BREAK(summary_squares)
{
    double sum = stored_value(v, 0, 6, statistic(0, FUNCTION));
    put_f64le(profile_value(v, 0, 6, statistic(2, FUNCTION)) + WIRE_ProfileValue_value, sum);
}
BREAK(summary_minimum)
{
    (void)v;
}
BREAK(summary_formula)
{
    uint64_t record = v->db.summaries[1] + (uint64_t)2 * MINIDB_SCOPES * WIRE_Summary_SIZE;
    uint64_t formula = get_u64le(meta(v, record + WIRE_Summary_pFormula));
    assert_string_equal((char *)meta(v, formula), "($$^2)");
    meta(v, formula)[4] = '3';
}

#define PLAIN(rule, name)                                                                                    \
    {                                                                                                        \
        rule, break_##name, MINIDB_OPTIONS_INIT                                                              \
    }
#define WITH(rule, name, ...)                                                                                \
    {                                                                                                        \
        rule, break_##name,                                                                                  \
        {                                                                                                    \
            .profiles = 3, .samples = 6, .statistics = true, __VA_ARGS__                                     \
        }                                                                                                    \
    }

const struct hpct_case hpct_cases[] = {
    PLAIN("part-missing", part_missing),
    PLAIN("part-absent", part_absent),
    PLAIN("file-short", file_short),
    PLAIN("file-magic", file_magic),
    PLAIN("file-kind", file_kind),
    PLAIN("file-major", file_major),
    PLAIN("file-minor", file_minor),
    PLAIN("file-footer", file_footer),
    PLAIN("header-garbage", header_garbage),
    PLAIN("section-bounds", section_bounds),
    PLAIN("section-short", section_short),
    PLAIN("section-overlap", section_overlap),
    PLAIN("section-align", section_align),
    PLAIN("layout-old", layout_old),
    PLAIN("profile-flagless", profile_flagless),
    PLAIN("record-size", record_size),
    PLAIN("record-bounds", record_bounds),
    PLAIN("string-bounds", string_bounds),
    PLAIN("string-shared", string_shared),
    PLAIN("string-utf8", string_utf8),
    PLAIN("record-pointer", record_pointer),
    PLAIN("enum-unknown", enum_unknown),
    PLAIN("flags-unknown", flags_unknown),
    PLAIN("reserved-garbage", reserved_garbage),
    PLAIN("scope-bit", scope_bit),
    PLAIN("metric-id", metric_id),
    PLAIN("function-empty", function_empty),
    PLAIN("context-bounds", context_bounds),
    PLAIN("context-size", context_size),
    PLAIN("context-flex", context_flex),
    PLAIN("context-shared", context_shared),
    PLAIN("context-id", context_id),
    PLAIN("children-stale", children_stale),
    PLAIN("profile-summary", profile_summary),
    PLAIN("profile-summary", no_profiles),
    PLAIN("cct-lacks", no_contexts),
    PLAIN("trace-position", no_traces),
    PLAIN("block-overlap", block_in_header),
    PLAIN("tuple-bounds", tuple_bounds),
    PLAIN("tuple-missing", tuple_missing),
    PLAIN("tuple-summary", tuple_summary),
    PLAIN("tuple-kind", tuple_kind),
    PLAIN("tuple-logical", tuple_logical),
    PLAIN("block-bounds", block_bounds),
    PLAIN("block-overlap", block_overlap),
    PLAIN("block-layout", block_layout),
    PLAIN("block-start", block_start),
    PLAIN("block-order", block_order),
    PLAIN("value-order", value_order),
    PLAIN("value-metric", value_metric),
    PLAIN("value-profile", value_profile),
    PLAIN("value-zero", value_zero),
    PLAIN("value-finite", value_finite),
    WITH("context-unlisted", context_unlisted, .unlisted = true),
    PLAIN("trace-bounds", trace_bounds),
    PLAIN("trace-overlap", trace_overlap),
    PLAIN("trace-profile", trace_profile),
    PLAIN("trace-position", trace_position),
    PLAIN("trace-order", trace_order),
    PLAIN("trace-range", trace_range),
    PLAIN("trace-idle", trace_idle),
    PLAIN("trace-context", trace_context),
    PLAIN("cct-differs", cct_differs),
    WITH("cct-extra", cct_extra, .cct = {true, 2, 3, FUNCTION, 4.0}),
    WITH("cct-lacks", cct_lacks, .cct = {true, 2, 6, FUNCTION, 0.0}),
    PLAIN("scope-execution", scope_execution),
    PLAIN("scope-function", scope_function),
    WITH("scope-point", scope_point, .unlisted = true),
    PLAIN("scope-lost", scope_lost),
    PLAIN("summary-differs", summary_differs),
    WITH("summary-lacks", summary_lacks, .summary = {true, 0, 6, FUNCTION, 0.0}),
    WITH("summary-extra", summary_extra, .summary = {true, 0, 1, FUNCTION, 3.0}),
    PLAIN("summary-loops", summary_loops),
    PLAIN("summary-squares", summary_squares),
    WITH("summary-minimum", summary_minimum, .summary = {true, 0, 3, 4 + 3 * 4 + FUNCTION, 0.0}),
    PLAIN("summary-formula", summary_formula),
};
const size_t hpct_case_count = sizeof hpct_cases / sizeof *hpct_cases;
