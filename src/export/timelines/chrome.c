/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chrome trace events: JSON, for tools that take nothing else. Times are microseconds with three
 * decimals from the first event on: counted from the epoch, a double would not hold them.
 */
#include "export/timelines/chrome.h"

#include "base/error.h"
#include "export/formats.h"
#include "export/json.h"
#include <inttypes.h>

enum {
    EVENT_SIZE = 102, /* of an event, for estimates */
    SIZE_MAX_IN_VIEWERS = 1000 * 1000 * 1000
};

/* ---- the file ---- */

/* {"ph":"M",...}: a name, and the position among its like. Perfetto refuses an empty name. */
static void put_metadata(struct lode_wire *out, const char *what, int32_t pid, int32_t tid, const char *name,
                         uint32_t position)
{
    if (name[0]) {
        json_format(out, "{\"ph\":\"M\",\"pid\":%" PRId32 ",\"tid\":%" PRId32, pid, tid);
        json_format(out, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
        json_clean_string(out, name, strlen(name));
        json_text(out, "}},\n");
    }
    json_format(out, "{\"ph\":\"M\",\"pid\":%" PRId32 ",\"tid\":%" PRId32, pid, tid);
    json_format(out, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":", what);
    json_format(out, "%" PRIu32 "}}", position);
}

static void put_head(const struct lode_timeline *self, struct lode_wire *out)
{
    int64_t offset = lode_tracks_utc_offset(self->tracks);
    json_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"time_base_ns\":\"");
    json_format(out, "%" PRIu64 "\"", self->base);
    json_format(out, ",\"utc_offset_ns\":\"%" PRId64 "\"},\n\"traceEvents\":[", offset);
    for (uint32_t i = 0; i < lode_tracks_process_count(self->tracks); i++) {
        const struct lode_tracks_process *process = lode_tracks_process(self->tracks, i);
        json_text(out, i ? ",\n" : "\n");
        put_metadata(out, "process", process->pid, lode_tracks_line(self->tracks, process->first_line)->tid,
                     process->name, i);
    }
    for (uint32_t i = 0; i < lode_tracks_line_count(self->tracks); i++) {
        const struct lode_line *line = lode_tracks_line(self->tracks, i);
        json_text(out, ",\n");
        put_metadata(out, "thread", lode_tracks_process(self->tracks, line->process)->pid, line->tid,
                     line->name, i);
    }
}

static lode_status write_head(const struct lode_timeline *self, lode_error *error)
{
    struct lode_wire out = {0};
    put_head(self, &out);
    lode_status status = lode_wire_flush(&out, self->job->file, 1, error);
    wire_free(&out);
    return status;
}

static lode_status write_all(struct lode_timeline *self, lode_error *error)
{
    struct lode_encoder encoder = {.alternates = true, .user = self};
    struct lode_tracks_counts counts;
    lode_chrome_encode(self, &encoder);
    LODE_TRY(
        lode_tracks_warn(self->tracks, self->job, EVENT_SIZE, SIZE_MAX_IN_VIEWERS, "ui.perfetto.dev", error));
    LODE_TRY(write_head(self, error));
    LODE_TRY(lode_tracks_run(self->tracks, &encoder, &counts, error));
    LODE_TRY(lode_export_write(self->job->file, "\n]}\n", 4, error));
    return lode_timeline_report(self, &counts, CHROME_LEVELS_MAX, "Perfetto keeps no more", error);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct lode_timeline self = {0};
    lode_status status = lode_timeline_open(&self, job, error);
    if (status == LODE_OK)
        status = write_all(&self, error);
    lode_tracks_close(self.tracks);
    return status;
}

const struct lode_export_format lode_export_chrome = {
    .name = "chrome",
    .description = "Chrome trace events (JSON): chrome://tracing, Perfetto, speedscope",
    .suffix = ".trace.json",
    .names = "*.trace.json *.chrome.json",
    .loses = "metrics and values; calls below 512 levels; the epoch goes to otherData",
    .holds = LODE_EXPORT_TIMELINE,
    .compressions = 1U << LODE_COMPRESSION_GZIP,
    .run = run,
};
