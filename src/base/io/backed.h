/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An array in an unnamed temporary file that is mapped: the system may write its pages to disk when
 * memory is short. Nothing is left after a crash.
 */
#ifndef LODE_BASE_BACKED_H
#define LODE_BASE_BACKED_H

#include "base/error.h"
#include "base/memory/blob.h"
#include <stddef.h>

struct lode_backed {
    void *bytes;
    size_t size;
    int fd;
};

/* One that was never opened can be closed. */
#define LODE_BACKED_INIT                                                                                     \
    {                                                                                                        \
        NULL, 0, -1                                                                                          \
    }

/* Creates the file, in TMPDIR or /tmp. */
lode_status lode_backed_open(struct lode_backed *backed, lode_error *error);
/*
 * Makes it larger; new bytes are zero. Their blocks are allocated at once, so that a full disk is
 * an error here, and no signal later. May move the bytes.
 */
lode_status lode_backed_grow(struct lode_backed *backed, size_t size, lode_error *error);
/* Cuts the file to the first `size` bytes, at least one, and closes it: the bytes stay. */
lode_status lode_backed_seal(struct lode_backed *backed, size_t size, lode_error *error);
void lode_backed_close(struct lode_backed *backed);

/* A blob whose bytes move to a temporary file when there are more than `most`. */
struct lode_backed_blob {
    struct lode_blob blob; /* the first member */
    struct lode_backed file;
    size_t most;
    lode_status status; /* why there is no file; LODE_OK: the heap is full */
    lode_error *error;
};

/* `most` is that of a blob; `error` must be there until it is sealed. */
void lode_backed_blob_init(struct lode_backed_blob *self, size_t most, lode_error *error);
/* Ends growing, and gives back what was reserved and not used of a file. */
lode_status lode_backed_blob_seal(struct lode_backed_blob *self, lode_error *error);
/* One that is all zero was never used. */
void lode_backed_blob_free(struct lode_backed_blob *self);

#endif
