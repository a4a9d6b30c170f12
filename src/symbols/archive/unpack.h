/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a file that is packed by bzip2, gzip, xz or zstd, or not: its first bytes tell. */
#ifndef SYMBOLS_UNPACK_H
#define SYMBOLS_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    UNPACK_INPUT = 1 << 16,
    UNPACK_MEMORY_MOST = 512 << 20 /* of what xz and zstd ask for */
};

struct unpacker {
    int fd;
    const struct packing *packing;
    void *stream; /* of the library */
    unsigned char input[UNPACK_INPUT];
    size_t begin, end; /* what is not unpacked yet */
    bool is_read;      /* there is no more input */
    bool is_whole;     /* the packed stream ended; another one may follow */
};

/* False: this build cannot unpack it. */
bool unpacker_open(struct unpacker *unpacker, int fd);
/* Reads `size` bytes, fewer at the end; -1: it is damaged. */
ssize_t unpacker_read(struct unpacker *unpacker, void *bytes, size_t size);

#endif
