/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans: the one place where an offset, a count and a stride from a file become bytes that may be read.
 */
#ifndef LODE_BASE_SPAN_H
#define LODE_BASE_SPAN_H

#include "base/checked.h"
#include <string.h>

struct lode_range {
    const uint8_t *data;
    uint64_t size;
};

/* The bytes [offset, offset + size) of `whole`, or false if they are not all inside it. */
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
 * Strings of a file that are found by pointers may overlap, so that a few kilobytes hold gigabytes of names. How many bytes all of them
 * may have together, by the size of the file: in sound ones, they are a part of it.
 */
static inline uint64_t lode_string_budget(uint64_t file_size)
{
    return file_size * 4 + 65536;
}

/* Takes the bytes of a string from the budget; false if it does not suffice, and then there is nothing left. */
static inline bool lode_string_take(uint64_t *budget, const char *text, size_t *length)
{
    *length = strnlen(text, (size_t)*budget + 1);
    bool suffices = *length <= *budget;
    *budget = suffices ? *budget - *length : 0;
    return suffices;
}

#endif
