/* SPDX-License-Identifier: BSD-3-Clause */
/* From spooled samples to trace lines, each at its place in the file. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/progress.h"
#include "build/build.h"
#include <stdlib.h>

enum {
    PIECE = 1 << 16, /* bytes that are read at once */
    SAMPLE_MIN = 2,  /* bytes of a sample, at least */
    SAMPLES = PIECE / SAMPLE_MIN
};

/* What one worker has under way. */
struct desk {
    uint8_t *bytes, *samples;
};

struct drawing {
    struct lode_build *build;
    struct desk *desks;
    struct span {
        uint64_t first, last;
    } * spans; /* by profile; first > last: it has no samples */
    struct lode_progress progress;
};

/* The time since the epoch, or the nearest to it that there is. */
static uint64_t move_time(uint64_t time, int64_t clock)
{
    uint64_t moved;
    if (!__builtin_add_overflow(time, clock, &moved))
        return moved;
    return clock < 0 ? 0 : UINT64_MAX;
}

/* How far a line has come. */
struct line {
    const uint32_t *ids, *parents; /* by node */
    int64_t clock;
    uint64_t time;
    uint32_t node;
};

/*
 * Decodes one sample; returns where the next one is. Whether a call has begun or ended cannot be foreseen, so no branch depends on it: the
 * bytes behind an end are read like a node.
 */
static inline const uint8_t *next_sample(struct line *line, const uint8_t *at)
{
    uint32_t word = get_u16le(at), has_ended = word / LODE_BUILD_ENDED;
    uint64_t passed = word & LODE_BUILD_FAR;
    at += sizeof(uint16_t);
    if (__builtin_expect(passed == LODE_BUILD_FAR, 0)) {
        passed = get_u64le(at);
        at += sizeof passed;
    }
    uint32_t parent = line->parents[line->node], node = get_u32le(at);
    line->time += passed;
    line->node = node ^ ((node ^ parent) & -has_ended);
    return at + sizeof node * (1 - has_ended);
}

/* Decodes the samples that are there as a whole; returns how many bytes they are, and sets how many samples. */
static size_t decode(struct line *from, const uint8_t *bytes, size_t size, bool is_last, uint8_t *out,
                     size_t *count)
{
    const uint8_t *at = bytes, *end = bytes + (is_last ? size : size - LODE_BUILD_SAMPLE_MAX + 1);
    uint8_t *begin = out;
    struct line line = *from; /* what is written cannot change it: it stays in registers */
    while (at < end) {
        at = next_sample(&line, at);
        put_u64le(out + WIRE_Sample_timestamp, move_time(line.time, line.clock));
        put_u32le(out + WIRE_Sample_ctxId, line.ids[line.node]);
        out += WIRE_Sample_SIZE;
    }
    *from = line;
    *count = (size_t)(out - begin) / WIRE_Sample_SIZE;
    return (size_t)(at - bytes);
}

static lode_status draw_line(const struct lode_build *build, const struct lode_build_track *track,
                             uint64_t place, const struct desk *desk, struct span *span, lode_error *error)
{
    const struct lode_build_harvest *harvest = &track->harvest;
    const struct lode_output_file *file = &build->writer->files[HPCT_TRACE];
    struct line line = {.ids = build->nodes[harvest->worker],
                        .parents = build->parents[harvest->worker],
                        .clock = build->inputs.items[track->input].clock};
    uint64_t left = harvest->samples_size;
    *span = (struct span){UINT64_MAX, 0};
    while (left > 0) {
        size_t size = left < PIECE ? (size_t)left : PIECE, count;
        uint64_t at = harvest->samples_at + harvest->samples_size - left;
        LODE_TRY(lode_spool_read(&build->growers[harvest->worker].samples, at, desk->bytes, size, error));
        left -= decode(&line, desk->bytes, size, size == left, desk->samples, &count);
        LODE_TRY(lode_output_write_at(file, place, desk->samples, count * WIRE_Sample_SIZE, error));
        if (span->first == UINT64_MAX)
            span->first = get_u64le(desk->samples + WIRE_Sample_timestamp);
        place += count * WIRE_Sample_SIZE;
    }
    if (harvest->sample_count > 0)
        span->last = move_time(line.time, line.clock);
    return LODE_OK;
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct drawing *self = context;
    const struct lode_build *build = self->build;
    const struct lode_build_track *track = &build->inputs.tracks[build->inputs.profiles[item]];
    uint64_t place = WRITTEN(build->writer, profiles, profile, item)->trace_start;
    return draw_line(build, track, place, &self->desks[worker], &self->spans[item], error);
}

static lode_status finish(void *context, uint64_t item, lode_error *error)
{
    struct drawing *self = context;
    struct lode_build *build = self->build;
    const struct span *span = &self->spans[item];
    if (span->first <= span->last)
        lode_writer_set_trace_bounds(build->writer, span->first, span->last);
    build->result.samples += build->inputs.tracks[build->inputs.profiles[item]].harvest.sample_count;
    return lode_progress_add(&self->progress, 1, error);
}

static lode_status open_drawing(struct drawing *self, unsigned threads, lode_error *error)
{
    self->desks = calloc(threads, sizeof *self->desks);
    self->spans = calloc((size_t)self->build->inputs.track_count + 1, sizeof *self->spans);
    bool enough = self->desks && self->spans;
    for (unsigned i = 0; i < threads && enough; i++) {
        self->desks[i].bytes =
            calloc(1, PIECE + sizeof(uint32_t)); /* a node may be read behind the last end */
        self->desks[i].samples = malloc((size_t)SAMPLES * WIRE_Sample_SIZE);
        enough = self->desks[i].bytes && self->desks[i].samples;
    }
    return enough ? LODE_OK : lode_fail_memory(error);
}

static void close_drawing(struct drawing *self, unsigned threads)
{
    for (unsigned i = 0; self->desks && i < threads; i++) {
        free(self->desks[i].bytes);
        free(self->desks[i].samples);
    }
    free(self->desks);
    free(self->spans);
}

lode_status lode_build_lines(struct lode_build *build, lode_error *error)
{
    const lode_build_options *options = build->options;
    uint32_t count = build->inputs.track_count;
    unsigned threads = lode_pool_threads(options->threads, count);
    struct drawing self = {.build = build,
                           .progress = {.report = options->on_progress,
                                        .user = options->user,
                                        .phase = "writing trace lines",
                                        .total = count}};
    struct lode_job job = {.items = count, .work = work, .finish = finish, .context = &self};
    if (options->trace == LODE_TRACE_NONE)
        return LODE_OK;
    lode_status status = open_drawing(&self, threads, error);
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    close_drawing(&self, threads);
    return status;
}
