/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a recording: opens and reads it with a report that continues after errors. */
#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/uftrace/cursor.h"
#include <stdlib.h>

struct checking {
    const lode_recording *recording;
    struct lode_report *report;
    struct lode_progress progress;
    /* The findings of each worker, until they are reported in order. */
    struct lode_report *kept;
};

static lode_status read_track(const lode_recording *recording, lode_cursor *cursor, struct lode_report *kept,
                              lode_error *error)
{
    const lode_event *events;
    size_t count;
    lode_status status;
    uint32_t deepest = 0;
    bool has_calls = false;
    uint64_t seen = 0;
    while ((status = lode_uft_cursor_next(cursor, &events, &count, error)) == LODE_OK) {
        seen += count;
        for (size_t i = 0; i < count; i++)
            if (events[i].kind == LODE_EVENT_ENTER) {
                deepest = events[i].depth > deepest ? events[i].depth : deepest;
                has_calls = true;
            }
    }
    if (status != LODE_END)
        return status;
    struct lode_report *report = lode_uft_cursor_report(cursor);
    const struct uft_info *info = &uft_of(recording)->info;
    report->result.tracks = 1;
    report->result.events = seen;
    if (has_calls && deepest >= info->max_stack)
        LODE_TRY(lode_report_add(report, UFT_INFO_STACK, "info", 32,
                                 "calls of depth %u were recorded; the depth limit of the recorder was %u",
                                 deepest, info->max_stack));
    return lode_report_flush(report, kept);
}

static lode_status check_track(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct checking *self = context;
    lode_cursor *cursor;
    struct lode_report *kept = &self->kept[item];
    (void)worker;
    LODE_TRY(lode_report_keep(kept, self->report, error));
    LODE_TRY(lode_uft_cursor_open_kept(&cursor, self->recording, (uint32_t)item, self->report, error));
    lode_status status = read_track(self->recording, cursor, kept, error);
    lode_uft_cursor_close(cursor);
    return status;
}

static lode_status finish_track(void *context, uint64_t item, lode_error *error)
{
    struct checking *self = context;
    self->report->error = error;
    lode_status status = lode_report_flush(&self->kept[item], self->report);
    lode_report_close(&self->kept[item]);
    LODE_TRY(status);
    return lode_progress_add(&self->progress, self->recording->tracks[item].bytes, error);
}

static lode_status check_tracks(struct checking *self, const lode_check_options *options, lode_error *error)
{
    uint32_t count = self->recording->track_count;
    for (uint32_t i = 0; i < count; i++)
        self->progress.total += self->recording->tracks[i].bytes;
    self->kept = calloc(count + (size_t)1, sizeof *self->kept);
    LODE_TRY_ALLOC(self->kept, error);
    struct lode_job job = {
        .items = count, .work = check_track, .finish = finish_track, .context = self, .pool = options->pool};
    lode_status status = lode_pool_run(
        lode_pool_threads(lode_pool_asked(options->threads, options->pool), count), &job, error);
    for (uint32_t i = 0; i < count; i++)
        lode_report_close(&self->kept[i]);
    free(self->kept);
    return status;
}

lode_status lode_uft_check(const struct lode_folder *folder, const lode_check_options *options,
                           lode_check_result *result, lode_error *error)
{
    struct lode_report report;
    lode_recording *recording;
    LODE_TRY(lode_report_open(&report, lode_uft_rules, UFT_RULE_COUNT, options->limit_per_rule,
                              options->on_finding, options->user, error));
    lode_status status = lode_uft_open(&recording, folder, &report, error);
    if (status == LODE_OK && options->level != LODE_CHECK_QUICK) {
        struct checking self = {.recording = recording,
                                .report = &report,
                                .progress = {options->on_progress, options->user, "reading records", 0, 0}};
        status = check_tracks(&self, options, error);
    }
    *result = report.result;
    lode_report_close(&report);
    lode_recording_close(recording);
    return status;
}
