/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings, or slices of them, to one uftrace recording: read track by track, sliced, and written by the thread that read them. */
#include "analysis/calls.h"
#include "base/error.h"
#include "format/uftrace/write_merge.h"
#include "transform/rewrite.h"
#include <stdlib.h>
#include <string.h>

struct rewriting {
    struct uft_merge merge;
    struct uft_writer writer;
    const lode_rewrite_options *options;
    lode_slice slice; /* in the clock of the first recording */
};

/* One recording under way. */
struct reading {
    struct uft_source *source;
    struct uft_event_writer *writers; /* by worker */
    unsigned count;
};

/* ---- tracks ---- */

static lode_status begin_track(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct reading *self = user;
    const lode_track *track = &self->source->rec->base.tracks[row->track];
    return lode_uft_events_begin(&self->writers[worker], track, &self->source->tracks[row->track], error);
}

static lode_status take_events(void *user, unsigned worker, const lode_event *events, size_t count,
                               lode_error *error)
{
    struct reading *self = user;
    return lode_uft_events_take(&self->writers[worker], events, count, error);
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct reading *self = user;
    (void)row;
    return lode_uft_events_end(&self->writers[worker], error);
}

/* ---- recordings ---- */

static lode_status open_writers(struct rewriting *self, struct reading *reading, size_t index,
                                const lode_slice *slice, lode_error *error)
{
    struct uft_event_rules rules = lode_uft_merge_rules(&self->merge, index);
    rules.from = slice->from;
    rules.to = slice->to ? slice->to : UINT64_MAX;
    rules.keeps_empty = slice->from == 0 && slice->to == 0;
    reading->writers = calloc(reading->count, sizeof *reading->writers);
    if (reading->writers == NULL)
        return lode_fail_memory(error);
    for (unsigned i = 0; i < reading->count; i++)
        LODE_TRY(lode_uft_events_init(&reading->writers[i], &self->writer, &rules, error));
    return LODE_OK;
}

static void close_writers(struct reading *reading)
{
    for (unsigned i = 0; reading->writers && i < reading->count; i++)
        lode_uft_events_free(&reading->writers[i]);
    free(reading->writers);
}

static lode_status rewrite_one(struct rewriting *self, const lode_recording *recording, size_t index,
                               lode_error *error)
{
    struct reading reading = {.source = &self->merge.sources[index]};
    lode_calls_options options = lode_rewrite_pass(self->options);
    lode_slice slice;
    struct lode_pass pass;
    if (!lode_rewrite_slice(&self->slice, reading.source->clock, &slice))
        return LODE_OK;
    LODE_TRY(lode_pass_open(&pass, recording, &slice, &options, error));
    pass.begin = begin_track;
    pass.take = take_events;
    pass.end = end_track;
    pass.user = &reading;
    reading.count = pass.threads;
    lode_status status = open_writers(self, &reading, index, &slice, error);
    if (status == LODE_OK)
        status = lode_pass_run(&pass, error);
    close_writers(&reading);
    lode_pass_close(&pass);
    return status;
}

static lode_status rewrite(struct rewriting *self, const lode_recording *const *recordings, size_t count,
                           const char *path, lode_error *error)
{
    LODE_TRY(lode_uft_merge_open(&self->merge, recordings, count, self->options->on_finding,
                                 self->options->user, error));
    LODE_TRY(lode_uft_writer_create(&self->writer, path, self->options->force, error));
    for (size_t i = 0; i < count; i++)
        LODE_TRY(rewrite_one(self, recordings[i], i, error));
    uint64_t to = self->slice.to ? self->slice.to : UINT64_MAX;
    return lode_uft_merge_finish(&self->merge, &self->writer, self->slice.from, to, error);
}

static lode_status check_formats(const lode_recording *const *recordings, size_t count, lode_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(recordings[i]->format, "uftrace", 7) != 0)
            return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                             "a recording in the format %s cannot be converted to uftrace",
                             recordings[i]->format);
    return LODE_OK;
}

lode_status lode_rewrite_uftrace(const lode_recording *const *recordings, size_t count, const char *path,
                                 const lode_slice *slice, const lode_rewrite_options *options,
                                 lode_error *error)
{
    struct rewriting self = {.options = options, .slice = *slice, .writer.output = LODE_OUTPUT_INIT};
    LODE_TRY(check_formats(recordings, count, error));
    lode_status status = rewrite(&self, recordings, count, path, error);
    lode_uft_writer_close(&self.writer);
    lode_uft_merge_close(&self.merge);
    return status;
}
