/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines in place: samples of a 64-bit time and a 32-bit context id, packed, little-endian. */
#ifndef LODE_MODEL_TRACE_H
#define LODE_MODEL_TRACE_H

#include "base/bytes.h"
#include <lode/trace.h>

enum {
    TRACE_SAMPLE_SIZE = 12
};

/* The index must be below sample_count. */
static inline uint64_t trace_time(const lode_trace_line *line, uint64_t index)
{
    return get_u64le(line->samples + index * TRACE_SAMPLE_SIZE);
}

static inline uint32_t trace_context(const lode_trace_line *line, uint64_t index)
{
    return get_u32le(line->samples + index * TRACE_SAMPLE_SIZE + 8);
}

#endif
