/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bytes of a binary are at which of its addresses: what is mapped has offsets in a file. */
#ifndef LODE_FORMAT_HPCRUN_BINARIES_SEGMENTS_H
#define LODE_FORMAT_HPCRUN_BINARIES_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BINARY_SEGMENTS_MOST = 256
};

struct binary_segment {
    uint64_t offset, size, address;
};

/*
 * The number of loaded segments of an open file; 0 if it is no such file. Of this machine's byte
 * order only.
 */
size_t lode_binary_segments(int fd, struct binary_segment segments[BINARY_SEGMENTS_MOST]);
/* The address of an offset; false: it is in no segment. */
bool lode_binary_address(const struct binary_segment *segments, size_t count, uint64_t offset, uint64_t *out);

#endif
