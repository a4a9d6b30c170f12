/* SPDX-License-Identifier: BSD-3-Clause */
/* What records carry, in the form in which it is written: little-endian, with zeros between the values. */
#ifndef LODE_UFTRACE_WRITE_VALUES_H
#define LODE_UFTRACE_WRITE_VALUES_H

#include "format/uftrace/read.h"

enum {
    UFT_VALUES_MAX = 1024, /* bytes; recorders stop at 1,020 */
    /* Ids of events that perf files tell of. */
    UFT_FIRST_STATE_ID = 200001,
    UFT_LAST_STATE_ID = 200008
};

/*
 * Writes the arguments or the result that an event carries to `out`, UFT_VALUES_MAX bytes. They are a multiple of 8, which may be 0: a
 * structure can be empty. False if they cannot be written.
 */
bool lode_uft_write_values(const struct uft_recording *rec, const lode_event *event, uint8_t *out,
                           size_t *size);
/* The same for what a point carries, with its length before it. */
bool lode_uft_write_point(const struct uft_recording *rec, const lode_event *event, uint8_t *out,
                          size_t *size);

/* Whether uftrace reads a point of this id, and what it must carry: at least so many bytes, or nothing. */
bool lode_uft_point_needs(uint64_t id, unsigned word, size_t *size);

#endif
