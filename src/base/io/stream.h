/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file in pieces: for files that are larger than memory or change while they are read. */
#ifndef LODE_BASE_STREAM_H
#define LODE_BASE_STREAM_H

#include "base/io/input.h"

struct lode_stream {
    const struct lode_folder *folder;
    const char *name; /* borrowed */
    int fd;           /* -1: opened for each piece, to save descriptors */
    bool is_memory;
    uint64_t size; /* of the file when it was opened */
    struct lode_range piece;
    uint64_t piece_at; /* offset of the piece in the file */
    uint8_t *buffer;
    size_t capacity;
    size_t wanted; /* bytes to read at once */
};

/* `piece` is the number of bytes per read. LODE_ABSENT if there is no such file. */
lode_status lode_stream_open(struct lode_stream *stream, const struct lode_folder *folder, const char *name,
                             size_t piece, bool keep_open, lode_error *error);
/*
 * The bytes from `offset`: at least `least`, or to the end of the file; valid until the next call.
 * The buffer grows to `least`, so check a value that comes from the file.
 */
lode_status lode_stream_at(struct lode_stream *stream, uint64_t offset, size_t least, struct lode_range *out,
                           lode_error *error);
void lode_stream_close(struct lode_stream *stream);

#endif
