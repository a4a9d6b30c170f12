/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a recording: opens and reads it with a report that continues after errors. */
#include "base/error.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/uftrace/cursor.h"
#include "format/uftrace/cut/cut.h"
#include <stdlib.h>

/* A track, or a piece of it. */
struct item {
    uint32_t track;
    const struct lode_cut *from, *to;
    bool fits; /* it ends where the next piece began, and it is no piece of what does not fit */
    uint64_t events;
    uint32_t deepest;        /* depth of a call, plus 1 */
    struct lode_report kept; /* the findings, until they are reported in order */
};

struct checking {
    const lode_recording *recording;
    struct lode_report *report;
    struct lode_progress progress;
    struct lode_cuts *cuts; /* by track */
    struct item *items;
    size_t count;
    bool fits; /* the pieces so far of the track that is being finished */
};

static lode_status read_item(struct item *item, lode_cursor *cursor, lode_error *error)
{
    const lode_event *events;
    size_t count;
    lode_status status;
    while ((status = lode_uft_cursor_next(cursor, &events, &count, error)) == LODE_OK) {
        item->events += count;
        for (size_t i = 0; i < count; i++)
            if (events[i].kind == LODE_EVENT_ENTER && events[i].depth >= item->deepest)
                item->deepest = events[i].depth + 1;
        if (item->to && cursor->repairs > 0)
            break; /* the whole track is read again */
    }
    if (status < 0)
        return status;
    item->fits = item->to == NULL || lode_uft_cursor_meets(cursor, item->to);
    return lode_report_flush(lode_uft_cursor_report(cursor), &item->kept);
}

static lode_status check_item(const struct checking *self, struct item *item, lode_error *error)
{
    lode_cursor *cursor;
    LODE_TRY(lode_report_keep(&item->kept, self->report, error));
    LODE_TRY(lode_uft_cursor_open_kept(&cursor, self->recording, item->track, self->report, error));
    lode_status status = lode_uft_cursor_to_piece(cursor, item->from, item->to, error);
    if (status == LODE_OK)
        status = read_item(item, cursor, error);
    lode_uft_cursor_close(cursor);
    return status;
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct checking *self = context;
    (void)worker;
    return check_item(self, &self->items[item], error);
}

/* The findings of a track, which were all in its last piece. */
static lode_status report_track(struct checking *self, struct item *item, lode_error *error)
{
    const struct uft_info *info = &uft_of(self->recording)->info;
    item->kept.result.tracks = 1;
    item->kept.result.events = item->events;
    item->kept.error = error;
    if (item->deepest > info->max_stack)
        LODE_TRY(lode_report_add(&item->kept, UFT_INFO_STACK, "info", 32,
                                 "calls of depth %u were recorded; the depth limit of the recorder was %u",
                                 item->deepest - 1, info->max_stack));
    LODE_TRY(lode_report_flush(&item->kept, self->report));
    return lode_progress_add(&self->progress, self->recording->tracks[item->track].bytes, error);
}

static lode_status read_again(struct checking *self, struct item *item, lode_error *error)
{
    lode_report_close(&item->kept);
    *item = (struct item){.track = item->track};
    LODE_TRY(check_item(self, item, error));
    return report_track(self, item, error);
}

/* Joins pieces in order; at the last one, the track is done. */
static lode_status finish(void *context, uint64_t index, lode_error *error)
{
    struct checking *self = context;
    struct item *item = &self->items[index];
    bool is_first = item->from == NULL;
    self->report->error = error;
    self->fits = (is_first || self->fits) && item->fits;
    if (!is_first) {
        const struct item *before = item - 1;
        item->events += before->events;
        item->deepest = before->deepest > item->deepest ? before->deepest : item->deepest;
    }
    lode_status status = LODE_OK;
    if (item->to == NULL)
        status = self->fits ? report_track(self, item, error) : read_again(self, item, error);
    lode_report_close(&item->kept);
    return status;
}

/* ---- items ---- */

static lode_status cut_tracks(struct checking *self, unsigned threads, const lode_check_options *options,
                              lode_error *error)
{
    uint64_t size = lode_cuts_size(self->recording, self->progress.total, threads);
    uint32_t tracks = self->recording->track_count;
    self->cuts = calloc(tracks + (size_t)1, sizeof *self->cuts);
    LODE_TRY_ALLOC(self->cuts, error);
    self->count = tracks;
    for (uint32_t i = 0; i < tracks; i++) {
        LODE_TRY(lode_cuts_make(&self->cuts[i], self->recording, i, size, threads, options->pool, error));
        self->count += self->cuts[i].count;
    }
    self->items = calloc(self->count + 1, sizeof *self->items);
    LODE_TRY_ALLOC(self->items, error);
    struct item *item = self->items;
    for (uint32_t i = 0; i < tracks; i++)
        for (size_t k = 0; k <= self->cuts[i].count; k++)
            *item++ = (struct item){.track = i,
                                    .from = k > 0 ? &self->cuts[i].items[k - 1] : NULL,
                                    .to = k < self->cuts[i].count ? &self->cuts[i].items[k] : NULL};
    return LODE_OK;
}

static lode_status run(struct checking *self, const lode_check_options *options, lode_error *error)
{
    uint32_t tracks = self->recording->track_count;
    for (uint32_t i = 0; i < tracks; i++)
        self->progress.total += self->recording->tracks[i].bytes;
    unsigned threads = lode_pool_threads(lode_pool_asked(options->threads, options->pool),
                                         tracks + self->progress.total / LODE_PIECE_MIN);
    lode_status status = cut_tracks(self, threads, options, error);
    struct lode_job job = {
        .items = self->count, .work = work, .finish = finish, .context = self, .pool = options->pool};
    if (status == LODE_OK)
        status = lode_pool_run(lode_pool_threads(threads, self->count), &job, error);
    for (size_t i = 0; self->items && i < self->count; i++)
        lode_report_close(&self->items[i].kept);
    for (uint32_t i = 0; self->cuts && i < tracks; i++)
        lode_cuts_free(&self->cuts[i]);
    free(self->items);
    free(self->cuts);
    return status;
}

lode_status lode_uft_check_tracks(const lode_recording *recording, struct lode_report *report,
                                  const lode_check_options *options, lode_error *error)
{
    struct checking self = {.recording = recording,
                            .report = report,
                            .progress = {options->on_progress, options->user, "reading records", 0, 0}};
    return run(&self, options, error);
}

lode_status lode_uft_check(const struct lode_folder *folder, const lode_check_options *options,
                           lode_check_result *result, lode_error *error)
{
    struct lode_report report;
    lode_recording *recording;
    LODE_TRY(lode_report_open(&report, lode_uft_rules, UFT_RULE_COUNT, options->limit_per_rule,
                              options->on_finding, options->user, error));
    lode_status status = lode_uft_open(&recording, folder, &report, error);
    if (status == LODE_OK && options->level != LODE_CHECK_QUICK)
        status = lode_uft_check_tracks(recording, &report, options, error);
    *result = report.result;
    lode_report_close(&report);
    lode_recording_close(recording);
    return status;
}
