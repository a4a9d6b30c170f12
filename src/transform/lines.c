/* SPDX-License-Identifier: BSD-3-Clause */
/* From spooled samples to trace lines, each at its place in the file. */
#include "base/bytes.h"
#include "base/error.h"
#include "transform/build.h"
#include <stdlib.h>

enum {
    PIECE = 1 << 16, /* bytes that are read at once */
    SAMPLE_MIN = 2,  /* bytes of a sample, at least */
    SAMPLES = PIECE / SAMPLE_MIN
};

/* What one worker has under way. */
struct scratch {
    uint8_t *bytes, *samples;
};

struct drawing {
    struct lode_build *build;
    struct scratch *scratches;
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
    uint32_t word = get_u16le(at), has_ended = word / LODE_SAMPLE_ENDED;
    uint64_t passed = word & LODE_SAMPLE_FAR;
    at += sizeof(uint16_t);
    if (__builtin_expect(passed == LODE_SAMPLE_FAR, 0)) {
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
    const uint8_t *at = bytes, *end = bytes + (is_last ? size : size - LODE_SAMPLE_MAX + 1);
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
                             uint64_t place, const struct scratch *scratch, struct span *span,
                             lode_error *error)
{
    const struct lode_track_result *track_result = &track->track_result;
    const struct lode_output_file *file = &build->writer->files[HPCT_TRACE];
    struct line line = {.ids = build->nodes[track_result->worker],
                        .parents = build->parents[track_result->worker],
                        .clock = build->inputs.items[track->input].clock};
    uint64_t left = track_result->samples_size;
    *span = (struct span){UINT64_MAX, 0};
    while (left > 0) {
        size_t size = left < PIECE ? (size_t)left : PIECE, count;
        uint64_t at = track_result->samples_at + track_result->samples_size - left;
        LODE_TRY(lode_spool_read(&build->workers[track_result->worker].builder.samples, at, scratch->bytes,
                                 size, error));
        left -= decode(&line, scratch->bytes, size, size == left, scratch->samples, &count);
        LODE_TRY(lode_output_write_at(file, place, scratch->samples, count * WIRE_Sample_SIZE, error));
        if (span->first == UINT64_MAX)
            span->first = get_u64le(scratch->samples + WIRE_Sample_timestamp);
        place += count * WIRE_Sample_SIZE;
    }
    if (track_result->sample_count > 0)
        span->last = move_time(line.time, line.clock);
    return LODE_OK;
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct drawing *self = context;
    const struct lode_build *build = self->build;
    return draw_line(build, build_share(&build->inputs, item), build->records[item].line_at,
                     &self->scratches[worker], &self->spans[item], error);
}

static lode_status finish(void *context, uint64_t item, lode_error *error)
{
    struct drawing *self = context;
    const struct span *span = &self->spans[item];
    if (span->first <= span->last)
        lode_writer_set_trace_bounds(self->build->writer, span->first, span->last);
    return lode_progress_add(&self->progress, 1, error);
}

/* The bounds of all ranks. */
static lode_status agree_on_bounds(struct lode_build *build, lode_error *error)
{
    uint64_t first = build->writer->trace_min, last = build->writer->trace_max;
    LODE_TRY(lode_comm_allreduce(build->comm, &first, 1, LODE_COMM_MIN, error));
    LODE_TRY(lode_comm_allreduce(build->comm, &last, 1, LODE_COMM_MAX, error));
    lode_writer_set_trace_bounds(build->writer, first, last);
    return LODE_OK;
}

static lode_status open_drawing(struct drawing *self, unsigned threads, lode_error *error)
{
    self->scratches = calloc(threads, sizeof *self->scratches);
    self->spans = calloc((size_t)self->build->inputs.share + 1, sizeof *self->spans);
    bool enough = self->scratches && self->spans;
    for (unsigned i = 0; i < threads && enough; i++) {
        self->scratches[i].bytes =
            calloc(1, PIECE + sizeof(uint32_t)); /* a node may be read behind the last end */
        self->scratches[i].samples = malloc((size_t)SAMPLES * WIRE_Sample_SIZE);
        enough = self->scratches[i].bytes && self->scratches[i].samples;
    }
    return enough ? LODE_OK : lode_fail_memory(error);
}

static void close_drawing(struct drawing *self, unsigned threads)
{
    for (unsigned i = 0; self->scratches && i < threads; i++) {
        free(self->scratches[i].bytes);
        free(self->scratches[i].samples);
    }
    free(self->scratches);
    free(self->spans);
}

/*
 * From places to ids. Where a track is outside of all calls, it is in the global context: a sample there says that nothing is known of
 * what it does.
 */
static void find_ids(struct lode_build *build)
{
    for (unsigned worker = 0; worker < build->threads; worker++)
        for (uint32_t i = 0; i < build->node_counts[worker]; i++) {
            uint32_t place = build->nodes[worker][i];
            bool is_call = build->above[place] != 0;
            build->nodes[worker][i] = is_call ? build->ids[place] : 0;
        }
}

lode_status lode_build_lines(struct lode_build *build, lode_error *error)
{
    uint32_t count = build->inputs.share;
    unsigned threads = lode_build_threads(&build->inputs, count);
    struct drawing self = {.build = build,
                           .progress = lode_build_progress(&build->inputs, "writing trace lines", count)};
    struct lode_job job = {.items = count, .work = work, .finish = finish, .context = &self};
    if (build->options->trace == LODE_TRACE_NONE)
        return LODE_OK;
    find_ids(build);
    lode_status status = open_drawing(&self, threads, error);
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    close_drawing(&self, threads);
    return status == LODE_OK ? agree_on_bounds(build, error) : status;
}
