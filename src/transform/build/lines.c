/* SPDX-License-Identifier: BSD-3-Clause */
/* From spooled samples to trace lines, each at its place in the file. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "transform/build/build.h"
#include <stdlib.h>

enum {
    PIECE = 1 << 16, /* bytes that are read at once */
    SAMPLE_MIN = 2,  /* bytes of a sample, at least */
    SAMPLES = PIECE / SAMPLE_MIN
};

/* How far a line has come. */
struct line {
    const uint32_t *ids, *parents; /* by node */
    int64_t clock;
    uint64_t time;
    uint32_t node;
};

/* What one slot has under way. */
struct lode_build_line {
    struct line line;
    uint64_t left; /* bytes that are not decoded */
    bool is_open;
    uint8_t *bytes, *samples;
};

/* The time since the epoch, or the nearest to it that there is. */
static uint64_t move_time(uint64_t time, int64_t clock)
{
    uint64_t moved;
    if (!__builtin_add_overflow(time, clock, &moved))
        return moved;
    return clock < 0 ? 0 : UINT64_MAX;
}

/* Decodes a sample, branch-free, as enter or leave is unpredictable. Returns the next one. */
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

/* Decodes all complete samples; returns their bytes, and sets their number. */
static size_t decode(struct line *from, const uint8_t *bytes, size_t size, bool is_last, uint8_t *out,
                     size_t *count)
{
    const uint8_t *at = bytes, *end = bytes + (is_last ? size : size - LODE_SAMPLE_MAX + 1);
    uint8_t *begin = out;
    struct line line = *from; /* what is written cannot change it: it stays in registers */
    while (at < end) {
        at = next_sample(&line, at);
        put_u64le(out, move_time(line.time, line.clock));
        put_u32le(out + 8, line.ids[line.node]);
        out += TRACE_SAMPLE_SIZE;
    }
    *from = line;
    *count = (size_t)(out - begin) / TRACE_SAMPLE_SIZE;
    return (size_t)(at - bytes);
}

/* From positions to ids. Outside of all calls a sample is at the global context. */
static void find_ids(struct lode_build *build)
{
    for (unsigned worker = 0; worker < build->threads; worker++)
        for (uint32_t i = 0; i < build->node_counts[worker]; i++) {
            uint32_t place = build->nodes[worker][i];
            bool is_call = build->above[place] != 0;
            build->nodes[worker][i] = is_call ? build->ids[place] : 0;
        }
}

lode_status lode_build_begin_samples(struct lode_profile_source *base, lode_error *error)
{
    struct lode_build *build = build_of(base);
    lode_build_close_scratches(build);
    find_ids(build);
    build->lines = calloc(build->slot_count, sizeof *build->lines);
    bool enough = build->lines != NULL;
    for (unsigned i = 0; i < build->slot_count && enough; i++) {
        /* A node may be read after the last end. */
        build->lines[i].bytes = calloc(1, PIECE + sizeof(uint32_t));
        build->lines[i].samples = malloc((size_t)SAMPLES * TRACE_SAMPLE_SIZE);
        enough = build->lines[i].bytes && build->lines[i].samples;
    }
    return enough ? LODE_OK : lode_fail_memory(error);
}

void lode_build_close_lines(struct lode_build *build)
{
    for (unsigned i = 0; build->lines && i < build->slot_count; i++) {
        free(build->lines[i].bytes);
        free(build->lines[i].samples);
    }
    free(build->lines);
    build->lines = NULL;
}

uint64_t lode_build_sample_count(struct lode_profile_source *base, uint32_t line)
{
    return build_share(&build_of(base)->inputs, line - base->first)->track_result.sample_count;
}

static void begin_line(const struct lode_build *build, const struct lode_build_track *track,
                       struct lode_build_line *own)
{
    const struct lode_track_result *result = &track->track_result;
    own->line = (struct line){.ids = build->nodes[result->worker],
                              .parents = build->parents[result->worker],
                              .clock = build->inputs.items[track->input].clock};
    own->left = result->samples_size;
    own->is_open = true;
}

lode_status lode_build_samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                               lode_trace_line *out, lode_error *error)
{
    const struct lode_build *build = build_of(base);
    struct lode_build_line *own = &build->lines[slot];
    const struct lode_build_track *track = build_share(&build->inputs, line - base->first);
    const struct lode_track_result *result = &track->track_result;
    bool is_new = !own->is_open;
    size_t count = 0;
    if (is_new)
        begin_line(build, track, own);
    size_t size = own->left < PIECE ? (size_t)own->left : PIECE;
    if (size == 0 && !is_new) {
        own->is_open = false;
        return LODE_END;
    }
    if (size > 0) {
        uint64_t at = result->samples_at + result->samples_size - own->left;
        LODE_TRY(
            lode_spool_read(&build->workers[result->worker].builder.samples, at, own->bytes, size, error));
        own->left -= decode(&own->line, own->bytes, size, size == own->left, own->samples, &count);
    }
    *out = (lode_trace_line){.profile = line + 1, .sample_count = count, .samples = own->samples};
    return LODE_OK;
}
