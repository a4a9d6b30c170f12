/* SPDX-License-Identifier: BSD-3-Clause */
/* An unnamed temporary file: one thread appends, several read. Nothing is left after a crash. */
#ifndef LODE_BASE_SPOOL_H
#define LODE_BASE_SPOOL_H

#include "base/error.h"
#include <stddef.h>

struct lode_spool {
    int fd;
    unsigned char *buffer;
    size_t used;   /* bytes in the buffer */
    uint64_t size; /* including the buffer */
};

enum {
    LODE_SPOOL_BUFFER = 1 << 18
};

/* A spool that was never opened can be closed. */
#define LODE_SPOOL_INIT                                                                                      \
    {                                                                                                        \
        -1, NULL, 0, 0                                                                                       \
    }

/* Creates the file in a directory, where `name` must be free, and unlinks it at once. */
lode_status lode_spool_open(struct lode_spool *spool, int directory, const char *name, lode_error *error);
void lode_spool_close(struct lode_spool *spool);

lode_status lode_spool_write(struct lode_spool *spool, const void *bytes, size_t size, lode_error *error);
/* Reserves up to LODE_SPOOL_BUFFER bytes at `used` in the buffer; add them to `used` and `size`. */
lode_status lode_spool_reserve(struct lode_spool *spool, size_t size, lode_error *error);
/* Flushes the buffer, so that everything can be read. */
lode_status lode_spool_flush(struct lode_spool *spool, lode_error *error);
/* Reads flushed bytes. MT: any thread. */
lode_status lode_spool_read(const struct lode_spool *spool, uint64_t offset, void *bytes, size_t size,
                            lode_error *error);

/*
 * A private directory for spools, in TMPDIR or /tmp. What is in it has no name, and it is removed
 * when it is closed.
 */
struct lode_scratch {
    int parent, fd;
    char name[32];
};

lode_status lode_scratch_open(struct lode_scratch *scratch, lode_error *error);
void lode_scratch_close(const struct lode_scratch *scratch);

#endif
