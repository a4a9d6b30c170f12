/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable byte buffer for a section of a file. */
#ifndef LODE_BASE_BLOB_H
#define LODE_BASE_BLOB_H

#include <stddef.h>
#include <stdint.h>

struct lode_blob {
    unsigned char *bytes;
    size_t size, capacity;
    /* To that capacity, or more; NULL: on the heap. */
    int (*grow)(struct lode_blob *blob, size_t capacity);
};

#define LODE_BLOB_FULL SIZE_MAX

/* Adds `size` zeroed bytes, aligned. Returns the offset or LODE_BLOB_FULL. May move the buffer. */
size_t lode_blob_reserve(struct lode_blob *blob, size_t size, size_t alignment);
/* Likewise, but without alignment, and the bytes are undefined: the caller sets them all. */
size_t lode_blob_extend(struct lode_blob *blob, size_t size);
/* Reserves `capacity` bytes in all. Returns 0 if out of memory. */
int lode_blob_prepare(struct lode_blob *blob, size_t capacity);
/* Adds a string with its NUL. Returns the offset or LODE_BLOB_FULL. */
size_t lode_blob_text(struct lode_blob *blob, const char *text);
/* For blobs on the heap. */
void lode_blob_free(struct lode_blob *blob);

#endif
