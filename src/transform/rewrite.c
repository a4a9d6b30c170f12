/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings, or slices of them, to one recording in a format that is chosen by its name. */
#include "analysis/calls/calls.h"
#include "base/error.h"
#include "base/options.h"
#include "format/format.h"
#include "model/recording/recording_sink.h"
#include <stdlib.h>

static lode_status begin_track(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct lode_recording_sink *sink = user;
    return sink->ops->begin_track(sink, worker, row->track, error);
}

static lode_status take_events(void *user, unsigned worker, const lode_event *events, size_t count,
                               lode_error *error)
{
    struct lode_recording_sink *sink = user;
    return sink->ops->take(sink, worker, events, count, error);
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct lode_recording_sink *sink = user;
    (void)row;
    return sink->ops->end_track(sink, worker, error);
}

static lode_status read_one(struct lode_recording_sink *sink, size_t index, bool is_last, lode_error *error)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_slice slice;
    struct lode_pass pass;
    if (!lode_recording_sink_slice(sink, index, &slice))
        return LODE_OK;
    options.threads = sink->options->threads;
    options.on_finding = is_last ? sink->options->on_finding : NULL;
    options.on_progress = sink->options->on_progress;
    options.user = sink->options->user;
    LODE_TRY(lode_pass_open(&pass, sink->recordings[index], &slice, &options, error));
    pass.begin = begin_track;
    pass.take = take_events;
    pass.end = end_track;
    pass.user = sink;
    lode_status status = sink->ops->begin(sink, index, &slice, pass.threads, error);
    if (status == LODE_OK)
        status = lode_pass_run(&pass, error);
    sink->ops->end(sink);
    lode_pass_close(&pass);
    return status;
}

static lode_status rewrite(struct lode_recording_sink *sink, const char *path, lode_error *error)
{
    LODE_TRY(sink->ops->create(sink, path, error));
    for (unsigned pass = 1; pass <= sink->ops->passes; pass++) {
        bool is_last = pass == sink->ops->passes;
        for (size_t i = 0; i < sink->count; i++)
            LODE_TRY(read_one(sink, i, is_last, error));
        if (!is_last)
            LODE_TRY(sink->ops->end_pass(sink, error));
    }
    return sink->ops->finish(sink, error);
}

static lode_status check_arguments(size_t count, const lode_slice *slice, lode_error *error)
{
    const char *wrong = NULL;
    if (count == 0)
        wrong = "there is no recording to write";
    else if (count > 1 && slice->tracks)
        wrong = "tracks can be selected from one recording only";
    return wrong ? lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s", wrong) : LODE_OK;
}

lode_status lode_rewrite(const lode_recording *const *recordings, size_t count, const char *path,
                         const lode_slice *slice, const lode_rewrite_options *given, lode_error *error)
{
    lode_slice taken = LODE_SLICE_INIT;
    lode_rewrite_options options = LODE_REWRITE_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&taken, slice, error));
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_arguments(count, &taken, error));
    const struct lode_target *target =
        options.to ? lode_target_named(options.to) : lode_target_of_recording(recordings[0]);
    if (target == NULL || target->recording == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "no recording can be written in the format %s",
                         options.to ? options.to : recordings[0]->format);
    struct lode_recording_sink *sink = calloc(1, target->recording->size);
    if (sink == NULL)
        return lode_fail_memory(error);
    *sink = (struct lode_recording_sink){target->recording, recordings, count, &options, taken};
    lode_status status = rewrite(sink, path, error);
    sink->ops->close(sink);
    free(sink);
    return status;
}
