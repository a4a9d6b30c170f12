/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons for qsort and bsearch, by one field of a struct or by several, and bisection. */
#ifndef LODE_BASE_COMPARE_H
#define LODE_BASE_COMPARE_H

#include <stdint.h>
#include <string.h>

/* -1, 0 or 1. */
#define LODE_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#define LODE_COMPARE_BY(name, type, field)                                                                   \
    static int name(const void *left, const void *right)                                                     \
    {                                                                                                        \
        const type *a = left, *b = right;                                                                    \
        return LODE_COMPARE(a->field, b->field);                                                             \
    }                                                                                                        \
    _Static_assert(sizeof(type) > 0, #type " is complete")

/* By the next field where those before are equal. */
#define LODE_COMPARE_BY_2(name, type, field, second) LODE_COMPARE_BY_3(name, type, field, second, second)
#define LODE_COMPARE_BY_3(name, type, field, second, third)                                                  \
    static int name(const void *left, const void *right)                                                     \
    {                                                                                                        \
        const type *a = left, *b = right;                                                                    \
        if (a->field != b->field)                                                                            \
            return a->field < b->field ? -1 : 1;                                                             \
        if (a->second != b->second)                                                                          \
            return a->second < b->second ? -1 : 1;                                                           \
        return LODE_COMPARE(a->third, b->third);                                                             \
    }                                                                                                        \
    _Static_assert(sizeof(type) > 0, #type " is complete")

static inline int lode_compare_u32(const void *left, const void *right)
{
    return LODE_COMPARE(*(const uint32_t *)left, *(const uint32_t *)right);
}

static inline int lode_compare_i32(const void *left, const void *right)
{
    return LODE_COMPARE(*(const int32_t *)left, *(const int32_t *)right);
}

/* Of arrays of strings. */
static inline int lode_compare_strings(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/*
 * Binary search in [low, high): sets `low` to the first index for which `is_below`, an expression
 * of `middle`, is false. It must be false for all later indices.
 */
#define LODE_BISECT(low, high, is_below)                                                                     \
    do {                                                                                                     \
        while ((low) < (high)) {                                                                             \
            __typeof__(low) middle = (low) + ((high) - (low)) / 2;                                           \
            if (is_below)                                                                                    \
                (low) = middle + 1;                                                                          \
            else                                                                                             \
                (high) = middle;                                                                             \
        }                                                                                                    \
    } while (0)

#endif
