/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a binary says of its debug information, without lode-symbols: its build id, whether there is
 * any in it, and the name of a file that has it. A few kilobytes of headers are read.
 */
#ifndef LODE_FORMAT_HPCRUN_BINARIES_NOTES_H
#define LODE_FORMAT_HPCRUN_BINARIES_NOTES_H

#include "format/hpcrun/scopes/binary_protocol.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct binary_notes {
    uint8_t build_id[SYMBOLS_BUILD_ID_MOST];
    size_t build_id_size; /* 0: it has none */
    bool has_debug;
    char link[PATH_MAX]; /* empty: none */
};

/* Of an open file; false if it is no ELF file whose headers are as they should be. */
bool lode_binary_notes(struct binary_notes *notes, int fd, uint64_t size);

#endif
