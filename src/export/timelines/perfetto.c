/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto: track events in protocol buffers. Most packets have 11 to 15 bytes. This is the head of
 * the file: clocks, processes and threads.
 */
#include "export/timelines/perfetto.h"

#include "base/error.h"
#include "export/formats.h"
#include <inttypes.h>

enum {
    EVENT_SIZE = 15, /* of an event, for estimates */
    SIZE_MAX_IN_BROWSER = 500 * 1000 * 1000
};

static void put_clocks(uint64_t time, int64_t offset, struct lode_wire *out)
{
    uint64_t real = time + (uint64_t)offset;
    bool is_known = offset >= 0 || (uint64_t)-offset <= time;
    size_t packet = wire_begin(out, TRACE_PACKET);
    size_t snapshot = wire_begin(out, PACKET_CLOCK_SNAPSHOT);
    size_t clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, BOOTTIME_CLOCK);
    wire_uint(out, CLOCK_TIMESTAMP, time);
    wire_end(out, clock);
    clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, REALTIME_CLOCK);
    wire_uint(out, CLOCK_TIMESTAMP, is_known ? real : time);
    wire_end(out, clock);
    wire_end(out, snapshot);
    wire_end(out, packet);
}

static size_t begin_track(uint64_t time, uint64_t uuid, struct lode_wire *out, size_t *packet)
{
    *packet = wire_begin(out, TRACE_PACKET);
    wire_uint(out, PACKET_TIMESTAMP, time);
    size_t track = wire_begin(out, PACKET_TRACK_DESCRIPTOR);
    wire_uint(out, TRACK_UUID, uuid);
    return track;
}

static void put_process(const struct lode_tracks_process *process, uint64_t uuid, uint64_t time,
                        struct lode_wire *out)
{
    size_t packet, track = begin_track(time, uuid, out, &packet), part = wire_begin(out, TRACK_PROCESS);
    wire_int(out, PROCESS_PID, process->pid);
    wire_text(out, PROCESS_NAME, process->name);
    wire_end(out, part);
    wire_end(out, track);
    wire_end(out, packet);
}

static void put_thread(const struct perfetto *self, const struct lode_line *line, uint64_t time,
                       struct lode_wire *out)
{
    size_t packet, track = begin_track(time, perfetto_thread_uuid(self, line), out, &packet);
    size_t part = wire_begin(out, TRACK_THREAD);
    wire_int(out, THREAD_PID, lode_tracks_process(self->base.tracks, line->process)->pid);
    wire_int(out, THREAD_TID, line->tid);
    wire_text(out, THREAD_NAME, line->name);
    wire_end(out, part);
    wire_end(out, track);
    wire_end(out, packet);
}

/* Clocks, processes and threads. */
static lode_status write_head(struct perfetto *self, lode_error *error)
{
    struct lode_wire out = {0};
    uint64_t begin = self->base.base;
    put_clocks(begin, lode_tracks_utc_offset(self->base.tracks), &out);
    for (uint32_t i = 0; i < self->process_count; i++)
        put_process(lode_tracks_process(self->base.tracks, i), i + UINT64_C(1), begin, &out);
    for (uint32_t i = 0; i < lode_tracks_line_count(self->base.tracks); i++)
        put_thread(self, lode_tracks_line(self->base.tracks, i), begin, &out);
    lode_status status = lode_wire_flush(&out, self->base.job->file, 1, error);
    wire_free(&out);
    return status;
}

static lode_status write_all(struct perfetto *self, lode_error *error)
{
    struct lode_tracks_counts counts;
    self->process_count = lode_tracks_process_count(self->base.tracks);
    LODE_TRY(lode_tracks_warn(self->base.tracks, self->base.job, EVENT_SIZE, SIZE_MAX_IN_BROWSER,
                              "ui.perfetto.dev without trace_processor_shell", error));
    LODE_TRY(write_head(self, error));
    LODE_TRY(lode_perfetto_write_events(self, &counts, error));
    return lode_timeline_report(&self->base, &counts, LEVELS_MAX, "Perfetto keeps no more", error);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct perfetto self = {.has_samples = job->db && job->options->samples};
    lode_status status = lode_timeline_open(&self.base, job, error);
    if (status == LODE_OK)
        status = write_all(&self, error);
    lode_tracks_close(self.base.tracks);
    return status;
}

const struct lode_export_format lode_export_perfetto = {
    .name = "perfetto",
    .description = "Perfetto trace: ui.perfetto.dev, trace_processor",
    .suffix = ".pftrace",
    .names = "*.pftrace *.perfetto-trace *.perfetto",
    .loses = "metrics and values; calls below 512 levels",
    .holds = LODE_EXPORT_TIMELINE,
    .compressions = 1U << LODE_COMPRESSION_GZIP,
    .run = run,
};
