/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines in place: samples of a 64-bit time and a 32-bit context id, packed. */
#ifndef LODE_MODEL_TRACE_H
#define LODE_MODEL_TRACE_H

#include "model/database/block.h"
#include <lode/trace.h>

enum {
    TRACE_SAMPLE_SIZE = 12
};

/* The index must be below sample_count. */
static inline uint64_t trace_time(const lode_trace_line *line, uint64_t index)
{
    const uint8_t *p = line->samples + index * TRACE_SAMPLE_SIZE;
    return line->layout == LODE_LAYOUT_BIG ? get_u64be(p) : get_u64le(p);
}

static inline uint32_t trace_context(const lode_trace_line *line, uint64_t index)
{
    const uint8_t *p = line->samples + index * TRACE_SAMPLE_SIZE + 8;
    uint32_t id = line->layout == LODE_LAYOUT_BIG ? get_u32be(p) : get_u32le(p);
    return id == line->idle_id ? 0 : id;
}

/* LODE_ERR_CORRUPT if the samples of all lines exceed the file: see lode_profile_blocks_fit. */
lode_status lode_trace_lines_fit(const lode_database *db, lode_error *error);

#endif
