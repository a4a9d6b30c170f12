/* SPDX-License-Identifier: BSD-3-Clause */
/* From spooled samples to trace lines. */
#include "base/io/bytes.h"
#include "format/hpcrun/source/source.h"
#include "model/database/trace.h"
#include <stdlib.h>

enum {
    SAMPLES = 1 << 13 /* that are read at once */
};

/* What one slot has under way. */
struct hpcrun_line {
    uint64_t done;
    bool is_open;
    uint8_t *bytes, *samples;
};

lode_status lode_hpcrun_begin_samples(struct lode_profile_source *base, lode_error *error)
{
    struct hpcrun_source *source = hpcrun_source_of(base);
    lode_hpcrun_close_values(source);
    source->lines = calloc(source->slot_count, sizeof *source->lines);
    LODE_TRY_ALLOC(source->lines, error);
    for (unsigned i = 0; i < source->slot_count; i++) {
        source->lines[i].bytes = malloc((size_t)SAMPLES * HPCRUN_SAMPLE_SIZE);
        source->lines[i].samples = malloc((size_t)SAMPLES * TRACE_SAMPLE_SIZE);
        LODE_TRY_ALLOC(source->lines[i].bytes && source->lines[i].samples, error);
    }
    return LODE_OK;
}

void lode_hpcrun_close_samples(struct hpcrun_source *source)
{
    for (unsigned i = 0; source->lines && i < source->slot_count; i++) {
        free(source->lines[i].bytes);
        free(source->lines[i].samples);
    }
    free(source->lines);
    source->lines = NULL;
}

/* Samples of calls are at the function; others at the instruction or, if unlisted, at its line. */
static uint32_t id_of(const struct hpcrun_source *source, const struct hpcrun_place *place, bool is_call)
{
    const struct hpcrun_contexts *contexts = &source->contexts;
    uint32_t position = is_call ? place->call : place->full;
    if (contexts->flags[position] & HPCRUN_CONTEXT_UNLISTED)
        position = contexts->above[position];
    return contexts->ids[position];
}

static void convert(const struct hpcrun_source *source, const struct hpcrun_read *read,
                    const struct hpcrun_line *line, uint64_t count)
{
    const uint32_t *nodes = source->nodes[read->worker];
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *from = line->bytes + i * HPCRUN_SAMPLE_SIZE;
        uint8_t *to = line->samples + i * TRACE_SAMPLE_SIZE;
        uint64_t time;
        uint32_t node;
        memcpy(&time, from, sizeof time);
        memcpy(&node, from + sizeof time, sizeof node);
        put_u64le(to, time);
        put_u32le(to + sizeof time, id_of(source, &source->places[nodes[node]], read->is_call_trace));
    }
}

lode_status lode_hpcrun_samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                                lode_trace_line *out, lode_error *error)
{
    const struct hpcrun_source *source = hpcrun_source_of(base);
    const struct hpcrun_read *read = &source->reads[source->item_of[line - base->first]];
    struct hpcrun_line *own = &source->lines[slot];
    bool is_new = !own->is_open;
    if (is_new)
        own->done = 0;
    uint64_t left = read->sample_count - own->done, count = left < SAMPLES ? left : SAMPLES;
    own->is_open = is_new || count > 0;
    if (!own->is_open)
        return LODE_END;
    if (count > 0) {
        uint64_t at = read->samples_at + own->done * HPCRUN_SAMPLE_SIZE;
        LODE_TRY(lode_spool_read(&source->workers[read->worker].samples, at, own->bytes,
                                 (size_t)count * HPCRUN_SAMPLE_SIZE, error));
        convert(source, read, own, count);
        own->done += count;
    }
    *out = (lode_trace_line){.profile = line + 1, .sample_count = count, .samples = own->samples};
    return LODE_OK;
}
