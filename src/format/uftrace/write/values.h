/* SPDX-License-Identifier: BSD-3-Clause */
/* Payloads as they are written: little-endian, with zeros between the values. */
#ifndef LODE_UFTRACE_WRITE_VALUES_H
#define LODE_UFTRACE_WRITE_VALUES_H

#include "format/uftrace/read.h"

enum {
    UFT_VALUES_MAX = 1024, /* bytes; recorders stop at 1,020 */
    /* Ids of events in perf files. */
    UFT_FIRST_STATE_ID = 200001,
    UFT_LAST_STATE_ID = 200008
};

/*
 * Writes the arguments or the result of an event to `out`, UFT_VALUES_MAX bytes. The size is a
 * multiple of 8, or 0 for an empty structure. False if they cannot be written.
 */
bool lode_uft_write_values(const struct uft_recording *rec, const lode_event *event, uint8_t *out,
                           size_t *size);
/* The same for the data of another event, preceded by its length. */
bool lode_uft_write_point(const struct uft_recording *rec, const lode_event *event, uint8_t *out,
                          size_t *size);

/* Whether uftrace reads an event of this id, and the data it requires: minimal size, or none. */
bool lode_uft_point_needs(uint64_t id, unsigned word, size_t *size);

#endif
