/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/blob.h"

#include <stdlib.h>
#include <string.h>

int lode_blob_prepare(struct lode_blob *blob, size_t capacity)
{
    if (capacity <= blob->capacity)
        return 1;
    if (blob->grow)
        return blob->grow(blob, capacity);
    unsigned char *larger = realloc(blob->bytes, capacity);
    if (larger == NULL)
        return 0;
    blob->bytes = larger;
    blob->capacity = capacity;
    return 1;
}

size_t lode_blob_extend(struct lode_blob *blob, size_t size)
{
    size_t start = blob->size, end;
    if (__builtin_add_overflow(start, size, &end))
        return LODE_BLOB_FULL;
    size_t capacity = end < SIZE_MAX / 2 && blob->grow == NULL ? end * 2 : end;
    if (end > blob->capacity && !lode_blob_prepare(blob, capacity))
        return LODE_BLOB_FULL;
    blob->size = end;
    return start;
}

size_t lode_blob_reserve(struct lode_blob *blob, size_t size, size_t alignment)
{
    size_t padding = (alignment - blob->size % alignment) % alignment, all;
    size_t start = __builtin_add_overflow(padding, size, &all) ? LODE_BLOB_FULL : lode_blob_extend(blob, all);
    if (start == LODE_BLOB_FULL)
        return start;
    if (all > 0)
        memset(blob->bytes + start, 0, all);
    return start + padding;
}

size_t lode_blob_text(struct lode_blob *blob, const char *text)
{
    size_t size = strlen(text) + 1, at = lode_blob_reserve(blob, size, 1);
    if (at != LODE_BLOB_FULL)
        memcpy(blob->bytes + at, text, size);
    return at;
}

void lode_blob_free(struct lode_blob *blob)
{
    free(blob->bytes);
    *blob = (struct lode_blob){0};
}
