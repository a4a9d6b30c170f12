/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that grow: a piece of a file that is put together in memory. */
#ifndef LODE_BASE_BLOB_H
#define LODE_BASE_BLOB_H

#include <stddef.h>
#include <stdint.h>

struct lode_blob {
    unsigned char *bytes;
    size_t size, capacity;
};

#define LODE_BLOB_FULL SIZE_MAX

/* Room for `size` zeroed bytes at a multiple of `alignment`: its offset, or LODE_BLOB_FULL. Moves earlier bytes. */
size_t lode_blob_reserve(struct lode_blob *blob, size_t size, size_t alignment);
/* Room for `capacity` bytes in all, so that bytes need not move later; 0 if there is none. */
int lode_blob_prepare(struct lode_blob *blob, size_t capacity);
/* A copy of a string with its NUL: its offset, or LODE_BLOB_FULL. */
size_t lode_blob_text(struct lode_blob *blob, const char *text);
void lode_blob_free(struct lode_blob *blob);

#endif
