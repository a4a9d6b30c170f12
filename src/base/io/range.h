/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte ranges: the only place where offset, count and stride from a file become readable bytes. */
#ifndef LODE_BASE_RANGE_H
#define LODE_BASE_RANGE_H

#include "base/checked.h"
#include <string.h>

struct lode_range {
    const uint8_t *data;
    uint64_t size;
};

/* The bytes [offset, offset + size) of `whole`, or false if out of bounds. */
static inline bool lode_range_part(struct lode_range whole, uint64_t offset, uint64_t size,
                                   struct lode_range *part)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    part->data = whole.data + offset;
    part->size = size;
    return true;
}

/* `count` elements of `stride` bytes at `offset`, or false. */
static inline bool lode_range_array(struct lode_range whole, uint64_t offset, uint64_t count, uint64_t stride,
                                    struct lode_range *array)
{
    uint64_t size;
    return checked_mul(count, stride, &size) && lode_range_part(whole, offset, size, array);
}

/*
 * Strings that a file refers to by pointers may overlap, so a few kilobytes could expand to
 * gigabytes of names. This limits their total by the size of the file: in valid files it is a part
 * of that.
 */
static inline uint64_t lode_string_budget(uint64_t file_size)
{
    return file_size * 4 + 65536;
}

/* Takes a string from the budget; if it is too long, sets the budget to 0 and returns false. */
static inline bool lode_string_take(uint64_t *budget, const char *text, size_t *length)
{
    *length = strnlen(text, (size_t)*budget + 1);
    bool suffices = *length <= *budget;
    *budget = suffices ? *budget - *length : 0;
    return suffices;
}

#endif
