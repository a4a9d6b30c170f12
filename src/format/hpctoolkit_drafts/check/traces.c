/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.db: its structure, and whether the contexts of samples exist. */
#include "base/error.h"
#include "format/hpctoolkit_drafts/check/check.h"
#include "model/database/trace.h"
#include <inttypes.h>
#include <stdlib.h>

static lode_status tally_report(struct drafts_check *check, const struct hpct_tally *tally, unsigned rule,
                                uint32_t line, uint64_t start, const char *what)
{
    return lode_hpct_tally_report(tally, rule, check->db->base.parts[HPCT_TRACE].file, line, start, what,
                                  &check->report);
}

static lode_status check_samples(struct drafts_check *check, uint32_t index, const lode_trace_line *line,
                                 uint64_t start)
{
    const lode_database *db = &check->db->base;
    bool bounded = db->trace_min != 0 || db->trace_max != 0;
    struct hpct_tally order = {0}, range = {0};
    for (uint64_t i = 0; i < line->sample_count; i++) {
        uint64_t time = trace_time(line, i);
        hpct_tally_add(&range, bounded && (time < db->trace_min || time > db->trace_max), i);
        hpct_tally_add(&order, i > 0 && time < trace_time(line, i - 1), i);
    }
    check->report.result.samples += line->sample_count;
    LODE_TRY(tally_report(check, &order, DRAFTS_RULE_TRACE_ORDER, index, start,
                          "are earlier than the one before"));
    return tally_report(check, &range, DRAFTS_RULE_TRACE_RANGE, index, start,
                        "are outside the stated time bounds");
}

static lode_status check_line(struct drafts_check *check, uint32_t index)
{
    const struct drafts_database *db = check->db;
    const char *file = db->base.parts[HPCT_TRACE].file;
    uint64_t offset = drafts_record_offset(&db->traces, index);
    struct drafts_Trace record;
    lode_trace_line line;
    lode_drafts_trace(db, index, &record);
    if (db->profiles.count && (record.prof_info_idx >= db->profiles.count || record.prof_info_idx == 0))
        LODE_TRY(lode_report_add(&check->report, DRAFTS_RULE_TRACE_PROFILE, file, offset,
                                 "trace line %" PRIu32 " is of profile %" PRIu32
                                 ", which does not exist or is the summary",
                                 index, record.prof_info_idx));
    if (!lode_drafts_trace_line(db, &record, &line))
        return lode_report_add(&check->report, DRAFTS_RULE_TRACE_BOUNDS, file, offset + DRAFTS_Trace_line_ptr,
                               "trace line %" PRIu32 ": 0x%" PRIx64 " to 0x%" PRIx64
                               " is not an integer number of samples inside the file",
                               index, record.line_ptr, record.line_end);
    if (record.trace_type != 0)
        LODE_TRY(
            lode_report_add(&check->report, DRAFTS_RULE_TRACE_TYPE, file, offset + DRAFTS_Trace_trace_type,
                            "trace line %" PRIu32 " holds values of metric %u", index, record.trace_type));
    return check_samples(check, index, &line, record.line_ptr);
}

static lode_status check_line_extents(struct drafts_check *check)
{
    const struct drafts_database *db = check->db;
    struct drafts_extent *extents = calloc((size_t)db->traces.count + 1, sizeof *extents);
    struct drafts_extent taken[2] = {
        {db->traces.offset, db->traces.offset + db->traces.count * db->traces.stride, 0}, {0, 0, 0}};
    size_t count = 0;
    LODE_TRY_ALLOC(extents, check->report.error);
    for (uint32_t i = 0; i < db->traces.count; i++) {
        struct drafts_Trace record;
        lode_trace_line line;
        lode_drafts_trace(db, i, &record);
        if (lode_drafts_trace_line(db, &record, &line) && record.line_ptr < record.line_end)
            extents[count++] = (struct drafts_extent){record.line_ptr, record.line_end, i};
    }
    lode_status status = lode_drafts_check_extents(check, HPCT_TRACE, DRAFTS_RULE_TRACE_OVERLAP, "trace line",
                                                   extents, count, taken);
    free(extents);
    return status;
}

lode_status lode_drafts_check_traces(struct drafts_check *check)
{
    uint64_t errors = check->report.result.errors;
    if (!check->db->traces.found)
        return LODE_OK;
    LODE_TRY(check_line_extents(check));
    if (check->report.result.errors != errors)
        return LODE_OK;
    for (uint32_t i = 0; i < check->db->traces.count; i++)
        LODE_TRY(check_line(check, i));
    check->traces_sound = check->report.result.errors == errors;
    return LODE_OK;
}

lode_status lode_drafts_check_trace_contexts(struct drafts_check *check)
{
    const struct drafts_database *db = check->db;
    for (uint32_t index = 0; index < db->traces.count; index++) {
        struct drafts_Trace record;
        lode_trace_line line;
        lode_drafts_trace(db, index, &record);
        if (!lode_drafts_trace_line(db, &record, &line))
            continue;
        struct hpct_tally unknown = lode_hpct_unknown_contexts(&db->base.tree, &line);
        LODE_TRY(tally_report(check, &unknown, DRAFTS_RULE_TRACE_CONTEXT, index, record.line_ptr,
                              "are at contexts that the metadata does not list"));
    }
    return LODE_OK;
}
