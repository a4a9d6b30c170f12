/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces. */
#include "base/io/bytes.h"
#include "format/hpcrun/read/read.h"
#include <inttypes.h>

struct trace_reader {
    struct lode_report *report;
    const char *file;
    const struct hpcrun_profile *profile; /* or NULL */
    struct hpcrun_trace *trace;
};

static struct hpcrun_TraceRecord record_at(const struct hpcrun_trace *trace, uint64_t index)
{
    struct hpcrun_TraceRecord record;
    lode_hpcrun_read_TraceRecord(&record, trace->records.data + index * HPCRUN_TraceRecord_SIZE);
    return record;
}

static uint64_t offset_of(uint64_t index)
{
    return HPCRUN_TraceHeader_SIZE + index * HPCRUN_TraceRecord_SIZE;
}

static lode_status read_header(const struct trace_reader *reader, struct lode_range bytes)
{
    struct hpcrun_TraceHeader header;
    const uint64_t known = HPCRUN_TRACE_CALLS | 2 /* once: how records are laid out */;
    if (bytes.size < HPCRUN_TraceHeader_SIZE ||
        memcmp(bytes.data, HPCRUN_TRACE_BEGIN, HPCRUN_BEGIN_SIZE) != 0) {
        LODE_TRY(lode_report_add(reader->report, HPCRUN_RULE_TRACE_HEADER, reader->file, 0,
                                 "the trace does not begin with %s and flags", HPCRUN_TRACE_BEGIN));
        return LODE_END;
    }
    lode_hpcrun_read_TraceHeader(&header, bytes.data);
    reader->trace->flags = header.flags;
    if (header.flags & ~known) {
        LODE_TRY(lode_report_add(reader->report, HPCRUN_RULE_TRACE_FLAGS, reader->file,
                                 HPCRUN_TraceHeader_flags, "%s (flags 0x%" PRIx64 ")",
                                 header.flags & HPCRUN_TRACE_DATA_CENTRIC ? "the trace is data-centric"
                                                                          : "flags are not known",
                                 header.flags));
        return LODE_END;
    }
    uint64_t size = bytes.size - HPCRUN_TraceHeader_SIZE;
    reader->trace->count = size / HPCRUN_TraceRecord_SIZE;
    reader->trace->records =
        (struct lode_range){bytes.data + HPCRUN_TraceHeader_SIZE, size - size % HPCRUN_TraceRecord_SIZE};
    if (size % HPCRUN_TraceRecord_SIZE == 0)
        return LODE_OK;
    LODE_TRY(lode_report_add(reader->report, HPCRUN_RULE_TRACE_SIZE, reader->file,
                             offset_of(reader->trace->count), "%" PRIu64 " bytes after the last record",
                             size % HPCRUN_TraceRecord_SIZE));
    return LODE_END;
}

/*
 * A record may be up to `disorder` positions too late: the latest time of those further back is a
 * lower bound of its time. One finding for the whole trace: a clock step affects many records.
 */
static lode_status check_order(const struct trace_reader *reader)
{
    const struct hpcrun_trace *trace = reader->trace;
    uint64_t disorder = reader->profile ? reader->profile->disorder : 0, latest = 0;
    for (uint64_t i = 0; disorder < trace->count && i + disorder + 1 < trace->count; i++) {
        uint64_t time = record_at(trace, i).time, later = i + disorder + 1;
        latest = time > latest ? time : latest;
        if (record_at(trace, later).time >= latest)
            continue;
        return lode_report_add(reader->report, HPCRUN_RULE_TRACE_ORDER, reader->file, offset_of(later),
                               "record %" PRIu64 " is earlier than one %" PRIu64
                               " or more positions before it; the profile says up to %" PRIu64,
                               later, disorder + 1, disorder);
    }
    return LODE_OK;
}

static lode_status read_records(const struct trace_reader *reader)
{
    struct hpcrun_trace *trace = reader->trace;
    for (uint64_t i = 0; i < trace->count; i++) {
        struct hpcrun_TraceRecord record = record_at(trace, i);
        trace->begin = i == 0 || record.time < trace->begin ? record.time : trace->begin;
        trace->end = record.time > trace->end ? record.time : trace->end;
        if (reader->profile && lode_map_get(&reader->profile->node_of, record.node) == NULL)
            LODE_TRY(lode_report_add(reader->report, HPCRUN_RULE_TRACE_NODE, reader->file, offset_of(i),
                                     "the profile has no node %" PRIu32, record.node));
    }
    return LODE_OK;
}

static lode_status check_times(const struct trace_reader *reader)
{
    const struct hpcrun_profile *profile = reader->profile;
    const struct hpcrun_trace *trace = reader->trace;
    if (profile == NULL || trace->count == 0 ||
        (profile->trace_min <= trace->begin && trace->end <= profile->trace_max))
        return LODE_OK;
    return lode_report_add(reader->report, HPCRUN_RULE_TRACE_TIME, reader->file, LODE_NO_OFFSET,
                           "records are from %" PRIu64 " to %" PRIu64 ", the profile says from %" PRIu64
                           " to %" PRIu64,
                           trace->begin, trace->end, profile->trace_min, profile->trace_max);
}

lode_status lode_hpcrun_read_trace(struct hpcrun_trace *trace, const struct hpcrun_profile *profile,
                                   const char *file, struct lode_range bytes, lode_check_level level,
                                   struct lode_report *report)
{
    struct trace_reader reader = {report, file, profile, trace};
    *trace = (struct hpcrun_trace){0};
    LODE_TRY(read_header(&reader, bytes));
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    LODE_TRY(read_records(&reader));
    LODE_TRY(check_order(&reader));
    return level < LODE_CHECK_FULL ? LODE_OK : check_times(&reader);
}
