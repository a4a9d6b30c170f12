/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines: the (time, context) samples of one profile, read in place. */
#ifndef LODE_TRACE_H
#define LODE_TRACE_H

#include <lode/database.h>

LODE_BEGIN_DECLS

/*
 * A view that the caller owns and that needs no closing. Only the library knows what is in the
 * rest; copies of it work.
 */
#ifdef LODE_INTERNAL
#include "model/contents.h"
#else
typedef struct lode_trace_line {
    uint32_t profile;
    uint32_t opaque;
    uint64_t sample_count;
    uint64_t more_opaque[2];
} lode_trace_line;
#endif

typedef struct lode_sample {
    uint64_t time;       /* nanoseconds since the epoch */
    uint32_t context_id; /* what the thread was doing from then on; 0 when it did not run */
} lode_sample;

/* 0 if the database has no traces. MT: any thread. */
LODE_API uint32_t lode_database_trace_count(const lode_database *db);
/*
 * The bounds of time that the file states. They need not be tight. LODE_ABSENT without traces. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_trace_bounds(const lode_database *db, uint64_t *min,
                                                             uint64_t *max);
/* LODE_NOT_FOUND past the last line. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_database_trace_line(const lode_database *db, uint32_t index,
                                                           lode_trace_line *out, lode_error *error);
/* LODE_END past the last sample. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_trace_line_sample(const lode_trace_line *line, uint64_t index,
                                                         lode_sample *out);
/*
 * The samples where they are, in the mapped file or in memory of the database, until that closes: a
 * 64-bit time and, directly after it, a 32-bit context id, both in the byte order of this machine.
 * A sample has `stride` bytes and need not be aligned. LODE_ABSENT if the file has another layout.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_trace_line_view(const lode_trace_line *line, const void **bytes,
                                                       size_t *stride, lode_error *error);
/*
 * The index of the first sample at or after a time, sample_count if there is none: binary search.
 * MT: any thread.
 */
LODE_API uint64_t lode_trace_line_seek(const lode_trace_line *line, uint64_t time);

LODE_END_DECLS
#endif
