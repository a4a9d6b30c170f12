/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An array in an unnamed temporary file that is mapped: the system may write its pages to disk when
 * memory is short. Nothing is left after a crash.
 */
#ifndef LODE_BASE_BACKED_H
#define LODE_BASE_BACKED_H

#include "base/error.h"
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
void lode_backed_close(struct lode_backed *backed);

#endif
