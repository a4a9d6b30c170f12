/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of integers that do not depend on their order. */
#ifndef LODE_MODEL_WIDE_H
#define LODE_MODEL_WIDE_H

#include <stdint.h>

__extension__ typedef __int128 lode_wide;

/* Adds; a sum beyond 128 bits stays at the limit and is counted. */
static inline void lode_wide_add(lode_wide *sum, lode_wide value, uint64_t *overflows)
{
    static const lode_wide most = ((((lode_wide)1 << 126) - 1) << 1) + 1;
    if (!__builtin_add_overflow(*sum, value, sum))
        return;
    *sum = value > 0 ? most : -most;
    (*overflows)++;
}

#endif
