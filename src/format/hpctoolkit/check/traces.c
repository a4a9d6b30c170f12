/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.db: its structure, and whether the contexts of samples exist. */
#include "format/hpctoolkit/check/check.h"
#include "model/database/trace.h"
#include <inttypes.h>

static const char *trace_name(void)
{
    return lode_hpct_specs[HPCT_TRACE].name;
}

lode_status lode_hpct_tally_report(const struct hpct_tally *tally, unsigned rule, const char *file,
                                   uint32_t line, uint64_t start, const char *what,
                                   struct lode_report *report)
{
    if (tally->count == 0)
        return LODE_OK;
    return lode_report_add(report, rule, file, start + tally->first * TRACE_SAMPLE_SIZE,
                           "trace line %" PRIu32 ": %" PRIu64 " samples %s, first sample %" PRIu64, line,
                           tally->count, what, tally->first);
}

struct hpct_tally lode_hpct_unknown_contexts(const struct lode_context_tree *tree,
                                             const lode_trace_line *line)
{
    struct hpct_tally unknown = {0};
    for (uint64_t i = 0; i < line->sample_count; i++)
        hpct_tally_add(&unknown, lode_context_tree_find(tree, trace_context(line, i)) == LODE_NO_INDEX, i);
    return unknown;
}

static lode_status tally_report(const struct hpct_tally *tally, unsigned rule, uint32_t line, uint64_t start,
                                const char *what, struct lode_report *report)
{
    return lode_hpct_tally_report(tally, rule, trace_name(), line, start, what, report);
}

static lode_status check_samples(struct hpct_check *check, uint32_t index, const lode_trace_line *line,
                                 uint64_t start, struct lode_report *report)
{
    const lode_database *db = &check->db->base;
    struct hpct_tally order = {0}, range = {0}, idle = {0};
    for (uint64_t i = 0; i < line->sample_count; i++) {
        uint64_t time = trace_time(line, i);
        hpct_tally_add(&range, time < db->trace_min || time > db->trace_max, i);
        hpct_tally_add(&order, i > 0 && time < trace_time(line, i - 1), i);
        hpct_tally_add(&idle, i > 0 && trace_context(line, i) == 0 && trace_context(line, i - 1) == 0, i);
    }
    report->result.samples += line->sample_count;
    LODE_TRY(tally_report(&order, RULE_TRACE_ORDER, index, start, "are earlier than the one before", report));
    LODE_TRY(
        tally_report(&range, RULE_TRACE_RANGE, index, start, "are outside the stated time bounds", report));
    return tally_report(&idle, RULE_TRACE_IDLE, index, start, "repeat that the thread does not run", report);
}

static lode_status check_line(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                              struct lode_report *report)
{
    const struct hpct_database *db = check->db;
    uint32_t index = (uint32_t)item;
    uint64_t offset = db->traces.offset + index * db->traces.stride;
    struct wire_Trace trace;
    lode_trace_line line;
    (void)context;
    (void)worker;
    lode_hpct_trace(db, index, &trace);
    bool known = trace.profIndex < db->profiles.count && !lode_profile_is_summary(&db->base, trace.profIndex);
    if (db->profiles.count && !known)
        LODE_TRY(lode_report_add(report, RULE_TRACE_PROFILE, trace_name(), offset + WIRE_Trace_profIndex,
                                 "trace line %" PRIu32 " is of profile %" PRIu32
                                 ", which does not exist or is a summary",
                                 index, trace.profIndex));
    else if (trace.profIndex != index + 1)
        LODE_TRY(lode_report_add(report, RULE_TRACE_POSITION, trace_name(), offset + WIRE_Trace_profIndex,
                                 "trace line %" PRIu32 " is of profile %" PRIu32 "; viewers expect %" PRIu32,
                                 index, trace.profIndex, index + 1));
    if (!lode_hpct_trace_line(db, &trace, &line))
        return lode_report_add(report, RULE_TRACE_BOUNDS, trace_name(), offset + WIRE_Trace_pStart,
                               "trace line %" PRIu32 ": 0x%" PRIx64 " to 0x%" PRIx64
                               " is not an integer number of samples inside the file",
                               index, trace.pStart, trace.pEnd);
    return check_samples(check, index, &line, trace.pStart, report);
}

static bool trace_extent(const struct hpct_database *db, uint64_t index, uint64_t *start, uint64_t *end)
{
    struct wire_Trace trace;
    lode_trace_line line;
    lode_hpct_trace(db, (uint32_t)index, &trace);
    *start = trace.pStart;
    *end = trace.pEnd;
    return lode_hpct_trace_line(db, &trace, &line) && line.sample_count > 0;
}

/* Viewers expect a line for each profile but the summary. */
static lode_status check_count(struct hpct_check *check)
{
    uint64_t lines = check->db->traces.count, profiles = check->db->profiles.count;
    if (profiles == 0 || lines + 1 == profiles)
        return LODE_OK;
    return lode_report_add(
        &check->report, RULE_TRACE_POSITION, trace_name(), check->db->files[HPCT_TRACE].sections[0].offset,
        "there are %" PRIu64 " trace lines for %" PRIu64 " profiles and the summary", lines, profiles - 1);
}

static lode_status check_lines(struct hpct_check *check, const char *phase, hpct_check_fn work)
{
    const struct hpct_items items = {
        .phase = phase, .count = check->db->traces.count, .work = work, .weight = lode_hpct_line_weight};
    return lode_hpct_check_items(check, &items);
}

lode_status lode_hpct_check_traces(struct hpct_check *check)
{
    uint64_t count = check->db->traces.count, errors = check->report.result.errors;
    if (!check->db->traces.found)
        return LODE_OK;
    LODE_TRY(check_count(check));
    LODE_TRY(
        lode_hpct_check_extents(check, HPCT_TRACE, RULE_TRACE_OVERLAP, "trace line", count, 1, trace_extent));
    if (check->report.result.errors != errors)
        return LODE_OK;
    LODE_TRY(check_lines(check, "checking trace.db", check_line));
    check->traces_sound = check->report.result.errors == errors;
    return LODE_OK;
}

static lode_status check_line_contexts(struct hpct_check *check, void *context, uint64_t item,
                                       unsigned worker, struct lode_report *report)
{
    const struct hpct_database *db = check->db;
    struct wire_Trace trace;
    lode_trace_line line;
    (void)context;
    (void)worker;
    lode_hpct_trace(db, (uint32_t)item, &trace);
    if (!lode_hpct_trace_line(db, &trace, &line))
        return LODE_OK;
    struct hpct_tally unknown = lode_hpct_unknown_contexts(&db->base.tree, &line);
    return tally_report(&unknown, RULE_TRACE_CONTEXT, (uint32_t)item, trace.pStart,
                        "are at contexts that meta.db does not list", report);
}

lode_status lode_hpct_check_trace_contexts(struct hpct_check *check)
{
    return check_lines(check, "checking contexts of trace.db", check_line_contexts);
}
