/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a store: opens and reads it. At level quick, chunks are located but not unpacked. */
#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/zorka/zorka.h"
#include <stdlib.h>

enum {
    BATCHES = 4096 /* bounds the memory for reports */
};

struct checking {
    const lode_recording *recording;
    uint32_t batch; /* tracks that a worker takes at once */
    struct lode_report *report;
    struct lode_progress progress;
    /* The findings of each worker, until they are reported in order. */
    struct lode_report *kept;
};

static lode_status read_track(lode_cursor *cursor, struct lode_report *kept, lode_error *error)
{
    const lode_event *events;
    size_t count;
    lode_status status;
    struct lode_report *report = lode_zor_cursor_report(cursor);
    while ((status = lode_zor_cursor_next(cursor, &events, &count, error)) == LODE_OK)
        report->result.events += count;
    if (status != LODE_END)
        return status;
    report->result.tracks = 1;
    return lode_report_flush(report, kept);
}

static lode_status check_track(const struct checking *self, uint32_t track, struct lode_report *kept,
                               lode_error *error)
{
    lode_cursor *cursor;
    LODE_TRY(lode_zor_cursor_open_kept(&cursor, self->recording, track, self->report, error));
    lode_status status = read_track(cursor, kept, error);
    lode_zor_cursor_close(cursor);
    return status;
}

static uint32_t batch_end(const struct checking *self, uint64_t item)
{
    uint64_t end = (item + 1) * self->batch, count = self->recording->track_count;
    return (uint32_t)(end < count ? end : count);
}

static lode_status check_batch(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct checking *self = context;
    struct lode_report *kept = &self->kept[item];
    (void)worker;
    LODE_TRY(lode_report_keep(kept, self->report, error));
    for (uint32_t i = (uint32_t)item * self->batch; i < batch_end(self, item); i++)
        LODE_TRY(check_track(self, i, kept, error));
    return LODE_OK;
}

static lode_status finish_batch(void *context, uint64_t item, lode_error *error)
{
    struct checking *self = context;
    uint64_t bytes = 0;
    self->report->error = error;
    lode_status status = lode_report_flush(&self->kept[item], self->report);
    lode_report_close(&self->kept[item]);
    LODE_TRY(status);
    for (uint32_t i = (uint32_t)item * self->batch; i < batch_end(self, item); i++)
        bytes += self->recording->tracks[i].bytes;
    return lode_progress_add(&self->progress, bytes, error);
}

static lode_status check_tracks(struct checking *self, const lode_check_options *options, lode_error *error)
{
    uint32_t count = self->recording->track_count;
    for (uint32_t i = 0; i < count; i++)
        self->progress.total += self->recording->tracks[i].bytes;
    self->batch = count / BATCHES + 1;
    uint32_t batches = (count + self->batch - 1) / self->batch;
    self->kept = calloc(batches + (size_t)1, sizeof *self->kept);
    LODE_TRY_ALLOC(self->kept, error);
    struct lode_job job = {.items = batches,
                           .work = check_batch,
                           .finish = finish_batch,
                           .context = self,
                           .pool = options->pool};
    lode_status status = lode_pool_run(
        lode_pool_threads(lode_pool_asked(options->threads, options->pool), batches), &job, error);
    for (uint32_t i = 0; i < batches; i++)
        lode_report_close(&self->kept[i]);
    free(self->kept);
    return status;
}

lode_status lode_zor_check(const struct lode_folder *folder, const lode_check_options *options,
                           lode_check_result *result, lode_error *error)
{
    struct lode_report report;
    lode_recording *recording;
    LODE_TRY(lode_report_open(&report, lode_zor_rules, ZOR_RULE_COUNT, options->limit_per_rule,
                              options->on_finding, options->user, error));
    bool is_quick = options->level == LODE_CHECK_QUICK;
    struct zor_survey_options survey = {options->threads, options->on_progress, options->user, NULL};
    lode_status status = lode_zor_open(&recording, folder, is_quick ? NULL : &survey, &report, error);
    if (status == LODE_OK && !is_quick) {
        struct checking self = {.recording = recording,
                                .report = &report,
                                .progress = {options->on_progress, options->user, "reading requests", 0, 0}};
        status = check_tracks(&self, options, error);
    }
    *result = report.result;
    result->has_requests = true;
    lode_report_close(&report);
    lode_recording_close(recording);
    return status;
}
