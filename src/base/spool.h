/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that wait on the disk: appended by one thread, read again by several. The file has no name, so that nothing of it stays,
 * whatever happens.
 */
#ifndef LODE_BASE_SPOOL_H
#define LODE_BASE_SPOOL_H

#include "base/error.h"
#include <stddef.h>

struct lode_spool {
    int fd;
    unsigned char *buffer;
    size_t used;   /* bytes in the buffer */
    uint64_t size; /* with them */
};

enum {
    LODE_SPOOL_BUFFER = 1 << 18
};

/* What was never opened can be closed. */
#define LODE_SPOOL_INIT                                                                                      \
    {                                                                                                        \
        -1, NULL, 0, 0                                                                                       \
    }

/* Makes the file in a directory, where `name` must be free; it is gone from there at once. */
lode_status lode_spool_open(struct lode_spool *spool, int directory, const char *name, lode_error *error);
void lode_spool_close(struct lode_spool *spool);

lode_status lode_spool_write(struct lode_spool *spool, const void *bytes, size_t size, lode_error *error);
/*
 * Room for `size` bytes, at most LODE_SPOOL_BUFFER, which the caller fills at spool->buffer + spool->used and counts in `used` and `size`.
 */
lode_status lode_spool_reserve(struct lode_spool *spool, size_t size, lode_error *error);
/* Hands over what is in the buffer, so that all can be read. */
lode_status lode_spool_flush(struct lode_spool *spool, lode_error *error);
/* Reads what was flushed. MT: any thread. */
lode_status lode_spool_read(const struct lode_spool *spool, uint64_t offset, void *bytes, size_t size,
                            lode_error *error);

#endif
