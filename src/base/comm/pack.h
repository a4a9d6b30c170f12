/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between ranks: contiguous numbers and strings in the byte order of this machine. */
#ifndef LODE_BASE_PACK_H
#define LODE_BASE_PACK_H

#include "base/memory/blob.h"
#include <stdbool.h>
#include <string.h>

/* Each returns false if out of memory. */
static inline bool pack_bytes(struct lode_blob *blob, const void *bytes, size_t size)
{
    size_t at = lode_blob_reserve(blob, size, 1);
    if (at == LODE_BLOB_FULL)
        return false;
    if (size > 0)
        memcpy(blob->bytes + at, bytes, size);
    return true;
}

static inline bool pack_number(struct lode_blob *blob, uint64_t number)
{
    return pack_bytes(blob, &number, sizeof number);
}

static inline bool pack_string(struct lode_blob *blob, const char *text)
{
    return lode_blob_text(blob, text) != LODE_BLOB_FULL;
}

/* Unpack in the order of packing; `at` advances. */
static inline void unpack_bytes(const unsigned char **at, void *bytes, size_t size)
{
    if (size > 0)
        memcpy(bytes, *at, size);
    *at += size;
}

static inline uint64_t unpack_number(const unsigned char **at)
{
    uint64_t number;
    unpack_bytes(at, &number, sizeof number);
    return number;
}

static inline const char *unpack_string(const unsigned char **at)
{
    const char *text = (const char *)*at;
    *at += strlen(text) + 1;
    return text;
}

#endif
