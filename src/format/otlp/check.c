/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a store: opens it, and reads all events. At level quick, files are only unpacked. */
#include "base/error.h"
#include "format/otlp/otlp.h"

static lode_status read_track(const lode_recording *recording, uint32_t track, lode_check_result *result,
                              lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    LODE_TRY(lode_otlp_cursor_open(&cursor, recording, track, &options, error));
    lode_status status;
    while ((status = lode_otlp_cursor_next(cursor, &events, &count, error)) == LODE_OK)
        result->events += count;
    lode_otlp_cursor_close(cursor);
    return status == LODE_END ? LODE_OK : status;
}

static lode_status count_content(const lode_recording *recording, lode_check_result *result,
                                 lode_error *error)
{
    lode_status status = LODE_OK;
    result->tracks = (uint32_t)otlp_of(recording)->traces.count;
    for (uint32_t i = 0; i < recording->track_count && status == LODE_OK; i++)
        status = read_track(recording, i, result, error);
    return status;
}

lode_status lode_otlp_check(const struct lode_folder *folder, const lode_check_options *options,
                            lode_check_result *result, lode_error *error)
{
    struct lode_report report;
    lode_recording *recording;
    LODE_TRY(lode_report_open(&report, lode_otlp_rules, OTLP_RULE_COUNT, options->limit_per_rule,
                              options->on_finding, options->user, error));
    bool is_quick = options->level == LODE_CHECK_QUICK;
    struct otlp_opening opening = {.report = &report,
                                   .threads = options->threads,
                                   .on_progress = options->on_progress,
                                   .user = options->user,
                                   .error = error};
    lode_status status = lode_otlp_open(&recording, folder, &opening, is_quick);
    if (status == LODE_OK && !is_quick)
        status = count_content(recording, &report.result, error);
    *result = report.result;
    result->has_requests = true;
    lode_report_close(&report);
    lode_recording_close(recording);
    return status;
}
