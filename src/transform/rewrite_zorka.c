/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings, or slices of them, to one trace store: all are read twice, to note strings and to write. */
#include "base/error.h"
#include "base/pool.h"
#include "format/zorka/write_source.h"
#include "transform/rewrite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rewriting {
    const lode_recording *const *recordings;
    size_t count;
    const lode_rewrite_options *options;
    const lode_slice *slice; /* in the clock of the first recording */
    struct zor_writer writer;
    struct zor_source *sources;
};

/* One recording under way. */
struct reading {
    struct zor_writer *writer;
    struct zor_source *source;
    uint32_t *tracks; /* that workers are at */
    uint64_t order;   /* tracks of the recordings before it */
};

/* ---- tracks ---- */

static lode_status begin_track(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct reading *self = user;
    (void)error;
    self->tracks[worker] = row->track;
    lode_zor_begin_track(&self->writer->encoders[worker], self->order + row->track);
    return LODE_OK;
}

static lode_status take_events(void *user, unsigned worker, const lode_event *events, size_t count,
                               lode_error *error)
{
    struct reading *self = user;
    for (size_t i = 0; i < count; i++)
        LODE_TRY(lode_zor_source_take(self->source, &self->writer->encoders[worker], self->tracks[worker],
                                      &events[i], error));
    return LODE_OK;
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    (void)user;
    (void)worker;
    (void)row;
    (void)error;
    return LODE_OK;
}

/* ---- recordings ---- */

/* Both have said how their clocks differ from UTC, or they are taken as one. */
static int64_t clock_of(const lode_recording *recording, const lode_recording *first)
{
    int64_t clock;
    bool is_known = recording->utc_offset != 0 && first->utc_offset != 0;
    return is_known && !__builtin_sub_overflow(recording->utc_offset, first->utc_offset, &clock) ? clock : 0;
}

static lode_status read_one(struct rewriting *self, size_t index, uint64_t order, bool is_noting,
                            lode_error *error)
{
    struct reading reading = {.writer = &self->writer, .source = &self->sources[index], .order = order};
    lode_calls_options options = lode_rewrite_pass(self->options);
    lode_slice slice;
    struct lode_pass pass;
    if (!lode_rewrite_slice(self->slice, clock_of(self->recordings[index], self->recordings[0]), &slice))
        return LODE_OK;
    if (is_noting)
        options.on_finding = NULL;
    LODE_TRY(lode_pass_open(&pass, self->recordings[index], &slice, &options, error));
    pass.begin = begin_track;
    pass.take = take_events;
    pass.end = end_track;
    pass.user = &reading;
    reading.tracks = calloc(pass.threads, sizeof *reading.tracks);
    lode_status status = reading.tracks ? lode_pass_run(&pass, error) : lode_fail_memory(error);
    free(reading.tracks);
    lode_pass_close(&pass);
    return status;
}

static lode_status read_all(struct rewriting *self, bool is_noting, lode_error *error)
{
    uint64_t order = 0;
    for (size_t i = 0; i < self->count; i++) {
        LODE_TRY(read_one(self, i, order, is_noting, error));
        order += self->recordings[i]->track_count;
    }
    return LODE_OK;
}

static lode_status name_functions(struct rewriting *self, lode_error *error)
{
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(lode_zor_source_name(&self->sources[i], error));
    return lode_zor_writer_number(&self->writer, error);
}

/* Events of no track that are in the slice. */
static uint64_t count_messages(const struct rewriting *self, const lode_recording *recording)
{
    lode_slice slice;
    uint64_t count = 0;
    if (!lode_rewrite_slice(self->slice, clock_of(recording, self->recordings[0]), &slice))
        return 0;
    for (size_t i = 0; i < recording->message_count; i++) {
        uint64_t time = recording->messages[i].time;
        count += time >= slice.from && (slice.to == 0 || time < slice.to);
    }
    return count;
}

/* What could not be taken over, as one finding. */
static lode_status say_left_out(const struct rewriting *self, lode_error *error)
{
    uint64_t count = 0;
    char text[128];
    for (uint32_t i = 0; i < self->writer.encoder_count; i++)
        count += self->writer.encoders[i].left_out;
    for (size_t i = 0; i < self->count; i++)
        count += count_messages(self, self->recordings[i]);
    if (count == 0 || self->options->on_finding == NULL)
        return LODE_OK;
    snprintf(text, sizeof text, "%llu %s no equivalent in a Zorka store and %s omitted",
             (unsigned long long)count, count == 1 ? "event has" : "events have", count == 1 ? "is" : "are");
    lode_finding finding = {"merge-events", LODE_WARNING, "", LODE_NO_OFFSET, text};
    if (self->options->on_finding(self->options->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

static lode_status open_all(struct rewriting *self, const char *path, lode_error *error)
{
    uint64_t tracks = 0;
    enum zor_layout layout = strcmp(self->options->to, "zorka") == 0 ? ZOR_LAYOUT_PAGE : ZOR_LAYOUT_ZICO;
    for (size_t i = 0; i < self->count; i++)
        tracks += self->recordings[i]->track_count;
    unsigned threads = lode_pool_threads(self->options->threads, tracks);
    LODE_TRY(lode_zor_writer_create(&self->writer, path, layout, self->options->force, threads, error));
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(lode_zor_source_open(&self->sources[i], self->recordings[i], &self->writer.strings, threads,
                                      error));
    return LODE_OK;
}

static lode_status rewrite(struct rewriting *self, const char *path, lode_error *error)
{
    LODE_TRY(open_all(self, path, error));
    LODE_TRY(read_all(self, true, error));
    LODE_TRY(name_functions(self, error));
    LODE_TRY(read_all(self, false, error));
    LODE_TRY(say_left_out(self, error));
    return lode_zor_writer_finish(&self->writer, error);
}

lode_status lode_rewrite_zorka(const lode_recording *const *recordings, size_t count, const char *path,
                               const lode_slice *slice, const lode_rewrite_options *options,
                               lode_error *error)
{
    struct rewriting self = {.recordings = recordings,
                             .count = count,
                             .options = options,
                             .slice = slice,
                             .writer = ZOR_WRITER_INIT,
                             .sources = calloc(count, sizeof *self.sources)};
    if (self.sources == NULL)
        return lode_fail_memory(error);
    lode_status status = rewrite(&self, path, error);
    for (size_t i = 0; i < count; i++)
        lode_zor_source_close(&self.sources[i]);
    free(self.sources);
    lode_zor_writer_close(&self.writer);
    return status;
}
